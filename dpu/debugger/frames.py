# SPDX-License-Identifier: BSD-3-Clause
"""The stack of a tasklet: its frames, from the innermost to that of `main`."""

from __future__ import annotations

from ..disasm import disassemble
from ..dwarf.constants import Attribute, Form
from ..dwarf.entries import Entry
from ..dwarf.frames import FrameRule
from ..dwarf.locations import Piece, Place, Unavailable, find_in_list, locate
from .errors import DebuggerError
from .machine import IRAM_BASE
from .program import DebugProgram, Function, Line
from .session import Attached

__all__ = ["Frame", "Variable", "unwind"]

# Registers that a function gives back to its caller as they were (docs/dpu_toolchain.md).
_KEPT = frozenset(range(14, 22))
_STACK_POINTER = 22
_MOST_FRAMES = 256
# The register that is always zero, behind the 24 of the tasklet.
_ZERO = 24


class Frame:
    """A call of a function.

    Parameters
    ----------
    machine : Attached
        The DPU.
    program : DebugProgram
        Its program.
    thread : int
        The tasklet.
    level : int
        0 for the innermost frame.
    pc : int
        The address of the instruction that is executed next, or that the call returns to.
    registers : dict of int to int
        The registers that are known.
    """

    def __init__(
        self,
        machine: Attached,
        program: DebugProgram,
        thread: int,
        level: int,
        pc: int,
        registers: dict[int, int],
    ) -> None:
        self.machine = machine
        self.program = program
        self.thread = thread
        self.level = level
        self.pc = pc
        self.registers = registers

    @property
    def place(self) -> int:
        """The address that the frame is at: of the call if it waits for one."""
        return self.pc if self.level == 0 else self.pc - 8

    @property
    def function(self) -> Function | None:
        """The function."""
        return self.program.function_at(self.place)

    @property
    def line(self) -> Line | None:
        """The line."""
        return self.program.line_at(self.place)

    @property
    def inlined(self) -> list[Entry]:
        """The inlined calls that the frame is in, the innermost first."""
        function = self.function
        scopes = self.program.scopes(function, self.place) if function is not None else []
        return [scope for scope in scopes if Attribute.CALL_LINE in scope.values]

    def jumped_from(self) -> Function | None:
        """Return the function that was called for this one, if it ended with a jump to it.

        Such a tail call leaves no frame, and where it was is not known; others may be between.
        """
        rule = self.program.frames.find(self.place)
        if rule is None or self.function is None:
            return None
        try:
            returns = _return_index(self, rule, _restored(self, rule, self.frame_address()))
            word = self.read(IRAM_BASE + 8 * (returns - 1), 8) if returns else b""
        except Unavailable:
            return None
        call = disassemble(int.from_bytes(word, "little")) if word else None
        if call is None or call.mnemonic != "call" or call.operands.get("ra") != _ZERO:
            return None
        called = self.program.function_at(IRAM_BASE + 8 * call.operands.get("off", -1))
        return called if called is not None and called != self.function else None

    # Context in which expressions are evaluated.

    def register(self, number: int) -> int:
        """Return a register; Unavailable if a function that was called may have changed it."""
        if number not in self.registers:
            raise Unavailable(f"r{number} is not known in frame {self.level}")
        return self.registers[number]

    def frame_base(self) -> int:
        """Return the address that local variables are relative to."""
        function = self.function
        expression = None
        if function is not None and function.entry is not None:
            expression = self._expression(function.entry, Attribute.FRAME_BASE)
        if expression is None:
            raise Unavailable("the function has no frame base")
        piece = locate(expression, _WithoutBase(self))[0]
        if piece.place is Place.REGISTER and isinstance(piece.value, int):
            return self.register(piece.value)
        if piece.place is Place.MEMORY and isinstance(piece.value, int):
            return piece.value
        raise Unavailable("the frame base is not known")

    def frame_address(self) -> int:
        """Return the canonical frame address."""
        rule = self.program.frames.find(self.place)
        if rule is None:
            raise Unavailable("the function has no call frame table")
        return (self.register(rule.base_register) + rule.base_offset) & 0xFFFF_FFFF

    def read(self, address: int, size: int) -> bytes:
        """Read memory."""
        try:
            return self.machine.read(address, size)
        except DebuggerError as error:
            raise Unavailable(str(error)) from error

    def _expression(self, entry: Entry, attribute: int) -> bytes | None:
        value = entry.values.get(attribute)
        if value is None:
            return None
        if isinstance(value.value, bytes):
            return value.value
        if not isinstance(value.value, int) or value.form not in (Form.SEC_OFFSET, Form.DATA4):
            return None
        try:
            sections = self.program.locations
            return find_in_list(sections, value.value, entry.unit.base, self.place)
        except IndexError:
            return None

    def pieces(self, entry: Entry) -> list[Piece]:
        """Return where a variable is; Unavailable if it is nowhere."""
        constant = entry.values.get(Attribute.CONST_VALUE)
        if constant is not None:
            if isinstance(constant.value, bytes):
                return [Piece(Place.BYTES, constant.value)]
            if isinstance(constant.value, int):
                return [Piece(Place.VALUE, constant.value)]
        expression = self._expression(entry, Attribute.LOCATION)
        if expression is None:
            raise Unavailable("not available here: the compiler has kept it nowhere")
        return locate(expression, self)

    def scopes(self) -> list[Entry]:
        """Return the scopes around the frame, the innermost first."""
        function = self.function
        return self.program.scopes(function, self.place) if function is not None else []

    def variables(self) -> list[Entry]:
        """Return the variables that are visible in the frame, the parameters first.

        Of several with a name, the one of the innermost scope is, as for `find()`.
        """
        visible: dict[str, Entry] = {}
        for entry in self.program.variables(self.scopes()):
            name = self.program.named(entry).name
            visible.pop(name, None)
            visible[name] = entry
        return list(visible.values())

    def find(self, name: str) -> Entry | None:
        """Return the variable that a name means here, None if there is none."""
        for scope in self.scopes():
            for entry in self.program.variables([scope]):
                if self.program.named(entry).name == name:
                    return entry
        return self.program.globals.get(name)


class _WithoutBase:
    """The frame for its own base, which cannot refer to itself."""

    def __init__(self, frame: Frame) -> None:
        self.register = frame.register
        self.frame_address = frame.frame_address
        self.read = frame.read

    def frame_base(self) -> int:
        raise Unavailable("the frame base refers to itself")


Variable = Entry


def unwind(machine: Attached, program: DebugProgram, thread: int) -> list[Frame]:
    """Return the frames of a tasklet, as far as the program tells."""
    state = machine.thread(thread)
    registers = dict(enumerate(state.registers))
    frames = [Frame(machine, program, thread, 0, IRAM_BASE + 8 * state.pc, registers)]
    while len(frames) < _MOST_FRAMES:
        caller = _caller(frames[-1])
        if caller is None:
            break
        frames.append(caller)
    return frames


def _caller(frame: Frame) -> Frame | None:
    rule = frame.program.frames.find(frame.place)
    if rule is None:
        return None
    try:
        base = frame.frame_address()
        registers = _restored(frame, rule, base)
    except Unavailable:
        return None
    returns = _return_index(frame, rule, registers)
    if returns == 0:
        return None
    pc = IRAM_BASE + 8 * returns
    if frame.program.function_at(pc - 8) is None or (frame.level and pc == frame.pc):
        return None
    return Frame(frame.machine, frame.program, frame.thread, frame.level + 1, pc, registers)


def _return_index(frame: Frame, rule: FrameRule, registers: dict[int, int]) -> int:
    """Return the index of the instruction that a frame returns to, 0 if it is not known.

    An address of code in a register is such an index.
    """
    own = frame.registers.get(rule.return_register, 0)
    returns = registers.get(rule.return_register, own)
    return returns if returns < 1 << 12 else 0


def _restored(frame: Frame, rule: FrameRule, base: int) -> dict[int, int]:
    """Return the registers that the caller has again."""
    # The arithmetic routines change the registers of none.
    is_routine = rule.return_register == 13
    kept = {n: v for n, v in frame.registers.items() if n in _KEPT or is_routine}
    kept[_STACK_POINTER] = base
    for register, offset in rule.saved.items():
        kept.pop(register, None)
        if offset is not None:
            data = frame.read((base + offset) & 0xFFFF_FFFF, 4)
            kept[register] = int.from_bytes(data, "little")
    if is_routine:
        kept[rule.return_register] = frame.register(rule.return_register)
    return kept
