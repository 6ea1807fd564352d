# SPDX-License-Identifier: BSD-3-Clause
"""VE memory: allocation, transfers, pointers."""

from __future__ import annotations

import array
import copy
import ctypes
import mmap
import struct

import numpy as np
import pytest

import veo
from tests.support.tensors import Tensor, WritableTensor

PAGE = mmap.PAGESIZE
SIZES = [0, 1, 7, PAGE - 1, PAGE, PAGE + 1, (1 << 20) + 1, 40 << 20]
PROVIDERS = {
    "bytearray": bytearray,
    "array": lambda data: array.array("B", data),
    "numpy": lambda data: np.frombuffer(data, np.uint8).copy(),
    "memoryview": lambda data: memoryview(bytearray(data)),
}


def pattern(size: int) -> bytes:
    return (bytes(range(251)) * (size // 251 + 1))[:size]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("size", SIZES)
def test_what_is_written_is_read(proc, provider, size):
    data = pattern(size)
    address = proc.alloc_mem(size)
    assert proc.write_mem(address, PROVIDERS[provider](data), size) is None
    back = PROVIDERS[provider](bytes(size))
    assert proc.read_mem(back, address, size) is None
    assert bytes(back) == data
    proc.free_mem(address)


@pytest.mark.parametrize("size", SIZES)
def test_asynchronous_transfers_are_in_order(proc, ctx, size):
    data = pattern(size)
    address = proc.alloc_mem(size)
    back = bytearray(size)
    requests = [
        ctx.async_write_mem(address, data, size),
        ctx.async_read_mem(back, address, size),
    ]
    assert [request.wait_result() for request in requests] == [0, 0]
    assert back == data
    assert all(isinstance(request, veo.VeoMemRequest) for request in requests)


def test_bytes_can_be_written(proc):
    address = proc.alloc_mem(8)
    proc.write_mem(address, b"12345678", 4)
    back = bytearray(8)
    proc.read_mem(back, address, 4)
    assert back == b"1234" + bytes(4)


@pytest.mark.parametrize("offset", [1, 3, 7])
def test_any_address_inside_works(proc, offset):
    address = proc.alloc_mem(64)
    proc.write_mem(address + offset, b"unaligned", 9)
    back = bytearray(9)
    proc.read_mem(back, int(address) + offset, 9)
    assert back == b"unaligned"


def test_variables_of_a_library(proc, lib):
    values = np.empty(4)
    proc.read_mem(values, lib.get_symbol("table"), 32)
    assert values.tolist() == [0.5, 1.5, -2.5, 3.5]
    proc.write_mem(lib.get_symbol("counter"), struct.pack("i", 41), 4)
    lib.count_up.args_type()
    assert lib.count_up(proc.open_context()).wait_result() == 42


def test_transfers_see_what_was_queued_in_the_main_context(proc, ctx, typed):
    address = proc.alloc_mem(1 << 16)
    typed("fill", "void", "char *", "size_t", "int")(ctx, address, 1 << 16, 9)
    back = bytearray(1 << 16)
    proc.read_mem(back, address, 1 << 16)
    assert back == b"\t" * (1 << 16)


@pytest.mark.parametrize("call", ["read_mem", "write_mem", "async_read_mem", "async_write_mem"])
class TestRefusals:
    @pytest.fixture
    def transfer(self, call, proc, ctx):
        address = proc.alloc_mem(16)
        owner = ctx if call.startswith("async") else proc

        def run(memory, size, where=address):
            order = (memory, where) if "read" in call else (where, memory)
            result = getattr(owner, call)(*order, size)
            if result is not None:
                result.wait_result()

        return run

    def test_objects_without_memory(self, transfer):
        for wrong in (1, "text", None, [1, 2]):
            with pytest.raises(TypeError):
                transfer(wrong, 1)

    def test_memory_with_gaps(self, transfer):
        with pytest.raises(ValueError, match="contiguous"):
            transfer(np.zeros(16, np.uint8)[::2], 4)

    def test_memory_that_is_too_small(self, transfer):
        with pytest.raises(ValueError, match=r"smaller than required size \(4 < 5\)"):
            transfer(bytearray(4), 5)

    def test_negative_size(self, transfer):
        for size in (-1, -(2**63), -(2**80)):
            with pytest.raises(ValueError, match="negative"):
                transfer(bytearray(4), size)

    def test_size_that_is_no_number(self, transfer):
        for size in ("4", None, 1.5, b"4"):
            with pytest.raises(TypeError):
                transfer(bytearray(4), size)

    def test_size_beyond_any_memory(self, transfer):
        with pytest.raises((ValueError, OverflowError)):
            transfer(bytearray(4), 2**64)

    def test_address_that_is_none(self, transfer):
        for wrong in ("0x1000", None, b"1", bytearray(8)):
            with pytest.raises(TypeError):
                transfer(bytearray(4), 4, wrong)
        for wrong in (-1, 2**64):
            with pytest.raises(OverflowError):
                transfer(bytearray(4), 4, wrong)

    def test_address_of_another_process(self, transfer, make_proc):
        other = make_proc().alloc_mem(16)
        with pytest.raises(ValueError, match="another process"):
            transfer(bytearray(4), 4, other)


def test_python_objects_are_no_bytes(proc):
    with pytest.raises(TypeError, match="Python objects"):
        proc.write_mem(proc.alloc_mem(16), np.array([1, "a"], dtype=object), 16)


def test_read_only_destination_is_written_with_a_warning(proc):
    address = proc.alloc_mem(16)
    proc.write_mem(address, b"0123456789", 10)
    destinations = [bytes(bytearray(10)), np.frombuffer(bytes(bytearray(10)), np.uint8)]
    for destination in destinations:
        with pytest.warns(DeprecationWarning, match="read-only") as caught:
            proc.read_mem(destination, address, 10)
        assert caught[0].filename == __file__
        assert bytes(destination) == b"0123456789"
    destination = bytes(bytearray(10))
    with pytest.warns(DeprecationWarning, match="read-only bytes"):
        request = proc.open_context().async_read_mem(destination, address, 10)
    request.wait_result()
    assert destination == b"0123456789"


def test_bad_address_is_an_error_and_no_crash(proc):
    with pytest.raises(RuntimeError, match="veo_read_mem"):
        proc.read_mem(bytearray(8), 8, 8)
    with pytest.raises(RuntimeError, match="veo_write_mem"):
        proc.write_mem(8, bytes(8), 8)


def test_no_memory_is_a_memory_error(proc):
    with pytest.raises(MemoryError, match="Out of memory on VE") as caught:
        proc.alloc_mem(2**62)
    assert isinstance(caught.value, RuntimeError)
    assert proc.alloc_mem(8)


def test_sizes_of_allocations(proc):
    assert proc.alloc_mem(0)
    assert proc.alloc_mem(8.0).size == 8
    with pytest.raises(OverflowError):
        proc.alloc_mem(-1)
    for wrong in ("8", None, 1.5):
        with pytest.raises(TypeError):
            proc.alloc_mem(wrong)


def test_freeing(proc, make_proc):
    before = proc.heap_used
    address = proc.alloc_mem(1 << 20)
    assert proc.heap_used >= before + (1 << 20)
    with pytest.raises(ValueError, match="another process"):
        make_proc().free_mem(address)
    proc.free_mem(int(address))
    assert proc.heap_used == before


# --- pointers ---------------------------------------------------------------------------------


def test_pointer_is_an_integer_that_knows_more(proc):
    pointer = proc.alloc_mem(100)
    assert isinstance(pointer, veo.VEMemPtr)
    assert isinstance(pointer, int)
    assert (pointer.size, pointer.proc, pointer.addr) == (100, proc, int(pointer))
    assert type(pointer.addr) is int
    assert type(pointer + 8) is int
    assert pointer + 8 - 8 == pointer
    assert hash(pointer) == hash(int(pointer))
    assert {pointer: 1}[int(pointer)] == 1
    assert f"{pointer:x}" == f"{int(pointer):x}"
    assert hex(pointer) == hex(int(pointer))
    assert (1).__add__(pointer) == int(pointer) + 1
    for name in ("size", "proc", "addr"):
        with pytest.raises(AttributeError):
            setattr(pointer, name, 1)


def test_pointer_repr(proc):
    pointer = veo.VEMemPtr(proc, 0xABC0, 12)
    assert repr(pointer) == f"<VEMemPtr object VE addr: 0xabc0 , size: 12bytes, owner {proc!r}>"


def test_pointers_can_be_made_and_copied(proc):
    pointer = veo.VEMemPtr(proc, 0x1000)
    assert pointer.size == 0
    assert copy.copy(pointer) is pointer
    assert copy.deepcopy([pointer])[0] is pointer
    with pytest.raises(ValueError, match="negative"):
        veo.VEMemPtr(proc, -1)
    with pytest.raises(ValueError, match="negative"):
        veo.VEMemPtr(proc, 1, -1)
    with pytest.raises((TypeError, ValueError)):
        veo.VEMemPtr(proc, "x")


def test_results_as_addresses(proc):
    assert proc.i64_to_addr(-1) == 2**64 - 1
    assert proc.i64_to_addr(5) == 5
    assert proc.i64_to_addr(2**64 - 1) == 2**64 - 1
    assert type(proc.i64_to_addr(5)) is int
    pointer = proc.i64_to_memptr(-(2**63))
    assert (pointer.addr, pointer.size, pointer.proc) == (2**63, 0, proc)


# --- tagged addresses -------------------------------------------------------------------------


def test_tagged_addresses(proc):
    address = proc.alloc_hmem(64)
    hmem = veo.VEO_HMEM
    assert hmem.is_ve_addr(address) is True
    assert hmem.is_ve_addr(0x1000) is False
    assert address >> 63 == 1
    plain = hmem.get_hmem_addr(address)
    assert plain < 2**59
    assert hmem.get_proc_identifier_from_hmem(address) == proc.proc_identifier()
    assert hmem.get_proc_identifier_from_hmem(0x1000) == -1
    assert hmem.get_proc_handle_from_hmem(address) == proc._proc_handle
    with pytest.raises(RuntimeError):
        hmem.get_proc_handle_from_hmem(0x1000)
    assert proc.set_proc_identifier(plain, proc.proc_identifier()) == address
    for number in (-1, 16):
        with pytest.raises(RuntimeError):
            proc.set_proc_identifier(plain, number)
    proc.free_hmem(address)
    with pytest.raises(RuntimeError, match="not a tagged VE address"):
        proc.free_hmem(0x1000)


def test_copies_between_host_and_ve(proc):
    address = proc.alloc_hmem(64)
    veo.VEO_HMEM.hmemcpy(address, b"hello", 5)
    back = bytearray(5)
    veo.VEO_HMEM.hmemcpy(back, address, 5)
    assert back == b"hello"
    raw = (ctypes.c_char * 5)()
    veo.VEO_HMEM.hmemcpy(ctypes.addressof(raw), address, 5)
    assert raw.raw == b"hello"
    with pytest.raises(ValueError, match="smaller"):
        veo.VEO_HMEM.hmemcpy(bytearray(4), address, 5)
    with pytest.raises(BufferError):
        veo.VEO_HMEM.hmemcpy(b"12345", address, 5)
    with pytest.raises(ValueError, match="negative"):
        veo.VEO_HMEM.hmemcpy(back, address, -5)


def test_copies_between_two_processes_are_refused(proc, make_proc):
    ours, theirs = proc.alloc_hmem(8), make_proc().alloc_hmem(8)
    with pytest.raises(RuntimeError, match="hmemcpy"):
        veo.VEO_HMEM.hmemcpy(ours, theirs, 8)


def test_unordered_transfers_reach_a_running_kernel(make_proc, kernels, monkeypatch):
    monkeypatch.setenv("VEO_SOFT_TRANSFERS", "unordered")
    proc = make_proc()
    lib = proc.load_library(kernels)
    lib.wait_for.args_type("int *")
    ctx = proc.open_context()
    word = proc.alloc_mem(4)
    proc.write_mem(word, bytes(4), 4)
    request = lib.wait_for(ctx, word)
    seen = bytearray(b"xxxx")
    proc.read_mem(seen, word, 4)
    assert seen == bytes(4)
    proc.write_mem(word, (7).to_bytes(4, "little"), 4)
    assert request.wait_result(30) == 7


def test_tensors_are_memory(proc, ctx, lib):
    values, back = np.arange(4.0), np.zeros(4)
    address = proc.alloc_mem(32)
    proc.write_mem(address, Tensor(values), 32)
    proc.read_mem(WritableTensor(back), address, 32)
    assert back.tolist() == values.tolist()
    lib.add_two(ctx, veo.OnStack(WritableTensor(back), inout=veo.INTENT_INOUT), 4).wait_result()
    assert back.tolist() == (values + 2).tolist()
    ctx.async_write_mem(address, WritableTensor(back), 32).wait_result()
    ctx.async_read_mem(WritableTensor(values), address, 32).wait_result()
    assert values.tolist() == back.tolist()


def test_memory_is_passed_as_it_lies(proc):
    columns, back = np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.zeros(6)
    address = proc.alloc_mem(48)
    proc.write_mem(address, columns, 48)
    proc.read_mem(back, address, 48)
    assert back.tolist() == [0, 3, 1, 4, 2, 5]
