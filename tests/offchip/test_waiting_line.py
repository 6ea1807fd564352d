# SPDX-License-Identifier: BSD-3-Clause
"""The line of a command that works for longer than two seconds."""

from __future__ import annotations

import contextlib
import io
import os
import threading

import pytest

from offchip import waiting_line
from offchip.waiting_line import ERASE, Waiting

LIMIT_S = 20


class Terminal(io.StringIO):
    """A terminal that tells when something was written."""

    def __init__(self) -> None:
        super().__init__()
        self.wrote = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        count = super().write(text)
        self.wrote.set()
        return count


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(waiting_line, "QUIET_S", 0.0)
    monkeypatch.setattr(waiting_line, "PAUSE_S", 0.001)


def test_terminal_sees_what_is_waited_for_until_it_is_done():
    terminal = Terminal()
    with Waiting("compiling", terminal):
        assert terminal.wrote.wait(LIMIT_S)
    text = terminal.getvalue()
    assert text.startswith(f"{ERASE}compiling: 0 s")
    assert text.endswith(ERASE)


def test_nothing_is_written_where_there_is_no_terminal():
    plain = io.StringIO()
    with Waiting("compiling", plain) as shown:
        shown.clear()
    assert plain.getvalue() == ""


def test_what_is_done_within_two_seconds_is_not_told(monkeypatch):
    monkeypatch.setattr(waiting_line, "QUIET_S", 1e9)
    terminal = Terminal()
    with Waiting("compiling", terminal) as shown:
        shown.clear()
    assert terminal.getvalue() == ""


def test_line_is_erased_before_other_output_and_after_an_error():
    terminal = Terminal()
    with pytest.raises(KeyError), Waiting("running", terminal) as shown:
        assert terminal.wrote.wait(LIMIT_S)
        shown.clear()
        assert ERASE in terminal.getvalue()
        raise KeyError
    assert not any(thread.name == "offchip-waiting" for thread in threading.enumerate())


def test_terminal_that_goes_away_does_not_end_the_command():
    master, slave = os.openpty()
    survived = False
    # Closing the stream writes again what could not be written.
    with contextlib.suppress(OSError), open(slave, "w") as stream:
        with Waiting("running", stream):
            os.close(master)
        survived = True
    assert survived
