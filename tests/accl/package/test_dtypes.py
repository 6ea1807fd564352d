# SPDX-License-Identifier: BSD-3-Clause
"""Element types: how they are moved, mixed and named."""

from __future__ import annotations

import numpy as np
import pytest

from accl import TAG_ANY, ACCLDtypeError, ACCLError, ACCLStreamFlags, CCLOp

MOVED = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "uint32",
    "uint64",
    ">f4",
    "complex64",
    "datetime64[ns]",
    "S4",
    "V8",
    "u2,u2",
    "u1,i1,u2,f4",
    "complex128",
    "S5",
    "i4,i2",
    "3f4,u1",
]
KNOWN = ["float16", "float32", "float64", "int32", "int64"]
MEMORY = pytest.mark.parametrize("unified", [False, True], ids=["separate", "unified"])


def elements(dtype, count, seed):
    kind = np.dtype(dtype)
    most = 2 if kind.kind == "b" else 256
    raw = np.random.default_rng(seed).integers(0, most, count * kind.itemsize)
    return raw.astype("u1").view(kind)


def filled(device, dtype, count, seed):
    buffer = device.allocate((count,), dtype=dtype)
    buffer[:] = elements(dtype, count, seed)
    return buffer


def same(array, *parts):
    return np.asarray(array).tobytes() == b"".join(np.asarray(part).tobytes() for part in parts)


@MEMORY
@pytest.mark.parametrize("count", [3, 15_000])
@pytest.mark.parametrize("dtype", MOVED)
def test_any_elements_are_moved(make, everywhere, dtype, count, unified):
    ranks = 3
    data = [elements(dtype, count * ranks, rank) for rank in range(ranks)]

    def body(device, rank):
        whole, part = filled(device, dtype, count * ranks, rank), filled(device, dtype, count, rank)
        part[:] = data[rank][:count]
        out, got = (device.allocate((n,), dtype=dtype) for n in (count * ranks, count))
        device.copy(whole, out)
        assert same(out, data[rank])
        device.send(part, count, (rank + 1) % ranks)
        device.recv(got, count, (rank - 1) % ranks)
        assert same(got, data[rank - 1][:count])
        device.scatter(whole if rank == 1 else None, got, count, 1)
        assert same(got, data[1][rank * count : (rank + 1) * count])
        device.gather(part, out if rank == 2 else None, count, 2)
        if rank == 2:
            assert same(out, *(d[:count] for d in data))
        device.allgather(part, out, count)
        assert same(out, *(d[:count] for d in data))
        device.alltoall(whole, out, count)
        assert same(out, *(d[rank * count : (rank + 1) * count] for d in data))
        device.bcast(part, count, 2)
        assert same(part, data[2][:count])

    everywhere(make(ranks, unified=unified, nbufs=16, bufsize=16384), body)


@pytest.mark.parametrize("dtype", MOVED)
def test_any_elements_go_through_streams(one, dtype):
    a, b = filled(one, dtype, 10, 1), one.allocate((10,), dtype=dtype)
    one.copy_to_stream(a)
    one.copy_from_to_stream(a.dtype, 10)
    one.copy_from_stream(b)
    assert same(b, a)
    one.streams.queue()
    one.stream_put(a, 10, 0, stream_id=5)
    assert one.streams.pull(timeout=5) == (5, np.asarray(a).tobytes())


@pytest.mark.parametrize("dtype", ["bool", "u2", "c8"])
def test_arrays_without_device_memory_are_moved(make, everywhere, dtype):
    def body(device, rank):
        mine, all_ = elements(dtype, 12, rank)[::2], np.zeros((2, 6), dtype=dtype)
        device.allgather(mine, all_)
        assert same(all_, *(elements(dtype, 12, k)[::2] for k in range(2)))

    everywhere(make(2), body)


def test_elements_of_other_libraries_are_moved(one):
    types = pytest.importorskip("ml_dtypes")
    for kind in (types.bfloat16, types.float8_e4m3fn):
        a, b = one.allocate((9,), dtype=kind), one.allocate((9,), dtype=kind)
        a[:] = np.arange(9)
        one.copy(a, b)
        assert same(b, a)


def test_elements_that_cannot_be_moved_are_refused(one):
    with pytest.raises(ACCLDtypeError, match="must have 1, 2, 4 or 8 bytes here, and .*S3 has 3"):
        one.prepare_call(CCLOp.copy, one.allocate((4,), dtype="S3"), None, None)
    with pytest.raises(ACCLDtypeError, match="have no bytes"):
        one.bcast(np.zeros(4, "V0"))
    with pytest.raises(ACCLDtypeError, match="must not refer to Python objects"):
        one.bcast(np.array([None, 1], dtype=object))


DIFFERENT = [
    ("M8[D]", "M8[s]"),
    ("M8[s]", "m8[s]"),
    ("S4", "U1"),
    (">f8", "V8"),
    ("?", "u1"),
    ([("a", "i4"), ("b", "f4")], [("b", "f4"), ("a", "i4")]),
    ([("a", "i4"), ("b", "f4")], [("a", "i4"), ("c", "f4")]),
    ([("a", "2i4")], [("a", "i4"), ("b", "i4")]),
]


@pytest.mark.parametrize(("here", "there"), DIFFERENT, ids=str)
@pytest.mark.parametrize("count", [3, 20_000])
def test_ranks_with_different_elements_of_one_size_learn_of_it(
    make, everywhere, here, there, count
):
    def body(device, rank):
        buffer = device.allocate((count,), dtype=here if rank == 0 else there)
        with pytest.raises(ACCLError, match="another count, element type or function") as caught:
            device.allgather(buffer, device.allocate((2 * count,), dtype=buffer.dtype))
        return str(caught.value)

    everywhere(make(2), body)


def test_types_of_the_same_description_agree_whoever_met_them_first(make, everywhere):
    kinds = ["M8[us]", "S6", [("a", "i2"), ("b", "u2")]]

    def body(device, rank):
        for kind in kinds if rank else kinds[::-1]:
            device.copy(*(device.allocate((2,), dtype=kind) for _ in range(2)))
        for kind in kinds:
            device.bcast(device.allocate((5,), dtype=kind))

    everywhere(make(2), body)


def test_the_error_says_what_this_rank_called(make, everywhere):
    def body(device, rank):
        with pytest.raises(ACCLError) as caught:
            device.allreduce(*(device.allocate((3 + rank,)) for _ in range(2)), func=1)
        return str(caught.value)

    told = everywhere(make(2), body)
    assert [
        f"(here {3 + rank} elements of type float32, MAX)" in told[rank] for rank in (0, 1)
    ] == [
        True,
        True,
    ]


def test_different_elements_of_one_size_are_not_mixed(one):
    a, b = one.allocate((4,), dtype="u4"), one.allocate((4,), dtype="S4")
    with pytest.raises(ACCLDtypeError, match=r"no conversion between uint32 and \|S4"):
        one.copy(a, b)
    with pytest.raises(ACCLDtypeError, match="no conversion between float32 and uint32"):
        one.copy(a, one.allocate((4,)))
    with pytest.raises(ACCLDtypeError, match="no compression of uint32"):
        one.bcast(a, compress_dtype=np.float16)


def test_messages_say_of_what_they_are(make, everywhere):
    def body(device, rank):
        if rank == 0:
            device.send(device.allocate((4,), dtype="u2"), dst=1)
        else:
            with pytest.raises(ACCLError, match="4 elements of uint16 .* wants 4 of float16"):
                device.recv(device.allocate((4,), dtype="f2"), src=0)

    everywhere(make(2), body)


@pytest.mark.parametrize("dtype", KNOWN)
def test_bare_calls_take_the_types_of_streams(make, everywhere, dtype):
    both = ACCLStreamFlags.OP0_STREAM | ACCLStreamFlags.RES_STREAM

    def body(device, rank):
        device.streams.queue()
        device.streams.push(np.arange(20, dtype=dtype) + rank)
        typed = device.dummy_address()
        typed.dtype = np.dtype(dtype)
        device.call_sync(
            CCLOp.reduce, 20, device.communicators[0].addr, 1, 0, TAG_ANY, None, both, dtype, None,
            typed,
        )  # fmt: skip
        if rank == 1:
            _, data = device.streams.pull(timeout=5)
            assert same(np.frombuffer(data, dtype), 3 * np.arange(20, dtype=dtype) + 3)

    everywhere(make(3), body)


def test_bare_calls_move_any_elements(one):
    a, b = filled(one, "u2", 10, 1), one.allocate((10,), dtype="u2")
    a.sync_to_device()
    one.call_sync(CCLOp.copy, 10, addr_0=a, addr_2=b)
    b.sync_from_device()
    assert same(b, a)


def test_float16_is_rounded_after_every_addition_of_the_ring(make, everywhere):
    ranks, count = 8, 128
    values = np.arange(ranks * count).astype("f2")
    total = values.copy()
    for _ in range(ranks - 1):
        total = total + values

    def body(device, rank):
        whole, part = device.allocate((ranks * count,), "f2"), device.allocate((count,), "f2")
        whole[:] = values
        device.reduce_scatter(whole, part, count)
        assert same(part, total[rank * count : (rank + 1) * count])

    # From 2048 on not every number is a float16: 3 x 411 is, 5 x 411 is not.
    assert not np.array_equal(total, ranks * values)
    everywhere(make(ranks), body)


# --- operands that overlap ---------------------------------------------------------------------


@pytest.mark.parametrize("shift", [-3000, -1, 0, 1, 3, 2048, 4095])
def test_a_result_over_its_operands_is_that_of_the_operands_before(one, shift):
    memory = one.allocate((12_288,), dtype="f8")
    values = np.random.default_rng(3).standard_normal(12_288)
    first, second, out = slice(4096, 8192), slice(4000, 8096), slice(4096 + shift, 8192 + shift)
    for function, combined in ((0, np.add), (1, np.maximum)):
        memory[:] = values
        one.combine(4096, function, memory[first], memory[second], memory[out])
        assert same(memory[out], combined(values[first], values[second]))
    memory[:] = values
    one.copy(memory[first], memory[out])
    assert same(memory[out], values[first])


def test_a_conversion_in_place_is_that_of_the_elements_before(one):
    memory = one.allocate((4096,), dtype="f2")
    memory[:] = np.arange(4096)
    one.copy(memory[:2048], memory.view("f4"))
    assert same(memory.view("f4"), np.arange(2048, dtype="f4"))


def test_a_size_beyond_all_memory_is_an_error_of_memory(one):
    for shape in ((2**62,), (2**40, 2**40), 1 << 60):
        with pytest.raises(MemoryError, match="bytes"):
            one.allocate(shape)
