# SPDX-License-Identifier: BSD-3-Clause
"""The forms that match a mnemonic and its operands.

Every form can be written with all its operands. There are also shorter ways: conditions that are
never true may be left out with their target, and aliases such as ``move`` and ``jeq`` stand for a
form with some operands fixed.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from .. import _isa
from ..isa import CONSTANT_REGISTERS, FORMS_BY_NAME, INSTRUCTIONS, REGISTER_COUNT, Form

__all__ = ["CONDITIONS", "REGISTERS", "Candidate", "candidates", "mnemonics", "suggest", "usage"]

ZERO = REGISTER_COUNT
LNEG = ZERO + CONSTANT_REGISTERS.index("lneg")

# Text of registers: the class that selects operands, and the number.
REGISTERS: dict[str, tuple[str, int]] = {
    **{f"r{i}": ("R", i) for i in range(REGISTER_COUNT)},
    **{f"d{i}": ("D", i) for i in range(0, REGISTER_COUNT, 2)},
    **{name: ("K", ZERO + i) for i, name in enumerate(CONSTANT_REGISTERS)},
    "zero": ("Z", ZERO),
}

# The kinds of operands that a class of text can be. C is the name of a condition, which may also
# be a symbol.
_FITS = {
    "R": frozenset(["rc", "ra", "rb"]),
    "D": frozenset(["dc", "db"]),
    "Z": frozenset(["zero", "ra"]),
    "K": frozenset(["ra"]),
    "C": frozenset(["cc", "imm", "off", "shift", "immDma", "pc"]),
    "E": frozenset(["imm", "off", "shift", "immDma", "pc"]),
    "N": frozenset(["endian"]),
}

_ORDERS = {"eq": "z", "neq": "nz", "z": "z", "nz": "nz"}
_ORDERS |= {name: name for name in ["ltu", "gtu", "leu", "geu", "lts", "gts", "les", "ges"]}

# Other names of conditions, tried after the form's own. Their meaning depends on the class.
SYNONYMS = {
    "eq": "z",
    "neq": "nz",
    "t": "true",
    "nsz": "snz",
    "c": "geu",
    "nc": "ltu",
}


@dataclass(frozen=True)
class Candidate:
    """A form that matches a statement.

    Parameters
    ----------
    form : Form
        The form.
    kinds : tuple of str
        Kinds of the operands in the text.
    slots : tuple
        For each operand of the form its index in the text, or (value,) if it is fixed.
    """

    form: Form
    kinds: tuple[str, ...]
    slots: tuple[int | tuple[int], ...]


def _written(form: Form, leave_out: dict[str, int]) -> Candidate:
    kinds: list[str] = []
    slots: list[int | tuple[int]] = []
    for operand in form.operands:
        if operand.name in leave_out:
            slots.append((leave_out[operand.name],))
        else:
            slots.append(len(kinds))
            kinds.append(operand.name)
    return Candidate(form, tuple(kinds), tuple(slots))


def _alias(text: str, name: str, **fixed: int | str) -> Candidate:
    """Make a candidate from ``kind:operand`` words, and fixed numbers or conditions."""
    form = FORMS_BY_NAME[name]
    words = [word.partition(":") for word in text.split()]
    kinds = tuple(kind for kind, _, _ in words)
    places = {operand or kind: index for index, (kind, _, operand) in enumerate(words)}
    slots: list[int | tuple[int]] = []
    for operand in form.operands:
        if operand.name in places:
            slots.append(places[operand.name])
            continue
        value = fixed.get(operand.name, 0)
        if isinstance(value, str):
            code = form.condition_code(value)
            assert code is not None, (name, value)
            value = code
        slots.append((value,))
    return Candidate(form, kinds, tuple(slots))


def _aliases() -> dict[str, list[Candidate]]:
    found: dict[str, list[Candidate]] = {}

    def add(name: str, *candidates: Candidate) -> None:
        found.setdefault(name, []).extend(candidates)

    for name, condition in _ORDERS.items():
        if name not in ("z", "nz"):
            add(f"j{name}", _alias("ra rb pc", "sub:zrrci", cc=condition))
            add(f"j{name}", _alias("ra imm pc", "sub:zrici", cc=condition))
        else:
            add(f"j{name}", _alias("ra pc", "sub:zrici", cc=condition))
    add("move", _alias("rc ra", "or:rrif"), _alias("rc imm", "or:rri", ra=ZERO))
    add("move", _alias("rc ra cc pc", "or:rrici"), _alias("rc imm cc pc", "or:rrici", ra=ZERO))
    for letter in "su":
        long = f"or.{letter}"
        add(f"move.{letter}", _alias("dc ra", f"{long}:rrif"))
        add(f"move.{letter}", _alias("dc imm", f"and.{letter}:rki", ra=LNEG))
        add(f"move.{letter}", _alias("dc ra cc pc", f"{long}:rrici"))
        add(f"move.{letter}", _alias("dc imm cc pc", f"{long}:rrici", ra=ZERO))
    add("not", _alias("rc ra", "xor:rri", imm=-1), _alias("rc ra cc pc", "xor:rrici", imm=-1))
    add("not", _alias("ra cc pc", "xor:zrici", imm=-1))
    add("neg", _alias("rc ra", "sub:rir"), _alias("rc ra cc pc", "sub:rirci"))
    add("bkp", _alias("", "fault:i"))
    add("call", _alias("rc off", "call:rri", ra=ZERO), _alias("rc ra", "call:rri"))
    add("call", _alias("zero off", "call:zri", ra=ZERO), _alias("zero ra", "call:zri"))
    add("jump", _alias("off", "call:zri", ra=ZERO), _alias("ra", "call:zri"))
    add("jump", _alias("ra off", "call:zri"), _alias("ra rb", "call:zrr"))
    add("time_cfg", _alias("rb", "time_cfg:zr"))
    return found


@cache
def mnemonics() -> dict[str, list[Candidate]]:
    """Return the candidates of a mnemonic, the preferred ones first."""
    found: dict[str, list[Candidate]] = {}
    shorter: dict[str, list[Candidate]] = {}
    for form in INSTRUCTIONS:
        names = [operand.name for operand in form.operands]
        found.setdefault(form.text_mnemonic, []).append(_written(form, {}))
        short = shorter.setdefault(form.text_mnemonic, [])
        never = form.conditions.get("false")
        if never is not None:
            left_out = {"cc": never} | ({"pc": 0} if "pc" in names else {})
            short.append(_written(form, left_out))
        if "endian" in names:
            short.append(_written(form, {"endian": 0}))
            if form.mnemonic.endswith("_id"):
                short.append(_written(form, {"endian": 0, "imm": 0}))

    for name, more in shorter.items():
        found[name] += more
    for name, more in _aliases().items():
        found.setdefault(name, []).extend(more)
    return found


CONDITIONS = frozenset(name for form in INSTRUCTIONS for name in form.conditions) | SYNONYMS.keys()


@cache
def candidates(mnemonic: str, classes: tuple[str, ...]) -> tuple[Candidate, ...]:
    """Return the candidates of a mnemonic with operands of some classes."""
    return tuple(
        candidate
        for candidate in mnemonics()[mnemonic]
        if len(candidate.kinds) == len(classes)
        and all(kind in _FITS[text] for kind, text in zip(candidate.kinds, classes, strict=True))
    )


def condition_code(form: Form, name: str) -> int | None:
    """Return the code of a condition or a synonym of it in a form; ``?5`` is a code itself."""
    if name.isdecimal():
        return int(name)
    code = _isa.condition_code(form.index, name)
    if code is None and name in SYNONYMS:
        code = _isa.condition_code(form.index, SYNONYMS[name])
    return code


def usage(mnemonic: str, limit: int = 8) -> str:
    """Return a description of the operands of a mnemonic."""
    ways = dict.fromkeys(", ".join(c.kinds) or "nothing" for c in mnemonics()[mnemonic])
    shown = [f"'{way}'" for way in list(ways)[:limit]]
    if len(ways) > limit:
        shown.append(f"{len(ways) - limit} more")
    return " or ".join(shown)


def suggest(name: str, known: Iterable[str]) -> str:
    """Return a question with a similar known name; empty if there is none."""
    close = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {close[0]!r}?" if close else ""
