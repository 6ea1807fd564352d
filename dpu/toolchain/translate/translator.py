# SPDX-License-Identifier: BSD-3-Clause
"""Translates RV32 instructions to DPU instructions, one at a time.

Addresses come from relocations, since code moves: an address of code becomes a label, an address of
data a number. What needs more than one instruction to be seen is left to the passes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from ..errors import TranslationError
from ..ir.code import Code
from ..ir.operands import Condition, Label, Register, code_label
from ..ir.registers import SCRATCH_HIGH, SCRATCH_LOW, ZERO, pair_of, register_of
from .assembly import AssemblyReader
from .relocations import Reference, Relocation
from .rv32 import Opcode, Rv32, decode, sign_extend
from .thread_ops import translate_custom

__all__ = ["Translator"]

_HALT = 4
# funct3 of custom instructions that have words after them.
_ASSEMBLY = 7

# By funct3 and funct7.
_OPERATIONS = {
    (0, 0): "add",
    (0, 32): "sub",
    (1, 0): "lsl",
    (4, 0): "xor",
    (5, 0): "lsr",
    (5, 32): "asr",
    (6, 0): "or",
    (7, 0): "and",
    (7, 32): "andn",
    (6, 32): "orn",
    (4, 32): "nxor",
    (1, 48): "rol",
    (5, 48): "ror",
}
# Their result is the first operand if the second is zero.
_NEUTRAL = frozenset(["add", "or", "xor", "sub", "lsl", "lsr", "asr", "rol", "ror"])
# By funct3.
_BRANCHES = {
    0: Condition.ZERO,
    1: Condition.NOT_ZERO,
    4: Condition.LESS_SIGNED,
    5: Condition.GREATER_EQUAL_SIGNED,
    6: Condition.LESS_UNSIGNED,
    7: Condition.GREATER_EQUAL_UNSIGNED,
}
_LOADS = {0: "lbs", 1: "lhs", 2: "lw", 3: "ld", 4: "lbu", 5: "lhu"}
_STORES = {0: "sb", 1: "sh", 2: "sw", 3: "sd"}
_IMMEDIATE = {0: "add", 4: "xor", 6: "or", 7: "and"}
_SET_IF_LESS = {2: Condition.LESS_SIGNED, 3: Condition.LESS_UNSIGNED}
# Minima and maxima: the result is the first operand if it compares so with the second.
_EXTREMES = {
    4: Condition.LESS_SIGNED,
    5: Condition.LESS_UNSIGNED,
    6: Condition.GREATER_SIGNED,
    7: Condition.GREATER_UNSIGNED,
}
_PRODUCTS = ("mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu")
# By funct7.
_SHIFTS_RIGHT = {0: "lsr", 32: "asr", 48: "ror"}
# By rs2.
_UNARY = {0: "clz", 2: "cao", 4: "extsb", 5: "extsh"}
# By the immediate.
_REVERSE_BYTES, _OR_BYTES = 0x698, 0x287
# An illegal word of zeros, ecall, ebreak, and `unimp`.
_TRAPS = (0, 0x0000_0073, 0x0010_0073, 0xC000_1073)


def _no_counterpart(rv: Rv32) -> TranslationError:
    return TranslationError(f"the DPU has no counterpart of instruction {rv.word:#010x}")


class Translator:
    """Translates the text of a linked file.

    Parameters
    ----------
    code : Code
        Where the translation is appended.
    base : int
        The address of the first instruction.
    references : mapping of int to Reference
        Relocations by address.
    describe : callable
        Names an address in error messages.
    assembly : AssemblyReader
        Reads instructions of assembly.
    """

    def __init__(
        self,
        code: Code,
        base: int,
        references: Mapping[int, Reference],
        describe: Callable[[int], str],
        assembly: AssemblyReader,
    ) -> None:
        self.code = code
        self.assembly = assembly
        self.base = base
        self.references = references
        self.describe = describe
        self._words: tuple[int, ...] = ()

    def run(self, text: bytes) -> None:
        """Append the translation of the text, with a label for each of its addresses.

        Raises
        ------
        TranslationError
            If an instruction has no counterpart; the message has its place.
        """
        self._words = struct.unpack(f"<{len(text) // 4}I", text)
        index = 0
        while index < len(self._words):
            address = self.base + 4 * index
            self.code.place(code_label(address))
            try:
                index += self._translate(decode(self._words[index]), address)
            except TranslationError as error:
                raise TranslationError(f"{self.describe(address)}: {error}") from error
        self.code.place(code_label(self.base + 4 * index))

    def _translate(self, rv: Rv32, address: int) -> int:
        """Append the translation of an instruction; return how many words it takes."""
        if rv.opcode == Opcode.AUIPC:
            return self._call(address)
        if rv.opcode == Opcode.CUSTOM and rv.funct3 == _ASSEMBLY:
            return self._assembly(rv, address)
        translate = _TRANSLATIONS.get(rv.opcode)
        if translate is not None:
            translate(self, rv, address)
        elif rv.word in _TRAPS:
            self.code.emit("fault", "i", _HALT)
        else:
            raise _no_counterpart(rv)
        return 1

    def _assembly(self, rv: Rv32, address: int) -> int:
        """Append an instruction of assembly, which has words after it; return how many it takes."""
        first, count = (address - self.base) // 4 + 1, rv.immediate
        words = self._words[first : first + count]
        values: list[int | Label] = []
        for index, word in enumerate(words, first):
            reference = self.references.get(self.base + 4 * index)
            values.append(reference.value if reference is not None else sign_extend(word, 32))
        self.assembly.read(rv, words, values)
        return 1 + count

    def _relocated(self, rv: Rv32, address: int) -> Rv32:
        """Return an instruction with the address that its relocation stands for."""
        reference = self.references.get(address)
        if reference is None:
            return rv
        value = reference.value
        if isinstance(value, Label):
            if rv.opcode in (Opcode.LOAD, Opcode.STORE):
                raise TranslationError("code is read or written as data")
            return rv
        if reference.kind is Relocation.HI20:
            return rv._replace(immediate=(value + 0x800) & 0xFFFF_F000)
        return rv._replace(immediate=sign_extend(value, 12))

    # Control flow.

    def _call(self, address: int) -> int:
        """Append a call, which is two words: an address relative to the pc and a jump to it."""
        index = (address - self.base) // 4
        first = decode(self._words[index])
        second = decode(self._words[index + 1]) if index + 1 < len(self._words) else first
        if second.opcode != Opcode.JALR or second.rs1 != first.rd:
            raise TranslationError("a pc-relative address is supported in calls alone")

        reference = self.references.get(address)
        if reference is None:
            # A function that calls itself has no relocation: the compiler knew the distance.
            offset = sign_extend(first.immediate, 32) + second.immediate
            target: int | Label = code_label(address + offset)
        else:
            target = reference.value
        if not isinstance(target, Label):
            raise TranslationError("a function that is called is not defined, or is data")
        self._link(second.rd, ZERO, target)
        return 2

    def _jump(self, rv: Rv32, address: int) -> None:
        self._link(rv.rd, ZERO, code_label(address + rv.immediate))

    def _jump_to_register(self, rv: Rv32, _address: int) -> None:
        if rv.immediate:
            raise TranslationError("a computed jump with an offset is not supported")
        self._link(rv.rd, register_of(rv.rs1), 0)

    def _link(self, rd: int, register: Register, target: int | Label) -> None:
        """Append a jump, or a call if it has a register for the return address."""
        if rd == 0:
            self.code.emit("call", "zri", 0, register, target)
        else:
            self.code.emit("call", "rri", register_of(rd), register, target)

    def _branch(self, rv: Rv32, address: int) -> None:
        condition, left = _BRANCHES.get(rv.funct3), register_of(rv.rs1)
        target = code_label(address + rv.immediate)
        if condition is None:
            raise _no_counterpart(rv)
        if rv.rs2 == 0:
            self.code.jump_if(condition, left, 0, target)
        else:
            right = register_of(rv.rs2)
            self.code.emit("sub", "zrrci", 0, left, right, condition, target)

    def _custom(self, rv: Rv32, _address: int) -> None:
        translate_custom(self.code, rv)

    def _fence(self, _rv: Rv32, _address: int) -> None:
        """Append nothing: memory is in order."""

    # Memory.

    def _load(self, rv: Rv32, address: int) -> None:
        rv = self._relocated(rv, address)
        if rv.funct3 not in _LOADS:
            raise _no_counterpart(rv)
        if rv.rd == 0:
            return
        result = pair_of(rv.rd) if rv.funct3 == 3 else register_of(rv.rd)
        self.code.emit(_LOADS[rv.funct3], "erri", 0, result, register_of(rv.rs1), rv.immediate)

    def _store(self, rv: Rv32, address: int) -> None:
        rv = self._relocated(rv, address)
        if rv.funct3 not in _STORES:
            raise _no_counterpart(rv)
        mnemonic, base = _STORES[rv.funct3], register_of(rv.rs1)
        if rv.rs2 == 0:
            self.code.emit(mnemonic, "erii", 0, base, rv.immediate, 0)
            return
        value = pair_of(rv.rs2) if rv.funct3 == 3 else register_of(rv.rs2)
        self.code.emit(mnemonic, "erir", 0, base, rv.immediate, value)

    # Operations with an immediate.

    def _load_upper(self, rv: Rv32, address: int) -> None:
        self.code.load_immediate(register_of(rv.rd), self._relocated(rv, address).immediate)

    def _immediate(self, rv: Rv32, address: int) -> None:
        rv = self._relocated(rv, address)
        if rv.rd == 0:
            return
        code, result = self.code, register_of(rv.rd)
        reference = self.references.get(address)
        if reference is not None and isinstance(reference.value, Label):
            code.load_immediate(result, reference.value)
            return

        source, value = register_of(rv.rs1), rv.immediate
        if rv.funct3 == 0 and value == 0:
            code.move(result, source)
        elif rv.funct3 in _IMMEDIATE:
            code.emit(_IMMEDIATE[rv.funct3], "rri", result, source, value & 0xFFFF_FFFF)
        elif rv.funct3 in _SET_IF_LESS:
            code.emit("sub", "rric", result, source, value, _SET_IF_LESS[rv.funct3])
        elif rv.funct3 == 1:
            self._left_shift_or_unary(rv, result, source)
        else:
            self._right_shift_or_bytes(rv, result, source)

    def _left_shift_or_unary(self, rv: Rv32, result: Register, source: Register) -> None:
        if rv.funct7 == 0:
            self.code.emit("lsl", "rri", result, source, rv.rs2)
        elif rv.funct7 == 48 and rv.rs2 == 1:
            self._trailing_zeros(result, source)
        elif rv.funct7 == 48 and rv.rs2 in _UNARY:
            self.code.emit(_UNARY[rv.rs2], "rr", result, source)
        else:
            raise _no_counterpart(rv)

    def _right_shift_or_bytes(self, rv: Rv32, result: Register, source: Register) -> None:
        if rv.funct7 in _SHIFTS_RIGHT:
            self.code.emit(_SHIFTS_RIGHT[rv.funct7], "rri", result, source, rv.rs2)
        elif rv.word >> 20 == _REVERSE_BYTES:
            self._reverse_bytes(result, source)
        elif rv.word >> 20 == _OR_BYTES:
            self._or_bytes(result, source)
        else:
            raise _no_counterpart(rv)

    def _trailing_zeros(self, result: Register, source: Register) -> None:
        """Count the bits that x - 1 has and x has not."""
        code = self.code
        code.load_immediate(SCRATCH_HIGH, 0xFFFF_FFFF)
        code.emit("add", "rrr", SCRATCH_HIGH, source, SCRATCH_HIGH)
        code.emit("andn", "rrr", SCRATCH_HIGH, source, SCRATCH_HIGH)
        code.emit("cao", "rr", result, SCRATCH_HIGH)

    def _reverse_bytes(self, result: Register, source: Register) -> None:
        code = self.code
        code.emit("rol", "rri", SCRATCH_HIGH, source, 8)
        code.emit("and", "rri", SCRATCH_HIGH, SCRATCH_HIGH, 0x00FF_00FF)
        code.emit("ror", "rri", SCRATCH_LOW, source, 8)
        code.emit("and", "rri", SCRATCH_LOW, SCRATCH_LOW, 0xFF00_FF00)
        code.emit("or", "rrr", result, SCRATCH_HIGH, SCRATCH_LOW)

    def _or_bytes(self, result: Register, source: Register) -> None:
        """Set each nonzero byte to 255: first its bit 7, then that times 255."""
        code = self.code
        code.emit("and", "rri", SCRATCH_HIGH, source, 0x7F7F_7F7F)
        code.emit("add", "rri", SCRATCH_HIGH, SCRATCH_HIGH, 0x7F7F_7F7F)
        code.emit("or", "rrr", SCRATCH_HIGH, SCRATCH_HIGH, source)
        code.emit("lsr", "rri", SCRATCH_HIGH, SCRATCH_HIGH, 7)
        code.emit("and", "rri", SCRATCH_LOW, SCRATCH_HIGH, 0x0101_0101)
        code.emit("lsl", "rri", SCRATCH_HIGH, SCRATCH_LOW, 8)
        code.emit("sub", "rrr", result, SCRATCH_HIGH, SCRATCH_LOW)

    # Operations on two registers.

    def _operation(self, rv: Rv32, _address: int) -> None:
        if rv.rd == 0:
            return
        code, result = self.code, register_of(rv.rd)
        left, right = register_of(rv.rs1), register_of(rv.rs2)
        if rv.funct7 == 1:
            code.emit(_PRODUCTS[rv.funct3], "rrr", result, left, right)
        elif rv.funct7 == 0 and rv.funct3 in _SET_IF_LESS:
            self._set_if_less(_SET_IF_LESS[rv.funct3], result, left, right)
        elif rv.funct7 == 16 and rv.funct3 in (2, 4, 6):
            addend = self._in_register(right)
            code.emit("lsl_add", "rrri", result, addend, left, rv.funct3 // 2)
        elif rv.funct7 == 4 and rv.funct3 == 4 and rv.rs2 == 0:
            code.emit("extuh", "rr", result, left)
        elif rv.funct7 == 5 and rv.funct3 in _EXTREMES:
            self._extreme(_EXTREMES[rv.funct3], result, left, right)
        else:
            self._arithmetic(rv, result, left, right)

    def _in_register(self, register: Register) -> Register:
        """Return a register that every operand can name: a scratch register for zero."""
        if register != ZERO:
            return register
        self.code.load_immediate(SCRATCH_LOW, 0)
        return SCRATCH_LOW

    def _set_if_less(
        self, condition: Condition, result: Register, left: Register, right: Register
    ) -> None:
        if right == ZERO:
            self.code.emit("sub", "rric", result, left, 0, condition)
        else:
            self.code.emit("sub", "rrrc", result, left, right, condition)

    def _extreme(
        self, condition: Condition, result: Register, left: Register, right: Register
    ) -> None:
        code, end, other = self.code, self.code.new_label(), self._in_register(right)
        code.move(SCRATCH_HIGH, left)
        code.emit("sub", "zrrci", 0, SCRATCH_HIGH, other, condition, end)
        code.move(SCRATCH_HIGH, other)
        code.place(end)
        code.move(result, SCRATCH_HIGH)

    def _arithmetic(self, rv: Rv32, result: Register, left: Register, right: Register) -> None:
        mnemonic = _OPERATIONS.get((rv.funct3, rv.funct7))
        if mnemonic is None:
            raise _no_counterpart(rv)
        if mnemonic in ("andn", "orn"):
            left, right = right, left  # The DPU inverts its first operand.
        if right == ZERO and mnemonic in _NEUTRAL:
            self.code.move(result, left)
        else:
            self.code.emit(mnemonic, "rrr", result, left, self._in_register(right))


_TRANSLATIONS: Mapping[int, Callable[[Translator, Rv32, int], None]] = {
    Opcode.LOAD: Translator._load,
    Opcode.STORE: Translator._store,
    Opcode.OP_IMM: Translator._immediate,
    Opcode.LUI: Translator._load_upper,
    Opcode.OP: Translator._operation,
    Opcode.BRANCH: Translator._branch,
    Opcode.JAL: Translator._jump,
    Opcode.JALR: Translator._jump_to_register,
    Opcode.CUSTOM: Translator._custom,
    Opcode.FENCE: Translator._fence,
}
