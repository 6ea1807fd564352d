# SPDX-License-Identifier: BSD-3-Clause
"""The assembler and linker of DPU programs.

`assemble` turns sources in the DPU's assembly language into a program that can be loaded.
``python -m dpu.asm`` does the same from a shell.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import AsmError, Location, Problem
from .sources import Readable, Source, preprocess, read_source

# The C toolchain uses `lines` of this package; it starts sooner without the assembler.
if TYPE_CHECKING:
    from .chips import Chip
    from .linker import Linked
    from .unit import Unit

__all__ = ["AsmError", "Location", "Problem", "Source", "assemble", "assemble_and_link"]

_NUMBER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|\d+)")

AnySource = str | os.PathLike[str] | Source | Readable


def assemble(
    sources: AnySource | Sequence[AnySource],
    output: str | os.PathLike[str] | None = None,
    *,
    defines: Mapping[str, object] | None = None,
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    nr_tasklets: int | None = None,
    stack_size: int | None = None,
    chip: str = "v1A",
    sizes: str = "",
    start_files: bool | None = None,
) -> bytes:
    """Assemble and link a program.

    Parameters
    ----------
    sources : path, file, Source, or a sequence of them
        Open files are text; text and files named ``.S`` go through the C preprocessor, other
        files do not.
    output : path, optional
        Where to write the program.
    defines : mapping, optional
        Names for the preprocessor with their values, None for none. Numbers also become symbols
        of the program.
    include_dirs : sequence of paths, optional
        Where included files are searched for, after the folder of the source.
    nr_tasklets : int, optional
        How many tasklets run main; by default NR_TASKLETS of the sources, or else 1.
    stack_size : int, optional
        Bytes of stack per tasklet; by default STACK_SIZE_DEFAULT of the sources, or else 1024.
    chip : str
        ``v1A`` or ``v1B``.
    sizes : str
        Profile keys of its sizes, such as ``softWramKiB=32``, where they are others.
    start_files : bool, optional
        Whether to add code that starts all tasklets and calls main. By default it is added if the
        sources define main but not ``__bootstrap``; otherwise the program starts at its first
        instruction, in one tasklet.

    Returns
    -------
    bytes
        The program, an ELF file.

    Raises
    ------
    AsmError
        If the sources are wrong or do not fit a DPU.
    OSError
        If the output cannot be written.
    """
    linked = assemble_and_link(
        sources,
        defines=defines,
        include_dirs=include_dirs,
        nr_tasklets=nr_tasklets,
        stack_size=stack_size,
        chip=chip,
        sizes=sizes,
        start_files=start_files,
    )
    program = linked.write()
    if output is not None:
        Path(output).write_bytes(program)
    return program


def assemble_and_link(
    sources: AnySource | Sequence[AnySource],
    *,
    defines: Mapping[str, object] | None = None,
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    nr_tasklets: int | None = None,
    stack_size: int | None = None,
    chip: str = "v1A",
    sizes: str = "",
    start_files: bool | None = None,
) -> Linked:
    """Assemble and link a program; return it before it is written."""
    from .assembler import assemble_unit
    from .chips import CHIPS, chip_with
    from .linker import link

    if chip not in CHIPS:
        raise AsmError(f"unknown chip {chip!r}: {', '.join(CHIPS)}")
    try:
        limits = chip_with(chip, sizes)
    except ValueError as error:
        raise AsmError(str(error)) from None
    if isinstance(sources, (str, os.PathLike, Source)) or hasattr(sources, "read"):
        sources = [sources]
    units: list[Unit] = []
    for index, one in enumerate(sources):
        text = preprocess(read_source(one, index), defines or {}, include_dirs)
        units.append(assemble_unit(text, include_dirs, _symbols_of(defines or {}, nr_tasklets)))
    if not units:
        raise AsmError("no sources given")
    problems = [problem for unit in units for problem in unit.problems]
    if problems:
        raise AsmError(problems)
    if start_files is None:
        start_files = _defines(units, "main") and not _defines(units, "__bootstrap")
    if start_files:
        units.append(_bootstrap(units, limits))
    return link(units, chip=limits, nr_tasklets=nr_tasklets, stack_size=stack_size)


def _symbols_of(defines: Mapping[str, object], nr_tasklets: int | None) -> dict[str, int]:
    """Return the definitions whose value is a number."""
    found = {}
    for name, value in defines.items():
        if value is not None and _NUMBER.fullmatch(str(value).strip()):
            found[name] = int(str(value), 0)
    if nr_tasklets is not None:
        found["NR_TASKLETS"] = nr_tasklets
    return found


def _defines(units: list[Unit], name: str) -> bool:
    return any(name in unit.symbols and unit.symbols[name].section is not None for unit in units)


def _bootstrap(units: list[Unit], chip: Chip) -> Unit:
    """Assemble the start code, which calls main even if that is not global."""
    from ..elf.format import Binding
    from .assembler import assemble_unit
    from .bootstrap import bootstrap_source
    from .unit import Place

    for unit in units:
        main = unit.symbols.get("main")
        if main is not None and main.is_defined and main.binding is Binding.LOCAL:
            main.binding = Binding.GLOBAL
    text = bootstrap_source(
        tasklets=chip.table_rows,
        has_output=_defines(units, "__stdout_buffer_state"),
        has_atomic_bits=any(
            section.size
            for unit in units
            for section in unit.sections.values()
            if section.place is Place.ATOMIC
        ),
    )
    return assemble_unit(Source("<bootstrap>", text, preprocess=False))
