# SPDX-License-Identifier: BSD-3-Clause
"""Moves that need not be: of what could have been computed, or be read, where it is needed."""

from __future__ import annotations

from ..ir.blocks import Blocks
from ..ir.code import PRODUCTS, Instruction
from ..ir.effects import LOADS, STORES, effects_of
from ..ir.registers import ZERO

__all__ = ["forward_copy", "retarget_source"]

_WINDOW = 24
# Their result is a pair, or they read what they write.
_FIXED = frozenset(["ld", "sd", "mul_step", "div_step", "call", *PRODUCTS])
# Bytes of the low half that extensions keep.
_EXTENSIONS = {"extsb": "l", "extub": "l", "extsh": "lh", "extuh": "lh"}
_SYSTEM = frozenset(["acquire", "release", "boot", "resume", "read_run", "time", "time_cfg"])


def _copy(item: Instruction) -> tuple[int, int] | None:
    if item.name != "or:rri" or item.values[2] != 0:
        return None
    result, source, _ = item.values
    assert isinstance(result, int)
    assert isinstance(source, int)
    return (result, source) if source < ZERO else None


def retarget_source(blocks: Blocks, index: int) -> bool:
    """Replace `op s, ...; move d, s` by `op d, ...` if nobody needs s."""
    copy = _copy(blocks.items[index])
    if copy is None:
        return False
    result, source = copy
    start = blocks.definition(index, source)
    if start is None or not blocks.is_dead(index, source) or result == source:
        return False
    item = blocks.items[start]
    place = 1 if item.mnemonic in LOADS else 0
    if item.mnemonic in _FIXED | _SYSTEM or not item.values or item.values[place] != source:
        return False
    if not blocks.is_as_it_was(start, index) or effects_of(item).target is not None:
        return False
    renamed = {start: [_with_value(item, place, result)]}
    bits = 1 << result
    for other in range(start + 1, index):
        effect = blocks.effects[other]
        if (effect.writes | effect.reads) & bits:
            return False
        if effect.reads >> source & 1:
            new = _reading(blocks.items[other], source, result)
            if new is None:
                return False
            renamed[other] = [new]
    blocks.change({index}, renamed)
    return True


def _with_value(item: Instruction, place: int, value: int) -> Instruction:
    values = list(item.values)
    values[place] = value
    return item._replace(values=tuple(values))


def _reading(item: Instruction, old: int, new: int) -> Instruction | None:
    """Return an instruction that reads another register instead, if that can be said."""
    mnemonic, form, values = item
    if mnemonic in _FIXED or mnemonic in _SYSTEM:
        return None
    if mnemonic in LOADS:
        places = [2]
    elif mnemonic in STORES:
        places = [1, 3] if form == "erir" else [1]
    elif mnemonic in ("ldma", "sdma", "ldmai"):
        places = [0, 1]
    else:
        places = [i for i, kind in enumerate(form) if kind == "r" and i > 0]
    changed = tuple(
        new if place in places and value == old else value for place, value in enumerate(values)
    )
    return item._replace(values=changed)


def _narrowed(item: Instruction) -> tuple[int, int, str] | None:
    """Return result and source of an extension, and the bytes in which both are the same."""
    if item.form != "rr" or item.mnemonic not in _EXTENSIONS:
        return None
    result, source = item.values
    assert isinstance(result, int)
    assert isinstance(source, int)
    return (result, source, _EXTENSIONS[item.mnemonic]) if source < ZERO else None


def _reads_bytes(item: Instruction, register: int, parts: str) -> bool:
    """Tell whether an instruction multiplies bytes, and of a register only some."""
    if not item.mnemonic.startswith("mul_") or item.form != "rrr":
        return False
    letters = [part[1] for part in item.mnemonic.split("_")[1:]]
    return all(
        value != register or letter in parts
        for letter, value in zip(letters, item.values[1:], strict=True)
    )


def forward_copy(blocks: Blocks, index: int) -> bool:
    """Replace `move d, s; op ..., d` by `op ..., s` if nobody else needs d.

    For products of bytes, extensions are moves.
    """
    narrowed = _narrowed(blocks.items[index])
    copy = narrowed[:2] if narrowed is not None else _copy(blocks.items[index])
    if copy is None:
        return False
    result, source = copy
    renamed: dict[int, list[Instruction]] = {}
    for other in range(index + 1, min(index + _WINDOW, len(blocks.items))):
        if not blocks.is_as_it_was(index, other):
            return False
        effect = blocks.effects[other]
        if effect.reads >> result & 1:
            item = blocks.items[other]
            if narrowed is not None and not _reads_bytes(item, result, narrowed[2]):
                return False
            new = _reading(item, result, source)
            if new is None:
                return False
            renamed[other] = [new]
        if effect.writes >> result & 1 or blocks.is_dead(other, result):
            break
        if effect.writes >> source & 1 or effect.target is not None or not effect.goes_on:
            return False
    else:
        return False
    blocks.change({index}, renamed)
    return True
