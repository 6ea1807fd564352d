# SPDX-License-Identifier: BSD-3-Clause
"""A program as its sources have it: functions, lines, variables and types."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..asm.lines import SECTION, LineRow, read_line_units
from ..dwarf.constants import Attribute, Tag
from ..dwarf.entries import Entry, Unit, read_units
from ..dwarf.frames import CallFrames
from ..dwarf.locations import is_covered, read_ranges
from ..dwarf.types import Type, TypeReader
from ..dwarf.variables import global_variables, named
from ..elf.format import ATOMIC_BASE, IRAM_BASE, SymbolType
from ..elf.program import ProgramFile
from ..elf.readable_name import readable_name
from ..elf.reader import ElfError
from .errors import DebuggerError

__all__ = ["DebugProgram", "Function", "Line"]

_SCOPES = (Tag.LEXICAL_BLOCK, Tag.INLINED_SUBROUTINE)
_VARIABLES = (Tag.VARIABLE, Tag.FORMAL_PARAMETER)


@dataclass(frozen=True)
class Line:
    """A place in a source: its file, as the compiler had it, and its line."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}"


@dataclass
class Function:
    """A function: its first address and the address after it, and its entry if it has one."""

    name: str
    first: int
    end: int
    entry: Entry | None = field(default=None, repr=False)


class DebugProgram:
    """A program with its debug information.

    Parameters
    ----------
    data : bytes
        The ELF file.
    path : str
        Its name, for messages and to find sources.

    Raises
    ------
    DebuggerError
        If it is not a program for the DPU.
    """

    def __init__(self, data: bytes, path: str = "") -> None:
        try:
            self.file = ProgramFile(data)
        except ElfError as error:
            raise DebuggerError(f"{path or 'the program'}: {error}") from error
        self.path = path
        units = read_units(
            self.section(".debug_info"), self.section(".debug_abbrev"), self.section(".debug_str")
        )
        self.units = units
        self.entries = {entry.offset: entry for unit in units for entry in unit.root.walk()}
        self.types = TypeReader(self.entries)
        self.frames = CallFrames(self.section(".debug_frame"))
        self.locations = self.section(".debug_loc")
        self.ranges = self.section(".debug_ranges")
        self._read_lines()
        self._read_functions()
        self._read_globals()

    @property
    def has_variables(self) -> bool:
        """True if it has debug information of variables."""
        return bool(self.units)

    def section(self, name: str) -> bytes:
        """Return the contents of a section, nothing if it does not exist."""
        found = self.file.section(name)
        return found.data if found is not None else b""

    # Lines.

    def _read_lines(self) -> None:
        units = read_line_units(self.section(SECTION))
        self.files = {unit.offset: unit.files for unit in units}
        rows = [row for unit in units for row in unit.rows]
        self.rows = sorted(rows, key=lambda row: (row.address, row.line != 0))
        self._addresses = [row.address for row in self.rows]

    def row_at(self, address: int) -> LineRow | None:
        """Return the row that an address belongs to."""
        index = bisect_right(self._addresses, address) - 1
        return self.rows[index] if index >= 0 and self.rows[index].line else None

    def line_at(self, address: int) -> Line | None:
        """Return the line of an instruction."""
        row = self.row_at(address)
        return Line(row.file, row.line) if row is not None else None

    def line_range(self, address: int) -> tuple[int, int]:
        """Return the addresses around one that belong to the same line without a gap."""
        row = self.row_at(address)
        if row is None:
            return address, address + 8
        index = bisect_right(self._addresses, address)
        first, last = index - 1, index
        while first > 0 and self.rows[first - 1][1:3] == row[1:3]:
            first -= 1
        while last < len(self.rows) and self.rows[last][1:3] == row[1:3]:
            last += 1
        end = self.rows[last].address if last < len(self.rows) else address + 8
        return self.rows[first].address, max(end, address + 8)

    def source_files(self) -> list[str]:
        """Return the files that have code."""
        return sorted({row.file for row in self.rows if row.line})

    def match_file(self, name: str) -> list[str]:
        """Return the files whose last parts are those of a name."""
        wanted = Path(name).parts
        return [f for f in self.source_files() if Path(f).parts[-len(wanted) :] == wanted]

    def addresses_of(self, file: str, line: int) -> tuple[int, list[int]]:
        """Return where to stop for a line: the line that has code, and its addresses.

        Raises
        ------
        DebuggerError
            If no file has that name, or it has no code at the line or after it.
        """
        files = set(self.match_file(file))
        if not files:
            raise DebuggerError(f"no source file {file!r}; there are: {self._shown_files()}")
        lines = [r.line for r in self.rows if r.file in files and r.line >= line and r.is_statement]
        if not lines:
            raise DebuggerError(f"{file} has no code at line {line} or after it")
        actual = min(lines)
        found: dict[str, int] = {}
        before: LineRow | None = None
        for row in self.rows:
            here = row.file in files and row.line == actual
            follows = before is not None and before[1:3] == row[1:3]
            if here and row.is_statement and not follows:
                function = self.function_at(row.address)
                name = function.name if function is not None else ""
                # One place per function: its first, behind the prologue if it is the opening line.
                if name not in found:
                    found[name] = row.address
            before = row
        starts = {f.first: self.after_prologue(f) for f in self.functions}
        return actual, sorted(starts.get(address, address) for address in found.values())

    def _shown_files(self) -> str:
        return ", ".join(sorted({Path(file).name for file in self.source_files()})) or "none"

    # Functions.

    def _read_functions(self) -> None:
        described = {}
        for entry in self.entries.values():
            low = entry.number(Attribute.LOW_PC)
            if entry.tag == Tag.SUBPROGRAM and low is not None and low & IRAM_BASE:
                described[low] = entry
        self.functions = sorted(
            (
                Function(readable_name(s.name), s.value, s.value + s.size, described.get(s.value))
                for s in self.file.symbols
                if s.type == SymbolType.FUNC and IRAM_BASE <= s.value < ATOMIC_BASE
            ),
            key=lambda function: (function.first, function.end),
        )
        self._firsts = [function.first for function in self.functions]

    def function_at(self, address: int) -> Function | None:
        """Return the function that an address is in."""
        index = bisect_right(self._firsts, address) - 1
        while index >= 0:
            function = self.functions[index]
            if address < function.end or (function.first == address and not function.end):
                return function
            index -= 1
            if address - function.first > 8 * 4096:
                break
        return None

    def functions_named(self, name: str) -> list[Function]:
        """Return the functions with a name; those of C++ also by it without their parameters."""
        return [
            function
            for function in self.functions
            if name in (function.name, function.name.partition("(")[0])
        ]

    def places_of_inlined(self, name: str) -> list[int]:
        """Return where a function begins in those that it was inlined into."""
        found = set()
        for entry in self.entries.values():
            if entry.tag == Tag.INLINED_SUBROUTINE and self.named(entry).name == name:
                first = self._first_address(entry)
                if first is not None and self.function_at(first) is not None:
                    found.add(first)
        return sorted(found)

    def _first_address(self, entry: Entry) -> int | None:
        low, ranges = entry.number(Attribute.LOW_PC), entry.number(Attribute.RANGES)
        if low is not None or ranges is None:
            return low
        try:
            return min(
                (a for a, end in read_ranges(self.ranges, ranges, entry.unit.base) if a < end),
                default=None,
            )
        except IndexError:
            return None

    def function_names(self) -> list[str]:
        """Return the names of all functions, also of those that exist only inlined."""
        inlined = (e for e in self.entries.values() if e.tag == Tag.INLINED_SUBROUTINE)
        names = {function.name for function in self.functions}
        names |= {self.named(e).name for e in inlined if self._first_address(e) is not None}
        return sorted(names - {""})

    def after_prologue(self, function: Function) -> int:
        """Return where a function has set up its frame."""
        index = bisect_right(self._addresses, function.first - 1)
        second = 0
        for row in self.rows[index:]:
            if row.address >= function.end or not row.line:
                break
            if row.ends_prologue:
                return row.address
            if not second and row.address > function.first:
                second = row.address
        return second if second and self._has_no_marks() else function.first

    def _has_no_marks(self) -> bool:
        return not any(row.ends_prologue for row in self.rows)

    # Variables.

    def _read_globals(self) -> None:
        self.globals = global_variables(self.units, self.entries)
        self.enumerations = [
            entry for entry in self.entries.values() if entry.tag == Tag.ENUMERATION_TYPE
        ]

    def named(self, entry: Entry) -> Entry:
        """Return the entry that has the name and the type of one."""
        return named(entry, self.entries)

    def type_of(self, entry: Entry) -> Type:
        """Return the type of a variable."""
        return self.types.of(self.named(entry))

    def type_named(self, name: str) -> Type | None:
        """Return the type that a program calls so, None if there is none."""
        tags = {"struct": Tag.STRUCTURE_TYPE, "union": Tag.UNION_TYPE, "enum": Tag.ENUMERATION_TYPE}
        word, _, rest = name.partition(" ")
        wanted = (tags[word],) if word in tags else (Tag.TYPEDEF, Tag.BASE_TYPE)
        plain = rest if word in tags else name
        for entry in self.entries.values():
            is_declared = entry.number(Attribute.DECLARATION)
            if entry.tag in wanted and entry.name == plain and not is_declared:
                return self.types.read(entry.offset)
        return None

    def covers(self, entry: Entry, address: int) -> bool:
        """Tell whether a scope or a function contains an address."""
        low, high = entry.number(Attribute.LOW_PC), entry.values.get(Attribute.HIGH_PC)
        if low is not None and high is not None and isinstance(high.value, int):
            end = high.value if high.form == 1 else low + high.value
            return low <= address < end
        ranges = entry.number(Attribute.RANGES)
        try:
            return ranges is not None and is_covered(self.ranges, ranges, entry.unit.base, address)
        except IndexError:
            return False

    def scopes(self, function: Function, address: int) -> list[Entry]:
        """Return the entries around an address, the innermost first; the last is the function."""
        if function.entry is None:
            return []
        found = [function.entry]
        while True:
            inner = [
                child
                for child in found[0].children
                if child.tag in _SCOPES and self.covers(child, address)
            ]
            if not inner:
                return found
            found.insert(0, inner[0])

    def variables(self, scopes: list[Entry]) -> Iterator[Entry]:
        """Yield the variables of scopes, the parameters of the function first."""
        for scope in reversed(scopes):
            for child in scope.children:
                if child.tag in _VARIABLES and self.named(child).name:
                    yield child

    def unit_of(self, address: int) -> Unit | None:
        """Return the unit that has an address."""
        return next((unit for unit in self.units if self.covers(unit.root, address)), None)
