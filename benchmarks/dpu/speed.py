# SPDX-License-Identifier: BSD-3-Clause
"""Measure how many DPU instructions are simulated in a second, by tasklets and by DPUs."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

from benchmarks.dpu.kernels_speed import measure_kernels
from benchmarks.harness import Report, Sample, arguments, compile_c, parse_values, with_libdpu
from dpu.asm import assemble

# Million instructions a second that a loop of simple instructions must reach on one core.
TARGETS = {1: 300.0, 11: 400.0, 16: 400.0, 24: 400.0}
# 64 DPUs may take 10 % longer than cores that each run their share of them one after the other.
SCALING_TARGET = 1 / 1.1
IDLE_MIB, SERVER_MIB, SERVER_S = 100, 2048, 10

# A launch in 16 tasklets: TURNS times the loop of speed.c.
LOOP = """
    .globl NR_TASKLETS
    .set NR_TASKLETS, 16
    .text
    .globl main
main:
    move r0, TURNS
    move r1, 0
    move r4, 0x9E3779B9
again:
    lw r2, id4, words
    add r2, r2, r4
    xor r1, r1, r2
    lsl_add r1, r2, r1, 1
    sw id4, words, r2
    add r0, r0, -1
    jneq r0, 0, again
    jneq id, 0, end
    lw r0, zero, done
    add r0, r0, 1
    sw zero, done, r0
end:
    jump r23
    .section .dpu_host
    .globl done
    .type done, @object
    .size done, 4
done: .long 0
words: .space 64
"""


def measure_tasklets(report: Report, folder: str, quick: bool) -> None:
    """Run one machine, without the library."""
    instructions, rounds = ("20000000", "5") if quick else ("100000000", "15")
    program = compile_c("dpu/speed.c", folder, flags=with_libdpu())
    printed = subprocess.run(
        [program, instructions, rounds], check=True, capture_output=True, text=True
    ).stdout
    values = {name: Sample.of(figures) for name, figures in parse_values(printed).items()}
    report.section(
        "load, add, xor, shift-add, store, count, jump", "the same loop in C, same instructions"
    )
    for name, sample in values.items():
        if name == "plain":
            continue
        tasklets = int(name.removeprefix("tasklets"))
        report.add(
            "DPU instructions",
            sample,
            "M/s",
            x=tasklets,
            label=f"{tasklets} tasklet{'s' if tasklets > 1 else ''}",
            baseline=values["plain"],
            at_least=TARGETS.get(tasklets),
        )


def build_scaling(folder: str, turns: int) -> tuple[Path, Path, Path]:
    """Compile the program with the library that is in this tree, and assemble what DPUs run."""
    loop, empty = Path(folder, "loop.dpu"), Path(folder, "empty.dpu")
    assemble(io.StringIO(LOOP), loop, defines={"TURNS": turns})
    assemble(io.StringIO(".globl main\nmain: jump r23\n"), empty)
    return compile_c("dpu/scaling.c", folder, flags=with_libdpu()), loop, empty


def measure_dpus(report: Report, folder: str, quick: bool) -> None:
    """Run sets of DPUs."""
    program, loop, empty = build_scaling(folder, 5_000 if quick else 20_000)
    printed = subprocess.run(
        [program, loop, empty, "5" if quick else "9"], check=True, capture_output=True, text=True
    ).stdout
    values: dict[str, list[float]] = {}
    for line in printed.splitlines():
        for name, figures in parse_values(line).items():
            values.setdefault(name, []).extend(figures)
    samples = {name: Sample.of(figures) for name, figures in values.items()}
    cores = len(os.sched_getaffinity(0))

    report.section(
        "launches of several DPUs", "the first of them alone, as often as there are cores for it"
    )
    for count in (int(name.partition(":")[2]) for name in samples if name.startswith("launch:")):
        ideal = min(cores, count) / samples[f"one:{count}"].median * 1e9
        report.add(
            "DPU launches",
            samples[f"launch:{count}"].map(lambda ns, count=count: count / ns * 1e9),
            "1/s",
            x=count,
            label=f"{count} DPU{'s' if count > 1 else ''}",
            baseline=Sample(ideal, ideal, ideal, ideal, 1),
            ratio_at_least=SCALING_TARGET if count == 64 else None,
            cpu_ratio=samples[f"cpu:{count}"].median / samples[f"cpu-one:{count}"].median / count,
        )

    report.section("launch of a program that ends at once, and what it is for each DPU")
    for name, sample in samples.items():
        if name.startswith("empty:"):
            count = int(name.partition(":")[2])
            report.add(
                "empty launch",
                sample.map(lambda ns: ns / 1e3),
                "us",
                label=f"{count} DPU{'s' if count > 1 else ''}",
                us_a_dpu=sample.median / 1e3 / count,
            )

    report.section("memory and time of many DPUs")
    report.add("memory", samples["memory:64"], "MiB", label="64 idle DPUs", at_most=IDLE_MIB)
    report.add("memory", samples["memory:2560"], "MiB", label="2560 idle DPUs", at_most=SERVER_MIB)
    report.add(
        "memory",
        samples["server-memory"],
        "MiB",
        label="2560 DPUs: loaded and launched",
        at_most=SERVER_MIB,
    )
    report.add(
        "full server",
        samples["server"].map(lambda ns: ns / 1e9),
        "s",
        label="2560 DPUs: alloc, load, launch, free",
        at_most=SERVER_S,
    )


def main() -> None:
    options = arguments(__doc__).parse_args()
    report = Report("dpu_speed", "how many DPU instructions are simulated in a second?")
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as folder:
        measure_tasklets(report, folder, options.quick)
        measure_kernels(report, folder, options.quick)
        measure_dpus(report, folder, options.quick)
    report.finish(options.json)


if __name__ == "__main__":
    main()
