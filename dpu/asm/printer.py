# SPDX-License-Identifier: BSD-3-Clause
"""Prints words as assembly that assembles to the same words."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from .. import _isa
from ..elf.format import IRAM_BASE
from ..isa import CONSTANT_REGISTERS, INSTRUCTIONS, REGISTER_COUNT, Form
from .forms import Candidate, candidates, mnemonics

__all__ = ["write_word"]

_HEX_FROM = 1 << 16


def _length(plain: str, way: tuple[str, Candidate]) -> tuple[int, bool]:
    return len(way[1].kinds), way[0] == plain


@cache
def _ways() -> dict[int, list[tuple[str, Candidate]]]:
    """Return the ways to write a form; short ones and aliases come first."""
    found: dict[int, list[tuple[str, Candidate]]] = {}
    for mnemonic, ways in mnemonics().items():
        for way in ways:
            found.setdefault(way.form.index, []).append((mnemonic, way))
    for form in INSTRUCTIONS:
        # Aliases come before other forms of the same length.
        found[form.index].sort(key=partial(_length, form.text_mnemonic))
    return found


def _plain(index: int) -> str:
    return f"{IRAM_BASE + 8 * index:#x}"


def _operand(
    form: Form, name: str, value: int, label: Callable[[int], str | None], is_target: bool
) -> tuple[str, str]:
    """Return the class and the text of an operand."""
    if name == "zero":
        return "Z", "zero"
    if name in ("rc", "ra", "rb"):
        if value < REGISTER_COUNT:
            return "R", f"r{value}"
        text = CONSTANT_REGISTERS[value - REGISTER_COUNT]
        return ("Z" if text == "zero" else "K"), text
    if name in ("dc", "db"):
        return "D", f"d{value & ~1}"
    if name == "cc":
        return "C", _isa.condition_name(form.index, value) or f"?{value}"
    if name == "endian":
        return "N", "!big" if value else "!little"
    if name == "pc" or (is_target and value >= 0):
        return "E", label(value) or _plain(value)
    return "E", hex(value) if value >= _HEX_FROM else str(value)


def _means(mnemonic: str, classes: tuple[str, ...], values: list[int], names: list[str]) -> int:
    """Return the word that the assembler encodes, -1 if it rejects the text."""
    for candidate in candidates(mnemonic, classes):
        numbers = []
        for slot, operand in zip(candidate.slots, candidate.form.operands, strict=True):
            if not isinstance(slot, int):
                numbers.append(slot[0])
            elif operand.name == "cc":
                name = names[slot]
                code = int(name[1:]) if name[0] == "?" else candidate.form.condition_code(name)
                numbers.append(-1 if code is None else code)
            else:
                numbers.append(values[slot])
        word = _isa.encode(candidate.form.index, numbers)
        if word is not None:
            return word
    return -1


def write_word(word: int, label: Callable[[int], str | None] = lambda index: None) -> str:
    """Return a word as one statement of assembly.

    Parameters
    ----------
    word : int
        48 bits.
    label : callable, optional
        Returns the name of an instruction given its index, None if it has none.

    Returns
    -------
    str
        An instruction; ``.quad`` if the word is none, or has bits that text cannot express.
    """
    word &= 0xFFFF_FFFF_FFFF
    found = _isa.decode(word)
    if found is not None:
        index, decoded = found
        form = INSTRUCTIONS[index]
        for mnemonic, way in _ways()[index]:
            fits = all(
                isinstance(slot, int) or _same(slot[0], value, operand.bits)
                for slot, value, operand in zip(way.slots, decoded, form.operands, strict=True)
            )
            if not fits:
                continue
            classes, texts, values = (
                [""] * len(way.kinds),
                [""] * len(way.kinds),
                [0] * len(way.kinds),
            )
            to_zero = form.mnemonic == "call" and _base_is_zero(form, decoded)
            for slot, value, operand in zip(way.slots, decoded, form.operands, strict=True):
                if isinstance(slot, int):
                    is_target = to_zero and operand.name == "off"
                    classes[slot], texts[slot] = _operand(
                        form, operand.name, value, label, is_target
                    )
                    values[slot] = value
            if _means(mnemonic, tuple(classes), values, texts) == word:
                return f"{mnemonic} {', '.join(texts)}".rstrip()

    return f".quad {word:#014x}"


def _base_is_zero(form: Form, decoded: tuple[int, ...]) -> bool:
    return any(
        operand.name == "ra" and value == REGISTER_COUNT
        for operand, value in zip(form.operands, decoded, strict=True)
    )


def _same(fixed: int, value: int, bits: int) -> bool:
    return (fixed - value) % (1 << bits) == 0 if bits else True
