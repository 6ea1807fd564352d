# SPDX-License-Identifier: BSD-3-Clause
"""Packets go through MPI in order, at every thread level, and the pump ends before MPI does."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("level", "end"),
    [
        ("single", "exit"),
        ("funneled", "finalize"),
        ("serialized", "exit"),
        ("multiple", "finalize"),
    ],
)
def test_packets_arrive_in_order(run_ranks, level, end):
    assert run_ranks(3, "run_pump", level, end) == []


def test_one_rank_sends_to_itself(run_ranks):
    assert run_ranks(1, "run_pump", "multiple", "exit") == []


def test_failure_of_the_thread_is_told_to_the_engine(run_ranks):
    assert run_ranks(2, "run_pump", "multiple", "fail") == []
