# SPDX-License-Identifier: BSD-3-Clause
"""Results of the data-processing instructions, on unsigned 32-bit numbers."""

from __future__ import annotations

from typing import NamedTuple

MASK32 = 0xFFFF_FFFF
TOP = 0x8000_0000


def signed(value: int, width: int = 32) -> int:
    """Read the low `width` bits as a two's complement number."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


class Sum(NamedTuple):
    """An addition ``a + b + carry``, or a subtraction, which adds the complement of `b`."""

    a: int
    b: int
    carry_in: int
    subtracts: bool

    @property
    def addend(self) -> int:
        return self.b ^ MASK32 if self.subtracts else self.b

    @property
    def wide(self) -> int:
        return self.a + self.addend + self.carry_in

    @property
    def x(self) -> int:
        return self.wide & MASK32

    @property
    def carry(self) -> bool:
        """Carry out of bit 31; for a subtraction that nothing was borrowed."""
        return self.wide > MASK32

    @property
    def exact(self) -> int:
        """The signed result that 32 bits may not hold."""
        return signed(self.a) + signed(self.addend) + self.carry_in

    @property
    def overflow(self) -> bool:
        return self.exact != signed(self.x)

    def carry_into(self, bit: int) -> bool:
        low = (1 << bit) - 1
        return (self.a & low) + (self.addend & low) + self.carry_in > low


def arithmetic(name: str, a: int, b: int, carry: int) -> Sum:
    """``add`` to ``rsubc``; `a` and `b` in the order of the operands."""
    if name.startswith("rsub"):
        a, b = b, a
    subtracts = "sub" in name
    return Sum(a, b, carry if name.endswith("c") else int(subtracts), subtracts)


def logic(name: str, a: int, b: int) -> int:
    result = {
        "and": a & b,
        "or": a | b,
        "xor": a ^ b,
        "nand": ~(a & b),
        "nor": ~(a | b),
        "nxor": ~(a ^ b),
        "andn": ~a & b,
        "orn": ~a | b,
    }[name]
    return result & MASK32


LOGIC = frozenset(["and", "or", "xor", "nand", "nor", "nxor", "andn", "orn"])


def shift(name: str, a: int, amount: int) -> int:
    n = amount & 31
    ones = (1 << n) - 1
    wide = a << n
    double = a << 32 >> n  # the bits that fall out on the right are the low 32
    result = {
        "lsl": wide,
        "lsl1": wide | ones,
        "lslx": wide >> 32,
        "lsl1x": wide >> 32 | (MASK32 << n),
        "lsr": a >> n,
        "lsr1": a >> n | ones << (32 - n),
        "lsrx": double,
        "lsr1x": double | (MASK32 >> n),
        "asr": signed(a) >> n,
        "rol": wide | wide >> 32,
        "ror": double >> 32 | double,
    }[name]
    return result & MASK32


SHIFTS = frozenset(
    ["lsl", "lsl1", "lslx", "lsl1x", "lsr", "lsr1", "lsrx", "lsr1x", "asr", "rol", "ror"]
)


def shift_add(name: str, base: int, a: int, amount: int) -> tuple[int, int]:
    """``lsl_add`` and its like: the result, and the shifted operand that decides ZF."""
    shifted = shift(name[:3], a, amount)
    return (base - shifted if name == "lsl_sub" else base + shifted) & MASK32, shifted


SHIFT_ADDS = frozenset(["lsl_add", "lsl_sub", "lsr_add", "rol_add"])


def leading(text: str, digit: str) -> int:
    return len(text) - len(text.lstrip(digit))


def unary(name: str, a: int) -> int:
    bits = f"{a:032b}"
    match name:
        case "cao":
            return bits.count("1")
        case "clz":
            return leading(bits, "0")
        case "clo":
            return leading(bits, "1")
        case "cls":
            return leading(bits, bits[0]) - 1
        case "extsb":
            return signed(a, 8) & MASK32
        case "extsh":
            return signed(a, 16) & MASK32
        case "extub":
            return a & 0xFF
        case "extuh":
            return a & 0xFFFF
        case "sats":
            return TOP - 1 if a & TOP else TOP
    raise KeyError(name)


UNARY = frozenset(["cao", "clz", "clo", "cls", "extsb", "extsh", "extub", "extuh", "sats"])


def cmpb4(a: int, b: int) -> int:
    pairs = zip(a.to_bytes(4, "little"), b.to_bytes(4, "little"), strict=True)
    return int.from_bytes(bytes(one == other for one, other in pairs), "little")


def hash_of(a: int, b: int) -> int:
    """Fold the lowest fields of `a`: bits 3:2 of `b` say how wide, bit 0 how many."""
    width, count = 7 + (b >> 2 & 3), 2 + (b & 1)
    x = 0
    for field in range(count):
        x ^= a >> (field * width) & ((1 << width) - 1)
    return x


def multiply(name: str, a: int, b: int) -> int:
    """``mul_sl_uh`` and its like: a byte of each, low or high, signed or not."""
    x = 1
    for value, kind in zip((a, b), name.split("_")[1:], strict=True):
        byte = value >> (8 if kind[1] == "h" else 0) & 0xFF
        x *= signed(byte, 8) if kind[0] == "s" else byte
    return x & MASK32
