# SPDX-License-Identifier: BSD-3-Clause
"""The engine calls MPI at every thread level, beside the program, and stops before MPI does."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("level", "end"),
    [
        ("single", "exit"),
        ("funneled", "finalize"),
        ("serialized", "deinit"),
        ("multiple", "exit"),
        ("multiple", "finalize"),
        ("multiple", "deinit"),
    ],
)
def test_calls_mix_with_those_of_mpi4py(run_ranks, level, end):
    assert run_ranks(3, "run_carrier", level, end) == []
