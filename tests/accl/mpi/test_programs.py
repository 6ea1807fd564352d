# SPDX-License-Identifier: BSD-3-Clause
"""Random programs end and give what NumPy gives, and a deadlock is seen.

``OFFCHIP_FULL=1`` runs 1,000 programs a number of ranks, ``OFFCHIP_SEED`` others.
"""

from __future__ import annotations

import os

import pytest

FULL = os.environ.get("OFFCHIP_FULL", "0") not in ("", "0")
SEED = int(os.environ.get("OFFCHIP_SEED", "1"))
NUMBER = 1000 if FULL else 20
RANKS = (1, 2, 3, 4, 5, 8) if FULL else (2, 3, 5)
LIMIT = 7000.0 if FULL else 280.0


@pytest.mark.timeout(7200 if FULL else 300)
@pytest.mark.parametrize("ranks", RANKS)
def test_random_programs_end_with_right_results(run_ranks, ranks):
    first = str(SEED * 1_000_000)
    answer = run_ranks(ranks, "run_programs", first, str(NUMBER), limit=LIMIT)
    assert answer == {"programs": NUMBER, "failures": []}


@pytest.mark.timeout(7200 if FULL else 300)
def test_random_programs_by_packets(run_ranks):
    first = str(SEED * 2_000_000)
    number = str(NUMBER // 2)
    transport = {"ACCL_TRANSPORT": "packets"}
    answer = run_ranks(3, "run_programs", first, number, limit=LIMIT, **transport)
    assert answer == {"programs": NUMBER // 2, "failures": []}


@pytest.mark.parametrize("transport", ["shared", "packets"])
def test_planted_deadlock_is_seen(run_ranks, transport):
    program = ("run_programs", "5", "1", "--plant", "--timeout", "1500")
    answer = run_ranks(2, *program, ACCL_TRANSPORT=transport)
    assert any("deadlock in step 6 (lonely)" in failure for failure in answer["failures"])
    assert any("RECEIVE_TIMEOUT_ERROR" in failure for failure in answer["failures"])
