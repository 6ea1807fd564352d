# SPDX-License-Identifier: BSD-3-Clause
"""When a condition holds."""

from __future__ import annotations

from dataclasses import dataclass

from .values import TOP, Sum, signed

OPPOSITES = {
    "false": "true",
    "nz": "z",
    "xnz": "xz",
    "pl": "mi",
    "e": "o",
    "snz": "sz",
    "spl": "smi",
    "se": "so",
    "nov": "ov",
    "nc": "c",
    "geu": "ltu",
    "ges": "lts",
    "gtu": "leu",
    "gts": "les",
    "xgtu": "xleu",
    "xgts": "xles",
    "nsh32": "sh32",
    "nmax": "max",
    "large": "small",
}


@dataclass
class Outcome:
    """Results of an instruction for its condition to look at."""

    x: int
    """The result, as it is before it is extended to 64 bits."""
    source: int
    """The operand that the conditions on the source look at."""
    other: int
    """The second operand: an amount to shift by, or a factor."""
    old_zero: bool
    """ZF before the instruction."""
    sum: Sum | None = None
    """For additions and subtractions."""
    maximum: int = 32
    """For counting instructions: what there is at most to count."""

    def holds(self, name: str) -> bool:
        """Say whether the condition `name` holds."""
        if name in OPPOSITES:
            return not self.holds(OPPOSITES[name])
        if name.startswith("nc"):
            assert self.sum is not None
            return not self.sum.carry_into(int(name[2:]))
        return bool(getattr(self, f"_{name}")())

    def _true(self) -> bool:
        return True

    def _z(self) -> bool:
        return self.x == 0

    def _xz(self) -> bool:
        return self.x == 0 and self.old_zero

    def _mi(self) -> bool:
        return self.x >= TOP

    def _o(self) -> bool:
        return self.x % 2 == 1

    def _sz(self) -> bool:
        return self.source == 0

    def _smi(self) -> bool:
        return self.source >= TOP

    def _so(self) -> bool:
        return self.source % 2 == 1

    def _sh32(self) -> bool:
        return bool(self.other & 32)

    def _max(self) -> bool:
        return self.x == self.maximum

    def _small(self) -> bool:
        return (self.source | self.other) & 0xFF00 == 0

    # Comparisons are of the operands, so that an overflow does not turn them round.

    def _c(self) -> bool:
        assert self.sum is not None
        return self.sum.carry

    def _ov(self) -> bool:
        assert self.sum is not None
        return self.sum.overflow

    def _ltu(self) -> bool:
        return not self._c()

    def _lts(self) -> bool:
        assert self.sum is not None
        borrowed = 1 - self.sum.carry_in
        return signed(self.sum.a) < signed(self.sum.b) + borrowed

    def _leu(self) -> bool:
        return self._ltu() or self._z()

    def _les(self) -> bool:
        return self._lts() or self._z()

    def _xleu(self) -> bool:
        return self._ltu() or self._xz()

    def _xles(self) -> bool:
        return self._lts() or self._xz()
