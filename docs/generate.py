# SPDX-License-Identifier: BSD-3-Clause
"""Write the reference pages that are made from tables in the code: ``python docs/generate.py``.

With ``--check`` nothing is written; the status is 1 if a page is not what it would become.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from accl.constants import ErrorCode as AcclErrorCode
from dpu.error_codes import ErrorCode as DpuErrorCode
from offchip.environment import VARIABLES
from veo.enums import CommandState

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"

HEADER = """\
<!-- Made by docs/generate.py from {source}. -->

# {title}

"""

PURPOSES = {
    "veo": "veo",
    "dpu": "dpu",
    "accl": "accl",
    "accelforge": "accelforge",
    "offchip": "Several packages",
}

# What the keys of profile.c mean; their names and limits are read from there.
KEYS = {
    "softNrRanks": "number of simulated ranks; default 40",
    "softThreads": "host threads for launches and copies; 0, the default: all cores",
    "softMaxCycles": 'a launch that takes more cycles ends with "result timeout" and the pcs of'
    " its tasklets; 0, the default: no limit",
    "softPipelineCycles": "cycles between two instructions of a tasklet; default 11",
    "softDmaReadLatency": "cycles that a tasklet waits for a transfer from MRAM, whatever its"
    " size; default 73",
    "softDmaWriteLatency": "the same for a transfer to MRAM; default 57",
    "softDmaLatencyPerKiB": "cycles that it additionally waits per 1024 bytes; default 512",
    "softDmaSetup": "cycles that a transfer occupies the DMA engine, which handles one at a time;"
    " default 34",
    "softDmaEnginePerKiB": "cycles that it occupies it per 1024 bytes; default 521",
    "softDmaPageCrossing": "cycles that each boundary of 1024 bytes of MRAM in a transfer adds;"
    " default 25",
    "softDramRefreshInterval": "transfers stand still in the last cycles of each interval of a"
    " launch, as the DRAM is refreshed; default 10920",
    "softDramRefreshCycles": "how many these are; default 364, 0: no refresh",
    "softLaunchMicroseconds": "what a launch costs besides its cycles in modelled times;"
    " default 170",
    "softSwitches": "the switches below as one number: bits of `enum dpu_switch`",
    "softSmallIsProduct": "an alternative semantics of one instruction, as the three below;"
    " `csrc/dpu/machine/machine.h` describes them at `enum dpu_switch`",
    "softStepCopiesPair": "see `enum dpu_switch`",
    "softClrRunKeepsRunning": "see `enum dpu_switch`",
    "softClsCountsSign": "see `enum dpu_switch`",
    "softFaultStopsAccess": "a faulting load or store does not access memory",
    "softWram32Bits": "WRAM addresses beyond 24 bits are faults; else the upper 8 bits are ignored",
    "softUndecodableFaults": "a word that is not an instruction is a fault; else it does nothing",
    "softMram26Bits": "only the low 26 bits of MRAM addresses are used; else addresses beyond"
    " 64 MiB are faults",
    "softDmaAlignmentFaults": "DMA with an address that is not a multiple of 8 is a fault; else"
    " the low bits are ignored, as on UPMEM's simulator",
}


def format_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def read_values() -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the variables of the soft libveo with what they take, and with their defaults."""
    text = (ROOT / "csrc/veo/lib/variables.h").read_text()
    for kind, rest in re.findall(r"^    (NUMBER|SIZE|CHOICE)\((.*?)\)", text, re.MULTILINE):
        name, *values = (word.strip() for word in rest.split(","))
        if kind == "NUMBER":
            yield name, (f"{values[0]} to {values[1]}", values[2])
        elif kind == "SIZE":
            yield name, ("bytes, with suffix `K`, `M` or `G`", "what the machine has")
        else:
            words = values[0].strip('"').split("|")
            shown = ", ".join(f"`{word}`" for word in words if word)
            yield name, (shown, f"`{words[0]}`" if words[0] else "")


VALUES = dict(read_values())


def environment_page() -> str:
    """List the environment variables, package by package."""
    page = HEADER.format(source="offchip/environment.py", title="Environment variables")
    for package, group in groupby(VARIABLES, key=lambda item: item.package):
        rows = [
            (f"`{item.name}`", *VALUES.get(item.name, ("", "")), item.meaning) for item in group
        ]
        header = ("variable", "allowed", "default", "meaning")
        if not any(row[1] for row in rows):
            header, rows = ("variable", "meaning"), [(row[0], row[3]) for row in rows]
        page += f"## {PURPOSES[package]}\n\n{format_table(header, rows)}\n"
    page += (
        "A value of the soft libveo that is not allowed is an error that names variable, value and "
        "what is allowed, as soon as a process is created or nodes are counted. Other names that "
        "begin with `VEO_SOFT_` are told once, on stderr.\n"
    )
    return page.rstrip("\n") + "\n"


def read_profile_keys() -> Iterator[tuple[str, str]]:
    """Yield the keys of the simulator with the values that they take."""
    text = (ROOT / "csrc/dpu/lib/ranks/profile.c").read_text()
    limits = dict(re.findall(r"^#define (\w+_MAX) (\w+)", text, re.MULTILINE))
    limits |= {"UINT32_MAX": "2³²-1", "UINT64_MAX": "2⁶⁴-1"}
    for match in re.finditer(r'^    X\("(soft\w+)", (.*?)\)', text, re.MULTILINE):
        key, rest = match.groups()
        words = [word.strip() for word in rest.split(",")]
        if len(words) == 1:
            yield key, "`true` or `false`"
        else:
            yield key, " to ".join(limits.get(word, word) for word in words[2:])


def profile_page() -> str:
    """List the profile keys of the simulator."""
    page = HEADER.format(
        source="csrc/dpu/lib/ranks/profile.c", title="Profile keys of the simulator"
    )
    page += (
        "Keys of a profile of `dpu` that UPMEM's library does not have. [The guide]"
        "(../dpu.md#profiles) says where profiles\ncome from, and has UPMEM's own keys.\n\n"
    )
    rows = [(f"`{key}`", values, KEYS[key]) for key, values in read_profile_keys()]
    return page + format_table(("key", "values", "meaning"), rows)


def errors_page() -> str:
    """List the codes of errors and states."""
    page = HEADER.format(source="the packages' tables", title="Error codes")
    page += (
        "## dpu\n\nWhat functions of libdpu return; `DpuError.code` in Python. The numbers are"
        " those of UPMEM's 2025.1.\n"
        "Older versions number some differently; the texts are the same.\n\n"
    )
    header = (ROOT / "include/dpu/dpu_error.h").read_text()
    texts = dict(re.findall(r'X\((\w+), \d+,[\s\\]*"([^"]*)"', header))
    page += format_table(
        ("code", "name", "text"),
        [
            (int(code), f"`{code.name}`", texts[code.name.removeprefix("DPU_")])
            for code in DpuErrorCode
        ],
    )
    page += (
        "\n## accl\n\nBits of a return code, which an `ACCLError` has as `retcode`. The original"
        " does not have those from\nbit 27 on.\n\n"
    )
    page += format_table(
        ("bit", "name"),
        [(int(code).bit_length() - 1, f"`{code.name}`") for code in AcclErrorCode],
    )
    page += "\n## veo\n\nThe state of a request, which `veo_call_wait_result()` returns in C.\n\n"
    page += format_table(
        ("value", "name"), [(int(code), f"`VEO_{code.name}`") for code in CommandState]
    )
    return page


PAGES = {
    "environment.md": environment_page,
    "profile_keys.md": profile_page,
    "error_codes.md": errors_page,
}


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or say which are out of date."""
    old = []
    for name, make in PAGES.items():
        path, text = FOLDER / name, make()
        if path.exists() and path.read_text() == text:
            continue
        old.append(name)
        if "--check" not in arguments:
            path.write_text(text)
    if old and "--check" in arguments:
        print(f"out of date: {', '.join(old)}; run python docs/generate.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
