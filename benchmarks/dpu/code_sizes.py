# SPDX-License-Identifier: BSD-3-Clause
"""Compare instructions and stack frames of PrIM's programs with those of the vendor's compiler.

The public repository 852866031/prim-benchmarks-insight (--elf) has sources, and programs by the
vendor's compiler at -O2. Of these only section headers, symbols and .stack_sizes are read.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

from benchmarks.dpu.prim_times import COMMON, PRIM, TASKLETS
from benchmarks.harness import Report, Sample, arguments
from dpu.compiler import Compiler
from dpu.elf.program import ProgramFile
from dpu.stack import analyse

PROGRAMS = {**{name: program.defines for name, program in PRIM.items()}, "BFS": (), "SpMV": ()}
LEVELS = ("-O2", "-Os")
INSTRUCTION = 8


class Sizes(NamedTuple):
    """Instructions of a program and of its own functions, and bytes of their frames."""

    program: int
    own: int
    frames: int


def stack_sizes(content: bytes) -> dict[int, int]:
    """Read .stack_sizes: an address of four bytes and a ULEB128 for each function."""
    found, at = {}, 0
    while at + 4 < len(content):
        address, value, shift = int.from_bytes(content[at : at + 4], "little"), 0, 0
        at += 4
        while True:
            byte = content[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                break
        found[address] = value
    return found


def sizes_of(path: Path, source: str, frames: Mapping[str, int] | None) -> Sizes:
    """Measure a program; its own functions are those that its source defines."""
    program = ProgramFile(path.read_bytes())
    text = program.section(".text")
    assert text is not None
    names = set(re.findall(r"\b(\w+)\s*\([^;{}]*\)\s*\{", source))
    own = {s.name: s for s in program.symbols if s.name in names and s.size != 0}
    if frames is None:
        section = program.section(".stack_sizes")
        by_address = stack_sizes(section.data) if section is not None else {}
        frames = {name: by_address[symbol.value] for name, symbol in own.items()}
    return Sizes(
        text.size // INSTRUCTION,
        sum(symbol.size for symbol in own.values()) // INSTRUCTION,
        sum(frames[name] for name in own),
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--elf", type=Path, required=True, help="checkout of prim-benchmarks-insight"
    )
    options = parser.parse_args()
    report = Report("dpu_code_sizes", "how large are programs beside those of UPMEM's compiler?")
    ratios: dict[tuple[str, str], list[float]] = {}
    for level in LEVELS:
        report.section(f"{level}", "UPMEM's compiler, -O2")
        for name, defines in PROGRAMS.items():
            folder = options.elf / name
            sources = sorted((folder / "dpu").glob("*.c"))
            source = "\n".join(file.read_text(errors="replace") for file in sources)
            (vendor,) = (folder / "bin").glob("*dpu*")
            with tempfile.TemporaryDirectory(prefix="offchip-bench-") as place:
                output = Path(place) / "dpu_code"
                try:
                    Compiler().compile(
                        sources,
                        output,
                        includes=[folder / "support"],
                        defines={**COMMON, "NR_TASKLETS": TASKLETS},
                        options=["-w", *(f"-D{macro}" for macro in defines)],
                        opt_lvl=level,
                    )
                except subprocess.CalledProcessError as error:
                    report.skip(name, error.stderr.strip().partition("\n")[0])
                    continue
                functions = {name: f.frame for name, f in analyse(output.read_bytes()).items()}
                ours = sizes_of(output, source, functions)
            theirs = sizes_of(vendor, source, None)
            for what, found, baseline in zip(Sizes._fields, ours, theirs, strict=True):
                unit = "bytes" if what == "frames" else "instr"
                report.add(
                    f"{name}, {what}", Sample.exact(found), unit, baseline=Sample.exact(baseline)
                )
                if baseline:
                    ratios.setdefault((level, what), []).append(max(found, 1) / baseline)
    report.section("geometric means of the ratios")
    for (level, what), values in ratios.items():
        report.add(f"{level}, {what}", Sample.exact(statistics.geometric_mean(values)), "x")
    report.finish(options.json)


if __name__ == "__main__":
    main()
