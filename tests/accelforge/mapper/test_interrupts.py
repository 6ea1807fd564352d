# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C during a call of accelforge raises KeyboardInterrupt once, whatever is done then."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import accelforge as af
from tests.accelforge.mapper.small import chain_of, rows
from tests.support.interrupts import LIMIT_S, SIGNALS, interrupt_at_random

pytestmark = pytest.mark.timeout(LIMIT_S)


def find() -> list[list[object]]:
    return rows(chain_of(3).map_workload_to_arch(print_progress=False))


def evaluator() -> Callable[[], object]:
    spec = chain_of(2)
    mapping = spec.map_workload_to_arch(print_progress=False)[0].mapping()

    def evaluate() -> float:
        spec.mapping = mapping
        return float(spec.evaluate_mapping().energy())

    return evaluate


@pytest.mark.parametrize("make", [lambda: find, evaluator], ids=["mapper", "evaluation"])
def test_each_interrupt_arrives_once(make: Callable[[], Callable[[], object]]) -> None:
    before = af.util.get_n_parallel_jobs()
    af.set_n_parallel_jobs(2)
    try:
        call = make()
        expected = call()
        assert interrupt_at_random(call, SIGNALS, most_s=0.2) == (SIGNALS, 0)
        assert call() == expected
    finally:
        af.set_n_parallel_jobs(before)
