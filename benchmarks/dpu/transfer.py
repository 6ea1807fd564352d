# SPDX-License-Identifier: BSD-3-Clause
"""Measure how fast memory is copied to and from DPUs, next to memcpy()."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

from benchmarks.common.copy_offsets import KIB, MIB, report_offsets, run_offsets
from benchmarks.harness import (
    Report,
    Sample,
    arguments,
    compile_c,
    parse_values,
    size_name,
    with_libdpu,
)

# Of memcpy()'s speed, from this size a DPU on, for a push to all 64 DPUs of a rank.
TARGET = 0.5
TARGET_SIZE = 64 << 10
DPUS = 64

TITLES = {
    "copy-to": "dpu_copy_to() to one DPU",
    "copy-from": "dpu_copy_from() from one DPU",
    "push-to": "dpu_push_xfer() to DPUs",
    "push-from": "dpu_push_xfer() from DPUs",
    "broadcast": "dpu_broadcast_to()",
    "scatter": "dpu_push_sg_xfer() to DPUs, four blocks each",
    "gather": "dpu_push_sg_xfer() from DPUs, four blocks each",
    "first-touch": "first dpu_push_xfer() to new DPUs: MRAM is made meanwhile",
}


# Of memcpy()'s speed at its best offsets; and what a smaller copy may take longer.
OFFSETS_ONE, OFFSETS_SET, OFFSETS_ALLOWANCE_NS = 0.85, 0.75, 400


def measure_offsets(report: Report, folder: str, quick: bool) -> None:
    """Copy with both sides at several offsets in a page."""
    program = compile_c("dpu/offsets.c", folder, flags=with_libdpu())
    sizes = [8, KIB, 4 * KIB, 16 * KIB, 64 * KIB, MIB] + ([] if quick else [16 * MIB, 48 * MIB])
    report.section("one DPU, page offsets of both sides", "memcpy() at its best offsets")
    for size in sizes:
        rounds = 3 if quick or size > MIB else 9
        report_offsets(
            report,
            run_offsets(program, rounds, 1, size),
            ratio=OFFSETS_ONE,
            allowance_ns=OFFSETS_ALLOWANCE_NS,
        )
    title = f"{DPUS} DPUs, page offsets of both sides"
    report.section(title, "memcpy() of the same bytes in the same pieces at its best offsets")
    for size in [64 * KIB] if quick else [64 * KIB, 256 * KIB, MIB, 4 * MIB]:
        rounds = 3 if quick or size > 256 * KIB else 5
        printed = run_offsets(program, rounds, DPUS, size)
        report_offsets(report, printed, ratio=OFFSETS_SET, pieces=DPUS)


def main() -> None:
    options = arguments(__doc__).parse_args()
    report = Report("dpu_transfer", "how fast is memory copied to and from DPUs?")
    rounds, largest = ("7", str(TARGET_SIZE)) if options.quick else ("21", str(1 << 20))
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as folder:
        printed = subprocess.run(
            [compile_c("dpu/transfer.c", folder, flags=with_libdpu()), rounds, largest],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        report_printed(report, printed)
        measure_offsets(report, folder, options.quick)
    report.finish(options.json)


def report_printed(report: Report, printed: str) -> None:
    """Add the rows of what dpu_transfer.c measured."""
    values = {name: Sample.of(figures) for name, figures in parse_values(printed).items()}
    for kind, title in TITLES.items():
        report.section(title, "memcpy() of the same bytes in the same pieces, one thread")
        for name, sample in values.items():
            if not name.startswith(kind + ":") or name.endswith("+memcpy"):
                continue
            dpus, size = (int(part) for part in name.split(":")[1:])
            total = dpus * size
            baseline = values[name + "+memcpy"]
            targeted = kind.startswith("push") and dpus == DPUS and size >= TARGET_SIZE
            report.add(
                f"{kind} {dpus}",
                sample.map(lambda ns, total=total: total / ns),
                "GB/s",
                x=size,
                label=f"{dpus} DPU{'s' if dpus > 1 else ''}, {size_name(size)} each",
                baseline=baseline.map(lambda ns, total=total: total / ns),
                ratio_at_least=TARGET if targeted else None,
                us=sample.median / 1e3,
                memcpy_us=baseline.median / 1e3,
            )


if __name__ == "__main__":
    main()
