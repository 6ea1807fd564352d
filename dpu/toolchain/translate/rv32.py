# SPDX-License-Identifier: BSD-3-Clause
"""Decoder for 32-bit RISC-V instructions: RV32IM with Zba, Zbb and Zilsd."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

__all__ = ["Opcode", "Rv32", "decode", "sign_extend"]


class Opcode(IntEnum):
    """The major opcode, in the low 7 bits."""

    LOAD = 0x03
    CUSTOM = 0x0B
    FENCE = 0x0F
    OP_IMM = 0x13
    AUIPC = 0x17
    STORE = 0x23
    OP = 0x33
    LUI = 0x37
    BRANCH = 0x63
    JALR = 0x67
    JAL = 0x6F
    SYSTEM = 0x73


class Rv32(NamedTuple):
    """The fields of an instruction; the immediate is that of its format, sign-extended."""

    word: int
    opcode: int
    rd: int
    funct3: int
    rs1: int
    rs2: int
    funct7: int
    immediate: int


def sign_extend(value: int, bits: int) -> int:
    """Return the low bits of a number as two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _immediate(word: int, opcode: int) -> int:
    if opcode in (Opcode.LUI, Opcode.AUIPC):
        return word & 0xFFFF_F000
    if opcode == Opcode.STORE:
        return sign_extend(word >> 25 << 5 | word >> 7 & 31, 12)
    if opcode == Opcode.BRANCH:
        low = (word >> 8 & 15) << 1 | (word >> 25 & 63) << 5
        return sign_extend(low | (word >> 7 & 1) << 11 | word >> 31 << 12, 13)
    if opcode == Opcode.JAL:
        low = (word >> 21 & 1023) << 1 | (word >> 20 & 1) << 11
        return sign_extend(low | word & 0xFF000 | word >> 31 << 20, 21)
    return sign_extend(word >> 20, 12)


def decode(word: int) -> Rv32:
    """Split a word into fields, whether or not it is a valid instruction."""
    opcode = word & 0x7F
    return Rv32(
        word,
        opcode,
        word >> 7 & 31,
        word >> 12 & 7,
        word >> 15 & 31,
        word >> 20 & 31,
        word >> 25,
        _immediate(word, opcode),
    )
