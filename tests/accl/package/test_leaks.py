# SPDX-License-Identifier: BSD-3-Clause
"""Memory of malloc() that calls take in the extension modules, and give back."""

from __future__ import annotations

import ctypes

import pytest

from accl import ACCLError

ROUNDS = 200
# The least that malloc() takes, in half of the rounds.
LEAST = ROUNDS * 16

pytestmark = pytest.mark.nosanitize  # the sanitizer has an allocator of its own


class _Figures(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks"
                " fsmblks uordblks fordblks keepcost".split()]  # fmt: skip


def allocated() -> int:
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        pytest.skip("the C library has no mallinfo2()")
    libc.mallinfo2.restype = _Figures
    return libc.mallinfo2().uordblks


def grown(device, call) -> int:
    before = allocated()
    for _ in range(ROUNDS):
        call(device)
    return allocated() - before


def refused(call, *arguments):
    with pytest.raises((ACCLError, OverflowError, TypeError, ValueError)):
        call(*arguments)


CALLS = {
    "ranks": lambda d: d._control.communicator_ranks(0, 1),
    "ranks, refused": lambda d: refused(d._control.communicator_ranks, 77, 1),
    "packets": lambda d: d._control.has_packets(),
    "split, refused": lambda d: refused(d._control.split_communicator, 0, [0, -1]),
    "configure, refused": lambda d: refused(d._control.create_communicator, [{"ip": "x"}], 0),
    "waitfor": lambda d: d.nop(run_async=True, waitfor=[d.nop(run_async=True)]).wait(),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_calls_leave_no_memory_behind(one, call):
    for _ in range(20):
        call(one)
    assert min(grown(one, call) for _ in range(5)) < LEAST
