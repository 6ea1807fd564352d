# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the simulated DPU share."""

from __future__ import annotations

import ctypes
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
# For the modules beside the tests: `reference` and `native`.
sys.path.insert(0, str(HERE))

from native import SOURCES, NativeMachine  # noqa: E402
from package_programs import COUNTER, build  # noqa: E402
from pairing import SEED  # noqa: E402
from reference import Table, read_table  # noqa: E402

from dpu import DpuSet  # noqa: E402


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


@pytest.fixture(scope="session")
def table() -> Table:
    """The forms of instructions."""
    return read_table(SOURCES / "isa")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Random numbers of a test's own; its failure shows the seed."""
    print(f"seed {SEED}")
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture(scope="module")
def threads_of_the_library() -> None:
    """Make the threads that the library keeps, so that they are not taken for a leak."""
    with DpuSet(nr_ranks=2, library="soft", binary=build(COUNTER)) as both:
        both.exec()
        both.call(lambda *_: time.sleep(0.05), None)


@pytest.fixture
def make_set() -> Iterator[Callable[..., DpuSet]]:
    """Allocate sets, and free them at the end."""
    made: list[DpuSet] = []

    def make(*args: object, **kwargs: object) -> DpuSet:
        kwargs.setdefault("library", "soft")
        made.append(DpuSet(*args, **kwargs))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        if not one.closed:
            one.interrupt()
            one.free()


@pytest.fixture
def three(make_set: Callable[..., DpuSet]) -> DpuSet:
    """Three DPUs with the program that counts its launches."""
    return make_set(nr_dpus=3, binary=build(COUNTER))
