# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of ranks on several hosts: results, the order of sums, and failures.

The hosts are pretended: ranks of this machine that share no memory with those of other hosts.
``OFFCHIP_FULL=1`` takes more cases.
"""

from __future__ import annotations

import json
import os

import pytest

from tests.accl.mpi.matrix import pairwise
from tests.accl.mpi.pretended_hosts import block, turns
from tests.support.full import FULL, rest_if_full

SEED = int(os.environ.get("OFFCHIP_SEED", "1"))
LIMIT = 7000.0 if FULL else 280.0
# Hosts of one size, in order; in turns; and of several sizes.
LAYOUTS = [block(2, 2), turns(2, 2), "abbba"]
MANY = [block(3, 4), "aaaaabbbbbbcccc"]
SHORT = 257


def on(hosts: str) -> dict[str, str]:
    return {"ACCL_TEST_HOSTS": hosts}


@pytest.mark.timeout(LIMIT + 20)
@pytest.mark.parametrize("hosts", rest_if_full(LAYOUTS, 2))
def test_results_agree_with_numpy(run_ranks, tmp_path, hosts):
    seed = SEED * 100 + len(hosts)
    cases = pairwise(seed) if FULL else pairwise(seed, 4097)
    if not FULL:
        cases = [case for case in cases if case["operation"] not in ("copy", "combine")][::4]
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(cases))
    answer = run_ranks(len(hosts), "run_cases", str(path), limit=LIMIT, **on(hosts))
    assert answer == {"cases": len(cases), "failures": []}


@pytest.mark.timeout(LIMIT + 20)
@pytest.mark.parametrize("hosts", rest_if_full([*LAYOUTS, *MANY], 4))
def test_random_programs_end_with_right_results(run_ranks, hosts):
    number = 200 if FULL else 1 if len(hosts) > 5 else 4
    first = str(SEED * 4_000_000)
    answer = run_ranks(len(hosts), "run_programs", first, str(number), limit=LIMIT, **on(hosts))
    assert answer == {"programs": number, "failures": []}


@pytest.mark.timeout(LIMIT + 20)
@pytest.mark.parametrize("hosts", rest_if_full(["aab", *LAYOUTS], 2))
def test_sums_are_those_of_one_host_bit_by_bit(run_ranks, hosts):
    answer = run_ranks(len(hosts), "run_hosts", "bits", limit=LIMIT, **on(hosts))
    assert answer["cases"] > 10
    assert answer["different"] == []


@pytest.mark.parametrize("hosts", ["aab", block(2, 2)])
def test_late_rank_is_a_timeout_and_poisons_the_communicator(run_ranks, hosts):
    seen = run_ranks(len(hosts), "run_hosts", "late", **on(hosts))["seen"]
    for first, second, _ in seen[:-1]:
        assert "RECEIVE_TIMEOUT_ERROR" in first or "PEER_GAVE_UP_ERROR" in first
        assert "make a new communicator" in second
    assert any("RECEIVE_TIMEOUT_ERROR" in first for first, _, _ in seen[:-1])
    assert "PEER_GAVE_UP_ERROR" in seen[-1][1]
    assert [value for _, _, value in seen] == [len(hosts)] * len(hosts)


@pytest.mark.parametrize("hosts", ["aab", block(2, 2), turns(2, 2)])
def test_different_calls_are_an_error_on_all_ranks(run_ranks, hosts):
    seen = run_ranks(len(hosts), "run_hosts", "differ", **on(hosts))["seen"]
    assert [
        text
        for text in seen
        if "CALL_MISMATCH_ERROR" not in text and "PEER_GAVE_UP_ERROR" not in text
    ] == []
    assert any("CALL_MISMATCH_ERROR" in text for text in seen)
