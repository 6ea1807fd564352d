# SPDX-License-Identifier: BSD-3-Clause
"""Measure how fast memory is copied to and from DPUs, next to memcpy()."""

from __future__ import annotations

import subprocess
import tempfile

from harness import Report, Sample, arguments, compile_c, parse_values, size_name, with_libdpu

# Of memcpy()'s speed, from this size a DPU on, for a push to all 64 DPUs of a rank.
TARGET = 0.5
TARGET_SIZE = 64 << 10

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


def build(folder: str) -> str:
    """Compile the program with the library that is in this tree."""
    return str(compile_c("dpu_transfer.c", folder, flags=with_libdpu()))


def main() -> None:
    options = arguments(__doc__).parse_args()
    report = Report("dpu_transfer", "how fast is memory copied to and from DPUs?")
    rounds, largest = ("7", str(TARGET_SIZE)) if options.quick else ("21", str(1 << 20))
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as folder:
        printed = subprocess.run(
            [build(folder), rounds, largest], check=True, capture_output=True, text=True
        ).stdout
    values = {name: Sample.of(figures) for name, figures in parse_values(printed).items()}
    for kind, title in TITLES.items():
        report.section(title, "memcpy() of the same bytes in the same pieces, one thread")
        for name, sample in values.items():
            if not name.startswith(kind + ":") or name.endswith("+memcpy"):
                continue
            dpus, size = (int(part) for part in name.split(":")[1:])
            total = dpus * size
            baseline = values[name + "+memcpy"]
            targeted = kind.startswith("push") and dpus == 64 and size >= TARGET_SIZE
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
    report.finish(options.json)


if __name__ == "__main__":
    main()
