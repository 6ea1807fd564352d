# SPDX-License-Identifier: BSD-3-Clause
"""Reductions of every element type are NumPy's, in the order of the original."""

from __future__ import annotations

import numpy as np
import pytest

from accl import ACCLDtypeError, ACCLError, ErrorCode
from tests.accl.reference_types import TYPES, check_types


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("name", TYPES)
def test_reductions_of_a_type_are_numpys(make, everywhere, name, ranks):
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")
    devices = make(ranks, unified=name != "uint16")
    found = everywhere(devices, lambda device, rank: check_types(device, rank, ranks, (name,)))
    assert found == [[]] * ranks


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_complex_numbers_have_no_greatest(one, name):
    a, b = one.allocate((4,), dtype=name), one.allocate((4,), dtype=name)
    for function, text in ((1, "MAX"), (2, "MIN")):
        with pytest.raises(ACCLError, match=f"no {text} of {name}.*SUM and PROD") as caught:
            one.allreduce(a, b, func=function)
        assert caught.value.flags == (ErrorCode.ARITH_ERROR,)


@pytest.mark.parametrize("name", ["V8", ">i4", "S4", "M8[s]", "i4,i4"])
def test_elements_that_are_no_numbers_are_refused_by_name(one, name):
    a, b = one.allocate((4,), dtype=name), one.allocate((4,), dtype=name)
    calls = {
        "combine": lambda: one.combine(4, 0, a, a, b),
        "reduce": lambda: one.reduce(a, b),
        "allreduce": lambda: one.allreduce(a, b),
        "reduce_scatter": lambda: one.reduce_scatter(a, b),
    }
    for call, make_call in calls.items():
        with pytest.raises(ACCLDtypeError, match=f"{call}: no arithmetic for .*: reductions are"):
            make_call()


def test_types_of_reductions_are_not_mixed_or_compressed(one):
    a, b = one.allocate((4,), dtype="u2"), one.allocate((4,), dtype="i2")
    with pytest.raises(ACCLDtypeError, match="no conversion between int16 and uint16"):
        one.allreduce(a, b)
    with pytest.raises(ACCLDtypeError, match="no compression of uint16"):
        one.allreduce(a, a, compress_dtype=np.float16)


def test_truth_values_are_0_and_1_afterwards(make, everywhere):
    def body(device, rank):
        a, b = device.allocate((200,), dtype="?"), device.allocate((200,), dtype="?")
        a.view("u1")[:] = np.arange(200) % 3 * (rank + 1) * 40
        device.allreduce(a, b)
        assert np.array_equal(np.asarray(b.view("u1")), np.arange(200) % 3 != 0)
        device.allreduce(a, b, func=3)
        assert np.array_equal(np.asarray(b.view("u1")), np.arange(200) % 3 != 0)

    everywhere(make(2), body)


@pytest.mark.parametrize("name", ["u2", "u8", "c8", "c16", "V4"])
@pytest.mark.parametrize("count", [5, 20_000])
def test_elements_beyond_the_originals_may_be_at_any_address(make, everywhere, name, count):
    size = np.dtype(name).itemsize

    def body(device, rank):
        bytes_ = device.allocate((count * size + 1,), dtype="u1")
        mine, all_ = bytes_[1:].view(name), device.allocate((2 * count,), dtype=name)
        bytes_[1:] = np.arange(count * size) % 251 + rank
        device.allgather(mine, all_)
        wanted = np.stack([np.arange(count * size) % 251 + k for k in range(2)])
        assert np.asarray(all_).tobytes() == wanted.astype("u1").tobytes()
        if mine.dtype.kind in "uc":
            total = device.allocate((count,), dtype=name)
            device.allreduce(mine, total)
            parts = np.asarray(all_).reshape(2, count)
            with np.errstate(all="ignore"):
                assert np.array_equal(total, parts[0] + parts[1], equal_nan=mine.dtype.kind == "c")

    everywhere(make(2), body)


@pytest.mark.parametrize("name", ["c16", "u1"])
def test_messages_in_the_smallest_segments_arrive(make, everywhere, name):
    def body(device, rank):
        device.set_max_segment_size(8)
        buffer = device.allocate((9,), dtype=name)
        if rank == 0:
            buffer[:] = np.arange(9)
            device.send(buffer, dst=1)
        else:
            device.recv(buffer, src=0)
            assert np.array_equal(buffer, np.arange(9))

    everywhere(make(2, nbufs=64), body)
