# SPDX-License-Identifier: BSD-3-Clause
"""Converts placed sections and symbols to those of the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..elf.format import ATOMIC_BASE, IRAM_BASE, MRAM_BASE, Binding, SectionFlags, SectionType
from ..elf.format import SymbolType as Kind
from ..elf.writer import Section as ElfSection
from ..elf.writer import Symbol as ElfSymbol
from .expressions import ExpressionError, evaluate
from .unit import Place, Section, Symbol, Unit, shown_name

if TYPE_CHECKING:
    from .linker import Linker

__all__ = ["make_sections", "make_symbols"]

_WRITE = SectionFlags.ALLOC | SectionFlags.WRITE
_EXECUTE = SectionFlags.ALLOC | SectionFlags.EXECUTE

_BASES = {
    Place.TEXT: IRAM_BASE,
    Place.MRAM: MRAM_BASE,
    Place.MRAM_NOINIT: MRAM_BASE,
    Place.ATOMIC: ATOMIC_BASE,
}
# Sections whose symbols the host sees.
_FOR_HOST = (Place.HOST, Place.MRAM, Place.MRAM_NOINIT, Place.ATOMIC)
# Symbols of the linker that are in every program.
_ALWAYS = frozenset(["NR_TASKLETS", "__sys_used_mram_end", "__sys_heap_pointer_reset"])


def _filled(
    name: str,
    start: int,
    end: int,
    parts: Sequence[tuple[Unit, Section]],
    base: int = 0,
    flags: SectionFlags = _WRITE,
    alignment: int = 8,
) -> ElfSection:
    data = bytearray(end - start)
    for _, section in parts:
        assert section.address is not None
        place = section.address - start
        data[place : place + section.size] = section.data
    return ElfSection(
        name=name, address=base + start, data=bytes(data), flags=flags, alignment=alignment
    )


def _empty(name: str, start: int, end: int, base: int = 0, alignment: int = 8) -> ElfSection:
    return ElfSection(
        name=name,
        address=base + start,
        size=end - start,
        type=SectionType.NOBITS,
        flags=_WRITE,
        alignment=alignment,
    )


def make_sections(linker: Linker) -> list[ElfSection]:
    """Return the sections of the file."""
    parts = linker.parts
    found = [
        _filled(".text", 0, linker.code_end, linker.linked.code, IRAM_BASE, _EXECUTE),
        _empty(".atomic", 0, linker.atomic_end, ATOMIC_BASE, 1),
        _filled(".data", 0, linker.host_start, parts(Place.IMMEDIATE, Place.DATA)),
        _filled(Place.HOST.value, linker.host_start, linker.profiling_start, parts(Place.HOST)),
    ]
    profiling = parts(Place.PROFILING)
    if profiling:
        start, end = linker.profiling_start, linker.stacks_start
        found.append(_filled(Place.PROFILING.value, start, end, profiling, alignment=4))

    found += [
        _empty(".data.stacks", linker.stacks_start, linker.stacks_end),
        _empty(".data.sw_cache", linker.stacks_end, linker.wram_end),
        _empty(".data.heap_pointer_reset", linker.wram_end, linker.wram_end),
        _empty(".mram.noinit", 0, linker.mram_start, MRAM_BASE),
        _filled(".mram", linker.mram_start, linker.mram_end, parts(Place.MRAM), MRAM_BASE),
    ]
    return found


def make_symbols(linker: Linker) -> list[ElfSymbol]:
    """Return the symbols of the file; record errors as problems of the linker."""
    found = []
    for unit in linker.units:
        found.append(ElfSymbol(name=unit.name, value=0, type=Kind.FILE, binding=Binding.LOCAL))
        sizes = _implied_sizes(unit)
        for symbol in unit.symbols.values():
            if not symbol.is_defined or symbol.name.startswith(("\x01", ".L")):
                continue
            winner = linker.globals.get(symbol.name)
            if symbol.binding is not Binding.LOCAL and winner and winner[1] is not symbol:
                continue
            try:
                made = _make(linker, unit, symbol, sizes)
            except ExpressionError as error:
                linker.problem(f"{shown_name(symbol.name)!r}: {error}", symbol.location)
                continue
            if made is not None:
                found.append(made)

    for name, (value, section) in linker.provided.items():
        if name in _ALWAYS or name in linker.used:
            found.append(ElfSymbol(name=name, value=value % (1 << 32), section=section))

    return found


def _make(linker: Linker, unit: Unit, symbol: Symbol, sizes: dict[str, int]) -> ElfSymbol | None:
    section = symbol.section
    value = linker.value(unit, symbol).number
    size, kind = 0, symbol.type
    if symbol.size is not None:
        size = evaluate(symbol.size, linker.resolve_in(unit)).number
    name = None
    if section is not None:
        if section.place is Place.NOWHERE:
            return None
        name = ".data" if section.place is Place.IMMEDIATE else section.place.value
        if section.is_code:
            value *= 8
            # Differences of labels are in instructions, sizes in bytes.
            size *= 1 if isinstance(symbol.size, int) else 8
        value += _BASES.get(section.place, 0)
        if symbol.size is None and symbol.name in sizes:
            size, kind = sizes[symbol.name], Kind.OBJECT

    if not 0 <= size < 1 << 32:
        raise ExpressionError(f"its size would be {size}")
    return ElfSymbol(
        name=symbol.name,
        value=value % (1 << 32),
        size=size,
        section=name,
        type=kind,
        binding=symbol.binding,
        visibility=symbol.visibility,
    )


def _implied_sizes(unit: Unit) -> dict[str, int]:
    """Return the sizes of host-visible symbols: the bytes up to the next label."""
    found = {}
    by_section: dict[Section, list[Symbol]] = {}
    for symbol in unit.symbols.values():
        if symbol.section is not None and symbol.section.place in _FOR_HOST:
            by_section.setdefault(symbol.section, []).append(symbol)
    for section, symbols in by_section.items():
        symbols.sort(key=lambda symbol: symbol.offset)
        end = following = section.size
        for symbol in reversed(symbols):
            if symbol.offset != following:
                end, following = following, symbol.offset
            found[symbol.name] = end - symbol.offset
    return found
