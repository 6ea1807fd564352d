# SPDX-License-Identifier: BSD-3-Clause
"""A rank is killed: the others learn which one, and go on without it."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid

RANKS, LOST = 4, 1
PROGRAM = f"""
import json, os, signal, sys
import numpy as np
from accl import ACCLPeerError, accl

me, job = int(sys.argv[1]), sys.argv[2]
device = accl({RANKS}, me, job=job)
device.set_timeout(60_000)
source, result = np.full(1000, me + 1.0), np.zeros(1000)
device.allreduce(source, result)
device.barrier()
if me == {LOST}:
    os.kill(os.getpid(), signal.SIGKILL)
told = None
try:
    device.allreduce(source, result)
except ACCLPeerError as error:
    told = error.rank, error.peer, str(error)
survivors = device.split_communicator([r for r in range({RANKS}) if r != {LOST}])
device.allreduce(source, result, comm_id=survivors)
print(json.dumps([me, told, result[0]]))
"""


def test_ranks_go_on_without_one_that_was_killed() -> None:
    job = uuid.uuid4().hex
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(rank), job], stdout=subprocess.PIPE, text=True
        )
        for rank in range(RANKS)
    ]
    printed = [process.communicate(timeout=100)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, -9, 0, 0]

    culprits = set()
    for rank in set(range(RANKS)) - {LOST}:
        me, (own, peer, text), total = json.loads(printed[rank])
        assert me == own == rank
        assert f"rank {peer} (of communicator 0)" in text
        assert total == 1 + 3 + 4
        culprits.add(peer)
    # The first error names the lost rank; a later one may name a rank that gave up before.
    assert LOST in culprits
    assert culprits <= set(range(RANKS))
