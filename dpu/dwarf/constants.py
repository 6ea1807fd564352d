# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of DWARF 4 (its section 7) that are used here."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Attribute", "Encoding", "Form", "Frame", "Operation", "Tag"]


class Tag(IntEnum):
    """The kind of an entry."""

    ARRAY_TYPE = 0x01
    ENUMERATION_TYPE = 0x04
    FORMAL_PARAMETER = 0x05
    LEXICAL_BLOCK = 0x0B
    MEMBER = 0x0D
    POINTER_TYPE = 0x0F
    COMPILE_UNIT = 0x11
    STRUCTURE_TYPE = 0x13
    SUBROUTINE_TYPE = 0x15
    TYPEDEF = 0x16
    UNION_TYPE = 0x17
    INLINED_SUBROUTINE = 0x1D
    SUBRANGE_TYPE = 0x21
    BASE_TYPE = 0x24
    CONST_TYPE = 0x26
    ENUMERATOR = 0x28
    SUBPROGRAM = 0x2E
    VARIABLE = 0x34
    VOLATILE_TYPE = 0x35
    RESTRICT_TYPE = 0x37
    ATOMIC_TYPE = 0x47
    LLVM_ANNOTATION = 0x6000


class Attribute(IntEnum):
    """Attributes of entries."""

    LOCATION = 0x02
    NAME = 0x03
    BYTE_SIZE = 0x0B
    STMT_LIST = 0x10
    LOW_PC = 0x11
    HIGH_PC = 0x12
    COMP_DIR = 0x1B
    CONST_VALUE = 0x1C
    UPPER_BOUND = 0x2F
    ABSTRACT_ORIGIN = 0x31
    COUNT = 0x37
    DATA_MEMBER_LOCATION = 0x38
    DECL_FILE = 0x3A
    DECL_LINE = 0x3B
    DECLARATION = 0x3C
    ENCODING = 0x3E
    EXTERNAL = 0x3F
    FRAME_BASE = 0x40
    SPECIFICATION = 0x47
    TYPE = 0x49
    RANGES = 0x55
    CALL_FILE = 0x58
    CALL_LINE = 0x59
    DATA_BIT_OFFSET = 0x6B
    BIT_SIZE = 0x0D
    BIT_OFFSET = 0x0C


class Form(IntEnum):
    """How the value of an attribute is encoded."""

    ADDR = 0x01
    BLOCK2 = 0x03
    BLOCK4 = 0x04
    DATA2 = 0x05
    DATA4 = 0x06
    DATA8 = 0x07
    STRING = 0x08
    BLOCK = 0x09
    BLOCK1 = 0x0A
    DATA1 = 0x0B
    FLAG = 0x0C
    SDATA = 0x0D
    STRP = 0x0E
    UDATA = 0x0F
    REF_ADDR = 0x10
    REF1 = 0x11
    REF2 = 0x12
    REF4 = 0x13
    REF8 = 0x14
    REF_UDATA = 0x15
    SEC_OFFSET = 0x17
    EXPRLOC = 0x18
    FLAG_PRESENT = 0x19
    REF_SIG8 = 0x20


class Encoding(IntEnum):
    """Encodings of base types."""

    BOOLEAN = 0x02
    FLOAT = 0x04
    SIGNED = 0x05
    SIGNED_CHAR = 0x06
    UNSIGNED = 0x07
    UNSIGNED_CHAR = 0x08


class Operation(IntEnum):
    """An operation of an expression; REG0, BREG0 and LIT0 begin ranges of 32."""

    ADDR = 0x03
    DEREF = 0x06
    CONST1U = 0x08
    CONST1S = 0x09
    CONST2U = 0x0A
    CONST2S = 0x0B
    CONST4U = 0x0C
    CONST4S = 0x0D
    CONST8U = 0x0E
    CONST8S = 0x0F
    CONSTU = 0x10
    CONSTS = 0x11
    DUP = 0x12
    DROP = 0x13
    OVER = 0x14
    PICK = 0x15
    SWAP = 0x16
    ROT = 0x17
    ABS = 0x19
    AND = 0x1A
    DIV = 0x1B
    MINUS = 0x1C
    MOD = 0x1D
    MUL = 0x1E
    NEG = 0x1F
    NOT = 0x20
    OR = 0x21
    PLUS = 0x22
    PLUS_UCONST = 0x23
    SHL = 0x24
    SHR = 0x25
    SHRA = 0x26
    XOR = 0x27
    BRA = 0x28
    EQ = 0x29
    GE = 0x2A
    GT = 0x2B
    LE = 0x2C
    LT = 0x2D
    NE = 0x2E
    SKIP = 0x2F
    LIT0 = 0x30
    REG0 = 0x50
    BREG0 = 0x70
    REGX = 0x90
    FBREG = 0x91
    BREGX = 0x92
    PIECE = 0x93
    DEREF_SIZE = 0x94
    NOP = 0x96
    CALL_FRAME_CFA = 0x9C
    BIT_PIECE = 0x9D
    IMPLICIT_VALUE = 0x9E
    STACK_VALUE = 0x9F
    ENTRY_VALUE = 0xA3
    CONVERT = 0xA8
    GNU_ENTRY_VALUE = 0xF3
    GNU_CONVERT = 0xF7


class Frame(IntEnum):
    """An instruction of a call frame table; the first three have an operand in their low bits."""

    ADVANCE_LOC = 0x40
    OFFSET = 0x80
    RESTORE = 0xC0
    NOP = 0x00
    SET_LOC = 0x01
    ADVANCE_LOC1 = 0x02
    ADVANCE_LOC2 = 0x03
    ADVANCE_LOC4 = 0x04
    OFFSET_EXTENDED = 0x05
    RESTORE_EXTENDED = 0x06
    UNDEFINED = 0x07
    SAME_VALUE = 0x08
    REGISTER = 0x09
    REMEMBER_STATE = 0x0A
    RESTORE_STATE = 0x0B
    DEF_CFA = 0x0C
    DEF_CFA_REGISTER = 0x0D
    DEF_CFA_OFFSET = 0x0E
