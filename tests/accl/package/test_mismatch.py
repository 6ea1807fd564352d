# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that do not agree on a call: every one of them gets an error that says who called what."""

from __future__ import annotations

import re

import numpy as np
import pytest

from accl import ACCLError, ErrorCode

ROOTED = ["bcast", "scatter", "gather", "reduce"]


def call_rooted(device, operation, count, root, ranks):
    big, small = device.allocate((count * ranks,)), device.allocate((count,))
    if operation == "bcast":
        device.bcast(small, count, root)
    elif operation == "scatter":
        device.scatter(big, small, count, root)
    elif operation == "gather":
        device.gather(small, big, count, root)
    else:
        device.reduce(small, small, count, root)


@pytest.mark.parametrize("roots", [(0, 1), (1, 0), (0, 1, 0), (2, 2, 0), (1, 2, 0)], ids=str)
@pytest.mark.parametrize("count", [1, 200, 50_000])
@pytest.mark.parametrize("operation", ROOTED)
def test_different_roots_are_an_error_on_all_ranks(make, everywhere, operation, count, roots):
    ranks = len(roots)

    def body(device, rank):
        # Whoever is not waiting learns of it in its next call.
        with pytest.raises(ACCLError) as caught:
            call_rooted(device, operation, count, roots[rank], ranks)
            device.barrier()
        return caught.value

    for me, error in enumerate(everywhere(make(ranks), body)):
        assert error.retcode == ErrorCode.CALL_MISMATCH_ERROR, error
        # Those that have come are named: this one, and at least one that differs.
        told = re.findall(rf"rank (\d) {operation.upper()} with root (\d)", str(error))
        said = {int(rank): int(root) for rank, root in told}
        assert said.items() <= dict(enumerate(roots)).items()
        assert me in said
        assert len(set(said.values())) > 1


def test_a_loop_of_different_roots_is_found_without_any_other_call(make, everywhere):
    def body(device, rank):
        buffer = device.allocate((4,))
        with pytest.raises(ACCLError, match="rank 0 BCAST with root 0, rank 1 BCAST with root 1"):
            for _ in range(12):
                device.bcast(buffer, 4, rank)

    everywhere(make(2), body)


def test_different_operations_are_named(make, everywhere):
    def body(device, rank):
        buffer = device.allocate((4,))
        with pytest.raises(ACCLError, match="rank 0 BARRIER, rank 1 ALLREDUCE"):
            if rank:
                device.allreduce(buffer, buffer, 4)
            else:
                device.barrier()

    everywhere(make(2), body)


@pytest.mark.parametrize("count", [4, 100, 100_000])
def test_messages_of_another_type_name_both(make, everywhere, count):
    def body(device, rank):
        if rank == 0:
            device.send(device.allocate((count,), dtype=np.int32), dst=1)
        else:
            text = f"{count} elements of int32 .* wants {count} of float32"
            with pytest.raises(ACCLError, match=text):
                device.recv(device.allocate((count,), dtype=np.float32), src=0)

    everywhere(make(2, bufsize=16384), body)


def test_another_communicator_is_not_harmed(make, everywhere):
    def body(device, rank):
        buffer, total = device.allocate((4,)), device.allocate((4,))
        other = device.split_communicator([0, 1])
        with pytest.raises(ACCLError):
            device.gather(buffer, device.allocate((8,)), 4, rank)
            device.barrier()
        buffer[:] = rank + 1
        device.allreduce(buffer, total, 4, comm_id=other)
        assert np.all(total == 3)

    everywhere(make(2), body)
