# SPDX-License-Identifier: BSD-3-Clause
"""Answers the packets of gdb's remote serial protocol about a DPU."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..debugger.errors import DebuggerError
from ..debugger.machine import ThreadState, Watch, WatchKind
from ..debugger.process import Process, Reason, Stop
from .packets import LONGEST, PacketError, escape, numbers, unescape
from .target import (
    REGISTER_COUNT,
    code_address,
    description,
    register_value,
    with_register,
)

__all__ = ["Stub"]

_TRAP, _FAULT, _INTERRUPT = 5, 11, 2
_UNKNOWN = b"xxxxxxxx"
_WATCHES = {2: WatchKind.WRITE, 3: WatchKind.READ, 4: WatchKind.ACCESS}
_WATCH_NAMES = {WatchKind.WRITE: "watch", WatchKind.READ: "rwatch", WatchKind.ACCESS: "awatch"}
_MOST_BYTES = LONGEST // 2 - 16
_ACTION = re.compile(r"([csCS])(?:[0-9a-f]{2})?(?::(-?[0-9a-f]{1,4}))?")
_ERROR = b"E01"
_HELP = "There are no monitor commands but this one. The registers of the DPU are r0 to r23.\n"


class Stub:
    """Answers packets.

    Parameters
    ----------
    process : Process
        What is debugged.
    """

    def __init__(self, process: Process) -> None:
        self.process = process
        self.last = Stop(Reason.LAUNCH)
        self.acknowledges = True
        self.is_closed = False
        # Of the packets about registers and memory: a tasklet.
        self._thread = 0
        self._points: dict[tuple[int, int, int], int] = {}

    def answer(self, packet: bytes) -> bytes | None:
        """Return the answer to a packet, None if there is none."""
        try:
            text = packet.decode("latin-1")
            for prefix, method in _PACKETS:
                if text.startswith(prefix):
                    return method(self, text[len(prefix) :])
        except (PacketError, DebuggerError, ValueError):
            return _ERROR
        # Not supported.
        return b""

    # Features of the server.

    def _supported(self, _rest: str) -> bytes:
        features = "QStartNoAckMode+;qXfer:features:read+;swbreak+;hwbreak+;vContSupported+"
        return f"PacketSize={LONGEST - 16:x};{features}".encode()

    def _no_acknowledgements(self, _rest: str) -> bytes:
        self.acknowledges = False
        return b"OK"

    def _features(self, rest: str) -> bytes:
        name, _, place = rest.partition(":")
        if name != "target.xml":
            return b"E00"
        start, size = numbers(place, 2)
        data = description().encode()
        part = data[start : start + min(size, _MOST_BYTES)]
        return (b"l" if start + len(part) >= len(data) else b"m") + escape(part)

    # Threads.

    def _threads(self, _rest: str) -> bytes:
        states = self.process.machine.threads()
        running = [n for n, state in enumerate(states) if state.running] or [0]
        return b"m" + ",".join(f"{number + 1:x}" for number in running).encode()

    def _more_threads(self, _rest: str) -> bytes:
        return b"l"

    def _thread_text(self, rest: str) -> bytes:
        return f"tasklet {self._number(rest)}".encode().hex().encode()

    def _is_alive(self, rest: str) -> bytes:
        return b"OK" if self.process.machine.thread(self._number(rest)).running else _ERROR

    def _current_thread(self, _rest: str) -> bytes:
        return f"QC{self.process.thread + 1:x}".encode()

    def _number(self, text: str) -> int:
        number = numbers(text, 1)[0] - 1
        if not 0 <= number < self.process.machine.nr_threads:
            raise PacketError(f"there is no tasklet {number}")
        return number

    def _choose_thread(self, rest: str) -> bytes:
        if rest[:1] not in ("g", "c"):
            return _ERROR
        if rest[1:] not in ("0", "-1"):
            number = self._number(rest[1:])
            if rest[0] == "g":
                self._thread = number
        elif rest[0] == "g":
            self._thread = self.process.thread
        return b"OK"

    # Registers and memories.

    def _state(self) -> ThreadState:
        return self.process.machine.thread(self._thread)

    def _registers(self, _rest: str) -> bytes:
        state = self._state()
        return b"".join(_word(register_value(state, n)) for n in range(REGISTER_COUNT))

    def _set_registers(self, rest: str) -> bytes:
        if len(rest) != 8 * REGISTER_COUNT:
            return _ERROR
        state = self._state()
        for number in range(REGISTER_COUNT):
            text = rest[8 * number : 8 * number + 8]
            if text != _UNKNOWN.decode():
                state = with_register(state, number, _number_of(text))
        self.process.machine.set_thread(self._thread, state)
        return b"OK"

    def _register(self, rest: str) -> bytes:
        number = numbers(rest, 1)[0]
        if number >= REGISTER_COUNT:
            return _ERROR
        return _word(register_value(self._state(), number))

    def _set_register(self, rest: str) -> bytes:
        name, _, text = rest.partition("=")
        number = numbers(name, 1)[0]
        if number >= REGISTER_COUNT:
            return _ERROR
        state = with_register(self._state(), number, _number_of(text))
        self.process.machine.set_thread(self._thread, state)
        return b"OK"

    def _memory(self, rest: str) -> bytes:
        address, size = numbers(rest, 2)
        return self.process.machine.read(address, min(size, _MOST_BYTES)).hex().encode()

    def _set_memory(self, rest: str) -> bytes:
        place, _, text = rest.partition(":")
        address, size = numbers(place, 2)
        data = bytes.fromhex(text)
        if len(data) != size:
            return _ERROR
        self.process.machine.write(address, data)
        return b"OK"

    def _set_memory_binary(self, rest: str) -> bytes:
        place, _, text = rest.partition(":")
        address, size = numbers(place, 2)
        data = unescape(text.encode("latin-1"))
        if len(data) != size:
            return _ERROR
        self.process.machine.write(address, data)
        return b"OK"

    # Breakpoints.

    def _insert(self, rest: str) -> bytes:
        kind, address, size = numbers(rest.partition(";")[0], 3)
        key = (kind, address, size)
        if key in self._points:
            return b"OK"
        if kind in (0, 1):
            place = f"0x{code_address(address):x}"
            self._points[key] = self.process.add_breakpoint(place).number
        elif kind in _WATCHES:
            watch = Watch(address, size, _WATCHES[kind])
            self._points[key] = self.process.watch_memory("", watch).number
        else:
            return b""
        return b"OK"

    def _remove(self, rest: str) -> bytes:
        kind, address, size = numbers(rest.partition(";")[0], 3)
        number = self._points.pop((kind, address, size), None)
        if number is not None:
            self.process.remove(number, watch=kind in _WATCHES)
        return b"OK"

    # Running.

    def _why(self, _rest: str) -> bytes:
        return self._stopped(self.last)

    def _stopped(self, stop: Stop) -> bytes:
        self.last = stop
        self._thread = stop.thread
        if stop.reason is Reason.EXITED:
            status = int(stop.detail or 0)
            return (
                f"X{-status & 255:02x}".encode() if status < 0 else f"W{status & 255:02x}".encode()
            )
        signal = {Reason.FAULT: _FAULT, Reason.INTERRUPTED: _INTERRUPT}.get(stop.reason, _TRAP)
        fields = f"T{signal:02x}thread:{stop.thread + 1:x};"
        if stop.reason is Reason.BREAKPOINT:
            fields += "swbreak:;"
        elif stop.reason is Reason.WATCHPOINT:
            watch = self.process.watchpoints[stop.number].watch
            fields += f"{_WATCH_NAMES[watch.kind]}:{watch.address:x};"
        return fields.encode()

    def _continue(self, rest: str) -> bytes:
        if rest:
            return _ERROR
        return self._stopped(self.process.resume())

    def _step(self, rest: str) -> bytes:
        if rest:
            return _ERROR
        return self._step_thread(self._thread, alone=False)

    def _step_thread(self, thread: int, *, alone: bool) -> bytes:
        self.process.select(thread)
        if alone:
            return self._stopped(self.process.step_instruction())
        return self._stopped(self.process.step_round())

    def _actions(self, _rest: str) -> bytes:
        return b"vCont;c;C;s;S"

    def _resume(self, rest: str) -> bytes:
        """Step the first tasklet that has a step; the others run too if they are to continue."""
        actions = [_ACTION.fullmatch(part) for part in rest.split(";")]
        if not actions or None in actions:
            return _ERROR
        steps = [a for a in actions if a is not None and a[1] in "sS"]
        if not steps:
            return self._stopped(self.process.resume())
        which = steps[0][2]
        thread = self._thread if which in (None, "-1", "0") else self._number(which)
        others = any(a is not None and a[1] in "cC" for a in actions) or which is None
        return self._step_thread(thread, alone=not others)

    # The end.

    def _detach(self, _rest: str) -> bytes:
        self.process.detach()
        self.is_closed = True
        return b"OK"

    def _kill(self, _rest: str) -> bytes:
        self.is_closed = True
        self.process.close()
        return b"OK"

    def _monitor(self, rest: str) -> bytes:
        bytes.fromhex(rest)
        return _HELP.encode().hex().encode()

    def _attached(self, _rest: str) -> bytes:
        return b"0"

    def _no_symbols(self, _rest: str) -> bytes:
        return b"OK"


def _word(value: int | None) -> bytes:
    return _UNKNOWN if value is None else value.to_bytes(4, "little").hex().encode()


def _number_of(text: str) -> int:
    data = bytes.fromhex(text)
    if len(data) != 4:
        raise PacketError(f"{text!r} is no register")
    return int.from_bytes(data, "little")


# The first prefix that matches counts.
_PACKETS: list[tuple[str, Callable[[Stub, str], bytes]]] = [
    ("qSupported", Stub._supported),
    ("QStartNoAckMode", Stub._no_acknowledgements),
    ("qXfer:features:read:", Stub._features),
    ("qfThreadInfo", Stub._threads),
    ("qsThreadInfo", Stub._more_threads),
    ("qThreadExtraInfo,", Stub._thread_text),
    ("qRcmd,", Stub._monitor),
    ("qAttached", Stub._attached),
    ("qSymbol", Stub._no_symbols),
    ("qC", Stub._current_thread),
    ("vCont?", Stub._actions),
    ("vCont;", Stub._resume),
    ("vKill", Stub._kill),
    ("?", Stub._why),
    ("T", Stub._is_alive),
    ("H", Stub._choose_thread),
    ("g", Stub._registers),
    ("G", Stub._set_registers),
    ("p", Stub._register),
    ("P", Stub._set_register),
    ("m", Stub._memory),
    ("M", Stub._set_memory),
    ("X", Stub._set_memory_binary),
    ("Z", Stub._insert),
    ("z", Stub._remove),
    ("c", Stub._continue),
    ("s", Stub._step),
    ("D", Stub._detach),
    ("k", Stub._kill),
]
