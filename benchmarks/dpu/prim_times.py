# SPDX-License-Identifier: BSD-3-Clause
"""Compare modelled times of 13 PrIM programs with 190 measured ones, of 1 to 64 DPUs.

The public repository VIA-Research/uPIMulator (--checkout) has the programs, and a table of times on
hardware beside those of its simulator. It states neither tasklets nor clock: 16 and 350 MHz are
taken. DPU programs are those of the vendor's compiler in the public repository
852866031/prim-benchmarks-insight (--elf), or compiled by this package, with other instructions.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

import dpu
from benchmarks.harness import Report, Sample, arguments
from dpu.compiler import Compiler

PACKAGE = Path(dpu.__file__).parent
TABLE = "tools/upmem_reg_model/data/input.xlsx"
PROGRAMS = "golang/uPIMulator/benchmark"
CELLS = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
TASKLETS = 16
COMMON = {"ENERGY": 0, "PERF": 0}
PARTS = ("kernel", "to DPUs", "from DPUs", "between DPUs")
OTHERS = {"transfers": PARTS[1:], "total": PARTS}


@dataclass(frozen=True)
class Program:
    """A program: macros of its Makefile, and the host's arguments by the size in the table."""

    arguments: str
    defines: tuple[str, ...] = ("BL=10",)

    def words(self, size: int) -> list[str]:
        """Return the arguments for a row."""
        return self.arguments.format(size=size, queries=size // 8).split()


PRIM = {
    "BS": Program("-i {queries}", ()),
    "GEMV": Program("-m {size} -n 64"),
    "HST-L": Program("-i {size} -x 1", ("BL=8", "NR_HISTO=1")),
    "HST-S": Program("-i {size} -x 1"),
    "MLP": Program("-m {size} -n {size}"),
    "RED": Program("-i {size} -x 1", ("BL=10", "SINGLE", "HAND", "INT64")),
    "SCAN-RSS": Program("-i {size} -x 1", ("BL=10", "INT64")),
    "SCAN-SSA": Program("-i {size} -x 1", ("BL=10", "INT64")),
    "SEL": Program("-i {size} -x 1"),
    "TRNS": Program("-x 1 -p 64 -n 8 -m 4 -o {size}", ()),
    "TS": Program("-n {size} -m 64", ()),
    "UNI": Program("-i {size} -x 1"),
    "VA": Program("-i {size} -x 1", ("BL=10", "INT32")),
}


@dataclass(frozen=True)
class Row:
    """A row of the table, in milliseconds: `PARTS`, and the kernel in uPIMulator."""

    program: str
    dpus: int
    size: int
    times: tuple[float, ...]
    simulated: float


def rows(table: Path) -> Iterator[Row]:
    """Read the table, an Office Open XML file."""
    with zipfile.ZipFile(table) as file:
        texts = ElementTree.fromstring(file.read("xl/sharedStrings.xml"))
        words = ["".join(text.itertext()) for text in texts]
        sheet = ElementTree.fromstring(file.read("xl/worksheets/sheet1.xml"))
    for line in sheet.iter(f"{CELLS}row"):
        values = {}
        for cell in line:
            value = cell.findtext(f"{CELLS}v")
            if value is not None:
                column = cell.attrib["r"].rstrip("0123456789")
                values[column] = words[int(value)] if cell.get("t") == "s" else value
        if values.get("A") in PRIM and set("BCDEFGH") <= set(values):
            numbers = [float(values[column]) for column in "DEFGH"]
            yield Row(
                values["A"], int(values["B"]), int(values["C"]), tuple(numbers[:4]), numbers[4]
            )


def build(
    source: Path,
    folder: Path,
    name: str,
    *,
    costs: str = "upmem",
    elf: Path | None = None,
    tasklets: int = TASKLETS,
) -> None:
    """Copy a program, and compile its DPU program, or take the one in ELF."""
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("baselines"))
    (binary,) = re.findall(r'DPU_BINARY "([^"]+)"', (folder / "host/app.c").read_text())
    (folder / binary).parent.mkdir(exist_ok=True)
    if elf is not None:
        (found,) = (elf / name / "bin").glob("*dpu*")
        shutil.copyfile(found, folder / binary)
        return
    Compiler(costs=costs).compile(
        sorted((folder / "dpu").glob("*.c")),
        folder / binary,
        includes=[folder / "support"],
        defines={**COMMON, "NR_TASKLETS": tasklets},
        options=["-w", *(f"-D{macro}" for macro in PRIM[name].defines)],
        opt_lvl="-O2",
    )


def build_host(
    folder: Path, name: str, dpus: int, size: int, tasklets: int = TASKLETS
) -> list[str]:
    """Compile the host; return its command."""
    macros = [*(f"{key}={value}" for key, value in COMMON.items()), *PRIM[name].defines]
    macros += [f"NR_TASKLETS={tasklets}", f"NR_DPUS={dpus}", "PROBLEM_SIZE=2"]
    if name == "BS":  # searches in as many numbers as the table says
        common = folder / "support/common.h"
        text = re.sub(r"(#define INPUT_SIZE) \d+", rf"\1 {size}", common.read_text())
        common.write_text(text)
    host = folder / "host.out"
    subprocess.run(
        [
            *("gcc", "-w", "-std=gnu11", "-O3", "-I", str(folder / "support")),
            *("-I", str(PACKAGE / "include"), *(f"-D{macro}" for macro in macros)),
            *(str(source) for source in sorted((folder / "host").glob("*.c"))),
            *("-o", str(host), "-L", str(PACKAGE / "lib"), f"-Wl,-rpath,{PACKAGE / 'lib'}"),
            *("-ldpu", "-lm"),
        ],
        check=True,
    )
    return [str(host), *PRIM[name].words(size), "-w", "0", "-e", "1"]


def run(folder: Path, row: Row) -> list[float]:
    """Compile and run the host; return milliseconds of `PARTS`."""
    command = build_host(folder, row.program, row.dpus, row.size)
    report = folder / "report.csv"
    report.unlink(missing_ok=True)
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "DPU_SOFT_REPORT": str(report)},
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=600,
    )
    if done.returncode != 0 or "differ" in done.stdout:
        raise RuntimeError(f"{row}: {(done.stderr or done.stdout)[-300:]}")
    lines = [line for line in report.read_text().splitlines() if not line.startswith("#")]
    return split(row.program, list(csv.DictReader(lines)))


def split(program: str, events: Sequence[dict[str, str]]) -> list[float]:
    """Divide the time as the hosts' timers do.

    What comes between launches is between DPUs, but for MLP's weights and for TRNS, whose launches
    have inputs and results of their own.
    """
    events = [event for event in events if not event["event"].startswith("total")]
    kinds = [event["event"] for event in events]
    launches = [number for number, kind in enumerate(kinds) if kind == "launch"]
    inputs = {"serial_to", "parallel_to", "broadcast"}
    largest = max(int(event["bytes"]) for event in events if event["event"] in inputs)
    times = [0.0] * len(PARTS)
    for number, event in enumerate(events):
        inner = launches[0] < number < launches[-1] and program != "TRNS"
        if kinds[number] == "launch":
            part = 0
        elif inner and int(event["bytes"]) < largest:
            part = 3
        else:
            part = 1 if kinds[number] in inputs else 2
        times[part] += 1e3 * float(event["seconds"])
    return times


def compare(report: Report, program: str, found: list[tuple[Row, list[float]]]) -> None:
    """Add a row for each part of a program: the mean of its errors, and of their sizes."""
    for name, parts in {**{part: (part,) for part in PARTS}, **OTHERS}.items():
        places = [PARTS.index(part) for part in parts]
        pairs = [
            tuple(sum(numbers[place] for place in places) for numbers in (row.times, times))
            for row, times in found
        ]
        errors = [100 * (ours / theirs - 1) for theirs, ours in pairs if theirs > 0]
        if not errors:
            continue
        more: dict[str, Any] = {}
        if name == "kernel":
            other = [100 * abs(row.simulated / row.times[0] - 1) for row, _ in found]
            more = {"upimulator_percent": statistics.mean(other)}
        size = statistics.mean(map(abs, errors))
        report.add(
            f"{program}, {name}",
            Sample(size, min(errors), max(errors), max(map(abs, errors)), len(errors)),
            "%",
            signed_percent=statistics.mean(errors),
            **more,
        )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--checkout", type=Path, required=True, help="checkout of uPIMulator")
    parser.add_argument("--elf", type=Path, help="checkout of prim-benchmarks-insight")
    parser.add_argument("--costs", default="upmem", help="costs of arithmetic: offchip or upmem")
    parser.add_argument("--programs", nargs="*", default=[*PRIM], help="some of them")
    parser.add_argument("--csv", type=Path, help="write all times there")
    options = parser.parse_args()
    report = Report("dpu_prim_times", "do modelled times agree with 190 measured ones of PrIM?")
    report.section(
        "mean size of the error by program and part",
        "p25 and p75: least and largest signed error; count: rows of the table",
    )
    every: list[tuple[Row, list[float]]] = []
    table = list(rows(options.checkout / TABLE))
    for program in options.programs:
        found = []
        with tempfile.TemporaryDirectory(prefix="offchip-bench-") as place:
            folder = Path(place) / program
            source = options.checkout / PROGRAMS / program
            build(source, folder, program, costs=options.costs, elf=options.elf)
            for row in table:
                if row.program == program:
                    found.append((row, run(folder, row)))
        compare(report, program, found)
        every += found
    compare(report, "all", every)
    if options.csv is not None:
        with open(options.csv, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(
                ["program", "dpus", "size", *(f"{w} {p}" for p in PARTS for w in ("hw", "ours"))]
            )
            for row, times in every:
                pairs = [x for pair in zip(row.times, times, strict=True) for x in pair]
                writer.writerow([row.program, row.dpus, row.size, *pairs])
    report.finish(options.json)


if __name__ == "__main__":
    main()
