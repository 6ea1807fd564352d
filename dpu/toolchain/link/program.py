# SPDX-License-Identifier: BSD-3-Clause
"""A DPU program of a linked RISC-V file: code is translated, data gets the DPU's addresses."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ...asm.elf_writer import (
    ATOMIC_BASE,
    IRAM_BASE,
    MRAM_BASE,
    Binding,
    Section,
    SectionFlags,
    SectionType,
    Symbol,
    SymbolType,
    write,
)
from ...asm.lines import SECTION, LineTable, read_lines
from ..elf_reader import ElfFile, ElfRelocation, ElfSection, ElfSymbol
from ..errors import ToolchainError
from ..ir.code import Code, Label
from ..passes.arithmetic import write_routines
from ..passes.constants import fold_constants
from ..passes.peephole import optimise
from ..passes.products import pair_products
from ..stacks import Stacks
from ..translate.rv32 import Relocation
from ..translate.translate import Reference, Translator, code_label
from .layout import check_data, check_text
from .line_table import line_section
from .start import write_start

__all__ = ["Program", "make_program"]

_START_LABEL, _ROUTINES_LABEL = Label("program", "start"), Label("program", "routines")
# The simulator knows it by this name, to tell who divided by zero.
_ARITHMETIC = "__multiply_divide"
_OWN_LABELS = (".L", "$")
_ATOMIC_BITS = 0xFFFF
# Relocations of code that the instruction's own bits tell.
_IN_PLACE = frozenset([Relocation.BRANCH, Relocation.JAL, Relocation.RELAX])


@dataclass(frozen=True)
class Program:
    """A DPU program: its file, its instructions, and the functions with where they are."""

    elf: bytes
    words: tuple[int, ...]
    functions: dict[str, tuple[int, int]]


def make_program(linked: ElfFile, stacks: Stacks) -> Program:
    """Translate what the linker made.

    Parameters
    ----------
    linked : ElfFile
        Linked with `linker_script` and with its relocations.
    stacks : Stacks
        Those that the linker script was made for.

    Raises
    ------
    ToolchainError
        If something does not fit, or has no counterpart on the DPU.
    """
    stacks.check()
    check_data(linked, stacks)
    return _Maker(linked, stacks).make()


class _Maker:
    def __init__(self, linked: ElfFile, stacks: Stacks) -> None:
        self.linked = linked
        self.stacks = stacks
        self.code = Code()
        text = linked.section(".text")
        if text is None or not text.data:
            raise ToolchainError("the program has no code: main is not defined")
        self.text = text
        for section in linked.sections:
            known = section is text or section.name.startswith((".data", ".mram", ".atomic"))
            if section.is_allocated and section.size and not known:
                raise ToolchainError(
                    f"section {section.name!r} ({section.size} bytes) has no place in a DPU: "
                    "there are .data, .dpu_host, .mram, .mram.noinit and .atomic"
                )

    def make(self) -> Program:
        self._translate()
        words = tuple(self.code.words())
        functions = self._functions()
        check_text(len(words), ((name, size) for name, (_, size) in functions.items()), self.stacks)
        sections = [
            Section(
                name=".text",
                address=IRAM_BASE,
                data=struct.pack(f"<{len(words)}Q", *words),
                flags=SectionFlags.ALLOC | SectionFlags.EXECUTE,
                alignment=8,
            ),
            Section(
                name=".atomic",
                address=ATOMIC_BASE,
                size=self.linked.symbol("__atomic_used_addr").value - ATOMIC_BASE,
                type=SectionType.NOBITS,
            ),
        ]
        sections += [
            self._section(section)
            for section in self.linked.sections
            if section.is_allocated and section.name.startswith((".data", ".mram"))
        ]
        names = {section.name for section in sections}
        lines = line_section(self.linked, self.text, self.code)
        if lines is not None:
            sections.append(lines)
        return Program(
            write(sections, self._symbols(names), chip=self.stacks.chip), words, functions
        )

    def _translate(self) -> None:
        code, base = self.code, self.text.address
        relocations = self.linked.relocations.get(self.text.index, [])
        references = {
            relocation.address: Reference(relocation.kind, self._value(relocation))
            for relocation in relocations
            if relocation.kind not in _IN_PLACE
        }
        for reference in references.values():
            if reference.kind not in (Relocation.CALL, Relocation.CALL_PLT):
                self._may_be_entered(reference.value)
        for symbol in self.linked.symbols:
            # The compiler's own labels are where lines begin; nobody else can know of them.
            name = symbol.name
            if symbol.section is self.text and name and not name.startswith(_OWN_LABELS):
                code.entries.add(code_label(symbol.value))
        for section in self.linked.sections:
            if section.is_allocated and section is not self.text:
                for relocation in self.linked.relocations.get(section.index, []):
                    self._may_be_entered(self._value(relocation))

        main = code_label(self.linked.symbol("main").value)
        code.place(_START_LABEL)
        write_start(code, self.linked, self.stacks.tasklets, main)
        translator = Translator(code, base, references, self._describe)
        translator.run(self.text.data)
        pair_products(code)
        routines = fold_constants(code)
        code.place(_ROUTINES_LABEL)
        write_routines(code, routines)
        optimise(code)

    def _may_be_entered(self, value: int | Label) -> None:
        if isinstance(value, Label):
            self.code.entries.add(value)

    def _value(self, relocation: ElfRelocation) -> int | Label:
        """Return the label, or the address as instructions have it, that a relocation is for."""
        value = relocation.symbol.value + relocation.addend & 0xFFFF_FFFF
        section = relocation.symbol.section
        if section is self.text:
            return code_label(value)
        if section is not None and section.name == ".atomic":
            return value & _ATOMIC_BITS
        in_mram = section is not None and section.name.startswith(".mram")
        if in_mram or relocation.symbol.name == "__sys_used_mram_end":
            return value - MRAM_BASE
        return value

    def _describe(self, address: int) -> str:
        function = self.linked.function_at(address)
        if function is None:
            return f"at {address:#x}"
        section = self.linked.section(SECTION)
        row = LineTable(read_lines(section.data)).find(address) if section is not None else None
        if row is not None:
            return f"{row.file}:{row.line}: error: in {function.name}"
        return f"in {function.name}, {address - function.value} bytes into it"

    def _section(self, section: ElfSection) -> Section:
        flags = SectionFlags.ALLOC | SectionFlags.WRITE
        if section.kind == SectionType.NOBITS and section.name != ".data":
            return Section(
                name=section.name,
                address=section.address,
                size=section.size,
                type=SectionType.NOBITS,
                flags=flags,
            )
        data = bytearray(section.data or bytes(section.size))
        for relocation in self.linked.relocations.get(section.index, []):
            if relocation.kind == 54:
                continue
            if relocation.kind != Relocation.WORD:
                raise ToolchainError(
                    f"{section.name} has a relocation of kind {relocation.kind} for "
                    f"{relocation.symbol.name or 'code'}, which data of a DPU cannot have"
                )
            value = self._value(relocation)
            number = self.code.position(value) if isinstance(value, Label) else value
            place = relocation.address - section.address
            struct.pack_into("<I", data, place, number & 0xFFFF_FFFF)
        if section.name == ".data":
            self._fill_stack_table(data)
        return Section(name=section.name, address=section.address, data=bytes(data), flags=flags)

    def _fill_stack_table(self, data: bytearray) -> None:
        """Put size and top of every stack where the start loads them as a pair."""
        table = self.linked.symbol("__sys_thread_stack_table_ptr").value
        for tasklet in range(self.stacks.tasklets):
            size = self.stacks.of(tasklet)
            top = self.linked.symbol(f"__sys_stack_thread_{tasklet}").value + size
            struct.pack_into("<II", data, table + 8 * tasklet, size, top)

    def _position_of(self, address: int) -> int:
        return self.code.position(code_label(address))

    def _functions(self) -> dict[str, tuple[int, int]]:
        """Return where functions begin and how many instructions they have."""
        start = self.code.position(_START_LABEL)
        found = {"__bootstrap": (start, self._position_of(self.text.address) - start)}
        for symbol in self.linked.symbols:
            if symbol.section is self.text and symbol.type == SymbolType.FUNC:
                begin = self._position_of(symbol.value)
                end = self._position_of(symbol.value + symbol.size)
                found[symbol.name] = (begin, end - begin)
        routines = self.code.position(_ROUTINES_LABEL)
        if routines < len(self.code.items):
            found[_ARITHMETIC] = (routines, len(self.code.items) - routines)
        return found

    def _symbols(self, sections: set[str]) -> list[Symbol]:
        symbols = [
            Symbol(name="__bootstrap", value=IRAM_BASE, section=".text", type=SymbolType.FUNC)
        ]
        for symbol in self.linked.symbols:
            if symbol.is_defined and _is_kept(symbol):
                symbols.append(self._symbol(symbol, sections))
        begin, count = self._functions().get(_ARITHMETIC, (0, 0))
        if count:
            symbols.append(
                Symbol(
                    name=_ARITHMETIC,
                    value=IRAM_BASE + 8 * begin,
                    size=8 * count,
                    section=".text",
                    type=SymbolType.FUNC,
                    binding=Binding.LOCAL,
                )
            )
        return symbols

    def _symbol(self, symbol: ElfSymbol, sections: set[str]) -> Symbol:
        value, size = symbol.value, symbol.size
        section = symbol.section.name if symbol.section is not None else None
        if symbol.section is self.text:
            begin = self._position_of(value)
            size = 8 * (self._position_of(value + size) - begin)
            value = IRAM_BASE + 8 * begin
        return Symbol(
            name=symbol.name,
            value=value,
            size=size,
            section=section if section in sections else None,
            type=SymbolType(symbol.type),
            binding=Binding(symbol.binding),
        )


def _is_kept(symbol: ElfSymbol) -> bool:
    """Tell whether a symbol is of use for the host or for a debugger."""
    if not symbol.name or symbol.binding > Binding.WEAK or symbol.type > SymbolType.FUNC:
        return False
    return symbol.binding != Binding.LOCAL or symbol.type != SymbolType.NOTYPE
