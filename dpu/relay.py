# SPDX-License-Identifier: BSD-3-Clause
"""Carries streams of sockets between ranks of MPI, for `dpu.hosts`."""

from __future__ import annotations

import select
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["Relay"]

# Of a message; how many of a stream may be under way, and how many received and not written.
_BYTES = 1 << 20
_UNDER_WAY = 4
_RECEIVED = 16
# Seconds without anything to do, and how long to wait for sockets then: MPI has nothing that can be
# waited for together with them.
_WAITS = ((0.002, 0.00005), (0.05, 0.0005), (float("inf"), 0.002))


class _Stream:
    """A socket of this rank, and what is on its way from and to it."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.socket = connection
        self.sends: deque[tuple[Any, bytes]] = deque()
        self.received: deque[memoryview] = deque()
        self.is_closed = False

    def may_read(self) -> bool:
        """Drop what has been sent; true if more may be."""
        while self.sends and self.sends[0][0].Test():
            self.sends.popleft()
        return not self.is_closed and len(self.sends) < _UNDER_WAY

    def write(self) -> None:
        """Write as much as the socket takes."""
        while self.received:
            try:
                done = self.socket.send(self.received[0])
            except BlockingIOError:
                return
            except OSError:  # nobody reads it any more, as its own end will show
                self.received.clear()
                return
            rest = self.received.popleft()[done:]
            if rest:
                self.received.appendleft(rest)


class Relay:
    """The streams of a rank. A message is bytes of one; an empty one is its end.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        For nothing else.
    accept : callable, optional
        Gives the socket of a stream that another rank has begun; by default there are none.
    """

    def __init__(self, comm: MPI.Comm, accept: Callable[[], socket.socket] | None = None) -> None:
        self._comm = comm
        self._accept = accept
        self._streams: dict[tuple[int, int], _Stream] = {}
        self._tag = 0
        self._busy = 0.0
        self.sent = self.received = 0

    def add(self, rank: int, connection: socket.socket) -> None:
        """Begin a stream to a rank; tag 0 is not used."""
        self._tag += 1
        self._streams[rank, self._tag] = _Stream(connection)

    def step(self, *others: socket.socket) -> list[socket.socket]:
        """Move on what can be, and wait a moment if nothing can; give the others that are ready."""
        moved = self._receive()
        reads = [stream.socket for stream in self._streams.values() if stream.may_read()]
        writes = [stream.socket for stream in self._streams.values() if stream.received]
        idle = time.monotonic() - self._busy
        limit = 0.0 if moved else next(wait for most, wait in _WAITS if idle < most)
        ready, writable, _ = select.select([*reads, *others], writes, [], limit)

        for key, stream in list(self._streams.items()):
            if stream.socket in writable:
                stream.write()
            if stream.socket in ready:
                self._send(key, stream)
            if stream.is_closed and not stream.sends:
                del self._streams[key]
                stream.socket.close()
        if moved or ready or writable:
            self._busy = time.monotonic()
        return [one for one in others if one in ready]

    def end(self, ranks: Iterable[int]) -> None:
        """Tell ranks that all is over, whose `step()` raises EOFError then; wait for `close()`."""
        from mpi4py import MPI

        waits = list(ranks)
        for rank in waits:
            self._comm.Isend(b"", dest=rank, tag=0).Wait()
        status = MPI.Status()
        while waits:
            self._comm.Probe(MPI.ANY_SOURCE, MPI.ANY_TAG, status)
            key, _ = self._take(status)
            if key[1] == 0:
                waits.remove(key[0])
        self.close()

    def close(self) -> None:
        """Close all sockets; what was sent is taken by the rank that ends it all."""
        for stream in self._streams.values():
            stream.socket.close()
            for request, _ in stream.sends:
                request.Wait()
        self._streams.clear()

    def _send(self, key: tuple[int, int], stream: _Stream) -> None:
        try:
            data = stream.socket.recv(_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        rank, tag = key
        stream.sends.append((self._comm.Isend(data, dest=rank, tag=tag), data))
        stream.is_closed = not data
        self.sent += len(data)

    def _probe(self, status: MPI.Status) -> bool:
        """Look for a message that can be taken: of streams that have not got too much.

        A rank that is asked for streams need not choose, as its sockets are always read.
        """
        from mpi4py import MPI

        if self._accept is None:
            keys = [key for key, one in self._streams.items() if len(one.received) < _RECEIVED]
            return any(self._comm.Iprobe(*key, status) for key in keys)
        if any(len(one.received) >= _RECEIVED for one in self._streams.values()):
            return False
        return bool(self._comm.Iprobe(MPI.ANY_SOURCE, MPI.ANY_TAG, status))

    def _take(self, status: MPI.Status) -> tuple[tuple[int, int], bytearray]:
        """Receive the message that was found."""
        from mpi4py import MPI

        key = status.Get_source(), status.Get_tag()
        data = bytearray(status.Get_count(MPI.BYTE))
        self._comm.Recv(data, source=key[0], tag=key[1])
        self.received += len(data)
        return key, data

    def _receive(self) -> bool:
        """Take one message; false if there is none."""
        from mpi4py import MPI

        status = MPI.Status()
        if not self._probe(status):
            return False
        key, data = self._take(status)
        if key[1] == 0:
            raise EOFError
        if data and key not in self._streams and self._accept is not None:
            self._streams[key] = _Stream(self._accept())
        stream = self._streams.get(key)
        if stream is not None and data:
            stream.received.append(memoryview(data))
            stream.write()
        elif stream is not None:
            self._end(stream)
        return True

    def _end(self, stream: _Stream) -> None:
        """Pass on an end: what was received before is written first."""
        stream.socket.setblocking(True)
        stream.write()
        stream.socket.setblocking(False)
        try:
            stream.socket.shutdown(socket.SHUT_WR)
        except OSError:  # the other end has gone
            return
