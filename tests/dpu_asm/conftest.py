# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the assembler share."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
# For `reference` and `native`, which the tests of the machine have, and for the modules here.
sys.path[:0] = [str(HERE), str(HERE.parent / "dpu")]

from native import ACCOUNTING_PIPELINE, NativeMachine  # noqa: E402
from programs_to_run import Runner  # noqa: E402


@pytest.fixture
def runner(machine_library: ctypes.CDLL) -> Iterator[Callable[[bytes], Runner]]:
    """Load programs into machines that are closed after the test."""
    made: list[Runner] = []

    def make(program: bytes) -> Runner:
        made.append(Runner(NativeMachine(machine_library, ACCOUNTING_PIPELINE), program))
        return made[-1]

    yield make
    for one in made:
        one.machine.close()
