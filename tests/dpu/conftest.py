# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the tests of the simulated DPU."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.dpu.reference import Table, read_table
from tests.dpu.reference.pairing import SEED
from tests.dpu.support.native import SOURCES, NativeMachine, load


@pytest.fixture(scope="session")
def machine_library(compiler: str) -> ctypes.CDLL:
    """The simulated DPU as a shared library of its own."""
    return load()


@pytest.fixture
def native_machine(machine_library: ctypes.CDLL) -> Iterator[Callable[[int], NativeMachine]]:
    """Make machines that are closed after the test."""
    made: list[NativeMachine] = []

    def make(accounting: int) -> NativeMachine:
        made.append(NativeMachine(machine_library, accounting))
        return made[-1]

    yield make
    for machine in made:
        machine.close()


@pytest.fixture
def translation_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a cache of translated code of its own; the folder that it will be in."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "offchip" / "translations"


@pytest.fixture(scope="session")
def table() -> Table:
    """The forms of instructions."""
    return read_table(SOURCES / "isa")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Random numbers of a test's own; its failure shows the seed."""
    print(f"seed {SEED}")
    return random.Random(f"{SEED} {request.node.name}")
