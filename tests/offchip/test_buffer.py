# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import array
import ctypes
import gc
import mmap
import sys
import weakref

import numpy as np
import pytest

from offchip.buffer import Buffer
from offchip.errors import ReadOnlyError
from tests.support.tensors import Interface, OldTensor, Tensor

PAGE = mmap.PAGESIZE
SIZES = [0, 1, 7, PAGE - 1, PAGE, PAGE + 1, 1 << 20]

PROVIDERS = {
    "bytearray": bytearray,
    "memoryview": lambda size: memoryview(bytearray(size)),
    "array": lambda size: array.array("B", bytes(size)),
    "numpy": lambda size: np.zeros(size, np.uint8),
    "ctypes": lambda size: (ctypes.c_ubyte * size)(),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("make", PROVIDERS.values(), ids=PROVIDERS.keys())
def test_writable_memory_is_taken_as_it_is(make, size):
    obj = make(size)
    with Buffer(obj, writable=True) as buffer:
        assert buffer.size == len(buffer) == size
        assert not buffer.readonly
        assert buffer.obj is obj or isinstance(obj, memoryview)
        if size:
            ctypes.memset(buffer.address, 0xA5, size)
    assert bytes(obj) == b"\xa5" * size


@pytest.mark.parametrize("order", ["C", "F"])
def test_both_orders_are_contiguous(order):
    matrix = np.zeros((3, 5), order=order)
    with Buffer(matrix) as buffer:
        assert buffer.size == matrix.nbytes
        assert buffer.address == matrix.ctypes.data


class Elsewhere(Tensor):
    def __dlpack__(self, **how):
        raise BufferError("it is not in this machine's memory")


class Negated(Tensor):
    def is_neg(self):
        return True


@pytest.mark.parametrize("kind", [Tensor, OldTensor, Interface])
def test_tensors_share_their_memory(kind):
    values = np.arange(6.0).reshape(2, 3)
    with Buffer(kind(values)) as buffer:
        assert (buffer.address, buffer.size) == (values.ctypes.data, values.nbytes)
    if kind is Tensor and np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip("this NumPy cannot say in DLPack that an array may be written to")
    with Buffer(kind(values), writable=True) as buffer:
        assert buffer.address == values.ctypes.data


def test_a_tensor_lives_as_long_as_its_buffer():
    tensor = Tensor(np.arange(6.0))
    freed = weakref.ref(tensor.array)
    buffer = Buffer(tensor)
    del tensor
    gc.collect()
    assert freed() is not None
    assert ctypes.string_at(buffer.address, 8) == bytes(8)


def test_tensors_that_cannot_be_used_say_why():
    values = np.zeros(3)
    with pytest.raises(BufferError, match="of type Elsewhere, cannot be used as an array: it is"):
        Buffer(Elsewhere(values))
    with pytest.raises(BufferError, match=r"pending negation: pass x\.resolve_neg\(\)"):
        Buffer(Negated(values))
    with pytest.raises(ValueError, match="is not contiguous"):
        Buffer(Tensor(np.arange(6.0)[::2]))


def test_read_only_memory_may_be_read():
    with Buffer(b"abc") as buffer:
        assert buffer.readonly
        assert ctypes.string_at(buffer.address, 3) == b"abc"


def read_only_array():
    values = np.zeros(3)
    values.flags.writeable = False
    return values


@pytest.mark.parametrize("obj", [b"abc", memoryview(b"abc"), read_only_array()])
def test_read_only_memory_cannot_be_written_to(obj):
    with pytest.raises(ReadOnlyError, match=r"read-only and cannot receive data") as caught:
        Buffer(obj, writable=True)
    # Packages of vendors raise the one or the other.
    assert isinstance(caught.value, BufferError) and isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    "obj", [np.zeros((4, 4))[:, ::2], np.zeros(8)[::-1], memoryview(bytes(8))[::2]]
)
@pytest.mark.parametrize("writable", [False, True])
def test_gaps_are_refused_with_the_remedy(obj, writable):
    with pytest.raises(ValueError, match=r"not contiguous.*numpy\.ascontiguousarray"):
        Buffer(obj, writable=writable)


@pytest.mark.parametrize("obj", ["text", 3, None, [1, 2], object()])
def test_object_without_a_buffer_is_named(obj):
    with pytest.raises(TypeError, match=rf"buffer protocol.*not {type(obj).__name__}"):
        Buffer(obj)


@pytest.mark.parametrize(
    "obj",
    [
        np.array([None, "x"]),
        np.zeros(2, dtype=[("a", "i4"), ("b", object)]),
        (ctypes.py_object * 2)(),
    ],
    ids=["objects", "field", "ctypes"],
)
def test_addresses_of_python_objects_are_refused(obj):
    with pytest.raises(TypeError, match="are Python objects"):
        Buffer(obj, writable=True)


def test_field_name_is_not_taken_for_a_type():
    with Buffer(np.zeros(2, dtype=[("Owner:O", "i4"), ("O", "f8")])) as buffer:
        assert buffer.size == 24


def test_element_type_without_a_format_is_taken():
    with Buffer(np.zeros(3, dtype="M8[s]"), writable=True) as buffer:
        assert buffer.size == 24


def test_held_memory_cannot_be_resized():
    data = bytearray(4)
    buffer = Buffer(data)
    with pytest.raises(BufferError):
        data.extend(b"more")
    buffer.release()
    data.extend(b"more")
    assert len(data) == 8


def test_release_may_be_repeated():
    buffer = Buffer(bytearray(4))
    buffer.release()
    buffer.release()
    assert (buffer.address, buffer.size, buffer.obj) == (0, 0, None)
    assert "released" in repr(buffer)


def test_dropping_it_releases():
    data = bytearray(4)
    references = sys.getrefcount(data)
    buffer = Buffer(data)
    assert sys.getrefcount(data) == references + 1
    del buffer
    gc.collect()
    assert sys.getrefcount(data) == references
    data.clear()


def test_second_acquisition_releases_the_first():
    first, second = bytearray(4), bytearray(6)
    buffer = Buffer(first)
    buffer.__init__(second)
    first.clear()
    assert buffer.size == 6
    with pytest.raises(TypeError):
        buffer.__init__("nothing")
    second.clear()
    assert buffer.size == 0


def test_it_is_final():
    with pytest.raises(TypeError):
        type("Sub", (Buffer,), {})


def test_error_of_the_exporter_arrives_as_it_is():
    view = memoryview(bytearray(3))
    view.release()
    with pytest.raises(ValueError, match="released"):
        Buffer(view)
