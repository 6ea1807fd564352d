# SPDX-License-Identifier: BSD-3-Clause
"""Serves a debugger that speaks gdb's remote serial protocol: one client, on this machine alone."""

from __future__ import annotations

import os
import select
import socket
from collections import deque

from ..debugger.errors import DebuggerError
from ..debugger.process import Process
from .packets import INTERRUPT, PacketError, PacketReader, frame
from .stub import Stub

__all__ = ["Server", "listen"]

_PART = 1 << 12
# Wrong packets after which a client is given up.
_PATIENCE = 16
_MOST_WAITING = 64
_LAST_PORT = 65535


def listen(place: str) -> socket.socket:
    """Listen at a place.

    Parameters
    ----------
    place : str
        A port, ``localhost:PORT`` (0: any that is free), or the path of a socket to be made.

    Raises
    ------
    DebuggerError
        If it is not on this machine, or cannot be listened on.
    """
    host, _, port = place.rpartition(":")
    try:
        if port.isdecimal():
            if host not in ("", "localhost", "127.0.0.1"):
                raise DebuggerError(
                    f"{place}: the server listens on this machine only: say PORT, or a path"
                )
            if int(port) > _LAST_PORT:
                raise DebuggerError(f"{port} is no port: they end at {_LAST_PORT}")
            # Clients can change memory: users of this machine, of whom the caller warns.
            return socket.create_server(("127.0.0.1", int(port)), backlog=1)
        return _listen_at_path(place)
    except OSError as error:
        raise DebuggerError(f"cannot listen at {place}: {error}") from error


def _listen_at_path(path: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    mask = os.umask(0o177)
    try:
        listener.bind(path)
        listener.listen(1)
    except OSError:
        listener.close()
        raise
    finally:
        os.umask(mask)
    return listener


class Server:
    """Serves one client.

    Parameters
    ----------
    process : Process
        What is debugged; its `poll` becomes that of the server.
    connection : socket
        The client's connection.
    """

    def __init__(self, process: Process, connection: socket.socket) -> None:
        self._connection = connection
        self._reader = PacketReader()
        self._stub = Stub(process)
        self._waiting: deque[tuple[bytes, bool]] = deque()
        self._is_gone = False
        process.poll = self._is_interrupted

    def run(self) -> None:
        """Answer packets until the client goes."""
        wrong = 0
        while not self._stub.is_closed and not self._is_gone and wrong < _PATIENCE:
            packet, is_right = self._next()
            if packet == INTERRUPT or self._is_gone:
                continue
            if not is_right:
                wrong += 1
                self._send(b"-")
                continue
            acknowledges = self._stub.acknowledges
            if acknowledges:
                self._send(b"+")
            answer = self._stub.answer(packet)
            if answer is not None:
                self._send(frame(answer))

    def _next(self) -> tuple[bytes, bool]:
        while not self._waiting:
            self._receive()
            if self._is_gone:
                return b"", False
        return self._waiting.popleft()

    def _receive(self) -> None:
        try:
            data = self._connection.recv(_PART)
            packets = list(self._reader.feed(data))
        except (OSError, PacketError):
            data, packets = b"", []
        self._waiting += packets
        if not data or len(self._waiting) > _MOST_WAITING:
            self._is_gone = True

    def _send(self, data: bytes) -> None:
        try:
            self._connection.sendall(data)
        except OSError:
            self._is_gone = True

    def _is_interrupted(self) -> bool:
        """Tell, while the DPU runs, whether the client wants it to stop, or has gone."""
        if select.select([self._connection], [], [], 0)[0]:
            self._receive()
        found = self._is_gone or any(packet == INTERRUPT for packet, _ in self._waiting)
        self._waiting = deque(item for item in self._waiting if item[0] != INTERRUPT)
        return found
