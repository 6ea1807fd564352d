# SPDX-License-Identifier: BSD-3-Clause
"""Stack arguments: what is taken, when it is copied, and what is refused."""

from __future__ import annotations

import array
import ctypes
import mmap
import struct

import numpy as np
import pytest

import veo

PAGE = mmap.PAGESIZE
SIZES = [0, 1, 7, PAGE - 1, PAGE, PAGE + 1, 1 << 20, (1 << 20) + 3, 9 << 20]
PROVIDERS = {
    "bytearray": lambda n: bytearray(n),
    "array": lambda n: array.array("B", bytes(n)),
    "numpy": lambda n: np.zeros(n, np.uint8),
    "memoryview": lambda n: memoryview(bytearray(n)),
    "ctypes": lambda n: (ctypes.c_char * n)(),
}


@pytest.fixture(params=PROVIDERS, ids=str)
def provide(request):
    return PROVIDERS[request.param]


@pytest.mark.parametrize("size", SIZES)
def test_out_comes_back(typed, ctx, provide, size):
    memory = provide(size)
    fill = typed("fill", "void", "char *", "size_t", "int")
    fill(ctx, veo.OnStack(memory, inout=veo.INTENT_OUT), size, 0x5A).wait_result()
    assert bytes(memory) == b"\x5a" * size


@pytest.mark.parametrize("size", SIZES)
def test_in_goes_there(typed, ctx, provide, size):
    memory = provide(size)
    memoryview(memory).cast("B")[:] = bytes(i % 251 for i in range(size))
    total = typed("sum_bytes", "long", "char *", "size_t")
    assert total(ctx, veo.OnStack(memory), size).wait_result() == sum(bytes(memory))


def test_in_is_not_copied_back(typed, ctx):
    memory = bytearray(b"abc")
    typed("fill", "void", "char *", "size_t", "int")(ctx, veo.OnStack(memory), 3, 1).wait_result()
    assert memory == b"abc"


def test_out_is_zero_for_the_kernel(typed, ctx):
    memory = bytearray(b"xyz" * 100)
    stack = veo.OnStack(memory, inout=veo.INTENT_OUT)
    assert typed("all_are", "int", "char *", "size_t", "int")(ctx, stack, 300, 0).wait_result() == 1
    assert memory == bytes(300)


def test_inout_goes_both_ways(typed, ctx):
    values = np.arange(5.0)
    typed("add_two", "void", "double *", "long")(
        ctx, veo.OnStack(values, inout=veo.INTENT_INOUT), 5
    ).wait_result()
    assert values.tolist() == [2, 3, 4, 5, 6]


def test_memory_is_copied_at_the_call_not_before(typed, ctx):
    memory = bytearray(b"\1\1")
    stack = veo.OnStack(memory)
    memory[0] = 5
    total = typed("sum_bytes", "long", "char *", "size_t")
    assert total(ctx, stack, 2).wait_result() == 6
    memory[1] = 10
    assert total(ctx, stack, 2).wait_result() == 15


def test_only_the_given_size_is_passed(typed, ctx):
    memory = bytearray(10)
    stack = veo.OnStack(memory, 4, inout=veo.INTENT_OUT)
    assert stack.size() == 4
    typed("fill", "void", "char *", "size_t", "int")(ctx, stack, 4, 7).wait_result()
    assert memory == b"\7\7\7\7" + bytes(6)


def test_fortran_order_is_contiguous(typed, ctx):
    values = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    mean = typed("mean", "double", "double *", "int")
    assert mean(ctx, veo.OnStack(values), 6).wait_result() == 2.5


def test_structures(typed, ctx):
    memory = bytearray(struct.pack("dd", 1.0, 2.0))
    mean = typed("mean", "double", "double *", "int")
    assert mean(ctx, veo.OnStack(memory, 16), 2).result() == 1.5


def test_several_of_one_call(make_proc, compile_c):
    proc = make_proc()
    path = compile_c(
        "void swap(char *a, const char *b, long n, char *c)"
        "{ for (long i = 0; i < n; i++) { c[i] = a[i]; a[i] = b[i]; } }"
    )
    swap = proc.load_library(path).swap
    swap.args_type("char *", "const char *", "long", "char *")
    swap.ret_type("void")
    a, c = bytearray(b"aaaaa"), bytearray(5)
    swap(
        proc.open_context(),
        veo.OnStack(a, inout=veo.INTENT_INOUT),
        veo.OnStack(b"bbbbb"),
        5,
        veo.OnStack(c, inout=veo.INTENT_OUT),
    ).wait_result()
    assert (a, c) == (b"bbbbb", b"aaaaa")


def test_objects_without_memory_are_refused():
    for wrong in (1, "text", None, object(), [1]):
        with pytest.raises(TypeError):
            veo.OnStack(wrong)


def test_memory_with_gaps_is_refused():
    with pytest.raises(ValueError, match="contiguous"):
        veo.OnStack(np.zeros(10)[::2])


@pytest.mark.parametrize("size", [5, 100, 2**62])
def test_size_beyond_the_memory_is_refused(size):
    with pytest.raises(ValueError, match=f"4 < {size}"):
        veo.OnStack(b"1234", size)


def test_negative_size_is_refused():
    with pytest.raises(ValueError, match="negative"):
        veo.OnStack(b"1234", -1)


@pytest.mark.parametrize("inout", [-1, 3, 7, "in", None, 1.5])
def test_unknown_intent_is_refused(inout):
    with pytest.raises(ValueError, match="INTENT_IN"):
        veo.OnStack(bytearray(4), inout=inout)


@pytest.mark.parametrize("inout", [veo.INTENT_OUT, veo.INTENT_INOUT])
def test_read_only_destination_is_refused(inout):
    frozen = np.zeros(4)
    frozen.flags.writeable = False
    for memory in (b"1234", frozen, memoryview(b"1234")):
        with pytest.raises(BufferError, match="read-only"):
            veo.OnStack(memory, inout=inout)


def test_memory_is_held_as_long_as_the_object_lives():
    memory = bytearray(4)
    stack = veo.OnStack(memory)
    with pytest.raises(BufferError):
        memory.extend(b"1")
    del stack
    memory.extend(b"1")


def test_attributes_and_buffer_protocol():
    memory = bytearray(b"abcdef")
    stack = veo.OnStack(memory, 3, veo.INTENT_INOUT)
    assert (stack.size(), stack.scope(), stack.obj) == (3, veo.INTENT_INOUT, memory)
    assert ctypes.string_at(stack.c_pointer(), 3) == b"abc"
    assert bytes(stack) == b"abc"
    assert repr(stack) == "<OnStack of 3 bytes, INTENT_INOUT>"
    assert memoryview(veo.OnStack(b"x")).readonly
    memoryview(stack)[0] = ord("z")
    assert memory == b"zbcdef"


WRONG = ["f4", ">f8", "i8", "u8", "i4", "c8"]
RIGHT = ["f8", "<f8", "S8", "V8", "u1", "c16", [("a", "f8"), ("b", "f4")]]


@pytest.mark.parametrize("stated", [True, False])
@pytest.mark.parametrize("dtype", WRONG)
def test_elements_of_another_type_are_refused(typed, lib, ctx, dtype, stated):
    mean = typed("mean", "double", "double *", "int") if stated else lib.mean
    values = veo.OnStack(np.ones(4, dtype))
    with pytest.raises(ValueError, match="the kernel reads double: convert them") as caught:
        mean(ctx, values, 2)
    assert isinstance(caught.value.__cause__, TypeError)
    # The types can be given.
    lib.mean.args_type("void *", "int")
    lib.mean(ctx, values, 2).wait_result()


@pytest.mark.parametrize("dtype", RIGHT, ids=str)
def test_elements_that_may_be_of_that_type_are_passed(lib, ctx, dtype):
    assert lib.mean(ctx, veo.OnStack(np.zeros(16, dtype)), 2).wait_result() == 0


@pytest.mark.parametrize("view", [bytes, bytearray, memoryview])
def test_bytes_may_be_of_any_type(lib, ctx, view):
    data = struct.pack("dd", 1.0, 2.0)
    assert lib.mean(ctx, veo.OnStack(view(data)), 2).wait_result() == 1.5


def test_onstack_for_any_declared_type(typed, ctx):
    total = typed("sum_bytes", "long", "long", "size_t")
    assert total(ctx, veo.OnStack(b"\1\2"), 2).wait_result() == 3


def test_more_than_63_megabytes_are_refused(typed, ctx):
    stack = veo.OnStack(bytearray(64 << 20))
    with pytest.raises(RuntimeError, match="rejected"):
        typed("sum_bytes", "long", "char *", "size_t")(ctx, stack, 1)


def test_argument_lists(null, null_path):
    args = veo.VeoArgs(null_path)
    args.set_i32(0, -1)
    args.set_i64(1, -(2**63))
    args.set_u32(2, 2**32 - 1)
    args.set_u64(3, 2**64 - 1)
    args.set_float(4, 1.5)
    args.set_double(255, 2.5)
    first, second = veo.OnStack(b"1"), veo.OnStack(b"2")
    args.set_stack(first, 5)
    args.set_stack(second, 5)
    assert args.stacks == [second]
    args.set_i64(5, 1)
    assert args.stacks == []
    args.set_stack(first, 6)
    args.clear()
    assert args.stacks == []
    for number in (-1, 256):
        with pytest.raises(IndexError):
            args.set_i64(number, 1)
        with pytest.raises(IndexError):
            args.set_stack(first, number)
    with pytest.raises(OverflowError):
        args.set_i32(0, 2**31)
    with pytest.raises(TypeError):
        args.set_stack(b"1", 0)
