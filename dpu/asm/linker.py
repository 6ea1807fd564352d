# SPDX-License-Identifier: BSD-3-Clause
"""Links assembled sources: places sections, resolves symbols, and encodes instructions.

| section            | from         | holds |
|--------------------|--------------|-------|
| .text              | 0x80000000   | instructions, those of __bootstrap first |
| .data              | 0            | WRAM; what .data.immediate_memory holds first, below 2048 |
| .data.__sys_host   | after it     | WRAM that the host sees |
| .data.stacks, ...  | after it     | stacks of tasklets; then all that is left is the heap |
| .mram.noinit .mram | 0x08000000   | MRAM |
| .atomic            | 0xF00000C8   | atomic bits, one byte of the section each |
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..elf.format import ATOMIC_BASE, MRAM_BASE, Binding
from ..elf.writer import Section as ElfSection
from ..elf.writer import Symbol as ElfSymbol
from ..elf.writer import write
from .chips import CHIPS, Chip
from .encoder import encode
from .errors import AsmError, Location, Problem
from .expressions import ExpressionError, Unknown, Value, evaluate
from .forms import suggest
from .image import make_sections, make_symbols
from .unit import DataFixup, Place, Section, Symbol, Unit, shown_name

__all__ = ["CHIPS", "Chip", "Linked", "link"]

WRAM_IMMEDIATE = 2048
ATOMIC_FIRST, ATOMIC_LIMIT = 200, 256
DEFAULT_STACK = 1024
_SHOWN_SECTIONS = 4


@dataclass
class Linked:
    """A linked program.

    Attributes
    ----------
    sections, symbols
        The contents of the file.
    code : list of (Unit, Section)
        Sections of instructions with their addresses, for a listing.
    """

    chip: Chip
    sections: list[ElfSection] = field(default_factory=list)
    symbols: list[ElfSymbol] = field(default_factory=list)
    code: list[tuple[Unit, Section]] = field(default_factory=list)

    def write(self) -> bytes:
        """Return the file."""
        return write(self.sections, self.symbols, chip=self.chip.name)


def _aligned(value: int, alignment: int) -> int:
    return value + -value % alignment


class Linker:
    """The state of linking one program."""

    def __init__(self, units: list[Unit], chip: Chip, tasklets: int | None, stack: int | None):
        self.units = units
        self.chip = chip
        self.tasklets = tasklets
        self.stack = stack
        self.problems: list[Problem] = []
        self.globals: dict[str, tuple[Unit, Symbol]] = {}
        self.numbers: dict[str, int] = {}
        # Symbols of the linker: value in the file, and section.
        self.provided: dict[str, tuple[int, str | None]] = {}
        self.undefined: set[str] = set()
        self.linked = Linked(chip)
        self.used: set[str] = set()

    def problem(self, message: str, location: Location | None = None) -> None:
        self.problems.append(Problem(message, location))

    def check(self) -> None:
        if self.problems:
            raise AsmError(self.problems)

    # Symbols.

    def collect(self) -> None:
        """Collect the global symbols of all sources."""
        for unit in self.units:
            for symbol in unit.symbols.values():
                if symbol.binding is Binding.LOCAL:
                    continue
                if not symbol.is_defined:
                    continue
                known = self.globals.get(symbol.name)
                if known is None or self._overrides(symbol, known[1]):
                    self.globals[symbol.name] = (unit, symbol)
                elif symbol.binding is Binding.GLOBAL and known[1].binding is Binding.GLOBAL:
                    self.problem(
                        f"{symbol.name!r} is defined twice, first at {known[1].location}",
                        symbol.location,
                    )

    @staticmethod
    def _overrides(new: Symbol, old: Symbol) -> bool:
        if new.binding is Binding.GLOBAL:
            return old.binding is Binding.WEAK
        return new.common is not None and old.common is not None and new.common > old.common

    def resolve_in(self, unit: Unit) -> _Resolver:
        return _Resolver(self, unit)

    def lookup(self, name: str) -> Value | None:
        """Return the value of a global symbol, None if it does not exist."""
        found = self.globals.get(name)
        if found is not None:
            unit, symbol = found
            return self.value(unit, symbol)
        if name in self.numbers:
            return Value(self.numbers[name])
        return None

    def value(self, unit: Unit, symbol: Symbol, column: int = 0) -> Value:
        if symbol.section is not None:
            return symbol.section.value_at(symbol.offset)
        assert symbol.expression is not None
        if isinstance(symbol.expression, int):
            return Value(symbol.expression)
        if symbol.evaluating:
            raise ExpressionError(f"{shown_name(symbol.name)!r} is defined by itself", column)
        symbol.evaluating = True
        try:
            return evaluate(symbol.expression, self.resolve_in(unit))
        finally:
            symbol.evaluating = False

    def known_number(self, name: str) -> int | None:
        """Return the number that a source sets a symbol to."""
        found = self.globals.get(name)
        candidates = [found] if found else []
        candidates += [(unit, unit.symbols[name]) for unit in self.units if name in unit.symbols]
        for unit, symbol in candidates:
            if symbol.expression is not None:
                return self.value(unit, symbol).number
        return None

    # Addresses.

    def parts(self, *places: Place) -> list[tuple[Unit, Section]]:
        """Return the sections of all sources that belong to a place, in their order."""
        return [
            (unit, section)
            for place in places
            for unit in self.units
            for section in unit.sections.values()
            if section.place is place
        ]

    def lay_out(self, parts: Iterable[tuple[Unit, Section]], start: int) -> int:
        """Place sections one after the other; return the end of the last."""
        for _, section in parts:
            if section.is_code:
                section.data += bytes(-len(section.data) % 8)
            start += -start % section.alignment
            section.address = start
            start += section.size
        return start

    def place(self) -> None:
        """Decide the addresses of all sections."""
        tasklets = self.tasklet_count()
        self.number("NR_TASKLETS", tasklets)
        self.place_code()
        self.place_wram(tasklets)
        self.place_mram()
        self.place_atomic_bits()

    def tasklet_count(self) -> int:
        """Return the number of tasklets that the caller or a source asks for."""
        tasklets = self.tasklets
        if tasklets is None:
            tasklets = self.known_number("NR_TASKLETS")
        if tasklets is None:
            tasklets = 1
        chip = self.chip
        if not 1 <= tasklets <= chip.tasklets:
            raise AsmError(f"NR_TASKLETS is {tasklets}; a {chip.name} has 1 to {chip.tasklets}")
        return tasklets

    def place_code(self) -> None:
        code = self.parts(Place.TEXT)
        code.sort(key=lambda part: not part[1].name.startswith(".text.__bootstrap"))
        self.linked.code = code
        self.code_end = end = self.lay_out(code, 0)
        if end > self.chip.instructions * 8:
            self.too_big("IRAM", "instructions", end // 8, self.chip.instructions, code, 8)

    def place_wram(self, tasklets: int) -> None:
        first = self.parts(Place.IMMEDIATE)
        first.sort(key=lambda part: not part[1].name.endswith(".first"))
        end_immediate = self.lay_out(first, 0)
        if end_immediate > WRAM_IMMEDIATE:
            self.too_big("the start of WRAM", "bytes", end_immediate, WRAM_IMMEDIATE, first)

        data, host = self.parts(Place.DATA), self.parts(Place.HOST)
        self.host_start = _aligned(self.lay_out(data, end_immediate), 8)
        self.profiling_start = _aligned(self.lay_out(host, self.host_start), 4)
        profiling_end = self.lay_out(self.parts(Place.PROFILING), self.profiling_start)
        self.stacks_start = _aligned(profiling_end, 8)

        self.wram_symbols(end_immediate, tasklets)
        size = self.chip.wram
        if self.wram_end > size:
            stacks = self.stacks_end - self.stacks_start
            note = f", of which {stacks} are stacks" if stacks else ""
            self.too_big("WRAM", "bytes", self.wram_end, size, first + data + host, note=note)

    def place_mram(self) -> None:
        noinit = self.parts(Place.MRAM_NOINIT)
        noinit.sort(key=lambda part: not part[1].name.startswith(".mram.noinit.keep"))
        self.mram_start = _aligned(self.lay_out(noinit, 0), 8)
        initialised = self.parts(Place.MRAM)
        self.mram_end = _aligned(self.lay_out(initialised, self.mram_start), 8)
        size = self.chip.mram
        if self.mram_end > size:
            self.too_big("MRAM", "bytes", self.mram_end, size, noinit + initialised)
        self.provide("__sys_used_mram_end", MRAM_BASE, self.mram_end, ".mram")

    def place_atomic_bits(self) -> None:
        bits = self.parts(Place.ATOMIC)
        self.atomic_end = self.lay_out(bits, ATOMIC_FIRST)
        if self.atomic_end > ATOMIC_LIMIT:
            used, limit = self.atomic_end - ATOMIC_FIRST, ATOMIC_LIMIT - ATOMIC_FIRST
            self.too_big("the atomic bits", "of them", used, limit, bits)
        self.provide("__atomic_start_addr", ATOMIC_BASE, 0, ".atomic")
        self.provide("__atomic_used_addr", ATOMIC_BASE, ATOMIC_FIRST, ".atomic")
        self.provide("__sys_atomic_used_end", ATOMIC_BASE, self.atomic_end, ".atomic")
        self.provide("__atomic_end_addr", ATOMIC_BASE, ATOMIC_LIMIT, None)

    def number(self, name: str, value: int) -> None:
        """Define a symbol that is a number."""
        if name not in self.globals or name == "NR_TASKLETS":
            self.numbers[name] = value
            self.provided[name] = (value, None)
            if name == "NR_TASKLETS":
                # A source that sets another value also sees the actual one.
                self.globals.pop(name, None)
                for unit in self.units:
                    unit.symbols.pop(name, None)

    def provide(self, name: str, base: int, value: int, section: str | None) -> None:
        """Define a symbol that is an address; in expressions it is an offset in its memory."""
        if name not in self.globals:
            self.numbers[name] = value
            self.provided[name] = (base + value, section)

    def wants(self, *starts: str) -> bool:
        """Tell whether a source mentions a symbol without defining it."""
        return any(
            name.startswith(starts) and not symbol.is_defined
            for unit in self.units
            for name, symbol in unit.symbols.items()
        )

    def wram_symbols(self, end_immediate: int, tasklets: int) -> None:
        """Place the stacks, if anything uses them, and the heap after them."""
        self.provide("__imm_mem_end", 0, end_immediate, ".data")
        at = self.stacks_start
        if self.wants("__sys_stack_thread_", "STACK_SIZE_TASKLET_"):
            common = self.stack
            if common is None:
                common = self.known_number("STACK_SIZE_DEFAULT")
            if common is None:
                common = DEFAULT_STACK
            self.number("STACK_SIZE_DEFAULT", common)
            for tasklet in range(self.chip.table_rows):
                name = f"STACK_SIZE_TASKLET_{tasklet}"
                size = self.known_number(name)
                if size is None:
                    size = common if tasklet < tasklets else 0
                if not 0 <= size <= self.chip.wram or size % 8:
                    self.problem(f"{name} is {size}: a stack has a multiple of 8 bytes in WRAM")
                    size = 0
                self.number(name, size)
                self.provide(f"__sys_stack_thread_{tasklet}", 0, at, ".data.stacks")
                at += size

        self.stacks_end = at
        self.provide("__sw_cache_buffer", 0, at, ".data.sw_cache")
        if self.wants("__sw_cache_buffer"):
            at += 8 * tasklets
        self.wram_end = at
        self.provide("__sys_heap_pointer_reset", 0, at, ".data.heap_pointer_reset")

    def too_big(
        self,
        memory: str,
        unit: str,
        size: int,
        limit: int,
        parts: list[tuple[Unit, Section]],
        scale: int = 1,
        note: str = "",
    ) -> None:
        """Record that a memory overflows, with its largest sections."""
        biggest = sorted(parts, key=lambda part: -part[1].size)[:_SHOWN_SECTIONS]
        listed = ", ".join(
            f"{section.size // scale} in {section.name} of {owner.name}"
            + self._biggest(owner, section)
            for owner, section in biggest
            if section.size
        )
        self.problem(
            f"{memory} is too small: the program needs {size} {unit}{note} and there are {limit} "
            f"({size - limit} too many): {listed}"
        )

    @staticmethod
    def _biggest(unit: Unit, section: Section) -> str:
        symbols = sorted(
            (s for s in unit.symbols.values() if s.section is section and s.name[0] != "\x01"),
            key=lambda symbol: symbol.offset,
        )
        ends = [symbol.offset for symbol in symbols[1:]] + [section.size]
        spans = [(end - s.offset, s.name) for s, end in zip(symbols, ends, strict=False)]
        if not spans:
            return ""
        size, name = max(spans)
        return f" (most of it {name!r}, {size} bytes)"

    # --- contents -----------------------------------------------------------------------------

    def fill(self) -> None:
        """Encode the instructions and numbers of all sections."""
        for unit in self.units:
            resolver = self.resolve_in(unit)
            for section in unit.sections.values():
                if section.place is Place.NOWHERE:
                    continue
                for fixup in section.instructions:
                    try:
                        word = encode(fixup, resolver)
                    except ExpressionError as error:
                        self.problem(str(error), fixup.line.location(error.column))
                    else:
                        section.data[fixup.offset : fixup.offset + 8] = word.to_bytes(8, "little")
                for number in section.numbers:
                    try:
                        self.fill_number(section, number, resolver)
                    except ExpressionError as error:
                        where = number.location
                        if error.column:
                            where = Location(where.file, where.line, error.column)
                        self.problem(str(error), where)

    @staticmethod
    def fill_number(section: Section, number: DataFixup, resolver: _Resolver) -> None:
        """Encode a number in a section."""
        high = 1 << 8 * number.size
        value = evaluate(number.expression, resolver).number
        if not -high // 2 <= value < high:
            raise ExpressionError(f"{value} does not fit into {number.size} bytes")
        data = (value % high).to_bytes(number.size, "little")
        section.data[number.offset : number.offset + number.size] = data


class _Resolver:
    """Resolves symbols in the scope of one source."""

    def __init__(self, linker: Linker, unit: Unit) -> None:
        self.linker = linker
        self.unit = unit
        self.cache: dict[str, Value] = {}

    def __call__(self, name: str, column: int) -> Value:
        value = self.cache.get(name)
        if value is None:
            try:
                value = self.cache[name] = self._find(name, column)
            except ExpressionError as error:
                # Errors in a definition are reported where it is used.
                error.column = column
                raise
        return value

    def _find(self, name: str, column: int) -> Value:
        linker = self.linker
        symbol = self.unit.symbols.get(name)
        if symbol is not None and symbol.is_defined and symbol.binding is Binding.LOCAL:
            return linker.value(self.unit, symbol, column)
        found = linker.lookup(name)
        if found is not None:
            linker.used.add(name)
            return found
        if symbol is not None and symbol.binding is Binding.WEAK:
            return Value(0)
        known = {*linker.globals, *linker.numbers, *self.unit.symbols} - {name}
        hint = suggest(name, sorted(one for one in known if not one.startswith("\x01")))
        for other in linker.units:
            there = other.symbols.get(name)
            if there is not None and there.is_defined and there.binding is Binding.LOCAL:
                hint = f"; {other.name} has one that is local to it: say .globl {name} there"
        raise _Undefined(shown_name(name), column, hint)


class _Undefined(Unknown):
    def __init__(self, name: str, column: int, hint: str) -> None:
        super().__init__(name, column)
        self.args = (f"undefined symbol {name!r}{hint}",)


def link(
    units: list[Unit],
    *,
    chip: Chip = CHIPS["v1A"],
    nr_tasklets: int | None = None,
    stack_size: int | None = None,
) -> Linked:
    """Link sources.

    Parameters
    ----------
    units : list of Unit
        In the order of their code.
    chip : Chip
        The chip that the program must fit.
    nr_tasklets, stack_size : int, optional
        Take precedence over NR_TASKLETS and STACK_SIZE_DEFAULT of the sources.

    Raises
    ------
    AsmError
        If symbols are missing or defined twice, or if a value or a memory overflows.
    """
    problems = [problem for unit in units for problem in unit.problems]
    if problems:
        raise AsmError(problems)
    linker = Linker(units, chip, nr_tasklets, stack_size)
    linker.collect()
    linker.check()
    try:
        linker.place()
        linker.check()
        linker.fill()
        linker.check()
        linker.linked.sections = make_sections(linker)
        linker.linked.symbols = make_symbols(linker)
    except ExpressionError as error:
        raise AsmError(str(error)) from error
    except RecursionError:
        raise AsmError("symbols refer to too many others") from None

    linker.check()
    if not any(section.size for _, section in linker.linked.code):
        raise AsmError("the program has no instructions")
    return linker.linked
