# SPDX-License-Identifier: BSD-3-Clause
"""Measure how many DPU instructions one core simulates in a second."""

from __future__ import annotations

import subprocess
import tempfile

from harness import ROOT, Report, Sample, arguments, compile_c, parse_values

# Million instructions a second that a loop of simple instructions must reach on one core.
TARGETS = {1: 300.0, 11: 400.0, 16: 400.0, 24: 400.0}


def main() -> None:
    options = arguments(__doc__).parse_args()
    report = Report("dpu_speed", "how many DPU instructions does one core simulate in a second?")
    instructions, rounds = ("20000000", "5") if options.quick else ("100000000", "15")
    sources = sorted(
        str(path)
        for path in (ROOT / "csrc/dpu_machine").glob("*.c")
        if path.name != "elf.c"  # files are not needed, and a program is made in place
    )
    with tempfile.TemporaryDirectory() as folder:
        program = compile_c("dpu_speed.c", folder, flags=[f"-I{ROOT / 'csrc'}", *sources])
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
            label=f"{tasklets} tasklets",
            baseline=values["plain"],
            at_least=TARGETS.get(tasklets),
        )
    report.finish(options.json)


if __name__ == "__main__":
    main()
