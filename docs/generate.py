# SPDX-License-Identifier: BSD-3-Clause
"""Write the reference pages that are made from tables in the code.

usage: python docs/generate.py [--check] [PAGE ...]
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import groupby
from pathlib import Path
from types import ModuleType

from man_pages import COMMANDS as MANUALS
from man_pages import manual_page
from peers import draw

from accl.constants import ErrorCode as AcclErrorCode
from accl.environment import SETTINGS
from buildtools.c_lists import read_list
from dpu.error_codes import ErrorCode as DpuErrorCode
from offchip.completion import COMMANDS
from offchip.environment import VARIABLES
from offchip.error_pages import PAGES as ERROR_PAGES
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

VARIABLES_FILE = "csrc/dpu/lib/core/variables.h"
KEYS_FILE = "csrc/dpu/lib/ranks/configuration_keys.h"
OPTIONS_FILE = "csrc/dpu/machine/options.h"


RULE = """\
Programs may rely on what is listed here, on the members of these classes that begin with no
underscore, on the C functions of [libveo](../veo.md), [libdpu](../dpu.md) and
[libaccl](../accl.md), and on the commands with their options. One of them is taken away no sooner
than two minor releases after a release whose [changelog](../changelog.md) says so and names what to
use instead; in Python its use raises a DeprecationWarning meanwhile. What the vendors' own
interfaces define stays. All other names may change at any time.
"""


def format_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def read_values() -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the variables of the soft libveo with what they take, and with their defaults."""
    text = (ROOT / "csrc/veo/lib/variables.h").read_text()
    pattern = r"^    (NUMBER|SIZE|CHOICE|FILE|COMMAND|FOLDER|CHECKS)\((.*?)\)"
    for kind, rest in re.findall(pattern, text, re.MULTILINE):
        name, *values = (word.strip() for word in rest.split(","))
        if kind == "NUMBER":
            yield name, (f"{values[0]} to {values[1]}", values[2])
        elif kind == "SIZE":
            yield name, ("bytes, with suffix `K`, `M` or `G`", "what the machine has")
        elif kind == "FILE":
            yield name, ("a file that can be written, or `-` for stderr", "no report")
        elif kind == "FOLDER":
            yield name, ("a folder", "one in the data folder")
        elif kind == "CHECKS":
            allowed = "`all`, or names with commas between them, also `exit=`, `log=`, `ignore=`"
            yield name, (allowed, "no checks")
        elif kind == "COMMAND":
            yield name, ("a command; empty: none", "gcc, clang, cc or zig")
        else:
            words = values[0].strip('"').split("|")
            shown = ", ".join(f"`{word}`" for word in words if word)
            yield name, (shown, f"`{words[0]}`" if words[0] else "")


VALUES = dict(read_values())


def environment_page() -> str:
    """List the environment variables, package by package."""
    page = HEADER.format(
        source=f"offchip/environment.py, accl/environment.py and {VARIABLES_FILE}",
        title="Environment variables",
    )
    columns = {name: rest for name, *rest in read_list(VARIABLES_FILE, "DPULIB_VARIABLES")}
    columns |= {name: [*setting.columns] for name, setting in SETTINGS.items()}
    for package, group in groupby(VARIABLES, key=lambda item: item.package):
        rows = [
            (f"`{item.name}`", *columns[item.name])
            if item.name in columns
            else (f"`{item.name}`", *VALUES.get(item.name, ("", "")), item.meaning)
            for item in group
        ]
        header: tuple[str, ...] = ("variable", "allowed", "default", "meaning")
        if not any(row[1] for row in rows):
            header, rows = ("variable", "meaning"), [(row[0], row[3]) for row in rows]
        page += f"## {PURPOSES[package]}\n\n{format_table(header, rows)}\n"
    page += (
        "A value that a soft library cannot use is an error that names variable, value and what is "
        "allowed: no process is created, no DPU allocated. Other names that begin with `VEO_SOFT_` "
        "are told once, on stderr.\n"
    )
    return page.rstrip("\n") + "\n"


def read_keys(*lists: tuple[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the keys of a profile with values, default and meaning, from lists in files."""
    names = {"DPULIB_RANKS_MAX": "4096", "DPU_MAX_NR_DPUS_PER_CI": "8"}
    names |= {"UINT32_MAX": "2³²-1", "UINT64_MAX": "2⁶⁴-1"}
    names |= dict(re.findall(r"#define (\w+_MOST) (\d+)", (ROOT / OPTIONS_FILE).read_text()))
    for path, name in lists:
        for key, *columns, default, meaning in read_list(path, name):
            values = columns[-1]
            if name.endswith("_NUMBERS"):
                values = f"{columns[-2]} to {names.get(values, values)}"
            yield f"`{key}`", values, default, meaning


def profile_page() -> str:
    """List the profile keys."""
    page = HEADER.format(source=f"{OPTIONS_FILE} and {KEYS_FILE}", title="Profile keys")
    page += (
        "Keys of a profile of `dpu`. [The guide](../dpu.md#profiles) says where profiles come from."
        " A value that is not\nallowed is an error. So is a key that begins with `soft` and is not"
        " here; other unknown keys are told on stderr.\n\n"
    )
    head = ("key", "values", "default", "meaning")
    vendors = read_keys(
        (KEYS_FILE, "DPULIB_VENDOR_NUMBERS"),
        (KEYS_FILE, "DPULIB_VENDOR_WORDS"),
    )
    page += f"## UPMEM's\n\n{format_table(head, vendors)}\n"
    switches = [
        (f"`{key}`", "true or false", "false", meaning)
        for key, _, meaning in read_list(KEYS_FILE, "DPULIB_SOFT_SWITCHES")
    ]
    ours = read_keys(
        (KEYS_FILE, "DPULIB_SOFT_NUMBERS"),
        (OPTIONS_FILE, "DPU_MACHINE_NUMBERS"),
        (KEYS_FILE, "DPULIB_SOFT_WORDS"),
    )
    rows = [*ours, *switches]
    page += f"## The simulator's\n\n{format_table(head, rows)}\n"
    ignored = [
        (f"`{key}`", "yes" if told == "true" else "no", why)
        for key, told, why in read_list(KEYS_FILE, "DPULIB_IGNORED_KEYS")
    ]
    page += "## Without effect\n\nKeys of UPMEM's that change nothing here.\n\n"
    return page + format_table(("key", "told on stderr", "why"), ignored)


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
    page += "\n## Pages that explain errors\n\nTracebacks and commands name them.\n\n"
    rows = [
        (f"`{name.rpartition('.')[2]}`", f"[{page_of}](../{page_of.removeprefix('docs/')})")
        for name, page_of in ERROR_PAGES.items()
    ]
    return page + format_table(("error, and those derived from it", "page"), rows)


COLUMNS = ("operation", "mnemonic", "format", "mask", "match", "operands", "masking", "causes")
MASKINGS = {"PLAIN": "", "MASKED": "m", "PAIR": "m, a pair"}


def escape(code: str) -> str:
    """Format code for a cell of a table."""
    return f"`{code}`".replace("|", "\\|") if code else ""


def read_instructions(file: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a table of the Vector Engine's instructions."""
    for line in (ROOT / "csrc/veo/isa" / file).read_text().splitlines():
        if line.startswith("INSTRUCTION("):
            cells = re.findall(r'"([^"]*)"|([\w]+)', line.removeprefix("INSTRUCTION("))
            yield dict(zip((*COLUMNS, "meaning"), (a or b for a, b in cells), strict=True))


def instructions_page() -> str:
    """List the instructions of the Vector Engine."""
    folder = "csrc/veo/isa"
    page = HEADER.format(source=f"{folder}/*.def", title="Instructions of the Vector Engine")
    text = (ROOT / folder / "instructions.def").read_text()
    # The columns as the table describes them.
    legend = re.search(r"mnemonic   .*?(?= \*/)", text, re.DOTALL)
    assert legend is not None
    described = re.sub(r"^ \* ?", "", legend[0], flags=re.MULTILINE)
    page += "What the machine of `veo` executes, and in which words it is written:\n\n"
    page += f"```text\n{described.rstrip()}\n```\n"
    for title, file in (("Scalar", "scalar.def"), ("Vector", "vector.def")):
        rows = [
            (
                f"`{row['mnemonic']}`",
                escape(row["operands"]),
                MASKINGS[row["masking"]],
                f"{int(row['match'], 16) >> 56:02x}",
                escape(row["meaning"]),
            )
            for row in read_instructions(file)
        ]
        head = ("mnemonic", "operands", "mask", "opcode", "meaning")
        page += f"\n## {title}\n\n{format_table(head, rows)}"
    names = re.findall(r'^VE3\("(.+?)"', (ROOT / folder / "ve3.def").read_text(), re.MULTILINE)
    page += "\n## Only of the VE3\n\nKnown by name, and refused when they are executed.\n\n"
    return page + ", ".join(f"`{name}`" for name in dict.fromkeys(names)) + "\n"


def public_modules() -> dict[str, list[str]]:
    """List the modules that the reference pages document, page by page."""
    pages = (FOLDER / f"{name}.md" for name in ("veo", "dpu", "accl", "accelforge", "offchip"))
    return {
        page.stem: re.findall(r"^\.\. automodule:: (\S+)", page.read_text(), re.MULTILINE)
        for page in pages
    }


def public_names(module: ModuleType) -> list[str]:
    """List the public names of a module."""
    names = getattr(module, "__all__", None) or [n for n in vars(module) if n[:1] != "_"]
    return [name for name in sorted(names) if not isinstance(getattr(module, name), ModuleType)]


def names_page() -> str:
    """List the public names, so that no change of them goes unseen.

    Members stand in the classes alone, or in their stubs, which show changes of them.
    """
    page = HEADER.format(source="the packages", title="Public names")
    page += RULE
    for package, modules in public_modules().items():
        page += f"\n## {PURPOSES[package]}\n"
        for name in modules:
            names = "".join(f"* `{one}`\n" for one in public_names(import_module(name)))
            page += f"\n### {name}\n\n{names}"
    return page


#: What commands that can take more than two seconds show meanwhile; the others end sooner.
PROGRESS = {
    "offchip selftest": "a line per check; with `--json` the time, on a terminal",
    "offchip demo": "stages, and on a terminal their time",
    "offchip bench": "a line per measurement, and on a terminal the time",
    **dict.fromkeys(
        ("python -m dpu.profile", "dpu-profiling", "python -m offchip.trace", "python -m dpu.gdb"),
        "what the program prints",
    ),
    "python -m dpu.hosts": "what the program prints",
    "python -m dpu.serve": "none: it serves until a signal",
    "python -m dpu.study": "the time, on a terminal",
    "python -m accl.as_pyaccl": "what the program prints",
    **dict.fromkeys(
        ("dpu-clang", "dpu-upmem-dpurte-clang", "dpu-upmem-dpurte-clang++"), "none, as compilers"
    ),
    "python -m veo.static_worker": "none, as linkers",
}


def commands_page() -> str:
    """List what each command offers: JSON, completion and progress."""
    page = HEADER.format(
        source="docs/commands.md, offchip/completion.py and itself", title="Commands and comforts"
    )
    page += (
        "Options are completed in shells by the extra `completion`; progress is shown by what can"
        " take more than two seconds. [Commands](../commands.md) has exit statuses.\n\n"
    )
    rows = []
    for line in (ROOT / "docs/commands.md").read_text().splitlines():
        if not line.startswith("| `"):
            continue
        names, says = re.sub(r"\(.*?\)", "", line).strip("|").split("|")[:2]
        for name in re.findall(r"`([^`]+)`", names):
            has_json = "no" if says.strip().startswith("no:") else "yes"
            completes = "yes" if name.split()[0] in COMMANDS else "no"
            rows.append((f"`{name}`", has_json, completes, PROGRESS.get(name, "")))
    lost = PROGRESS.keys() - {row[0].strip("`") for row in rows}
    assert not lost, f"no such commands: {', '.join(lost)}"
    return page + format_table(("command", "`--json`", "completion", "progress"), rows)


PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands_page,
    "public_names.md": names_page,
    "ve_instructions.md": instructions_page,
    "environment.md": environment_page,
    "profile_keys.md": profile_page,
    "error_codes.md": errors_page,
    "../images/peers.svg": draw,
    **{f"../man/{command.page}.1": partial(manual_page, command) for command in MANUALS},
}


def main(arguments: Sequence[str]) -> int:
    """Write pages, or say which are out of date."""
    names = {Path(name).stem: name for name in PAGES}
    parser = argparse.ArgumentParser(
        prog="python docs/generate.py",
        description="Write the reference pages that are made from tables in the code.",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; the status is 1 if a page is not what it would become",
    )
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help=f"{', '.join(names)}; all of them by default"
    )
    options = parser.parse_args(arguments)
    unknown = [page for page in options.pages if page not in names]
    if unknown:
        parser.error(f"no page {', '.join(unknown)}: there are {', '.join(names)}")

    old = []
    for page in options.pages or names:
        path, text = FOLDER / names[page], PAGES[names[page]]()
        if path.exists() and path.read_text() == text:
            continue
        old.append(page)
        if not options.check:
            path.write_text(text)
            print(f"wrote {path.resolve().relative_to(ROOT)}")
    if old and options.check:
        print(f"out of date: run python docs/generate.py {' '.join(old)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
