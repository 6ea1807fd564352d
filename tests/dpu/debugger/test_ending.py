# SPDX-License-Identifier: BSD-3-Clause
"""A debugger that is ended by a signal ends the host program that it has started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from dpu.debugger.ending import Ending

# Tells its process, and launches nothing for longer than the test waits.
HOST = "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(100)"
COMMANDS = {"dpu.lldb": ["-o", "run"], "dpu.gdb": []}


def exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("module", COMMANDS)
def test_a_signal_ends_the_host(module: str, number: signal.Signals) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tests run where this signal is ignored")
    command = [sys.executable, "-P", "-m", module, *COMMANDS[module], "--"]
    with subprocess.Popen(
        [*command, sys.executable, "-P", "-c", HOST],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as debugger:
        assert debugger.stdout is not None
        host = int(next(line for line in debugger.stdout if line.strip().isdecimal()))
        try:
            debugger.send_signal(number)
            _, error = debugger.communicate(timeout=60)
            assert (debugger.returncode, error) == (128 + number, "")
            assert not exists(host)
        finally:
            if exists(host):
                os.kill(host, signal.SIGKILL)
            debugger.kill()


@pytest.fixture
def ending() -> Iterator[Ending]:
    before = signal.getsignal(signal.SIGUSR1)
    yield Ending(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)


def test_a_host_that_is_being_started_is_known_before_the_end(ending: Ending) -> None:
    started = False
    with pytest.raises(SystemExit) as end, ending.held():
        signal.raise_signal(signal.SIGUSR1)
        started = True
    assert started and end.value.code == 128 + signal.SIGUSR1


def test_a_signal_while_it_closes_cuts_nothing_short(ending: Ending) -> None:
    closed: list[str] = []

    def close() -> None:
        if not closed:
            closed.append("begun")
            signal.raise_signal(signal.SIGUSR1)
        signal.raise_signal(signal.SIGUSR1)
        closed.append("done")

    with pytest.raises(SystemExit):
        ending.run(lambda: 0, close)
    assert closed == ["begun", "done"]


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        Ending(signal.SIGUSR1)
        assert signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGUSR1, before)
