# SPDX-License-Identifier: BSD-3-Clause
"""Buffers: addresses of slices, the two kinds of memory, and what lives how long."""

from __future__ import annotations

import copy
import gc
import pickle

import numpy as np
import pytest

from accl import ACCLBuffer, ACCLClosedError, accl


def test_slices_have_their_own_address(one):
    buffer = one.allocate((4, 8))
    start = buffer.physical_address
    assert start % 4096 == 0
    assert buffer[1].physical_address == start + 32
    assert buffer[2:, :].device_address == start + 64
    assert buffer[1, 3:5].physical_address == start + 44
    assert buffer[1][3:].view("i4")[1:].physical_address == start + 48
    assert buffer.reshape(-1)[5:].physical_address == start + 20
    assert np.asarray(buffer)[1:].ctypes.data == buffer[1:].ctypes.data
    other = one.allocate((8,))
    assert not start <= other.physical_address < start + buffer.nbytes


def test_results_of_calculations_have_no_device_memory(one):
    buffer = one.allocate((8,))
    for result in (buffer + buffer, buffer.copy(), buffer.sum(keepdims=True), buffer[[1, 2]]):
        assert result.physical_address is None
    assert isinstance(buffer + buffer, ACCLBuffer)


def test_operands_may_be_slices(one):
    buffer, result = one.allocate((20,)), one.allocate((20,))
    buffer[:], result[:] = np.arange(20), -1
    one.copy(buffer[5:10], result[12:17])
    assert list(result[10:20]) == [-1, -1, 5, 6, 7, 8, 9, -1, -1, -1]
    one.send(buffer[3:], 4, 0)
    one.recv(result[1:5], 4, 0)
    assert list(result[:6]) == [-1, 3, 4, 5, 6, -1]
    # A view that is an ordinary array is the same memory.
    one.copy(np.asarray(buffer), np.asarray(result))
    assert np.array_equal(buffer, result)


def test_separate_memory_stays_stale(one):
    a, r = one.allocate((4,)), one.allocate((4,))
    a[:] = 1
    r[:] = 9
    r.sync_to_device()
    a.sync_to_device()
    a[:] = 2
    one.copy(a, r, 4, from_fpga=True, to_fpga=True)
    assert np.all(r == 9)
    r.sync_from_device()
    assert np.all(r == 1)


def test_messages_synchronise_whole_buffers(one):
    a, r = one.allocate((4,)), one.allocate((4,))
    a[:], r[:] = 1, 7
    r.sync_to_device()
    r[:] = 8
    one.send(a, 2, 0)
    one.recv(r, 2, 0)
    assert list(r) == [1, 1, 7, 7]
    a.sync_from_device()
    assert np.all(a == 1)


def test_unified_memory_is_one_set_of_pages(make):
    one = make(1, unified=True)[0]
    a, r = one.allocate((4,)), one.allocate((4,))
    a[:] = 1
    one.copy(a, r, 4, from_fpga=True, to_fpga=True)
    assert np.all(r == 1)


def test_memory_is_chosen_by_environment(make, monkeypatch):
    monkeypatch.setenv("ACCL_MEMORY", "unified")
    assert make(1)[0].unified
    assert not make(1, unified=False)[0].unified
    monkeypatch.setenv("ACCL_MEMORY", "both")
    with pytest.raises(ValueError, match="ACCL_MEMORY is 'both': it can be separate or unified"):
        make(1)


def test_host_buffers_need_no_sync(one):
    a, r = one.allocate((4,), host=True), one.allocate((4,), host=True)
    a[:] = 3
    one.copy(a, r, 4, from_fpga=True, to_fpga=True)
    assert np.all(r == 3)


def test_asynchronous_results_stay_on_the_device(one):
    a, r = one.allocate((4,)), one.allocate((4,))
    a[:], r[:] = 3, 0
    with pytest.warns(UserWarning, match="user must sync_from_device"):
        handle = one.copy(a, r, run_async=True)
    handle.wait()
    assert np.all(r == 0)
    r.sync_from_device()
    assert np.all(r == 3)


def test_freed_buffers_are_refused_and_readable(one):
    with one.allocate((8,)) as buffer:
        buffer[:] = 1
        part = buffer[2:]
    assert np.all(buffer == 1)
    for call in (lambda: one.copy(part, part), part.sync_to_device, buffer.preallocate_memory):
        with pytest.raises(ACCLClosedError, match="was freed"):
            call()


def test_memory_goes_with_the_last_array(one):
    before = one.memory_info()["allocated"]
    buffer = one.allocate((1 << 16,), dtype="i1")
    part = buffer[5:9]
    assert one.memory_info()["allocated"] >= before + (1 << 16)
    del buffer
    assert one.memory_info()["allocated"] > before
    del part
    gc.collect()
    assert one.memory_info()["allocated"] == before


def test_buffers_outlive_their_accl(job):
    device = accl(1, 0, job=job)
    buffer = device.allocate((1000,))
    buffer[:] = 5
    device.deinit()
    del device
    gc.collect()
    assert np.all(buffer == 5)


def test_copies_travel_as_arrays(one):
    buffer = one.allocate((3,))
    buffer[:] = [1, 2, 3]
    for made in (pickle.loads(pickle.dumps(buffer)), copy.deepcopy(buffer)):
        assert np.array_equal(made, buffer)
        assert getattr(made, "physical_address", None) is None


def test_any_shape_and_type(one):
    assert one.allocate(5).shape == (5,)
    assert one.allocate((), dtype="f8").shape == ()
    assert one.allocate((2, 0, 3)).size == 0
    assert one.allocate((3,), dtype=[("a", "i4"), ("b", "f8")]).itemsize == 12
    zero = one.allocate((0,))
    with pytest.warns(UserWarning, match="zero size buffer"):
        one.bcast(zero)


def test_buffers_are_made_by_an_accl():
    with pytest.raises(TypeError, match="use its allocate"):
        ACCLBuffer((3,))


def test_class_makes_buffers_of_a_target(one):
    assert ACCLBuffer((3,), np.int32, target=one).dtype == np.int32
