# SPDX-License-Identifier: BSD-3-Clause
"""Measure our copies at several offsets in a page on both sides, next to memcpy() at its best."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

from benchmarks.harness import ROOT, Report, Sample, arguments, compile_c, size_name

KIB, MIB = 1 << 10, 1 << 20
SIZES = [512, *(n * KIB for n in (1, 2, 4, 16, 64)), *(n * MIB for n in (1, 4, 16, 64, 256))]
QUICK_SIZES = [KIB, 4 * KIB, 64 * KIB, MIB]

# From this size on, targets are ratios; below, an allowance on top of memcpy().
RATIO_FROM = 64 * KIB

Pair = tuple[int, int]


def run_offsets(*command: Path | int) -> str:
    """Run a C program that measures at offsets; what it printed."""
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def report_offsets(
    report: Report,
    printed: str,
    *,
    ratio: float | None = None,
    allowance_ns: float | None = None,
    pieces: int = 1,
) -> None:
    """Add a row for the slowest and for the fastest pair of offsets of each case.

    Parameters
    ----------
    report : Report
        Where to.
    printed : str
        What a program with ``copy_offsets.h`` printed.
    ratio : float, optional
        Target from 64 KiB per piece on: of memcpy() at the pair of offsets that suits it best.
    allowance_ns : float, optional
        Target below: what a copy may take longer than that.
    pieces : int
        DPUs that the bytes are divided among.
    """
    ours: dict[tuple[str, int], dict[Pair, Sample]] = defaultdict(dict)
    plain: dict[tuple[str, int], dict[Pair, Sample]] = defaultdict(dict)
    for line in printed.splitlines():
        name, _, figures = line.partition("\t")
        kind, size, to, start = name.removesuffix("+memcpy").split(":")
        kinds = plain if name.endswith("+memcpy") else ours
        times = [float(word) for word in figures.split()]
        kinds[kind, int(size)][int(to), int(start)] = Sample.of(times)
    for (kind, size), samples in ours.items():
        memcpys = plain[kind, size]
        best = min(memcpys.values(), key=lambda sample: sample.median)
        worst = max(memcpys.values(), key=lambda sample: sample.median)
        in_order = sorted(samples, key=lambda pair: samples[pair].median)
        for word, pair in (("worst", in_order[-1]), ("best", in_order[0])):
            small = size // pieces < RATIO_FROM
            _add(
                report,
                f"{kind}, {word} offsets",
                f"{kind}, {size_name(size // pieces)}, {word}: {pair[1]} to {pair[0]}",
                size,
                samples[pair],
                best,
                ratio=None if small or word == "best" else ratio,
                limit_ns=best.median + allowance_ns
                if allowance_ns and small and word == "worst"
                else None,
                worst_memcpy=size / worst.median,
            )


def _add(
    report: Report,
    series: str,
    label: str,
    size: int,
    ours: Sample,
    best: Sample,
    *,
    ratio: float | None,
    limit_ns: float | None,
    worst_memcpy: float,
) -> None:
    if limit_ns is not None:
        report.add(
            series,
            ours.map(lambda ns: ns / 1e3),
            "us",
            label=label,
            baseline=best.map(lambda ns: ns / 1e3),
            at_most=limit_ns / 1e3,
        )
        return
    report.add(
        series,
        ours.map(lambda ns: size / ns),
        "GB/s",
        x=size,
        label=label,
        baseline=best.map(lambda ns: size / ns),
        ratio_at_least=ratio,
        worst_memcpy=worst_memcpy,
    )


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    report = Report("copy_offsets", "how fast are our copies at different offsets in a page?")
    sizes = QUICK_SIZES if options.quick else SIZES
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as folder:
        flags = [str(ROOT / "csrc/common/copy.c"), f"-I{ROOT / 'csrc'}"]
        program = compile_c("common/copy_routines.c", folder, flags=flags)
        for size in sizes:
            report.section(size_name(size), "memcpy() at its best pair of these offsets")
            rounds = 3 if options.quick or size > 16 * MIB else 9
            report_offsets(report, run_offsets(program, rounds, size))
    report.finish(options.json)


if __name__ == "__main__":
    main()
