# SPDX-License-Identifier: BSD-3-Clause
"""Calls of a rank that is alone, and of several in one process."""

from __future__ import annotations

import re
import threading
import time
import warnings

import numpy as np
import pytest

from accl import (
    TAG_ANY,
    ACCLClosedError,
    ACCLDtypeError,
    ACCLError,
    ACCLReceiveTimeoutError,
    ACCLReduceFunctions,
    ACCLStreamFlags,
    CCLOp,
    ErrorCode,
    accl,
)
from accl.constants import RANKS_MAX

DTYPES = ["float16", "float32", "float64", "int32", "int64"]
MEMORY = pytest.mark.parametrize("unified", [False, True], ids=["separate", "unified"])


def filled(device, count, dtype="float32", seed=0):
    buffer = device.allocate((count,), dtype=dtype)
    buffer[:] = (np.arange(count) * 7 + seed) % 23
    return buffer


@MEMORY
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 16, 21, 128, 4097])
def test_copy_and_combine(make, dtype, count, unified):
    device = make(1, unified=unified)[0]
    a, b = filled(device, count, dtype), filled(device, count, dtype, 3)
    result = device.allocate((count,), dtype=dtype)
    device.copy(a, result, count)
    assert np.array_equal(result, a)
    device.combine(count, ACCLReduceFunctions.SUM, a, b, result)
    assert np.array_equal(result, np.asarray(a) + np.asarray(b))
    device.combine(count, ACCLReduceFunctions.MAX, a, b, result)
    assert np.array_equal(result, np.maximum(a, b))
    device.combine(count, ACCLReduceFunctions.MIN, a, b, result)
    assert np.array_equal(result, np.minimum(a, b))
    device.combine(count, ACCLReduceFunctions.PROD, a, b, result)
    assert np.array_equal(result, np.asarray(a) * np.asarray(b))


def test_copy_converts_between_float32_and_float16(one):
    wide, narrow = one.allocate((100,)), one.allocate((100,), dtype=np.float16)
    wide[:] = np.random.default_rng(1).standard_normal(100)
    one.copy(wide, narrow)
    assert np.array_equal(narrow, np.asarray(wide).astype(np.float16))
    one.copy(narrow, wide)
    assert np.array_equal(wide, np.asarray(narrow).astype(np.float32))


def test_sums_of_integers_wrap(one):
    a, r = one.allocate((2,), dtype=np.int32), one.allocate((2,), dtype=np.int32)
    a[:] = [2**31 - 1, -(2**31)]
    one.combine(2, 0, a, a, r)
    assert list(r) == [-2, 0]


@MEMORY
def test_collectives_of_ranks_in_one_process(make, everywhere, unified):
    ranks, count = 3, 50
    devices = make(ranks, unified=unified)
    data = [np.arange(count * ranks, dtype="f4") + 100 * rank for rank in range(ranks)]

    def body(device, rank):
        big, small = device.allocate((count * ranks,)), device.allocate((count,))
        all_, part = device.allocate((count * ranks,)), device.allocate((count,))
        big[:], small[:] = data[rank], data[rank][:count]
        device.allgather(small, all_, count)
        assert np.array_equal(all_, np.concatenate([d[:count] for d in data]))
        device.gather(small, all_ if rank == 1 else None, count, 1)
        device.scatter(big if rank == 2 else None, part, count, 2)
        assert np.array_equal(part, data[2][rank * count : (rank + 1) * count])
        device.reduce(small, part if rank == 0 else None, count, 0, 0)
        if rank == 0:
            assert np.array_equal(part, sum(d[:count] for d in data))
        device.allreduce(small, part, count, ACCLReduceFunctions.MAX)
        assert np.array_equal(part, data[-1][:count])
        device.reduce_scatter(big, part, count, 0)
        assert np.array_equal(part, sum(data)[rank * count : (rank + 1) * count])
        device.alltoall(big, all_, count)
        want = np.concatenate([d[rank * count : (rank + 1) * count] for d in data])
        assert np.array_equal(all_, want)
        device.bcast(small, count, 1)
        assert np.array_equal(small, data[1][:count])
        device.barrier()

    everywhere(devices, body)


def test_whole_buffers_without_count_and_sum_by_default(make, everywhere):
    devices = make(2)

    def body(device, rank):
        a, r = filled(device, 33, seed=rank), device.allocate((33,))
        expected = sum((np.arange(33) * 7 + k) % 23 for k in range(2))
        device.allreduce(a, r)
        assert np.array_equal(r, expected)
        many = device.allocate((66,))
        device.allgather(a, many)
        device.reduce_scatter(many, r)
        device.alltoall(many, many)
        device.scatter(many, r)
        device.gather(a, many)
        device.reduce(a, r)
        device.bcast(a)
        if rank:
            device.send(a, dst=0)
        else:
            device.recv(r, src=1)
            assert np.array_equal(r, np.arange(33) * 7 % 23)

    everywhere(devices, body)


def test_sends_go_first_in_one_thread(make):
    ranks = 4
    devices = make(ranks)
    sent = [filled(device, 100, seed=rank) for rank, device in enumerate(devices)]
    got = [device.allocate((100,)) for device in devices]
    for rank, device in enumerate(devices):
        device.send(sent[rank], 100, (rank + 1) % ranks, tag=rank)
    for rank, device in enumerate(devices):
        device.recv(got[rank], 100, (rank - 1) % ranks, tag=(rank - 1) % ranks)
        assert np.array_equal(got[rank], sent[rank - 1])


def test_either_side_may_take_any_tag(one):
    a, r = filled(one, 10), one.allocate((10,))
    for of_send, of_recv in [(5, TAG_ANY), (TAG_ANY, 5), (5, 5)]:
        r[:] = 0
        one.send(a, 10, 0, of_send)
        one.recv(r, 10, 0, of_recv)
        assert np.array_equal(a, r)


def test_receive_without_message_ends_with_reason(one):
    one.set_timeout(100)
    with pytest.raises(ACCLReceiveTimeoutError, match=r"RECEIVE_TIMEOUT_ERROR.*tag 77") as caught:
        one.recv(one.allocate((4,)), 4, 0, tag=77)
    assert caught.value.flags == (ErrorCode.RECEIVE_TIMEOUT_ERROR,)
    assert one.get_retcode() == caught.value.retcode == 2048
    with pytest.raises(ACCLError, match="CCLO @0x0 during test: RECEIVE_TIMEOUT_ERROR"):
        one.check_return_value("test")
    one.nop()
    one.check_return_value("test")


def test_errors_are_kept_quiet_on_demand(one):
    one.check_return_value_flag = False
    one.set_timeout(50)
    one.recv(one.allocate((4,)), 4, 0)
    assert one.get_retcode() == ErrorCode.RECEIVE_TIMEOUT_ERROR


def test_wire_compression_rounds_to_float16(make, everywhere):
    devices = make(2)
    values = np.random.default_rng(3).standard_normal(300).astype("f4")

    def body(device, rank):
        buffer = device.allocate((300,))
        buffer[:] = values if rank == 0 else 0
        device.bcast(buffer, 300, 0, compress_dtype=np.dtype("float16"))
        if rank == 1:
            assert np.array_equal(buffer, values.astype("f2").astype("f4"))
        # The type is as good as an instance of dtype.
        device.allreduce(buffer, buffer, 300, compress_dtype=np.float16)
        return np.array(buffer)

    first, second = everywhere(devices, body)
    assert np.array_equal(first, second)
    rounded = values.astype("f2")
    assert np.array_equal(first, (rounded + rounded).astype("f4"))


def test_split_gives_the_id(make, everywhere):
    devices = make(4)

    def body(device, rank):
        id_ = device.split_communicator([2, 0, 2])
        assert id_ == 1 and device.communicators[1].index == 1
        buffer = filled(device, 4, seed=rank)
        other = device.allocate((4,))
        device.allreduce(buffer, other, 4, comm_id=id_)
        # The first has its own ranks, which reading the second does not touch.
        device.communicators[1].readback()
        assert "inbound_seq_number" not in device.communicators[0].ranks[0]
        assert "Rank" in str(device.communicators[1])
        return np.array(other)

    one, two = everywhere([devices[0], devices[2]], lambda d, i: body(d, 2 * i))
    assert np.array_equal(one, two)
    assert np.array_equal(one, (np.arange(4) * 7) % 23 + (np.arange(4) * 7 + 2) % 23)
    with pytest.raises(AssertionError):
        devices[1].split_communicator([0, 2])
    with pytest.raises(ValueError, match="no rank 9"):
        devices[1].split_communicator([1, 9])


def test_freed_communicator_is_of_no_use(make):
    devices = make(2)
    receiver, sender = devices
    comms = [device.split_communicator([0, 1]) for device in devices]
    end = receiver.next_free_exchmem_addr
    handle = receiver.recv(receiver.allocate((4,)), 4, 1, comm_id=1, run_async=True, to_fpga=True)
    with pytest.raises(ACCLError, match="communicator 1 is not finished"):
        receiver.free_communicator(1)
    sender.send(sender.allocate((4,)), 4, 0, comm_id=1)
    handle.wait()

    for device, comm in zip(devices, comms, strict=True):
        device.free_communicator(comm)
        assert device.communicators[comm].freed
        with pytest.raises(ValueError, match="communicator 1 was freed"):
            device.barrier(comm_id=comm)
        with pytest.raises(ValueError, match="communicator 1 was freed"):
            device.free_communicator(comm)
        with pytest.raises(ValueError, match="must be 1 to 1, not 0"):
            device.free_communicator(0)
        assert device.split_communicator([0, 1]) == 2
    assert receiver.next_free_exchmem_addr == end


def test_stream_put_and_back(make):
    devices = make(2)
    a, r = filled(devices[0], 16), devices[0].allocate((16,))
    devices[0].send(a, 16, 1, 0, stream_flags=ACCLStreamFlags.RES_STREAM)
    # Data that arrived at the kernel of the second come back as its input.
    spare = devices[1].allocate((16,))
    devices[1].send(spare, 16, 0, 5, stream_flags=ACCLStreamFlags.OP0_STREAM)
    devices[0].recv(r, 16, 1, 5)
    assert np.array_equal(a, r)


def test_a_put_to_itself_brings_what_is_on_the_wire(make):
    devices = make(2)
    a = filled(devices[0], 16)
    for rank, device in enumerate(devices):
        device.streams.queue()
        devices[0].stream_put(a, 16, rank, 3, compress_dtype="float16")
        assert device.streams.pull(5) == (3, a.astype("float16").tobytes())


def test_ranks_that_put_into_each_others_streams_go_on_with_full_rx_buffers(make, everywhere):
    devices = make(2, nbufs=1, bufsize=1024)

    def body(device, rank):
        device.set_timeout(20_000)
        device.streams.queue()
        a = device.allocate((200,))
        for number in range(40):
            a[:] = number
            device.stream_put(a, 200, 1 - rank, 3)
        for number in range(40):
            stream, data = device.streams.pull(20)
            assert stream == 3
            assert np.all(np.frombuffer(data, "f4") == number)

    everywhere(devices, body)


def test_a_put_that_comes_during_a_barrier_comes_after_what_the_rank_writes_next(make, everywhere):
    devices = make(2)

    def body(device, rank):
        a = filled(device, 8) + rank
        if rank == 1:
            time.sleep(0.3)  # so that the other one sleeps in the barrier
            device.stream_put(a, 8, 0, 3)
        device.barrier()
        if rank == 0:
            device.copy_to_stream(a)
            for sent in (a, a + 1):
                result = device.allocate((8,))
                device.copy_from_stream(result)
                assert np.all(result == sent)

    everywhere(devices, body)


def test_streams_of_python(one):
    got = []
    one.streams.hook(lambda stream, data: got.append((stream, data)))
    a = filled(one, 8)
    one.stream_put(a, 8, 0, 3)
    one.copy_to_stream(a, 4)
    assert got[0] == (3, a.tobytes())
    assert got[1][1] == a[:4].tobytes()
    one.streams.queue()
    one.stream_put(a, 8, 0, 200)
    assert one.streams.pull(5) == (200, a.tobytes())
    assert one.streams.pull(0.01) is None
    r = one.allocate((8,))
    one.streams.push(np.arange(8, dtype="f4"))
    one.copy_from_stream(r)
    assert np.array_equal(r, np.arange(8))
    one.streams.loopback()
    one.copy_to_stream(a)
    one.copy_from_to_stream(np.float32, 8)
    one.copy_from_stream(r)
    assert np.array_equal(a, r)


def test_hook_that_fails_is_logged(one, caplog):
    def fail(stream, data):
        raise ValueError("no")

    one.streams.hook(fail)
    one.stream_put(filled(one, 8), 8, 0, 3)
    assert "the stream hook failed for stream 3" in caplog.text


def test_bare_calls(one):
    a, r = filled(one, 8), one.allocate((8,))
    a.sync_to_device()
    address = one.communicators[0].addr
    one.call_sync(scenario=CCLOp.allreduce, count=8, comm=address, addr_0=a, addr_2=r)
    r.sync_from_device()
    assert np.array_equal(a, r)
    config, flags, x, y, z = one.prepare_call(CCLOp.copy, a, None, r)
    assert (flags, x, y, z) == (0, a.device_address, 0, r.device_address)
    r[:] = 0
    r.sync_to_device()
    handle = one.cclo.start(CCLOp.copy, 8, 0, 0, 0, TAG_ANY, config, flags, 0, x, y, z)
    assert handle.wait()
    r.sync_from_device()
    assert np.array_equal(a, r)
    bytes_ = one.allocate((8,), dtype="i1")
    assert one.prepare_call(CCLOp.copy, bytes_, None, bytes_)[0] == 0
    with pytest.raises(ACCLError, match="DMA_DECODE_ERROR"):
        one.cclo.call(CCLOp.copy, 8, 0, 0, 0, TAG_ANY, config, flags, 0, 64, y, z)
    with pytest.raises(ACCLError, match="COLLECTIVE_NOT_IMPLEMENTED"):
        one.cclo.call(77, 8, 0, 0, 0, TAG_ANY, config, flags, 0, x, y, z)
    with pytest.raises(TypeError, match="12 words"):
        one.cclo.call(1)


MISTAKES = {
    "d.allreduce(a, b, 9)": (ValueError, "sbuf has 8 elements, but 9 are required"),
    "d.allgather(a, b, 5)": (ValueError, "rbuf has 8 elements, but 10 are required"),
    "d.scatter(a, b, 8, 0)": (ValueError, "sbuf has 8 elements, but 16 are required"),
    "d.send(a, 9, 1)": (ValueError, "srcbuf has 8 elements, but 9 are required"),
    "d.recv(b, 9, 1)": (ValueError, "dstbuf has 8 elements, but 9 are required"),
    "d.recv(plain, 9, 1)": (ValueError, "dstbuf has 8 elements, but 9 are required"),
    "d.allreduce(a, [1, 2])": (TypeError, "rbuf must be an array: .* not list"),
    "d.allreduce(None, b)": (TypeError, "sbuf must be an array: .* not NoneType"),
    "d.allreduce(a, b'12345678')": (TypeError, "rbuf is read-only"),
    "d.allreduce(a, plain[0])": (TypeError, r"an array, not the number 0.0: .*np.array\(\["),
    "d.allreduce(plain, b, 9)": (ValueError, "sbuf has 8 elements, but 9 are required"),
    "d.allgather(plain, plain, 5)": (ValueError, "rbuf has 8 elements, but 10 are required"),
    "d.allreduce(plain.astype('f8'), b)": (KeyError, "no arithmetic configuration for float64"),
    "d.allreduce(plain.astype('c8'), b)": (ACCLDtypeError, "no conversion between complex64"),
    "d.allreduce(plain.astype('>f4'), b)": (TypeError, "machine's byte order"),
    "d.allreduce(plain.astype('O'), b)": (ACCLDtypeError, "refer to Python objects"),
    "d.allreduce(a, locked)": (ValueError, "allreduce: rbuf is read-only"),
    "d.allreduce(a, repeated)": (ValueError, "several elements of rbuf are at the same place"),
    "d.allreduce(a, b, 8, max)": (TypeError, "func must be an ACCLReduceFunctions, such as .*SUM"),
    "d.bcast(locked, 8, 1)": (ValueError, "bcast: buf is read-only"),
    "d.allreduce(plain, b, from_fpga=True)": (ValueError, "sbuf has no device memory, so its data"),
    "d.allreduce(a, plain, to_fpga=True)": (ValueError, "rbuf has no device memory, so its data"),
    "d.bcast(plain, 8, 0, from_fpga=True)": (ValueError, "buf has no device memory, so its data"),
    "d.send(plain, 8, 1, from_fpga=True)": (ValueError, "srcbuf has no device memory, so its"),
    "d.recv(plain, 8, 1, to_fpga=True)": (ValueError, "dstbuf has no device memory, so its"),
    "d.copy(plain, a, from_fpga=True)": (ValueError, "srcbuf has no device memory, so its"),
    "d.copy(a, plain, to_fpga=True)": (ValueError, "dstbuf has no device memory, so its"),
    "d.combine(8, 0, plain, a, b, val1_from_fpga=True)": (ValueError, "val1 has no device memory"),
    "d.combine(8, 0, a, plain, b, val2_from_fpga=True)": (ValueError, "val2 has no device memory"),
    "d.combine(8, 0, a, b, plain, to_fpga=True)": (ValueError, "result has no device memory"),
    "d.call_sync(CCLOp.copy, 8, addr_0=plain, addr_2=b)": (TypeError, "addr_0 has no device memo"),
    "d.allreduce(a, foreign)": (ValueError, "rbuf belongs to another accl"),
    "d.allreduce(a, freed)": (ACCLClosedError, "rbuf was freed"),
    "d.copy(a[::2], b, 2)": (ValueError, "srcbuf is not contiguous"),
    "d.recv(frozen, 8, 0)": (ValueError, "dstbuf is read-only"),
    "d.bcast(a, 8, 2)": (ValueError, "root is 2, and communicator 0 has the ranks 0 to 1"),
    "d.bcast(a, 8, -1)": (ValueError, "root is -1"),
    "d.bcast(a, 8, 2**70)": (ValueError, "root is 1180591620717411303424"),
    "d.send(a, 8, 5)": (ValueError, "dst is 5"),
    "d.send(a, 8)": (TypeError, "dst is missing"),
    "d.recv(a, 8)": (TypeError, "src is missing"),
    "d.send(a, 8, 0, tag=-1)": (ValueError, "a tag has 32 bits"),
    "d.send(a, 8, 0, tag=250, stream_flags=2)": (ValueError, "streams have numbers 0 to 246"),
    "d.send(a, 8, 0, stream_flags=9)": (ValueError, "stream_flags must be 0 to 3"),
    "d.barrier(1)": (ValueError, "barrier: no communicator 1"),
    "d.barrier(-1)": (ValueError, "barrier: no communicator -1"),
    "d.barrier('x')": (TypeError, "interpreted as an integer"),
    "d.reduce(a, b, 8, 0, 4)": (ValueError, "func must be SUM"),
    "d.allreduce(a, b, -1)": (ValueError, "count must not be negative, but is -1"),
    "d.allreduce(a, b, 1.5)": (TypeError, "count must be a whole number"),
    "d.allreduce(a, b, 'x')": (TypeError, "count must be a whole number"),
    "d.allreduce(a, b, 8, sync=1)": (TypeError, "unexpected keyword argument 'sync'"),
    "d.allreduce(a, whole)": (KeyError, "no arithmetic configuration for int32 with float32"),
    "d.allreduce(wide, b, 8)": (KeyError, "no arithmetic configuration for float64 with float32"),
    "d.allreduce(bytes_, bytes_, 8)": (TypeError, r"no arithmetic for \|S1"),
    "d.allreduce(big_endian, big_endian)": (TypeError, "machine's byte order"),
    "d.allreduce(a, b, 8, compress_dtype='f8')": (ACCLDtypeError, "float64 with float32|float32"),
    "d.allreduce(wide, wide, 8, compress_dtype='f2')": (ACCLDtypeError, "float64 with float16"),
    "d.allreduce(a, b, 8, waitfor=[1])": (TypeError, "waitfor takes handles"),
    "d.set_timeout(-1)": (ValueError, "the value has 32 bits"),
    "d.setup_rx_buffers(3, 64)": (ACCLError, "before the first communicator"),
    "d.allocate((-1,))": (ValueError, "the shape"),
    "d.allocate(4, dtype=object)": (TypeError, "elements of type object"),
    "d.allocate(1 << 60)": (MemoryError, "device memory"),
    "d.cclo.read(2)": (ValueError, "no word at 0x2"),
    "d.cclo.read(0x2000)": (ValueError, "no word at 0x2000"),
    "(a + a).sync_to_device()": (ValueError, "no device memory"),
    "a[::2].sync_to_device()": (ValueError, "not contiguous"),
    "freed.sync_from_device()": (ACCLClosedError, "the buffer was freed"),
    "d.configure_communicator([{'ip': '1.2.3.4', 'port': 1}], 0)": (ValueError, "has no max_seg"),
    "accl(2, 5)": (ValueError, "local_rank is 5"),
    "accl(0, 0)": (ValueError, "nranks must be 1 to 1,024, not 0"),
    "accl(1025, 0)": (ValueError, "nranks must be 1 to 1,024, not 1,025"),
    "accl(10**12, 0)": (ValueError, "nranks must be 1 to 1,024"),
    "accl(1, 0, job='a' + chr(0) + 'b')": (ValueError, "cannot contain a NUL"),
    "accl(1, 0, job=252 * 'a')": (ValueError, "251 bytes at most, not 252: aaaa"),
    "accl(1, 0, job=126 * 'é')": (ValueError, "251 bytes at most, not 252"),
    "accl(1, 0, protocol='RDMA')": (ValueError, "RDMA not supported yet"),
    "accl(1, 0, protocol='X')": (ValueError, "Unrecognized Protocol"),
    "accl(1, 0, nbufs=0)": (ValueError, "0 rx buffers"),
    "accl(2, 0, far)": (ValueError, r"start with accl.from_comm\(comm\)"),
    "accl(1, 0, bufsize=-5)": (ValueError, "bufsize cannot be -5"),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_refused_with_a_reason(make, text):
    d, _ = make(2)
    other = make(1)[0]
    freed = d.allocate((8,))
    freed.freebuffer()
    frozen = d.allocate((8,))
    frozen.flags.writeable = False
    locked = np.zeros(8, dtype=np.float32)
    locked.flags.writeable = False
    repeated = np.lib.stride_tricks.as_strided(np.zeros(1, dtype=np.float32), (8,), (0,))
    names = {
        "CCLOp": CCLOp,
        "plain": np.zeros(8, dtype=np.float32),
        "locked": locked,
        "repeated": repeated,
        "accl": accl,
        "np": np,
        "d": d,
        "a": d.allocate((8,)),
        "b": d.allocate((8,)),
        "wide": d.allocate((8,), dtype="f8"),
        "whole": d.allocate((8,), dtype="i4"),
        "bytes_": d.allocate((8,), dtype="S1"),
        "big_endian": d.allocate((8,), dtype=">f4"),
        "foreign": other.allocate((8,)),
        "freed": freed,
        "frozen": frozen,
        "far": [
            {"ip": f"127.0.0.{number}", "port": 9000, "max_segment_size": 64} for number in (1, 2)
        ],
    }
    kind, reason = MISTAKES[text]
    with pytest.raises(kind, match=reason):
        eval(text, names)
    # It is as good as before.
    other.barrier()


def test_deinit_ends_calls_of_other_threads(make):
    device, _ = make(2)
    failures = []

    def wait():
        try:
            device.recv(device.allocate((4,)), 4, 1)
        except ACCLError as error:
            failures.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while "RECV" not in device._control.dump("waits"):
        pass
    device.deinit()
    thread.join(5)
    assert isinstance(failures[0], ACCLClosedError)
    device.deinit()
    with pytest.raises(ACCLClosedError):
        device.allocate((4,))
    with pytest.raises(ACCLClosedError):
        device.nop()


def test_udp_opens_no_port(make):
    device = make(1, protocol="UDP")[0]
    with pytest.raises(ACCLError) as caught:
        device.open_port()
    assert caught.value.flags == (ErrorCode.OPEN_PORT_NOT_SUCCEEDED,)
    with pytest.raises(ACCLError) as caught:
        device.open_con()
    assert caught.value.flags == (ErrorCode.OPEN_CON_NOT_SUCCEEDED,)


def test_nothing_is_printed(make, capfd):
    device = make(1)[0]
    device.barrier()
    device.deinit()
    assert capfd.readouterr() == ("", "")


def test_dumps_are_printed(one, capsys):
    one.send(filled(one, 8), 8, 0, 9)
    one.dump_rx_buffers()
    assert "RESERVED tag 9 length 32" in capsys.readouterr().out
    one.dump_rx_buffers(1)
    assert len(capsys.readouterr().out.splitlines()) == 2
    one.dump_communicator()
    assert "Communicator 0" in capsys.readouterr().out
    one.dump_exchange_memory()
    assert "1ff0:" in capsys.readouterr().out
    one.dump_waits()
    assert "rank 0 is not waiting" in capsys.readouterr().out
    spare = one.rx_buffer_spares[0]
    assert spare.status == 2 and spare.nbytes == 1024
    assert spare.physical_address % 64 == 0


def test_zero_counts_are_called_too(make, everywhere):
    devices = make(2)

    def body(device, rank):
        a, r = device.allocate((4,)), device.allocate((4,))
        r[:] = 5
        device.allreduce(a, r, 0)
        assert np.all(r == 5)
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            device.bcast(a, 0, 0)

    everywhere(devices, body)


def test_count_may_be_a_whole_float(one):
    a, r = filled(one, 8), one.allocate((8,))
    one.allreduce(a, r, 16 / 4)
    assert np.array_equal(a[:4], r[:4])


def test_a_communicator_has_as_many_ranks_as_the_library_has_room_for(root):
    text = (root / "csrc/accl/base/communicator.h").read_text()
    assert re.search(r"^#define RANKS_MAX (\d+)$", text, re.M)[1] == str(RANKS_MAX)


@pytest.mark.parametrize("count", [10, 100_000])
def test_both_sides_count_the_same_parts_of_messages(make, everywhere, capsys, count):
    pair = make(2)

    def body(device, rank):
        buffer = device.allocate((count,))
        if rank == 0:
            device.send(buffer, dst=1)
        else:
            device.recv(buffer, src=0)

    everywhere(pair, body)
    shown = []
    for device in pair:
        device.dump_communicator()
        shown.append(capsys.readouterr().out)
    [sent] = re.findall(r"Rank 1 -> .* OSeq: (\d+)", shown[0])
    [received] = re.findall(r"Rank 0 -> .* ISeq: (\d+)", shown[1])
    assert sent == received != "0"
