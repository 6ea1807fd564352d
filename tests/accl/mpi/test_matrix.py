# SPDX-License-Identifier: BSD-3-Clause
"""Every operation against NumPy: a sample with every pair of values, or the full matrix.

``OFFCHIP_FULL=1`` takes the full matrix, ``OFFCHIP_SEED`` another sample.
"""

from __future__ import annotations

import json
import os

import pytest

from tests.accl.mpi.matrix import AXES, full, is_valid, pairs_of, pairwise
from tests.support.full import FULL, rest_if_full

SEED = int(os.environ.get("OFFCHIP_SEED", "1"))
RANKS = (1, 3, 5, 2, 4, 8)
# With more ranks than that, the sample leaves out the longest vectors, and the full matrix has a
# sample of them: all of them take hours where ranks share cores.
FEW = 3
SHORT = 4097


def test_sample_has_every_pair_that_goes_together():
    everything = full()
    assert all(is_valid(case) for case in everything)
    assert {case["operation"] for case in everything} == set(AXES["operation"])
    wanted = {pair for case in everything for pair in pairs_of(case)}
    samples = {seed: pairwise(seed) for seed in (1, 2)}
    for sample in samples.values():
        assert wanted == {pair for case in sample for pair in pairs_of(case)}
        assert len(sample) < len(everything) / 20
    assert pairwise(1) == samples[1] != samples[2]


def test_full_matrix_of_many_ranks_has_every_pair_of_the_longest_vectors():
    many = thorough(8, 1)
    longest = max(AXES["count"])
    wanted = {pair for case in full() for pair in pairs_of(case) if ("count", longest) in pair}
    assert wanted <= {pair for case in many for pair in pairs_of(case)}
    assert [case for case in many if case["count"] <= SHORT] == full(SHORT)
    assert thorough(3, 1) == full()


def thorough(ranks, seed):
    """List what the full matrix has for that many ranks."""
    if ranks <= FEW:
        return full()
    return full(SHORT) + [case for case in pairwise(seed) if case["count"] > SHORT]


def check(run_ranks, tmp_path, ranks, cases, **environment):
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(cases))
    limit = 7000.0 if FULL else 280.0
    answer = run_ranks(ranks, "run_cases", str(path), limit=limit, **environment)
    assert answer["cases"] == len(cases)
    assert answer["failures"] == []


@pytest.mark.timeout(7200 if FULL else 300)
@pytest.mark.parametrize("ranks", rest_if_full(RANKS, 3))
def test_results_agree_with_numpy(run_ranks, tmp_path, ranks):
    seed = SEED * 100 + ranks
    sample = pairwise(seed) if ranks <= FEW else pairwise(seed, SHORT)
    check(run_ranks, tmp_path, ranks, thorough(ranks, seed) if FULL else sample)


@pytest.mark.timeout(7200 if FULL else 300)
@pytest.mark.parametrize(
    ("ranks", "level"),
    [
        (3, "multiple"),
        pytest.param(3, "funneled", marks=pytest.mark.full),
        pytest.param(6, "multiple", marks=pytest.mark.full),
    ],
)
def test_results_of_packets_agree_with_numpy(run_ranks, tmp_path, ranks, level):
    sample = pairwise(SEED * 100, SHORT)
    cases = full() if FULL and ranks == 3 and level == "multiple" else sample
    environment = {"ACCL_TRANSPORT": "packets", "MPI4PY_RC_THREAD_LEVEL": level}
    check(run_ranks, tmp_path, ranks, cases, **environment)
