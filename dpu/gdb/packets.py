# SPDX-License-Identifier: BSD-3-Clause
"""The packets of gdb's remote serial protocol; what arrives is not trusted."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["INTERRUPT", "LONGEST", "PacketError", "PacketReader", "escape", "frame", "numbers"]

# Bytes of the longest packet.
LONGEST = 1 << 14
INTERRUPT = b"\x03"
_START, _END, _ESCAPE, _RUN = b"$"[0], b"#"[0], b"}"[0], b"*"[0]
_MASK = 0x20
_HEX = re.compile(r"[0-9a-fA-F]{1,16}")


class PacketError(Exception):
    """A packet that makes no sense."""


def escape(data: bytes) -> bytes:
    """Return binary data as packets have it."""
    special = (_START, _END, _ESCAPE, _RUN)
    return b"".join(
        bytes([_ESCAPE, byte ^ _MASK]) if byte in special else bytes([byte]) for byte in data
    )


def unescape(data: bytes) -> bytes:
    """Return the binary data of a packet."""
    output = bytearray()
    at = 0
    while at < len(data):
        if data[at] == _ESCAPE:
            at += 1
            if at == len(data):
                raise PacketError("an escape at the end")
            output.append(data[at] ^ _MASK)
        else:
            output.append(data[at])
        at += 1
    return bytes(output)


def frame(data: bytes) -> bytes:
    """Return a packet, with its checksum."""
    return b"$" + data + b"#" + f"{sum(data) & 255:02x}".encode()


def numbers(text: str, count: int, separators: str = ",:;=") -> list[int]:
    """Return the hexadecimal numbers that a text consists of.

    Raises
    ------
    PacketError
        If it does not have `count` of them.
    """
    parts = re.split(f"[{re.escape(separators)}]", text)
    if len(parts) != count or not all(_HEX.fullmatch(part) for part in parts):
        raise PacketError(f"{text!r} does not consist of {count} numbers")
    return [int(part, 16) for part in parts]


class PacketReader:
    """Splits what a client sends into packets.

    Raises
    ------
    PacketError
        From `feed`, if a packet is too long.
    """

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        """Yield the packets that are complete, and whether their checksums are right.

        An interrupt is a packet of one byte; acknowledgements are left out.
        """
        self._data += data
        while self._data:
            first = self._data[0]
            if first != _START:
                del self._data[0]
                if first == INTERRUPT[0]:
                    yield INTERRUPT, True
                continue
            end = self._data.find(_END)
            if (end < 0 and len(self._data) > LONGEST) or end > LONGEST:
                self._data.clear()
                raise PacketError("a packet is too long")
            if end < 0 or len(self._data) < end + 3:
                return
            packet = bytes(self._data[1:end])
            checksum = bytes(self._data[end + 1 : end + 3])
            del self._data[: end + 3]
            yield packet, checksum.lower() == f"{sum(packet) & 255:02x}".encode()
