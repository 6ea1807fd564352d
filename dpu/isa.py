# SPDX-License-Identifier: BSD-3-Clause
"""The instruction set of the DPU: 973 forms, what operands they take, and their words.

A form is a mnemonic with kinds of operands, as ``add:rrici``: a result register, a register, an
immediate, a condition and where to go if it holds. Every word of 48 bits has one form at most.
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
        How many it has in the word.
    signed : bool
        Whether it is sign-extended.
    """

    name: str
    bits: int
    signed: bool

    @property
    def is_register(self) -> bool:
        """Tell whether it names a register."""
        return self.name in _REGISTERS

    @property
    def low(self) -> int:
        """Least number that it can be given as."""
        return -(1 << self.bits - 1) if self.signed or self.name == "imm" else 0

    @property
    def high(self) -> int:
        """Greatest number that it can be given as: those of signed ones wrap around."""
        return (1 << self.bits) - 1


@dataclass(frozen=True)
class Form:
    """One form of an instruction; words of it have ``word & mask == match``."""

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
        """What it is called in text: accesses and sums with a checked limit have a further s."""
        checked = self.form == "ersi" or self.form.startswith(("es", "ss"))
        return self.mnemonic + "s" if checked else self.mnemonic

    @cached_property
    def conditions(self) -> MappingProxyType[str, int]:
        """The names of its conditions with their codes; synonyms are left out."""
        found = {}
        if any(operand.name == "cc" for operand in self.operands):
            for code in range(_CONDITION_CODES):
                name = _isa.condition_name(self.index, code)
                if name is not None:
                    found[name] = code
        return MappingProxyType(found)

    def condition_code(self, name: str) -> int | None:
        """Return the code of a condition or of a synonym of one, None if it has none."""
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
    """Make the word of an instruction.

    Parameters
    ----------
    form : Form or str
        A form, or its name such as ``add:rri``.
    **fields : int
        Operands by their names. Those that are not given are 0, and the condition the first of the
        form.

    Returns
    -------
    int
        A word of 48 bits.

    Raises
    ------
    ValueError
        If the form does not exist, has no such operand, or an operand cannot have that value.

    Examples
    --------
    >>> hex(encode("add:rri", rc=0, ra=1, imm=5))
    '0x700500000'
    """
    if isinstance(form, str):
        if form not in FORMS_BY_NAME:
            raise ValueError(f"there is no form {form!r}")
        form = FORMS_BY_NAME[form]
    names = [operand.name for operand in form.operands]
    unknown = fields.keys() - names
    if unknown:
        raise ValueError(f"{form.name} has no operand {', '.join(sorted(unknown))}: {names}")
    default = next(iter(form.conditions.values()), 0)
    values = [fields.get(name, default if name == "cc" else 0) for name in names]
    word = _isa.encode(form.index, values)
    if word is None:
        raise ValueError(f"{form.name} cannot have the operands {fields}")
    return word
