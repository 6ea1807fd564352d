# SPDX-License-Identifier: BSD-3-Clause
"""The call frame table ``.debug_frame``: where a function keeps what its caller needs back."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .constants import Frame
from .stream import Reader

__all__ = ["CallFrames", "FrameRule"]

_IS_COMMON = 0xFFFF_FFFF
_LOW = 0x3F
_DEEPEST = 64


@dataclass(frozen=True)
class FrameRule:
    """How to get from a frame to its caller's.

    Parameters
    ----------
    base_register, base_offset : int
        The caller's stack pointer is the sum of the two (the canonical frame address).
    saved : dict of int to int or None
        Where registers are saved, relative to that address; None for those that are lost.
    return_register : int
        The register that has, or had, the return address.
    """

    base_register: int = 0
    base_offset: int = 0
    saved: dict[int, int | None] = field(default_factory=dict)
    return_register: int = 0


class _Common(NamedTuple):
    step: int
    data: int
    rule: FrameRule


class _Function(NamedTuple):
    first: int
    end: int
    common: _Common
    program: bytes


class CallFrames:
    """The call frame table of a program; functions whose entry is damaged are left out.

    Parameters
    ----------
    section : bytes
        The contents of ``.debug_frame``.
    """

    def __init__(self, section: bytes) -> None:
        commons: dict[int, _Common] = {}
        functions = []
        try:
            r = Reader(section)
            while not r.is_at_end:
                start, length = r.at, r.number(4)
                entry = Reader(section, r.at, min(len(section), r.at + length))
                r.bytes(length)
                kind = entry.number(4)
                try:
                    if kind == _IS_COMMON:
                        commons[start] = _read_common(entry)
                    elif kind in commons:
                        first, size = entry.number(4), entry.number(4)
                        program = entry.bytes(entry.end - entry.at)
                        functions.append(_Function(first, first + size, commons[kind], program))
                except (IndexError, ValueError):
                    continue
        except IndexError:
            pass
        self._functions = sorted(functions, key=lambda function: function.first)
        self._starts = [function.first for function in self._functions]

    def find(self, address: int) -> FrameRule | None:
        """Return the rule at an instruction, None if there is none."""
        index = bisect_right(self._starts, address) - 1
        if index < 0 or address >= self._functions[index].end:
            return None
        function = self._functions[index]
        try:
            return _run(Reader(function.program), function.common, function.first, address)
        except (IndexError, ValueError):
            return None


def _read_common(entry: Reader) -> _Common:
    version, augmentation = entry.number(1), entry.string()
    if version not in (1, 3, 4) or augmentation:
        raise ValueError("a call frame table of another kind")
    if version == 4:
        entry.bytes(2)
    step, data = entry.uleb(), entry.sleb()
    register = entry.number(1) if version == 1 else entry.uleb()
    common = _Common(step, data, FrameRule(return_register=register))
    return common._replace(rule=_run(entry, common, 0, 0))


def _run(r: Reader, common: _Common, at: int, address: int) -> FrameRule:
    """Follow the instructions up to an address."""
    rule = replace(common.rule, saved=dict(common.rule.saved))
    states: list[FrameRule] = []
    while not r.is_at_end:
        code = r.number(1)
        low, kind = code & _LOW, code & ~_LOW or code
        if kind in _ADVANCES:
            size = _ADVANCES[kind]
            at += (r.number(size) if size else low) * common.step
            if at > address:
                break
        elif kind == Frame.REMEMBER_STATE:
            if len(states) == _DEEPEST:
                raise ValueError("too many remembered states")
            states.append(replace(rule, saved=dict(rule.saved)))
        elif kind == Frame.RESTORE_STATE:
            rule = states.pop()
        else:
            rule = _apply(rule, kind, low, r, common)
    return rule


_ADVANCES: dict[int, int] = {
    Frame.ADVANCE_LOC: 0,
    Frame.ADVANCE_LOC1: 1,
    Frame.ADVANCE_LOC2: 2,
    Frame.ADVANCE_LOC4: 4,
}


def _apply(rule: FrameRule, kind: int, low: int, r: Reader, common: _Common) -> FrameRule:
    match kind:
        case Frame.NOP:
            pass
        case Frame.DEF_CFA:
            rule = replace(rule, base_register=r.uleb(), base_offset=r.uleb())
        case Frame.DEF_CFA_REGISTER:
            rule = replace(rule, base_register=r.uleb())
        case Frame.DEF_CFA_OFFSET:
            rule = replace(rule, base_offset=r.uleb())
        case Frame.OFFSET:
            rule.saved[low] = r.uleb() * common.data
        case Frame.OFFSET_EXTENDED:
            register = r.uleb()
            rule.saved[register] = r.uleb() * common.data
        case Frame.RESTORE | Frame.RESTORE_EXTENDED | Frame.SAME_VALUE:
            rule.saved.pop(low if kind == Frame.RESTORE else r.uleb(), None)
        case Frame.UNDEFINED:
            rule.saved[r.uleb()] = None
        case _:
            raise ValueError(f"call frame instruction {kind:#x} is not known")
    return rule
