# SPDX-License-Identifier: BSD-3-Clause
"""Carries the engine's packets to and from ranks on other hosts, through mpi4py.

The engine calls neither Python nor MPI: it queues outgoing packets, and takes those that arrive. A
`PacketPump` moves them. A thread that waits for a call turns the pump; if MPI allows calls from any
thread, a daemon thread does too, so that calls progress while the program computes. No MPI symbol
is linked; any MPI that mpi4py was built for works.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["PacketPump", "Queue"]


class Queue(Protocol):
    """The engine's side: outgoing and incoming packets."""

    def take(self) -> tuple[int, bytes] | None:
        """Return the next outgoing packet and its destination."""

    def deliver(self, rank: int, data: bytearray, /) -> None:
        """Take a packet that arrived, and the rank that sent it."""

    def wait(self, seconds: float, /) -> bool:
        """Wait at most that long for an outgoing packet."""

    def busy(self) -> bool:
        """Whether a call waits for packets."""

    def lost(self, rank: int, why: str, /) -> None:
        """Record that a rank can no longer be reached."""

    def farewell(self) -> None:
        """Put the last packets into the queue."""


_log = logging.getLogger("accl")

# The pump has its own communicator, and packets identify themselves; the last message of a rank to
# another one is empty: nothing follows.
TAG = 0
END_TAG = 1
# How many packets of a kind a turn handles before the next kind.
BURST = 64
# While a call waits, the thread polls this long after the last packet.
EAGER_S = 5e-3
# Pauses of the thread while it is idle.
SHORTEST_PAUSE_S = 20e-6
LONGEST_PAUSE_S = 1e-3
# How long stop() waits for packets that were passed to MPI.
FLUSH_S = 2.0

# MPI reads a packet's memory until it is delivered: a dropped pump stays alive until it is stopped,
# and one that abandoned packets forever.
_living: set[PacketPump] = set()


class PacketPump:
    """Moves packets between the engine and MPI.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        The ranks that packets go to, by their number in it. It is duplicated, so that
        packets cannot match the program's messages; this is a collective operation.
    queue : Queue
        The engine's side.

    Raises
    ------
    RuntimeError
        MPI is not initialised, or was finalised.
    """

    def __init__(self, comm: MPI.Comm, queue: Queue) -> None:
        from mpi4py import MPI

        if not MPI.Is_initialized() or MPI.Is_finalized():
            raise RuntimeError("MPI must be initialised, and not finalised, to reach other hosts")

        self._mpi: Any = MPI
        self._queue = queue
        self._pid = os.getpid()
        self._home = threading.get_ident()
        self._lock = threading.Lock()
        self._sending: deque[tuple[MPI.Request, bytes]] = deque()
        self._unfinished = set(range(comm.Get_size())) - {comm.Get_rank()}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._any_thread = MPI.Query_thread() == MPI.THREAD_MULTIPLE
        self._comm: MPI.Comm | None = comm.Dup()
        _living.add(self)
        _stop_before_finalize(self)
        if self._any_thread:
            self._thread = threading.Thread(
                target=_pump_until_stopped,
                args=(self, self._stopping),
                name="accl-mpi",
                daemon=True,
            )
            self._thread.start()

    @property
    def any_thread(self) -> bool:
        """Whether calls progress on their own: MPI was initialised with THREAD_MULTIPLE."""
        return self._any_thread

    @property
    def home(self) -> int:
        """The thread that made it: the only one that moves packets unless `any_thread`."""
        return self._home

    @property
    def stopped(self) -> bool:
        """Whether it is stopped."""
        return self._comm is None

    def turn(self) -> bool:
        """Move packets without waiting.

        Returns
        -------
        bool
            Whether a packet moved. Also False in a thread that must not call MPI, in a forked
            child, and while another thread turns the pump.

        Raises
        ------
        Exception
            An error of MPI or the engine in the daemon thread, once.
        """
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return self._turn()

    def _turn(self) -> bool:
        if os.getpid() != self._pid:
            return False
        if not self._any_thread and threading.get_ident() != self._home:
            return False
        if not self._lock.acquire(blocking=False):
            return False

        try:
            comm = self._comm
            if comm is None:
                return False
            moved = self._receive(comm)
            return self._send(comm) or moved
        finally:
            self._lock.release()

    def _send(self, comm: MPI.Comm) -> bool:
        moved = False
        # They finish in any order; checking from the front still keeps the queue short.
        while self._sending and self._sending[0][0].Test():
            self._sending.popleft()
            moved = True

        for _ in range(BURST):
            packet = self._queue.take()
            if packet is None:
                return moved
            rank, data = packet
            kept = bytes(data)
            self._sending.append((comm.Isend([kept, self._mpi.BYTE], rank, TAG), kept))
            moved = True

        return moved

    def _receive(self, comm: MPI.Comm) -> bool:
        status = self._mpi.Status()
        for number in range(BURST):
            message = comm.Improbe(self._mpi.ANY_SOURCE, self._mpi.ANY_TAG, status)
            if message is None:
                return number > 0
            if status.Get_tag() == END_TAG:
                message.Recv([bytearray(), self._mpi.BYTE])
                self._unfinished.discard(status.Get_source())
                continue
            data = bytearray(status.Get_count(self._mpi.BYTE))
            message.Recv([data, self._mpi.BYTE])
            self._queue.deliver(status.Get_source(), data)

        return True

    def stop(self, limit: float = FLUSH_S) -> bool:
        """Stop the thread, and wait for packets in flight. May be called again.

        Parameters
        ----------
        limit : float
            Timeout in seconds, after which undelivered packets and ranks that still run are
            abandoned.

        Returns
        -------
        bool
            Whether all packets were sent and received.
        """
        self._stopping.set()
        if os.getpid() != self._pid:
            return False

        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

        self._thread = None
        if not self._any_thread and threading.get_ident() != self._home:
            return False

        with self._lock:
            comm, self._comm = self._comm, None
            if comm is None:
                return not self._sending and not self._unfinished
            complete = self._finish(comm, time.monotonic() + limit)
            # While a message is in flight, its number must not be reused for another
            # communicator. It is not collective in practice, unlike Disconnect(), which would wait.
            if complete:
                comm.Free()
                _living.discard(self)
            return complete

    def _give_up(self, error: Exception) -> None:
        """Make calls that wait for other ranks fail immediately."""
        for rank in sorted(self._unfinished):
            self._queue.lost(rank, f"packets are no longer carried: {error}")

    def _finish(self, comm: MPI.Comm, deadline: float) -> bool:
        self._queue.farewell()
        while self._send(comm):
            self._receive(comm)

        for rank in range(comm.Get_size()):
            if rank != comm.Get_rank():
                request = comm.Isend([b"", self._mpi.BYTE], rank, END_TAG)
                self._sending.append((request, b""))

        while self._sending or self._unfinished:
            # The other side may be at the same point, and wait for us to receive.
            if not self._receive(comm) and not self._send(comm):
                if time.monotonic() > deadline:
                    return False
                time.sleep(SHORTEST_PAUSE_S)

        return True


def _pump_until_stopped(pump: PacketPump, stopping: threading.Event) -> None:
    """Turn a pump until it is stopped."""
    pause, moved_at = SHORTEST_PAUSE_S, time.monotonic()
    while not stopping.is_set():
        try:
            moved = pump._turn()
        except Exception as error:
            pump._error = error
            _log.exception("packets can no longer be carried")
            pump._give_up(error)
            return
        if moved:
            pause, moved_at = SHORTEST_PAUSE_S, time.monotonic()
        elif pump._queue.busy() and time.monotonic() < moved_at + EAGER_S:
            time.sleep(0)
        # An outgoing packet ends the wait immediately; incoming ones are seen after it.
        elif pump._queue.wait(pause):
            moved_at = time.monotonic()
        else:
            pause = min(2 * pause, LONGEST_PAUSE_S)


def _stop_before_finalize(pump: PacketPump) -> None:
    """Arrange that a pump is stopped at MPI_Finalize(), and at interpreter exit.

    MPI_Finalize() deletes the attributes of COMM_SELF before all else. mpi4py calls it when the
    interpreter is past its exit handlers, where no Python code should run any more.
    """
    from mpi4py import MPI

    reference = weakref.ref(pump)

    def stop(*_: Any) -> None:
        living = reference()
        if living is not None:
            living.stop()

    keyval = MPI.Comm.Create_keyval(delete_fn=stop)
    MPI.COMM_SELF.Set_attr(keyval, None)
    atexit.register(stop)
