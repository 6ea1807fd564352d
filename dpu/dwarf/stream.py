# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes the numbers that DWARF consists of."""

from __future__ import annotations

__all__ = ["Reader", "sleb", "uleb"]

# Numbers of more bytes than 64 bits need are damage.
_LONGEST = 10


class Reader:
    """Reads values from bytes; IndexError at their end.

    Parameters
    ----------
    data : bytes
        What to read.
    at : int
        Where to begin.
    end : int, optional
        Where to end; by default at the end of the data.
    """

    def __init__(self, data: bytes, at: int = 0, end: int | None = None) -> None:
        self.data = data
        self.at = at
        self.end = len(data) if end is None else end
        if not 0 <= at <= self.end <= len(data):
            raise IndexError(at)

    @property
    def is_at_end(self) -> bool:
        """True if nothing is left."""
        return self.at >= self.end

    def number(self, size: int) -> int:
        """Read an unsigned number."""
        return int.from_bytes(self.bytes(size), "little")

    def bytes(self, size: int) -> bytes:
        """Read some bytes."""
        if size > self.end - self.at:
            raise IndexError(size)
        self.at += size
        return self.data[self.at - size : self.at]

    def uleb(self) -> int:
        """Read an unsigned LEB128 number."""
        start, value, shift = self.at, 0, 0
        while True:
            byte = self.number(1)
            value |= (byte & 0x7F) << shift if shift < 64 else 0
            shift += 7
            if byte < 0x80:
                return value
            if self.at - start > _LONGEST:
                raise IndexError(start)

    def sleb(self) -> int:
        """Read a signed LEB128 number."""
        start = self.at
        value = self.uleb()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if self.data[self.at - 1] & 0x40 and bits < 64 else value

    def string(self) -> str:
        """Read a string that a zero ends."""
        end = self.data.index(b"\0", self.at, self.end)
        text = self.data[self.at : end]
        self.at = end + 1
        return text.decode("utf-8", "replace")


def uleb(value: int) -> bytes:
    """Encode an unsigned number."""
    data = bytearray()
    while value >= 0x80:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


def sleb(value: int) -> bytes:
    """Encode a signed number."""
    data = bytearray()
    while not -0x40 <= value < 0x40:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value & 0x7F])
