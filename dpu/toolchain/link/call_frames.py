# SPDX-License-Identifier: BSD-3-Clause
"""Carries the compiler's call frame table over to the translated code."""

from __future__ import annotations

import struct
from collections.abc import Callable

from ...dwarf.constants import Frame
from ...dwarf.stream import Reader, sleb, uleb

__all__ = ["call_frames"]

_INSTRUCTION, _DATA = 8, -4
_IS_COMMON = 0xFFFF_FFFF
_LOW = 0x3F


def call_frames(
    section: bytes,
    position: Callable[[int], int | None],
    register: Callable[[int], int],
    routines: tuple[int, int, int, int],
) -> bytes:
    """Return the ``.debug_frame`` of a program.

    Parameters
    ----------
    section : bytes
        That of the linked file.
    position : callable
        Returns the address of the code that an address became, None if it is not code.
    register : callable
        Returns the number of a register; ValueError if there is none.
    routines : tuple of int
        The address and the bytes of the arithmetic routines, the register of their return
        address, and the stack pointer.
    """
    output = bytearray()
    commons: dict[int, int | None] = {}
    r = Reader(section)
    while not r.is_at_end:
        start = r.at
        length = r.number(4)
        entry = Reader(section, r.at, r.at + length)
        r.bytes(length)
        common = entry.number(4)
        try:
            if common == _IS_COMMON:
                commons[start] = len(output)
                output += _common(entry, register)
            elif commons.get(common) is not None:
                output += _function(entry, commons[common] or 0, position, register)
        except ValueError:
            if common == _IS_COMMON:
                commons[start] = None

    address, size, link, stack = routines
    if size:
        common = len(output)
        rule = bytes([Frame.DEF_CFA, *uleb(stack), *uleb(0)])
        output += _entry(_IS_COMMON, _common_fields(link) + rule)
        output += _entry(common, struct.pack("<II", address, size))
    return bytes(output)


def _entry(common: int, body: bytes) -> bytes:
    padding = bytes(-len(body) % 4)
    return struct.pack("<II", 4 + len(body) + len(padding), common) + body + padding


def _common_fields(return_register: int) -> bytes:
    fields = bytes([4, 0, 4, 0]) + uleb(_INSTRUCTION) + sleb(_DATA)
    return fields + uleb(return_register)


def _common(entry: Reader, register: Callable[[int], int]) -> bytes:
    version, augmentation = entry.number(1), entry.string()
    if version not in (1, 3, 4) or augmentation:
        raise ValueError("a call frame table of another kind")
    if version == 4:
        entry.bytes(2)
    step, data = entry.uleb(), entry.sleb()
    returns = entry.number(1) if version == 1 else entry.uleb()
    if step not in (1, 2, 4) or data != _DATA:
        raise ValueError("a call frame table with other units")
    # Addresses advance in the functions alone.
    rules = _translated(entry, 0, step, lambda address: address, register)
    return _entry(_IS_COMMON, _common_fields(register(returns)) + rules)


def _function(
    entry: Reader,
    common: int,
    position: Callable[[int], int | None],
    register: Callable[[int], int],
) -> bytes:
    address, size = entry.number(4), entry.number(4)
    begin, end = position(address), position(address + size)
    if begin is None or end is None or begin >= end:
        return b""
    rules = _translated(entry, address, 1, position, register)
    return _entry(common, struct.pack("<II", begin, end - begin) + rules)


def _translated(
    entry: Reader,
    address: int,
    step: int,
    position: Callable[[int], int | None],
    register: Callable[[int], int],
) -> bytes:
    output = bytearray()
    place = position(address)
    while not entry.is_at_end:
        code = entry.number(1)
        low = code & _LOW
        match code & ~_LOW or code:
            case Frame.ADVANCE_LOC | Frame.ADVANCE_LOC1 | Frame.ADVANCE_LOC2 | Frame.ADVANCE_LOC4:
                sizes = {2: 1, 3: 2, 4: 4}
                address += (entry.number(sizes[code]) if code in sizes else low) * step
                new = position(address)
                if new is None or place is None:
                    raise ValueError("a call frame leads out of the code")
                output += _advance((new - place) // _INSTRUCTION)
                place = new
            case Frame.OFFSET:
                output += bytes([Frame.OFFSET | register(low), *uleb(entry.uleb())])
            case Frame.RESTORE:
                output.append(Frame.RESTORE | register(low))
            case Frame.OFFSET_EXTENDED | Frame.DEF_CFA:
                output += bytes([code, *uleb(register(entry.uleb())), *uleb(entry.uleb())])
            case (
                Frame.RESTORE_EXTENDED | Frame.UNDEFINED | Frame.SAME_VALUE | Frame.DEF_CFA_REGISTER
            ):
                output += bytes([code, *uleb(register(entry.uleb()))])
            case Frame.DEF_CFA_OFFSET:
                output += bytes([code, *uleb(entry.uleb())])
            case Frame.REMEMBER_STATE | Frame.RESTORE_STATE:
                output.append(code)
            case Frame.NOP:
                pass
            case _:
                raise ValueError(f"call frame instruction {code:#x} is not known")
    return bytes(output)


def _advance(instructions: int) -> bytes:
    if instructions == 0:
        return b""
    if instructions <= _LOW:
        return bytes([Frame.ADVANCE_LOC | instructions])
    return struct.pack("<BH", Frame.ADVANCE_LOC2, instructions)
