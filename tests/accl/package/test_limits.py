# SPDX-License-Identifier: BSD-3-Clause
"""Limits of a process on its memory, and ranks that cannot find each other."""

from __future__ import annotations

import pytest

LIMIT = """
import resource
resource.setrlimit(resource.{which}, ({size}, {size}))
"""

SUM = """
with accl(ranks, rank, job=job) as device:
    device.set_timeout(20_000)
    result = np.zeros(1000, np.float32)
    device.allreduce(np.full(1000, rank + 1, np.float32), result, 1000)
    print(json.dumps(bool((result == sum(range(1, ranks + 1))).all())))
"""


@pytest.mark.nosanitize  # the sanitizer takes more address space than that
@pytest.mark.parametrize(("which", "size"), [("RLIMIT_FSIZE", 100 << 20), ("RLIMIT_AS", 3 << 30)])
def test_device_memory_is_smaller_under_a_limit(run_ranks, which, size):
    assert run_ranks(3, LIMIT.format(which=which, size=size) + SUM) == [True] * 3


def test_device_memory_that_a_limit_forbids_names_it(processes):
    (process,) = processes(1, LIMIT.format(which="RLIMIT_FSIZE", size=1 << 20) + SUM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "cannot create device memory: File too large (ulimit -f is set" in err


def test_memory_of_a_given_size_does_not_shrink(processes):
    program = SUM.replace("job=job", "job=job, memory_bytes=1 << 30")
    (process,) = processes(1, LIMIT.format(which="RLIMIT_FSIZE", size=100 << 20) + program)
    _, err = process.communicate(timeout=60)
    assert "cannot create device memory: File too large (ulimit -f is set" in err


def test_a_rank_that_does_not_appear_is_reported_with_what_ranks_need_to_meet(processes):
    (process,) = processes(1, SUM.replace("(ranks,", "(2,").replace("20_000", "200"))
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "rank 1 did not start and join communicator 0" in err
    assert "within one network namespace (container), as one user, with equal names of the" in err
