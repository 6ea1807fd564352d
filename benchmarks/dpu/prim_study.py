# SPDX-License-Identifier: BSD-3-Clause
"""Study two chips of uPIMulator's paper (arXiv:2308.00846) on 13 PrIM programs, on one DPU.

Instruction-level parallelism, from a chip with a hazard of even and odd registers: forwarding of
operands, then no hazard, two instructions a cycle, and twice the clock, each with those before it.
Translation of addresses (--study translation): a TLB of 16 entries for pages of 4 KiB. Programs are
those of the public repository VIA-Research/uPIMulator (--checkout), in the sizes of its figures of
one DPU but for TRNS, compiled by this package.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

from benchmarks.dpu.prim_times import PROGRAMS, build, build_host
from benchmarks.harness import Report, Sample, arguments
from dpu.study import Host

SIZES = {
    **{"BS": 32768, "GEMV": 2048, "HST-L": 131072, "HST-S": 131072, "MLP": 256, "RED": 524288},
    **{"SCAN-RSS": 262144, "SCAN-SSA": 262144, "SEL": 524288, "TRNS": 32, "TS": 2048},
    **{"UNI": 524288, "VA": 524288},
}
# DRAM keeps its time when the clock is doubled, so that it takes twice the cycles.
SLOWER_DRAM = {
    **{"softDmaReadLatency": 146, "softDmaWriteLatency": 114, "softDmaLatencyPerKiB": 1024},
    **{"softDmaSetup": 68, "softDmaEnginePerKiB": 1042, "softDmaPageCrossing": 50},
    **{"softDramRefreshInterval": 21840, "softDramRefreshCycles": 728},
}
# Keys of each chip that the one before it does not have.
PARALLELISM: dict[str, dict[str, int]] = {
    "hazard of registers": {"softPipelineHazard": 1},
    "forwarding after 4 cycles": {"softPipelineForwarding": 4},
    "no hazard": {"softPipelineHazard": 0},
    "two instructions a cycle": {"softPipelineWidth": 2},
    "700 MHz": {"fckFrequency": 700, **SLOWER_DRAM},
}
TRANSLATION: dict[str, dict[str, int]] = {
    "no translation": {},
    "16 pages of 4 KiB": {"softTlbEntries": 16, "softTlbPageBytes": 4096},
}
STUDIES = {"parallelism": PARALLELISM, "translation": TRANSLATION}


def measure(
    steps: dict[str, dict[str, int]], source: Path, name: str, tasklets: int
) -> list[float]:
    """Return the seconds of the kernels of a program on each chip."""
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as place:
        folder = Path(place) / name
        build(source, folder, name, tasklets=tasklets)
        command = build_host(folder, name, 1, SIZES[name], tasklets)
        os.chdir(folder)
        keys: dict[str, int] = {}
        found = []
        for step in steps.values():
            keys.update(step)
            profile = ",".join(f"{key}={value}" for key, value in keys.items())
            figures = Host(tuple(command), timeout=600)(profile)
            found.append(figures["cycles"] / (keys.get("fckFrequency", 350) * 1e6))
        os.chdir("/")
    return found


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--checkout", type=Path, required=True, help="checkout of uPIMulator")
    parser.add_argument("--study", choices=[*STUDIES], default="parallelism")
    parser.add_argument("--programs", nargs="*", default=[*SIZES], help="some of them")
    parser.add_argument("--tasklets", nargs="*", type=int, default=[1, 16])
    options = parser.parse_args()
    checkout = options.checkout.resolve()
    steps = STUDIES[options.study]
    first_step, *later = steps
    report = Report("dpu_prim_study", "what do parts of another chip gain or cost PrIM?")
    for tasklets in options.tasklets:
        report.section(f"times as fast as with {first_step}, {tasklets} tasklet(s)")
        gains: dict[str, list[float]] = {}
        for name in options.programs:
            first, *others = measure(steps, checkout / PROGRAMS / name, name, tasklets)
            for step, seconds in zip(later, others, strict=True):
                gains.setdefault(step, []).append(first / seconds)
                report.add(f"{name}: {step}", Sample.exact(first / seconds), "x")
        for step, values in gains.items():
            report.add(
                f"geometric mean: {step}", Sample.exact(statistics.geometric_mean(values)), "x"
            )
    report.finish(options.json and options.json.resolve())


if __name__ == "__main__":
    main()
