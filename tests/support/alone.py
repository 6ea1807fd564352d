# SPDX-License-Identifier: BSD-3-Clause
"""Keeps tests with the marker ``alone`` apart from all others, in whatever process those run.

Tests share a room; one with the marker has it to itself. Who waits for that keeps others from
coming in, so that the wait ends with the tests that are running.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["open_room", "room"]

# Names the folder with the locks of a run; workers have it from the process that starts them.
FOLDER = "OFFCHIP_TEST_ROOM"


@contextlib.contextmanager
def open_room() -> Iterator[None]:
    """Have a room for the tests of this process and those that it starts."""
    with tempfile.TemporaryDirectory(prefix="offchip-tests-") as folder:
        os.environ[FOLDER] = folder
        yield
        del os.environ[FOLDER]


@contextlib.contextmanager
def room(alone: bool) -> Iterator[None]:
    """Be in the room, with others or alone."""
    kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    folder = Path(os.environ[FOLDER])
    with open(folder / "room", "w") as inside:
        with open(folder / "door", "w") as door:
            fcntl.flock(door, kind)
            fcntl.flock(inside, kind)
        yield
