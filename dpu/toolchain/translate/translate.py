# SPDX-License-Identifier: BSD-3-Clause
"""RV32 instructions to DPU instructions, one after the other.

Addresses are taken from relocations, since code moves: what leads into code becomes a label, what
leads to data a number. Nothing here looks at more than one instruction; see `constants` and
`peephole` for what makes the result short.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..errors import TranslationError
from ..ir.code import Code, Label
from ..ir.registers import SCRATCH_HIGH, SCRATCH_LOW, ZERO, pair_of, register_of
from .rv32 import Opcode, Relocation, Rv32, decode, sign_extend
from .thread_ops import translate_custom

__all__ = ["Reference", "Translator", "code_label"]

_HALT = 4

_ALU = {
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
# Those that leave their first operand as it is if the second is zero.
_NEUTRAL = frozenset(["add", "or", "xor", "sub", "lsl", "lsr", "asr", "rol", "ror"])
_BRANCHES = {0: "z", 1: "nz", 4: "lts", 5: "ges", 6: "ltu", 7: "geu"}
_LOADS = {0: "lbs", 1: "lhs", 2: "lw", 3: "ld", 4: "lbu", 5: "lhu"}
_STORES = {0: "sb", 1: "sh", 2: "sw", 3: "sd"}
_IMMEDIATE = {0: "add", 4: "xor", 6: "or", 7: "and"}
_SHIFTS_RIGHT = {0: "lsr", 32: "asr", 48: "ror"}
_UNARY = {0: "clz", 2: "cao", 4: "extsb", 5: "extsh"}
# What `rd` keeps of its two operands: the first, if it compares so with the second.
_EXTREMES = {4: "lts", 5: "ltu", 6: "gts", 7: "gtu"}
_PRODUCTS = ("mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu")
_REVERSE_BYTES, _OR_BYTES = 0x698, 0x287


class Reference(NamedTuple):
    """A relocation: its kind, and what it refers to, a label in the code or an address of data."""

    kind: int
    value: int | Label


def code_label(address: int) -> Label:
    """Return the label of an address of the linked file."""
    return Label("code", address)


class Translator:
    """Translates the text of a linked file.

    Parameters
    ----------
    code : Code
        To append to.
    base : int
        Address of the first instruction.
    references : mapping
        Relocations by address.
    describe : callable
        Says for an error what is at an address.
    """

    def __init__(
        self,
        code: Code,
        base: int,
        references: Mapping[int, Reference],
        describe: Callable[[int], str],
    ) -> None:
        self.code = code
        self.base = base
        self.references = references
        self.describe = describe
        self._words: tuple[int, ...] = ()

    def run(self, text: bytes) -> None:
        """Append the translation of the text."""
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
        """Append one instruction and return how many words it was."""
        if rv.opcode == Opcode.AUIPC:
            return self._call(address)
        if rv.opcode in (Opcode.LOAD, Opcode.STORE, Opcode.OP_IMM, Opcode.LUI):
            rv = self._relocated(rv, address)
        if rv.opcode == Opcode.LOAD:
            self._load(rv)
        elif rv.opcode == Opcode.STORE:
            self._store(rv)
        elif rv.opcode == Opcode.OP_IMM:
            self._immediate(rv, address)
        elif rv.opcode == Opcode.LUI:
            self.code.put(register_of(rv.rd), rv.immediate)
        elif rv.opcode == Opcode.OP:
            self._operation(rv)
        elif rv.opcode == Opcode.BRANCH:
            self._branch(rv, code_label(address + rv.immediate))
        elif rv.opcode == Opcode.JAL:
            self._jump(rv.rd, ZERO, code_label(address + rv.immediate))
        elif rv.opcode == Opcode.JALR:
            if rv.immediate:
                raise TranslationError("a computed jump with an offset")
            self._jump(rv.rd, register_of(rv.rs1), 0)
        elif rv.opcode == Opcode.CUSTOM:
            translate_custom(self.code, rv)
        elif rv.opcode == Opcode.FENCE:
            pass  # Memory is in order.
        elif rv.word in (0, 0x0000_0073, 0x0010_0073, 0xC000_1073):
            self.code.emit("fault", "i", _HALT)
        else:
            raise TranslationError(f"the DPU has nothing for {rv.word:#010x}")
        return 1

    def _relocated(self, rv: Rv32, address: int) -> Rv32:
        """Give it the immediate of an address of data, as it is on the DPU."""
        reference = self.references.get(address)
        if reference is None:
            return rv
        value = reference.value
        if isinstance(value, Label):
            if rv.opcode in (Opcode.LOAD, Opcode.STORE):
                raise TranslationError("code is read or written as data")
            return rv
        if reference.kind == Relocation.HI20:
            return rv._replace(immediate=(value + 0x800) & 0xFFFF_F000)
        return rv._replace(immediate=sign_extend(value, 12))

    def _call(self, address: int) -> int:
        """Translate an address relative to the pc and the jump to it; that is how calls are."""
        index = (address - self.base) // 4
        first = decode(self._words[index])
        second = decode(self._words[index + 1]) if index + 1 < len(self._words) else first
        if second.opcode != Opcode.JALR or second.rs1 != first.rd:
            raise TranslationError("an address relative to the pc, which is no call")
        reference = self.references.get(address)
        if reference is None:
            # A function that calls itself: the compiler knew how far away it is.
            offset = sign_extend(first.immediate, 32) + second.immediate
            target: int | Label = code_label(address + offset)
        else:
            target = reference.value
        if not isinstance(target, Label):
            raise TranslationError("a call of a function that is not defined, or that is data")
        self._jump(second.rd, ZERO, target)
        return 2

    def _jump(self, rd: int, register: int, target: int | Label) -> None:
        if rd == 0:
            self.code.emit("call", "zri", 0, register, target)
        else:
            self.code.emit("call", "rri", register_of(rd), register, target)

    def _branch(self, rv: Rv32, target: Label) -> None:
        condition, left = _BRANCHES.get(rv.funct3), register_of(rv.rs1)
        if condition is None:
            raise TranslationError(f"the DPU has nothing for {rv.word:#010x}")
        if rv.rs2 == 0:
            self.code.jump_if(condition, left, 0, target)
        else:
            right = register_of(rv.rs2)
            self.code.emit("sub", "zrrci", 0, left, right, condition, target)

    def _load(self, rv: Rv32) -> None:
        if rv.funct3 not in _LOADS:
            raise TranslationError(f"the DPU has nothing for {rv.word:#010x}")
        if rv.rd == 0:
            return
        result = pair_of(rv.rd) if rv.funct3 == 3 else register_of(rv.rd)
        self.code.emit(_LOADS[rv.funct3], "erri", 0, result, register_of(rv.rs1), rv.immediate)

    def _store(self, rv: Rv32) -> None:
        if rv.funct3 not in _STORES:
            raise TranslationError(f"the DPU has nothing for {rv.word:#010x}")
        mnemonic, base = _STORES[rv.funct3], register_of(rv.rs1)
        if rv.rs2 == 0:
            self.code.emit(mnemonic, "erii", 0, base, rv.immediate, 0)
            return
        value = pair_of(rv.rs2) if rv.funct3 == 3 else register_of(rv.rs2)
        self.code.emit(mnemonic, "erir", 0, base, rv.immediate, value)

    def _immediate(self, rv: Rv32, address: int) -> None:
        if rv.rd == 0:
            return
        code, result, source, value = self.code, register_of(rv.rd), 0, rv.immediate
        reference = self.references.get(address)
        if reference is not None and isinstance(reference.value, Label):
            code.put(result, reference.value)
            return
        source = register_of(rv.rs1)
        if rv.funct3 == 0 and value == 0:
            code.move(result, source)
        elif rv.funct3 in _IMMEDIATE:
            code.emit(_IMMEDIATE[rv.funct3], "rri", result, source, value & 0xFFFF_FFFF)
        elif rv.funct3 in (2, 3):
            code.emit("sub", "rric", result, source, value, "lts" if rv.funct3 == 2 else "ltu")
        elif rv.funct3 == 1:
            self._left_or_unary(rv, result, source)
        elif rv.funct7 in _SHIFTS_RIGHT:
            code.emit(_SHIFTS_RIGHT[rv.funct7], "rri", result, source, rv.rs2)
        elif rv.word >> 20 == _REVERSE_BYTES:
            self._reverse_bytes(result, source)
        elif rv.word >> 20 == _OR_BYTES:
            self._or_bytes(result, source)
        else:
            raise TranslationError(f"the DPU has nothing for {rv.word:#010x}")

    def _left_or_unary(self, rv: Rv32, result: int, source: int) -> None:
        code = self.code
        if rv.funct7 == 0:
            code.emit("lsl", "rri", result, source, rv.rs2)
        elif rv.funct7 == 48 and rv.rs2 == 1:
            # Trailing zeros: those are what x - 1 has and x has not.
            code.put(SCRATCH_HIGH, 0xFFFF_FFFF)
            code.emit("add", "rrr", SCRATCH_HIGH, source, SCRATCH_HIGH)
            code.emit("andn", "rrr", SCRATCH_HIGH, source, SCRATCH_HIGH)
            code.emit("cao", "rr", result, SCRATCH_HIGH)
        elif rv.funct7 == 48 and rv.rs2 in _UNARY:
            code.emit(_UNARY[rv.rs2], "rr", result, source)
        else:
            raise TranslationError(f"the DPU has nothing for {rv.word:#010x}")

    def _reverse_bytes(self, result: int, source: int) -> None:
        code = self.code
        code.emit("rol", "rri", SCRATCH_HIGH, source, 8)
        code.emit("and", "rri", SCRATCH_HIGH, SCRATCH_HIGH, 0x00FF_00FF)
        code.emit("ror", "rri", SCRATCH_LOW, source, 8)
        code.emit("and", "rri", SCRATCH_LOW, SCRATCH_LOW, 0xFF00_FF00)
        code.emit("or", "rrr", result, SCRATCH_HIGH, SCRATCH_LOW)

    def _or_bytes(self, result: int, source: int) -> None:
        """Make each byte that is not zero 255: first its bit 7, then that times 255."""
        code = self.code
        code.emit("and", "rri", SCRATCH_HIGH, source, 0x7F7F_7F7F)
        code.emit("add", "rri", SCRATCH_HIGH, SCRATCH_HIGH, 0x7F7F_7F7F)
        code.emit("or", "rrr", SCRATCH_HIGH, SCRATCH_HIGH, source)
        code.emit("lsr", "rri", SCRATCH_HIGH, SCRATCH_HIGH, 7)
        code.emit("and", "rri", SCRATCH_LOW, SCRATCH_HIGH, 0x0101_0101)
        code.emit("lsl", "rri", SCRATCH_HIGH, SCRATCH_LOW, 8)
        code.emit("sub", "rrr", result, SCRATCH_HIGH, SCRATCH_LOW)

    def _operation(self, rv: Rv32) -> None:
        if rv.rd == 0:
            return
        code, result = self.code, register_of(rv.rd)
        left, right = register_of(rv.rs1), register_of(rv.rs2)
        if rv.funct7 == 1:
            code.emit(_PRODUCTS[rv.funct3], "rrr", result, left, right)
        elif rv.funct7 == 0 and rv.funct3 in (2, 3):
            condition = "lts" if rv.funct3 == 2 else "ltu"
            if right == ZERO:
                code.emit("sub", "rric", result, left, 0, condition)
            else:
                code.emit("sub", "rrrc", result, left, right, condition)
        elif rv.funct7 == 16 and rv.funct3 in (2, 4, 6):
            addend = self._in_register(right)
            code.emit("lsl_add", "rrri", result, addend, left, rv.funct3 // 2)
        elif rv.funct7 == 4 and rv.funct3 == 4 and rv.rs2 == 0:
            code.emit("extuh", "rr", result, left)
        elif rv.funct7 == 5 and rv.funct3 in _EXTREMES:
            self._extreme(_EXTREMES[rv.funct3], result, left, right)
        else:
            self._arithmetic(rv, result, left, right)

    def _in_register(self, register: int) -> int:
        """Return a register that any operand can name."""
        if register != ZERO:
            return register
        self.code.put(SCRATCH_LOW, 0)
        return SCRATCH_LOW

    def _extreme(self, condition: str, result: int, left: int, right: int) -> None:
        code, end, other = self.code, self.code.fresh(), self._in_register(right)
        code.move(SCRATCH_HIGH, left)
        code.emit("sub", "zrrci", 0, SCRATCH_HIGH, other, condition, end)
        code.move(SCRATCH_HIGH, other)
        code.place(end)
        code.move(result, SCRATCH_HIGH)

    def _arithmetic(self, rv: Rv32, result: int, left: int, right: int) -> None:
        mnemonic = _ALU.get((rv.funct3, rv.funct7))
        if mnemonic is None:
            raise TranslationError(f"the DPU has nothing for {rv.word:#010x}")
        if mnemonic in ("andn", "orn"):
            left, right = right, left  # The DPU inverts its first operand.
        if right == ZERO and mnemonic in _NEUTRAL:
            self.code.move(result, left)
        else:
            self.code.emit(mnemonic, "rrr", result, left, self._in_register(right))
