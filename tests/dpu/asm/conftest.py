# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the tests of the assembler."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator

import pytest

from tests.dpu.asm.programs_to_run import Runner
from tests.dpu.support.native import ACCOUNTING_PIPELINE, NativeMachine


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
