# SPDX-License-Identifier: BSD-3-Clause
"""Programs that mix accl's calls with mpi4py's end with right results, on every transport.

``OFFCHIP_FULL=1`` runs 1,000 programs, ``OFFCHIP_MIXED`` that many for each case, and
``OFFCHIP_SEED`` others.
"""

from __future__ import annotations

import os

import pytest

from tests.accl.mpi.mixed_programs import MPI_KINDS, make_mixed_program
from tests.accl.mpi.pretended_hosts import block
from tests.support.full import FULL

SEED = int(os.environ.get("OFFCHIP_SEED", "1"))
NUMBER = int(os.environ.get("OFFCHIP_MIXED", "200" if FULL else "6"))
# Seconds for a program, and for all of them.
PROGRAM_LIMIT = 60.0
LIMIT = 100.0 + 5.0 * NUMBER

PACKETS = {"ACCL_TRANSPORT": "packets"}


def test_programs_have_every_kind_of_call():
    program = [step for seed in range(100) for step in make_mixed_program(seed, 3)]
    assert {step["what"] for step in program if step["kind"] == "mpi"} == set(MPI_KINDS)
    assert {step["open"] for step in program if step["kind"] == "open"} == {1, 2}
    assert make_mixed_program(5, 3) == make_mixed_program(5, 3) != make_mixed_program(6, 3)


@pytest.mark.timeout(LIMIT + 60)
@pytest.mark.parametrize(
    ("ranks", "environment"),
    [
        pytest.param(2, {}, id="shared-2"),
        pytest.param(3, {}, id="shared-3"),
        pytest.param(2, PACKETS, id="packets-2"),
        pytest.param(3, PACKETS, id="packets-3"),
        pytest.param(4, {"ACCL_TEST_HOSTS": block(2, 2)}, id="hosts-2x2"),
    ],
)
def test_mixed_programs_end_with_right_results(run_ranks, ranks, environment):
    first = str(SEED * 3_000_000)
    words = (first, str(NUMBER), str(PROGRAM_LIMIT))
    answer = run_ranks(ranks, "run_mixed", *words, limit=LIMIT, **environment)
    assert answer == {"programs": NUMBER}
