# SPDX-License-Identifier: BSD-3-Clause
"""Copy propagation: results computed, and operands read, where a move would put them."""

from __future__ import annotations

from typing import NamedTuple

from ..ir.code import ASSEMBLY, PRODUCTS, Instruction
from ..ir.effects import LOADS, STORES
from ..ir.operands import Register
from ..ir.registers import ZERO
from ..ir.rewriter import Rewriter

__all__ = ["forward_copy", "retarget_source"]

_WINDOW = 24
# Their result is a pair, or they read what they write, or they must stay as they are.
_FIXED = frozenset(["ld", "sd", "mul_step", "div_step", "call", ASSEMBLY, *PRODUCTS])
_SYSTEM = frozenset(["acquire", "release", "boot", "resume", "read_run", "time", "time_cfg"])
# Bytes of the low half that extensions keep.
_EXTENSIONS = {"extsb": "l", "extub": "l", "extsh": "lh", "extuh": "lh"}


class _Copy(NamedTuple):
    """A move; or an extension, which is one for those bytes of the low half that it keeps."""

    result: Register
    source: Register
    kept_bytes: str | None = None


def _copy_at(item: Instruction) -> _Copy | None:
    if item.name != "or:rri" or item.operands[2] != 0:
        return None
    result, source = item.register(0), item.register(1)
    return _Copy(result, source) if source < ZERO else None


def _extension_at(item: Instruction) -> _Copy | None:
    if item.form != "rr" or item.mnemonic not in _EXTENSIONS:
        return None
    result, source = item.register(0), item.register(1)
    return _Copy(result, source, _EXTENSIONS[item.mnemonic]) if source < ZERO else None


def retarget_source(rewriter: Rewriter, index: int) -> bool:
    """Replace ``op s, ...; move d, s`` by ``op d, ...`` if s is dead after the move."""
    copy = _copy_at(rewriter.items[index])
    if copy is None:
        return False
    result, source, _ = copy
    start = rewriter.definition(index, source)
    if start is None or not rewriter.is_dead(index, source) or result == source:
        return False
    new = _with_result(rewriter.items[start], source, result)
    if new is None or rewriter.effects[start].target is not None:
        return False
    if not rewriter.is_unchanged(start, index):
        return False

    renamed = {start: [new]}
    bit = 1 << result
    for other in range(start + 1, index):
        effect = rewriter.effects[other]
        if (effect.writes | effect.reads) & bit:
            return False
        if effect.reads >> source & 1:
            reader = _reading(rewriter.items[other], source, result)
            if reader is None:
                return False
            renamed[other] = [reader]
    rewriter.change({index}, renamed)
    return True


def _with_result(item: Instruction, old: Register, new: Register) -> Instruction | None:
    """Return an instruction with another result register, None if that is not possible."""
    position = 1 if item.mnemonic in LOADS else 0
    if item.mnemonic in _FIXED | _SYSTEM or not item.operands or item.operands[position] != old:
        return None
    return item.with_operand(position, new)


def _reading(item: Instruction, old: Register, new: Register) -> Instruction | None:
    """Return an instruction that reads another register instead, None if that is not possible."""
    mnemonic, form, operands = item
    if mnemonic in _FIXED or mnemonic in _SYSTEM:
        return None
    if mnemonic in LOADS:
        positions = [2]
    elif mnemonic in STORES:
        positions = [1, 3] if form == "erir" else [1]
    elif mnemonic in ("ldma", "sdma", "ldmai"):
        positions = [0, 1]
    else:
        positions = [i for i, kind in enumerate(form) if kind == "r" and i > 0]
    changed = tuple(
        new if position in positions and operand == old else operand
        for position, operand in enumerate(operands)
    )
    return Instruction(mnemonic, form, changed)


def _reads_only_bytes(item: Instruction, register: Register, kept_bytes: str) -> bool:
    """Tell whether an instruction multiplies bytes, and reads only some of a register."""
    if not item.mnemonic.startswith("mul_") or item.form != "rrr":
        return False
    letters = [part[1] for part in item.mnemonic.split("_")[1:]]
    return all(
        operand != register or letter in kept_bytes
        for letter, operand in zip(letters, item.operands[1:], strict=True)
    )


def forward_copy(rewriter: Rewriter, index: int) -> bool:
    """Replace ``move d, s; op ..., d`` by ``op ..., s`` if d is dead after it."""
    item = rewriter.items[index]
    copy = _extension_at(item) or _copy_at(item)
    if copy is None:
        return False
    renamed: dict[int, list[Instruction]] = {}
    for other in range(index + 1, min(index + _WINDOW, len(rewriter.items))):
        if not rewriter.is_unchanged(index, other):
            return False
        effect = rewriter.effects[other]
        if effect.reads >> copy.result & 1:
            new = _forwarded(rewriter.items[other], copy)
            if new is None:
                return False
            renamed[other] = [new]

        if effect.writes >> copy.result & 1 or rewriter.is_dead(other, copy.result):
            rewriter.change({index}, renamed)
            return True
        source_is_lost = effect.writes >> copy.source & 1
        if source_is_lost or effect.target is not None or not effect.falls_through:
            return False
    return False


def _forwarded(item: Instruction, copy: _Copy) -> Instruction | None:
    """Return an instruction that reads what was copied instead of the copy."""
    kept_bytes = copy.kept_bytes
    if kept_bytes is not None and not _reads_only_bytes(item, copy.result, kept_bytes):
        return None
    return _reading(item, copy.result, copy.source)
