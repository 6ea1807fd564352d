# SPDX-License-Identifier: BSD-3-Clause
"""A host program that runs under a debugger, in any language, as it is.

It is started with ``DPU_DEBUG`` in its environment: the name of a socket that the debugger listens
on. Each DPU that it launches connects there and waits.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from .errors import DebuggerError
from .session import Attached

__all__ = ["Host", "program_command", "split_command"]

_GRACE = 5.0
_POLL = 0.05
_BACKLOG = 128


def program_command(program: str) -> list[str]:
    """Return the command of a host that launches a program on one DPU, and prints its output."""
    return [sys.executable, "-P", "-m", "dpu.debugger", program]


def split_command(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide the arguments of a command at ``--``: its own, and the host program's."""
    end = words.index("--") if "--" in words else len(words)
    return list(words[:end]), list(words[end + 1 :])


class Host:
    """A host program that runs under the debugger.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    dpu : str, optional
        Which DPU is debugged, such as ``0.0.3``; by default the first one that is launched. All
        others run as usual.
    """

    def __init__(self, command: Sequence[str], *, dpu: str | None = None) -> None:
        self.dpu = dpu
        # The DPUs that were launched, in that order.
        self.launched: dict[str, None] = {}
        # Nobody else may connect: the folder is the user's own.
        self._folder = tempfile.mkdtemp(prefix="dpu-debug-")
        path = str(Path(self._folder, "socket"))
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._listener.bind(path)
            self._listener.listen(_BACKLOG)
            environment = {**os.environ, "DPU_DEBUG": path}
            # Ctrl-C is for the debugger.
            self.process = subprocess.Popen(list(command), env=environment, start_new_session=True)
        except OSError as error:
            self._remove()
            raise DebuggerError(f"cannot start {command[0]}: {error.strerror}") from error

    def _remove(self) -> None:
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def wait(self, poll: Callable[[], bool] = lambda: False) -> Attached | None:
        """Wait for a launch of the DPU; None if the program ends, or `poll` returns true."""
        while True:
            attached = self._accept(_POLL)
            if attached is not None:
                return attached
            if self.process.poll() is not None or poll():
                return None

    def _accept(self, seconds: float) -> Attached | None:
        """Return the DPU if it has been launched; let others run."""
        ready, _, _ = select.select([self._listener], [], [], seconds)
        if not ready:
            return None
        connection, _ = self._listener.accept()
        try:
            attached = Attached(connection)
        except DebuggerError:
            connection.close()
            return None
        self.launched[attached.hello.name] = None
        if self.dpu is None:
            self.dpu = attached.hello.name
        if attached.hello.name == self.dpu:
            return attached
        attached.detach()
        return None

    def let_others_run(self) -> None:
        """Let the DPUs run that are launched beside the one that is debugged."""
        while select.select([self._listener], [], [], 0)[0]:
            other = self._accept(0)
            if other is not None:
                other.detach()

    @property
    def status(self) -> int | None:
        """The exit status, None as long as it runs."""
        return self.process.poll()

    def close(self) -> None:
        """End the program, if it still runs."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._remove()
