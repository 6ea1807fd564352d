# SPDX-License-Identifier: BSD-3-Clause
"""Assembles and links DPU programs: ``python -m dpu.asm SOURCE... -o PROGRAM``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..elf.format import IRAM_BASE
from . import AsmError, assemble_and_link
from .linker import CHIPS, Linked
from .printer import write_word
from .sources import Source

__all__ = ["main"]


def _define(text: str) -> tuple[str, str | None]:
    name, separator, value = text.partition("=")
    return name, value if separator else None


def _number(text: str) -> int:
    return int(text, 0)


def listing(linked: Linked) -> Iterator[str]:
    """Yield a line per instruction: its address, its word, and its source line."""
    for unit, section in linked.code:
        assert section.address is not None
        yield f"; {unit.name} {section.name}"
        lines = {one.offset: one.line for one in section.instructions}
        labels: dict[int, list[str]] = {}
        for symbol in unit.symbols.values():
            if symbol.section is section and symbol.name[0] != "\x01":
                labels.setdefault(symbol.offset, []).append(symbol.name)
        for offset in range(0, len(section.data), 8):
            for name in labels.get(offset, ()):
                yield f"{name}:"
            word = int.from_bytes(section.data[offset : offset + 8], "little")
            line = lines.get(offset)
            where = f"{line.number:5}  {line.text.strip()}" if line is not None else ""
            address = IRAM_BASE + section.address + offset
            yield f"{address:08x} {word:012x}  {write_word(word):40} {where}".rstrip()


def _write_listing(linked: Linked, file: str) -> None:
    text = "\n".join(listing(linked)) + "\n"
    if file == "-":
        print(text, end="")
    else:
        Path(file).write_text(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dpu.asm",
        description="Assemble and link DPU programs. Sources are run through the C preprocessor. "
        "If one defines main, start code is added that boots the tasklets and calls it.",
        epilog="Example: python -m dpu.asm --nr-tasklets 16 -o program main.s",
    )
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="files, or - for stdin")
    parser.add_argument("-o", "--output", default="a.out", help="the program (default: a.out)")
    parser.add_argument(
        "-D",
        dest="defines",
        action="append",
        default=[],
        metavar="NAME[=VALUE]",
        help="define a name for the preprocessor, and a symbol if it is a number",
    )
    parser.add_argument(
        "-I",
        dest="include_dirs",
        action="append",
        default=[],
        metavar="FOLDER",
        help="search for included files there",
    )
    parser.add_argument("--nr-tasklets", type=_number, metavar="N", help="number of tasklets")
    parser.add_argument("--stack-size", type=_number, metavar="N", help="stack bytes per tasklet")
    parser.add_argument("-mcpu", "--chip", default="v1A", choices=list(CHIPS), help="default: v1A")
    parser.add_argument(
        "--sizes", default="", metavar="KEYS", help="sizes of the chip, as in a profile"
    )
    parser.add_argument(
        "-nostartfiles",
        "--no-start-files",
        action="store_true",
        help="add no start code even if a source defines main",
    )
    parser.add_argument("--listing", metavar="FILE", help="write a listing, - to print it")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit status.
    """
    options = _parser().parse_args(arguments)
    sources: list[str | Source] = [
        Source("<stdin>", sys.stdin.read()) if name == "-" else name for name in options.sources
    ]
    try:
        linked = assemble_and_link(
            sources,
            defines=dict(map(_define, options.defines)),
            include_dirs=options.include_dirs,
            nr_tasklets=options.nr_tasklets,
            stack_size=options.stack_size,
            chip=options.chip,
            sizes=options.sizes,
            start_files=False if options.no_start_files else None,
        )
        Path(options.output).write_bytes(linked.write())
        if options.listing:
            _write_listing(linked, options.listing)
    except AsmError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1

    return 0


if __name__ == "__main__":
    sys.exit(main())
