# SPDX-License-Identifier: BSD-3-Clause
"""The instruction set of the DPU: 973 forms, their operands, and their encoding.

A form is a mnemonic with kinds of operands, as ``add:rrici``: a result register, a register, an
immediate, a condition and a jump target for when it holds. A word of 48 bits has at most one form.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from . import _isa

__all__ = [
    "CONSTANT_REGISTERS",
    "FORMS_BY_NAME",
    "INSTRUCTIONS",
    "REGISTER_COUNT",
    "Form",
    "Operand",
    "encode",
]

REGISTER_COUNT = _isa.REGISTERS
# Registers that only the operand `ra` can name, from that number on.
CONSTANT_REGISTERS = ("zero", "one", "lneg", "mneg", "id", "id2", "id4", "id8")

_REGISTERS = frozenset(["rc", "dc", "ra", "rb", "db", "zero"])
_CONDITION_CODES = 64


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of a form.

    Parameters
    ----------
    name : str
        ``rc`` or ``dc`` a result register or pair; ``ra`` a register or a constant one; ``rb`` or
        ``db`` a register or pair; ``zero`` the result is dropped; ``imm``, ``off``, ``shift``,
        ``immDma`` numbers; ``cc`` a condition; ``pc`` an instruction; ``endian`` 0 little, 1 big.
    bits : int
        Its number of bits in the word.
    signed : bool
        Whether it is sign-extended.
    """

    name: str
    bits: int
    signed: bool

    @property
    def is_register(self) -> bool:
        """True if it is a register."""
        return self.name in _REGISTERS

    @property
    def low(self) -> int:
        """The smallest number that it accepts."""
        return -(1 << self.bits - 1) if self.signed or self.name == "imm" else 0

    @property
    def high(self) -> int:
        """The largest number that it accepts; those of signed operands wrap around."""
        return (1 << self.bits) - 1


@dataclass(frozen=True)
class Form:
    """One form of an instruction; its words have ``word & mask == match``."""

    index: int
    mnemonic: str
    form: str
    condition_class: str
    mask: int
    match: int
    canon: int
    destination: int
    flags: int
    documented: bool
    operands: tuple[Operand, ...]

    @property
    def name(self) -> str:
        """The mnemonic and the form, as ``add:rri``."""
        return f"{self.mnemonic}:{self.form}"

    @property
    def text_mnemonic(self) -> str:
        """The mnemonic in text: accesses and sums with a checked limit end in s."""
        checked = self.form == "ersi" or self.form.startswith(("es", "ss"))
        return self.mnemonic + "s" if checked else self.mnemonic

    @cached_property
    def conditions(self) -> MappingProxyType[str, int]:
        """The codes of its conditions by name, without synonyms."""
        found = {}
        if any(operand.name == "cc" for operand in self.operands):
            for code in range(_CONDITION_CODES):
                name = _isa.condition_name(self.index, code)
                if name is not None:
                    found[name] = code
        return MappingProxyType(found)

    def condition_code(self, name: str) -> int | None:
        """Return the code of a condition or a synonym, None if the form does not have it."""
        return _isa.condition_code(self.index, name)


def _read_forms() -> tuple[Form, ...]:
    forms = []
    for index in range(_isa.FORM_COUNT):
        fields = _isa.form(index)
        operands = tuple(Operand(*one) for one in fields[-1])
        forms.append(Form(index, *fields[:-1], operands))
    return tuple(forms)


INSTRUCTIONS = _read_forms()
FORMS_BY_NAME = MappingProxyType({form.name: form for form in INSTRUCTIONS})


def encode(form: Form | str, **fields: int) -> int:
    """Encode an instruction.

    Parameters
    ----------
    form : Form or str
        A form, or its name such as ``add:rri``.
    **fields : int
        Operands by name. The default is 0, and the first condition of the form.

    Returns
    -------
    int
        A word of 48 bits.

    Raises
    ------
    ValueError
        If the form does not exist, or does not have an operand or a value of one.

    Examples
    --------
    >>> hex(encode("add:rri", rc=0, ra=1, imm=5))
    '0x700500000'
    """
    if isinstance(form, str):
        if form not in FORMS_BY_NAME:
            raise ValueError(f"unknown form {form!r}")
        form = FORMS_BY_NAME[form]
    names = [operand.name for operand in form.operands]
    unknown = fields.keys() - names
    if unknown:
        raise ValueError(f"{form.name} has no operand {', '.join(sorted(unknown))}: {names}")
    default = next(iter(form.conditions.values()), 0)
    values = [fields.get(name, default if name == "cc" else 0) for name in names]
    word = _isa.encode(form.index, values)
    if word is None:
        raise ValueError(f"{form.name} cannot encode the operands {fields}")
    return word
