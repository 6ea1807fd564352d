# SPDX-License-Identifier: BSD-3-Clause
"""A DPU that a debugger has: the requests that it answers.

What comes from the socket is checked; csrc/dpu/lib/run/debug_session.h has the protocol.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from .errors import DebuggerError
from .machine import IRAM_BASE, Outcome, Ran, ThreadState, Watch, WatchKind

__all__ = ["SLICE", "Attached", "Hello"]

_MAGIC, _VERSION = 0x42474444, 2
_HELLO = struct.Struct("=8I256s")
_REQUEST = struct.Struct("=IIIIQ")
_STOPPED = struct.Struct("=4IQ64Q")
_THREAD = struct.Struct("=24I2I")
_MESSAGE = 1 << 15
_READ, _WRITE, _THREADS, _SET_THREAD, _BREAKPOINTS, _WATCHES = range(1, 7)
_STEP, _RUN, _FAULT, _IMAGE, _DETACH = range(7, 12)
_PART = 1 << 14
_MOST_WATCHES = 16
_OUTCOMES = (
    Outcome.DONE,
    Outcome.FAULT,
    Outcome.STEPPED,
    Outcome.BREAKPOINT,
    Outcome.WATCHPOINT,
    Outcome.STEPPED,
    Outcome.LIMIT,
)
_KINDS = {WatchKind.WRITE: 1, WatchKind.READ: 2, WatchKind.ACCESS: 3}
_INSTRUCTIONS = 4096
# Rounds between two looks at whether the user interrupts.
SLICE = 100_000
_TIMEOUT = 60.0


@dataclass(frozen=True)
class Hello:
    """First message of a DPU, about itself."""

    process: int
    rank: int
    slice: int
    member: int
    threads: int
    image: int
    path: str

    @property
    def name(self) -> str:
        """Rank, slice and member, as libdpu prints them."""
        return f"{self.rank}.{self.slice}.{self.member}"


class Attached:
    """A DPU that waits for the debugger.

    Addresses are those of programs: WRAM from 0, MRAM from 0x08000000, IRAM from 0x80000000 with 8
    bytes per instruction.

    Parameters
    ----------
    connection : socket
        Its connection, which this object owns.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._breakpoints = bytearray(_INSTRUCTIONS // 8)
        self.is_gone = False
        connection.settimeout(_TIMEOUT)
        fields = self._receive()
        if len(fields) != _HELLO.size:
            raise DebuggerError("what connected is no DPU of this version of libdpu")
        magic, version, *numbers, path = _HELLO.unpack(fields)
        if (magic, version) != (_MAGIC, _VERSION):
            raise DebuggerError("what connected is no DPU of this version of libdpu")
        text = path.split(b"\0")[0].decode("utf-8", "replace")
        process, rank, slice, member, threads, image = numbers
        self.hello = Hello(process, rank, slice, member, threads, image, text)
        self.nr_threads = min(64, self.hello.threads)

    def _receive(self) -> bytes:
        try:
            data = self._socket.recv(_MESSAGE + 1)
        except OSError as error:
            raise DebuggerError(f"the connection to the DPU is broken: {error}") from error
        if not data:
            self.is_gone = True
            raise DebuggerError("the host program has ended")
        return data

    def _ask(
        self, kind: int, a: int = 0, b: int = 0, c: int = 0, d: int = 0, data: bytes = b""
    ) -> bytes:
        """Send a request and return the answer's data; DebuggerError if it is refused."""
        if self.is_gone:
            raise DebuggerError("the DPU does not wait for the debugger any more")
        try:
            self._socket.sendall(_REQUEST.pack(kind, a, b, c, d) + data)
        except OSError as error:
            self.is_gone = True
            raise DebuggerError("the host program has ended") from error
        answer = self._receive()
        status = int.from_bytes(answer[:4], "little")
        if len(answer) < 4:
            raise DebuggerError("the DPU gave no valid answer")
        if status == 2:
            raise DebuggerError(f"there is no memory at 0x{a:08x}")
        if status:
            raise DebuggerError("the DPU cannot do that now: its launch is over")
        return answer[4:]

    def read(self, address: int, size: int) -> bytes:
        """Read a memory; DebuggerError if it has no such bytes."""
        first, end = address, address + size
        if not 0 <= first <= end <= 1 << 32:
            raise DebuggerError(f"there is no memory at 0x{address:x}")
        if address >= IRAM_BASE:
            # Whole instructions.
            first, end = address & ~7, end + 7 & ~7
        data = bytearray()
        for at in range(first, end, _PART):
            part = min(_PART, end - at)
            answer = self._ask(_READ, at, part)
            if len(answer) != part:
                raise DebuggerError("the DPU gave no valid answer")
            data += answer
        return bytes(data[address - first : address - first + size])

    def write(self, address: int, data: bytes) -> None:
        """Write to a memory; DebuggerError if it has no such bytes."""
        if not 0 <= address <= address + len(data) <= 1 << 32:
            raise DebuggerError(f"there is no memory at 0x{address:x}")
        if address >= IRAM_BASE and (address % 8 or len(data) % 8):
            raise DebuggerError("instructions are written as a whole: 8 bytes each")
        for at in range(0, len(data), _PART):
            self._ask(_WRITE, address + at, data=data[at : at + _PART])

    def threads(self) -> list[ThreadState]:
        """Return the states of all tasklets."""
        data = self._ask(_THREADS)
        if len(data) != self.nr_threads * _THREAD.size:
            raise DebuggerError("the DPU gave no valid answer")
        return [
            ThreadState(row[:24], row[24], bool(row[25] & 1), bool(row[25] & 2), bool(row[25] & 4))
            for row in _THREAD.iter_unpack(data)
        ]

    def thread(self, number: int) -> ThreadState:
        """Return the state of a tasklet."""
        if not 0 <= number < self.nr_threads:
            raise DebuggerError(f"there is no tasklet {number}")
        return self.threads()[number]

    def set_thread(self, number: int, state: ThreadState) -> None:
        """Change the state of a tasklet."""
        flags = state.zero | state.carry << 1 | state.running << 2
        self._ask(_SET_THREAD, number, data=_THREAD.pack(*state.registers, state.pc, flags))

    def set_breakpoints(self, pcs: set[int]) -> None:
        """Replace the breakpoints, which `run` stops before."""
        bits = bytearray(_INSTRUCTIONS // 8)
        for pc in pcs:
            if 0 <= pc < _INSTRUCTIONS:
                bits[pc // 8] |= 1 << pc % 8
        if bits != self._breakpoints:
            self._ask(_BREAKPOINTS, data=bytes(bits))
            self._breakpoints = bits

    def set_watches(self, watches: Sequence[Watch]) -> None:
        """Replace the watchpoints, which `run` and `step` stop after."""
        if len(watches) > _MOST_WATCHES:
            raise DebuggerError(f"there can be {_MOST_WATCHES} watchpoints")
        parts = [struct.pack("=3I", w.address, w.size, _KINDS[w.kind]) for w in watches]
        self._ask(_WATCHES, data=b"".join(parts))

    def step(self, thread: int) -> Ran:
        """Execute an instruction of a tasklet; the others stand still."""
        return self._stopped(self._ask(_STEP, thread))

    def run(self, rounds: int = SLICE, within: tuple[int, int, int] = (0, 0, 0)) -> Ran:
        """Run for some rounds at most.

        Parameters
        ----------
        rounds : int
            How many.
        within : tuple of int
            A tasklet and two instructions: it also stops when that tasklet is not between them.
        """
        return self._stopped(self._ask(_RUN, *within, rounds))

    def _stopped(self, data: bytes) -> Ran:
        if len(data) != _STOPPED.size:
            raise DebuggerError("the DPU gave no valid answer")
        stop, thread, pc, watch, cycles, *counts = _STOPPED.unpack(data)
        if stop >= len(_OUTCOMES) or thread >= len(counts):
            raise DebuggerError("the DPU gave no valid answer")
        return Ran(_OUTCOMES[stop], thread, pc, watch, tuple(counts), cycles)

    def fault(self) -> str:
        """Return a description of the fault, "" without one."""
        return self._ask(_FAULT).decode("utf-8", "replace")

    def image(self) -> bytes:
        """Return the file of the program."""
        size, data = self.hello.image, bytearray()
        while len(data) < size:
            part = self._ask(_IMAGE, len(data), min(_PART, size - len(data)))
            if not part:
                raise DebuggerError("the DPU gave no valid answer")
            data += part
        return bytes(data)

    def detach(self) -> None:
        """Let the launch go on, or end, without the debugger."""
        if not self.is_gone:
            try:
                self._socket.sendall(_REQUEST.pack(_DETACH, 0, 0, 0, 0))
            except OSError:
                pass
        self.is_gone = True
        self._socket.close()
