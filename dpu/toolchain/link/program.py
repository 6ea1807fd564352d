# SPDX-License-Identifier: BSD-3-Clause
"""Makes a DPU program of a linked RISC-V file: translates code, gives data the DPU's addresses."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ...asm.lines import SECTION, LineTable, read_lines
from ...elf.format import (
    ATOMIC_BASE,
    IRAM_BASE,
    MRAM_BASE,
    Binding,
    SectionFlags,
    SectionType,
    SymbolType,
)
from ...elf.reader import ElfFile, ElfRelocation, ElfSection, ElfSymbol
from ...elf.writer import Section, Symbol, write
from ..errors import ToolchainError, TranslationError
from ..ir.code import Code
from ..ir.operands import Label, LabelKind, code_label
from ..passes.arithmetic import write_routines
from ..passes.constants import fold_constants
from ..passes.peephole import optimise
from ..passes.product_pairs import pair_products
from ..stacks import Stacks
from ..translate.assembly import AssemblyReader
from ..translate.conventions import Conventions
from ..translate.relocations import (
    CALLS,
    RESOLVED_IN_DATA,
    RESOLVED_IN_TEXT,
    Reference,
    Relocation,
    type_of,
)
from ..translate.translator import Translator
from .debug_info import debug_sections
from .layout import check_data, check_text
from .register_values import Snapshot
from .start import END, END_NAME, write_start

__all__ = ["Program", "make_program"]

_START, _ROUTINES = Label(LabelKind.PART, "start"), Label(LabelKind.PART, "routines")
# The simulator knows the routines by this name, to report which function divided by zero.
_ARITHMETIC = "__multiply_divide"
# Labels of the compiler: nothing outside their file knows them.
_LOCAL_PREFIXES = (".L", "$")
_ATOMIC_BITS = 0xFFFF
_DATA_SECTIONS = (".data", ".mram")


@dataclass(frozen=True)
class Program:
    """A DPU program.

    Parameters
    ----------
    elf : bytes
        Its file.
    words : tuple of int
        Its instructions.
    functions : dict of str to tuple of int
        The first instruction and the number of instructions of each function.
    """

    elf: bytes
    words: tuple[int, ...]
    functions: dict[str, tuple[int, int]]


def make_program(linked: ElfFile, stacks: Stacks) -> Program:
    """Translate the output of the linker.

    Parameters
    ----------
    linked : ElfFile
        Linked with `linker_script`, with its relocations.
    stacks : Stacks
        What the linker script was made for.

    Raises
    ------
    ToolchainError
        If something does not fit, or has no counterpart on the DPU.
    """
    stacks.check()
    check_data(linked, stacks)
    return _Maker(linked, stacks).make()


class _Maker:
    """The state of one translation: the linked file, and the code so far."""

    def __init__(self, linked: ElfFile, stacks: Stacks) -> None:
        self.linked = linked
        self.stacks = stacks
        self.code = Code()
        self.text = _check_sections(linked)
        self.before = Snapshot(self.code)

    def make(self) -> Program:
        self._find_entries()
        self._translate()
        functions = self._functions()
        sizes = ((name, size) for name, (_, size) in functions.items())
        # Before words are encoded: a jump has 16 bits for its target.
        check_text(len(self.code.items), sizes, self.stacks)

        words = tuple(self.code.words())
        sections = self._sections(words)
        symbols = self._symbols({section.name for section in sections}, functions)
        routines = functions.get(_ARITHMETIC, (0, 0))
        sections += debug_sections(self.linked, self.text, self.code, self.before, routines)
        return Program(write(sections, symbols, chip=self.stacks.chip.name), words, functions)

    # The code.

    def _find_entries(self) -> None:
        """Mark the labels of functions, and those whose address is in code or data."""
        entries = self.code.entries
        for symbol in self.linked.symbols:
            is_local = not symbol.name or symbol.name.startswith(_LOCAL_PREFIXES)
            if symbol.section is self.text and not is_local:
                entries.add(code_label(symbol.value))

        for section in self.linked.sections:
            if not section.is_allocated:
                continue
            skip = RESOLVED_IN_TEXT | CALLS if section is self.text else frozenset()
            for relocation in self.linked.relocations.get(section.index, []):
                value = self._value(relocation)
                if isinstance(value, Label) and relocation.kind not in skip:
                    entries.add(value)

    def _translate(self) -> None:
        code = self.code
        code.place(_START)
        main = code_label(self.linked.symbol("main").value)
        strings = self._strings(".dpu_asm")
        write_start(
            code,
            self.linked,
            self.stacks.tasklets,
            main,
            constructors=self._constructors(),
            has_assembly=bool(strings),
        )
        table = self.linked.symbol("__sys_thread_stack_table_ptr").value
        conventions = Conventions(code, self._strings(".dpu_signatures"), table)
        reader = AssemblyReader(code, strings, conventions)
        references = self._references()
        translator = Translator(code, self.text.address, references, self._describe, reader)
        translator.run(self.text.data)
        conventions.write_wanted()

        self.before = Snapshot(code)
        pair_products(code)
        routines = fold_constants(code)
        code.place(_ROUTINES)
        write_routines(code, routines)
        optimise(code)

    def _constructors(self) -> list[Label]:
        """Return the functions in the table of constructors, in order."""
        begin = self.linked.symbol("__sys_constructors").value
        end = self.linked.symbol("__sys_constructors_end").value
        section = self.linked.section(".data")
        relocations = self.linked.relocations.get(section.index, []) if section is not None else []
        found = {
            relocation.address: self._value(relocation)
            for relocation in relocations
            if begin <= relocation.address < end
        }
        return [label for _, label in sorted(found.items()) if isinstance(label, Label)]

    def _strings(self, name: str) -> bytes:
        section = self.linked.section(name)
        return section.data if section is not None else b""

    def _references(self) -> dict[int, Reference]:
        """Return what the instructions refer to, by their addresses."""
        references = {}
        for relocation in self.linked.relocations.get(self.text.index, []):
            if relocation.kind in RESOLVED_IN_TEXT:
                continue
            address = relocation.address
            try:
                references[address] = Reference(type_of(relocation.kind), self._value(relocation))
            except TranslationError as error:
                raise TranslationError(f"{self._describe(address)}: {error}") from error
        return references

    def _value(self, relocation: ElfRelocation) -> int | Label:
        """Return the label, or the address as instructions have it, of what is referred to."""
        if relocation.symbol.name == END_NAME:
            return END
        value = relocation.symbol.value + relocation.addend & 0xFFFF_FFFF
        section = relocation.symbol.section
        if section is self.text:
            return code_label(value)
        if section is not None and section.name == ".atomic":
            return value & _ATOMIC_BITS
        in_mram = section is not None and section.name.startswith(".mram")
        if in_mram or relocation.symbol.name == "__sys_used_mram_end":
            # By a cache, loads and stores find MRAM behind WRAM; DMA ignores the difference.
            return value if self.stacks.chip.cache else value - MRAM_BASE
        return value

    def _describe(self, address: int) -> str:
        """Name an address of the code in an error message."""
        function = self.linked.function_at(address)
        if function is None:
            return f"at {address:#x}"
        section = self.linked.section(SECTION)
        row = LineTable(read_lines(section.data)).find(address) if section is not None else None
        if row is not None:
            return f"{row.file}:{row.line}: error: in {function.name}"
        return f"in {function.name}, {address - function.value} bytes into it"

    # The sections.

    def _sections(self, words: tuple[int, ...]) -> list[Section]:
        text = Section(
            name=".text",
            address=IRAM_BASE,
            data=struct.pack(f"<{len(words)}Q", *words),
            flags=SectionFlags.ALLOC | SectionFlags.EXECUTE,
            alignment=8,
        )
        atomic = Section(
            name=".atomic",
            address=ATOMIC_BASE,
            size=self.linked.symbol("__atomic_used_addr").value - ATOMIC_BASE,
            type=SectionType.NOBITS,
        )
        data = [
            self._data_section(section)
            for section in self.linked.sections
            if section.is_allocated and section.name.startswith(_DATA_SECTIONS)
        ]
        return [text, atomic, *data]

    def _data_section(self, section: ElfSection) -> Section:
        flags = SectionFlags.ALLOC | SectionFlags.WRITE
        if section.type == SectionType.NOBITS and section.name != ".data":
            return Section(
                name=section.name,
                address=section.address,
                size=section.size,
                type=SectionType.NOBITS,
                flags=flags,
            )
        data = bytearray(section.data or bytes(section.size))
        self._relocate(section, data)
        if section.name == ".data":
            self._fill_stack_table(data)
        return Section(name=section.name, address=section.address, data=bytes(data), flags=flags)

    def _relocate(self, section: ElfSection, data: bytearray) -> None:
        """Put the addresses of the DPU into data."""
        for relocation in self.linked.relocations.get(section.index, []):
            if relocation.kind in RESOLVED_IN_DATA:
                continue
            if relocation.kind != Relocation.WORD:
                name = relocation.symbol.name or "code"
                raise ToolchainError(
                    f"{section.name}: relocation type {relocation.kind} against {name} is not "
                    "supported in data"
                )
            value = self._value(relocation)
            number = self.code.position(value) if isinstance(value, Label) else value
            place = relocation.address - section.address
            struct.pack_into("<I", data, place, number & 0xFFFF_FFFF)

    def _fill_stack_table(self, data: bytearray) -> None:
        """Put the size and the top of each stack where the start code loads them as a pair."""
        table = self.linked.symbol("__sys_thread_stack_table_ptr").value
        for tasklet in range(self.stacks.tasklets):
            size = self.stacks.of(tasklet)
            top = self.linked.symbol(f"__sys_stack_thread_{tasklet}").value + size
            struct.pack_into("<II", data, table + 8 * tasklet, size, top)

    # The symbols.

    def _position_of(self, address: int) -> int:
        return self.code.position(code_label(address))

    def _functions(self) -> dict[str, tuple[int, int]]:
        """Return the first instruction of each function and how many it has."""
        start = self.code.position(_START)
        found = {"__bootstrap": (start, self._position_of(self.text.address) - start)}
        for symbol in self.linked.symbols:
            if symbol.section is self.text and symbol.type == SymbolType.FUNC:
                begin = self._position_of(symbol.value)
                end = self._position_of(symbol.value + symbol.size)
                found[symbol.name] = (begin, end - begin)
        routines = self.code.position(_ROUTINES)
        if routines < len(self.code.items):
            found[_ARITHMETIC] = (routines, len(self.code.items) - routines)
        return found

    def _symbols(self, sections: set[str], functions: dict[str, tuple[int, int]]) -> list[Symbol]:
        symbols = [
            Symbol(name="__bootstrap", value=IRAM_BASE, section=".text", type=SymbolType.FUNC)
        ]
        for symbol in self.linked.symbols:
            if symbol.is_defined and _is_kept(symbol):
                symbols.append(self._symbol(symbol, sections))

        begin, count = functions.get(_ARITHMETIC, (0, 0))
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
        elif symbol.name == END_NAME:
            section, value = ".text", IRAM_BASE + 8 * self.code.position(END)
        return Symbol(
            name=symbol.name,
            value=value,
            size=size,
            section=section if section in sections else None,
            type=SymbolType(symbol.type),
            binding=Binding(symbol.binding),
        )


def _is_kept(symbol: ElfSymbol) -> bool:
    """Tell whether the host or a debugger has a use for a symbol."""
    if not symbol.name or symbol.binding > Binding.WEAK or symbol.type > SymbolType.FUNC:
        return False
    return symbol.binding != Binding.LOCAL or symbol.type != SymbolType.NOTYPE


def _check_sections(linked: ElfFile) -> ElfSection:
    """Return the code; raise ToolchainError if there is none, or a section has no memory."""
    text = linked.section(".text")
    if text is None or not text.data:
        raise ToolchainError("the program has no code: main is not defined")
    for section in linked.sections:
        known = section is text or section.name.startswith((*_DATA_SECTIONS, ".atomic"))
        if section.is_allocated and section.size and not known:
            raise ToolchainError(
                f"section {section.name!r} ({section.size} bytes) has no memory on the DPU: "
                "use .data, .dpu_host, .mram, .mram.noinit or .atomic"
            )
    return text
