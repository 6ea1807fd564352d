# SPDX-License-Identifier: BSD-3-Clause
"""Sets of simulated DPUs for the tests of the dpu package."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from dpu import DpuSet
from tests.dpu.package.programs import COUNTER, build


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
