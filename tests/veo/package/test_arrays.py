# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in the VE's memory, and functions in C as Python's own."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import veo
from veo import DeviceArray, OnStack, to_device

SOURCE = """
#include <stdlib.h>
double dot(const double *x, const double *y, long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}
void fill(float *x, long n, float value)
{
    while (n-- > 0)
        *x++ = value;
}
void die(void) { abort(); }
"""


@pytest.fixture
def proc():
    with veo.VeoProc(0) as process:
        yield process


def heap(proc):
    gc.collect()
    return proc.heap_used


@pytest.mark.parametrize("dtype", [np.float64, np.int8, np.complex64, "datetime64[s]", "i4,f8"])
@pytest.mark.parametrize("shape", [(), 3, (0,), (2, 3), (2, 0, 3)])
def test_values_come_back(proc, shape, dtype):
    shape = (shape,) if isinstance(shape, int) else shape
    bits = np.arange(1000, dtype=np.uint8)[: int(np.prod(shape)) * np.dtype(dtype).itemsize]
    values = bits.view(dtype).reshape(shape)
    array = to_device(proc, values)
    assert (array.shape, array.dtype, array.size, array.nbytes, array.ndim) == (
        (values.shape, values.dtype, values.size, values.nbytes, values.ndim)
    )
    assert array.read().tobytes() == values.tobytes()


def test_memory_is_freed_with_the_last_reference(proc):
    before = heap(proc)
    array = DeviceArray(proc, (1000, 1000))
    part = array[10:20]
    assert heap(proc) >= before + 8_000_000
    del array
    part.write(1.0)
    assert heap(proc) >= before + 8_000_000
    del part
    assert heap(proc) == before


def test_memory_lives_as_long_as_a_call_that_uses_it(proc, build_kernels):
    fill = build_kernels(proc).fill
    context = proc.open_context()
    before = heap(proc)
    array = DeviceArray(proc, 1 << 20, np.float32)
    request = fill(context, array, array.size, 2.5)
    part = array[-4:]
    del array
    request.wait_result()
    assert part.read().tolist() == [2.5] * 4
    del part, request
    assert heap(proc) == before


@pytest.fixture
def build_kernels(tmp_path):
    def build(proc):
        builder = veo.VeBuild()
        builder.set_build_dir(tmp_path)
        builder.set_c_src("kernels", SOURCE)
        return proc.load_library(builder.build_so(check=True))

    return build


def test_arrays_are_arguments(proc, build_kernels):
    library, context = build_kernels(proc), proc.open_context()
    x = to_device(proc, np.arange(5.0))
    assert library.dot(context, x, x[1:], 4).wait_result() == 0 * 1 + 1 * 2 + 2 * 3 + 3 * 4


def test_parts_share_memory(proc):
    array = to_device(proc, np.arange(24).reshape(2, 3, 4))
    host = array.read()
    for key in (
        0,
        -1,
        (1, 2),
        (1, 2, 3),
        slice(1, 2),
        (0, slice(1, 3)),
        (0, slice(1, 3), slice(None)),
        ...,
    ):
        assert np.array_equal(array[key].read(), host[key]), key
    array[1, 0:2] = [[1], [2]]
    host[1, 0:2] = [[1], [2]]
    assert np.array_equal(array, host)
    array[0] = -1
    host[0] = -1
    assert np.array_equal(np.asarray(array), host)
    assert np.array_equal(array.reshape(4, -1).read(), host.reshape(4, -1))
    assert len(array) == 2


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (2, "index 2 is out of range for an extent of 2"),
        ((0, -4), "index -4 is out of range for an extent of 3"),
        (slice(None, None, 2), "must lie in one piece"),
        ((slice(0, 1), 0), "must lie in one piece"),
        ((0, 0, 0), "3 indices, but the array has 2"),
    ],
)
def test_wrong_index_is_explained(proc, key, message):
    with pytest.raises(IndexError, match=message):
        DeviceArray(proc, (2, 3))[key]


def test_wrong_use_is_explained(proc):
    array = DeviceArray(proc, (2, 3), np.float32)
    with pytest.raises(
        ValueError, match=r"could not be broadcast|cannot broadcast|requested shape"
    ):
        array.write(np.zeros(4))
    with pytest.raises(
        ValueError, match=r"out must be \(2, 3\) of float32, not \(3, 2\) of float32"
    ):
        array.read(np.empty((3, 2), np.float32))
    with pytest.raises(ValueError, match="in C order"):
        array.read(np.empty((3, 2), np.float32).T)
    with pytest.raises(TypeError, match="no Python objects"):
        DeviceArray(proc, 2, object)
    with pytest.raises(ValueError, match="extents cannot be negative"):
        DeviceArray(proc, (-1, 2))
    with pytest.raises(ValueError, match="reshape"):
        array.reshape(4, 2)
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":  # before, False meant: if possible
        with pytest.raises(ValueError, match="cannot be used uncopied"):
            np.array(array, copy=False)
    with pytest.raises(veo.VeoMemoryError):
        DeviceArray(proc, 1 << 50)
    array.free()
    array.free()
    with pytest.raises(veo.VeoClosedError, match="was freed"):
        array.read()
    assert "freed" in repr(array)


def test_arrays_outlive_their_process(proc):
    array = DeviceArray(proc, 10)
    proc.close()
    with pytest.raises(veo.VeoClosedError):
        array.read()
    del array
    gc.collect()


def test_transfers_are_queued(proc):
    context = proc.open_context()
    array, out = DeviceArray(proc, 1000, np.int32), np.empty(1000, np.int32)
    first = array.write_async(context, np.arange(1000))
    array.read_async(context, out).wait_result()
    first.wait_result()
    assert np.array_equal(out, np.arange(1000))


def test_dlpack_shares_the_memory_of_the_twin(proc):
    array = to_device(proc, np.arange(6.0).reshape(2, 3))
    assert array.__dlpack_device__() == (1, 0)
    view = np.from_dlpack(array)
    assert np.array_equal(view, np.arange(6.0).reshape(2, 3))
    array[0] = 7
    del array
    gc.collect()
    assert view[0].tolist() == [7, 7, 7]

    class Other:
        def __dlpack__(self, **options):
            return np.arange(3).__dlpack__(**options)

        def __dlpack_device__(self):
            return (1, 0)

    assert to_device(proc, Other()).read().tolist() == [0, 1, 2]


@pytest.fixture
def functions():
    @veo.kernel(SOURCE)
    def dot(x, y, n):
        """Multiply."""

    @veo.kernel(SOURCE)
    def fill(x, n, value): ...

    @veo.kernel(SOURCE)
    def die(): ...

    yield dot, fill, die
    veo.shared_process().close()


def test_kernel_is_a_function(functions):
    dot, fill, _ = functions
    x = np.arange(4.0)
    assert dot(x, x, len(x)) == 14
    assert (dot.__name__, dot.__doc__) == ("dot", "Multiply.")
    y = np.zeros(4, np.float32)
    fill(y, np.int64(3), np.float32(1.5))
    assert y.tolist() == [1.5, 1.5, 1.5, 0]
    on_ve = to_device(veo.shared_process(), x)
    assert dot(on_ve, OnStack(x), 4) == 14
    requests = [dot.submit(x, x, n) for n in range(5)]
    assert [request.wait_result() for request in requests] == [0, 0, 1, 5, 14]
    frozen = np.zeros(2, np.float32)
    frozen.flags.writeable = False
    fill(frozen, 2, 1.0)
    assert frozen.tolist() == [0, 0]
    with pytest.raises(TypeError, match="by position; for a time limit: submit"):
        dot(x, x, n=3)


def test_kernel_that_crashes_can_be_called_again(functions):
    dot, _, die = functions
    with pytest.raises(veo.VeoKernelException):
        die()
    x = np.ones(3)
    assert dot(x, x, 3) == 3


def test_one_call(functions):
    x = np.ones(3)
    assert veo.offload(SOURCE, "dot", x, x, 3) == 3
    with pytest.raises(veo.VeoSymbolError):
        veo.offload(SOURCE, "absent")
    with pytest.raises(veo.VeoBuildError):
        veo.offload("int f(", "f")


def test_arrays_in_a_circle_are_collected_with_their_process(make_proc):
    proc = make_proc()
    circle = {"proc": proc, "array": veo.to_device(proc, [1.0, 2.0])}
    circle["circle"] = circle
    del circle, proc
    gc.collect()
