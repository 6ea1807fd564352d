# SPDX-License-Identifier: BSD-3-Clause
"""Type strings, arguments to 64-bit patterns, and results back."""

from __future__ import annotations

import decimal
import math
import struct

import numpy as np
import pytest

import veo

# Type, the kernel that returns its argument, least and greatest value.
INTEGERS = [
    ("char", "char", -(2**7), 2**7 - 1),
    ("signed char", "char", -(2**7), 2**7 - 1),
    ("int8_t", "char", -(2**7), 2**7 - 1),
    ("unsigned char", "uchar", 0, 2**8 - 1),
    ("uint8_t", "uchar", 0, 2**8 - 1),
    ("short", "short", -(2**15), 2**15 - 1),
    ("int16_t", "short", -(2**15), 2**15 - 1),
    ("short int", "short", -(2**15), 2**15 - 1),
    ("unsigned short", "ushort", 0, 2**16 - 1),
    ("uint16_t", "ushort", 0, 2**16 - 1),
    ("int", "int", -(2**31), 2**31 - 1),
    ("int32_t", "int", -(2**31), 2**31 - 1),
    ("const int", "int", -(2**31), 2**31 - 1),
    ("  signed   int ", "int", -(2**31), 2**31 - 1),
    ("unsigned int", "uint", 0, 2**32 - 1),
    ("unsigned", "uint", 0, 2**32 - 1),
    ("uint32_t", "uint", 0, 2**32 - 1),
    ("long", "long", -(2**63), 2**63 - 1),
    ("int64_t", "long", -(2**63), 2**63 - 1),
    ("long long", "long", -(2**63), 2**63 - 1),
    ("ssize_t", "long", -(2**63), 2**63 - 1),
    ("intptr_t", "long", -(2**63), 2**63 - 1),
    ("unsigned long", "ulong", 0, 2**64 - 1),
    ("long unsigned int", "ulong", 0, 2**64 - 1),
    ("unsigned long long", "ulong", 0, 2**64 - 1),
    ("uint64_t", "ulong", 0, 2**64 - 1),
    ("size_t", "ulong", 0, 2**64 - 1),
    ("uintptr_t", "ulong", 0, 2**64 - 1),
    ("void *", "pointer", 0, 2**64 - 1),
    ("int*", "pointer", 0, 2**64 - 1),
    ("const unsigned  int *restrict", "pointer", 0, 2**64 - 1),
    ("struct thing **", "pointer", 0, 2**64 - 1),
]


@pytest.mark.parametrize(("type_", "kernel", "low", "high"), INTEGERS)
def test_integers_go_there_and_back(typed, ctx, type_, kernel, low, high):
    function = typed(f"echo_{kernel}", type_, type_)
    for value in {low, low + 1, 0, 1, high // 2, high - 1, high}:
        assert function(ctx, value).wait_result() == value


@pytest.mark.parametrize(("type_", "kernel", "low", "high"), INTEGERS)
def test_integers_out_of_range_are_refused(typed, ctx, type_, kernel, low, high):
    function = typed(f"echo_{kernel}", type_, type_)
    for value in (low - 1, high + 1, -(2**70), 2**70):
        with pytest.raises(ValueError, match="args conversion") as caught:
            function(ctx, value)
        assert type(caught.value.__cause__) is OverflowError
        assert "OverflowError" in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [True, 1.0, np.int8(1), np.uint64(1), np.float32(1), np.bool_(True), np.array(1),
     decimal.Decimal(1)],
    ids=repr,
)  # fmt: skip
def test_numbers_that_are_whole_are_integers(typed, ctx, value):
    assert typed("echo_int", "int", "int")(ctx, value).wait_result() == 1


@pytest.mark.parametrize(
    "value",
    [None, "1", b"1", 1j, [1], 1.5, math.inf, math.nan, np.float64(0.5), np.array([1]),
     np.array([1.0]), bytearray(8), pytest.param(object(), id="object")],
    ids=repr,
)  # fmt: skip
def test_other_values_are_no_integers(typed, ctx, value):
    with pytest.raises(ValueError, match="an integer is required") as caught:
        typed("echo_int", "int", "int")(ctx, value)
    assert type(caught.value.__cause__) is TypeError


def test_memory_as_an_integer_hints_at_onstack(typed, ctx):
    with pytest.raises(ValueError, match="OnStack"):
        typed("echo_pointer", "void *", "char *")(ctx, np.zeros(3))


@pytest.mark.parametrize(
    "value", [0.0, -0.0, 1.5, -1e300, 5e-324, math.inf, -math.inf, 7, np.float32(0.25), True]
)
def test_doubles_go_there_and_back(typed, ctx, value):
    result = typed("echo_double", "double", "double")(ctx, value).wait_result()
    assert type(result) is float
    assert struct.pack("d", result) == struct.pack("d", float(value))


@pytest.mark.parametrize("value", [0.0, -1.5, 3.4e38, 1e-45, math.inf, 3, np.float64(0.125)])
def test_floats_are_rounded_to_single(typed, ctx, value):
    result = typed("echo_float", "float", "float")(ctx, value).wait_result()
    assert result == float(np.float32(value))


def test_floats_beyond_single_are_infinite(typed, ctx):
    function = typed("echo_float", "float", "float")
    assert function(ctx, 1e39).wait_result() == math.inf
    assert function(ctx, -1e39).wait_result() == -math.inf


def test_nan_stays_nan(typed, ctx):
    assert math.isnan(typed("echo_double", "double", "double")(ctx, math.nan).wait_result())
    assert math.isnan(typed("echo_float", "float", "float")(ctx, math.nan).wait_result())


@pytest.mark.parametrize("value", [None, "1.5", b"1", 1j, [1.0]], ids=repr)
def test_other_values_are_no_floats(typed, ctx, value):
    for type_ in ("float", "double"):
        with pytest.raises(ValueError, match="args conversion") as caught:
            typed(f"echo_{type_}", type_, type_)(ctx, value)
        assert type(caught.value.__cause__) is TypeError


@pytest.mark.parametrize("type_", ["bool", "_Bool"])
def test_bool(typed, ctx, type_):
    function = typed("echo_bool", type_, type_)
    assert [function(ctx, value).wait_result() for value in (0, 1, True, 17, [])] == [
        False, True, True, True, False,
    ]  # fmt: skip


def test_void_result_is_none(typed, ctx):
    assert typed("nothing", "void", "void")(ctx).wait_result() is None


def test_pointer_result_is_a_pointer(typed, ctx, proc):
    result = typed("echo_pointer", "void *", "void *")(ctx, 0xDEAD_BEEF_0000_0001).wait_result()
    assert isinstance(result, veo.VEMemPtr)
    assert (result.addr, result.size, result.proc) == (0xDEAD_BEEF_0000_0001, 0, proc)


def test_objects_with_addr_are_pointers(typed, ctx):
    class Pointer:
        addr = 0x1234

    assert typed("echo_pointer", "void *", "void *")(ctx, Pointer()).wait_result() == 0x1234


def test_objects_with_ve_array_stand_for_its_value(typed, ctx):
    class Array:
        _ve_array = 77

    assert typed("echo_long", "long", "long")(ctx, Array()).wait_result() == 77


def test_result_without_a_type_and_debug_info_is_an_int(proc, bare_kernels, ctx):
    lib = proc.load_library(bare_kernels)
    lib.echo_long.args_type("long")
    assert lib.echo_long(ctx, 2**32 + 2**31).wait_result() == -(2**31)
    assert lib.echo_long._ret_type is None


@pytest.mark.parametrize(
    "type_",
    ["", "nonsense", "struct thing", "int[3]", "long double", "unsigned double", "char int",
     "short long", "long long long", "signed unsigned", None, 3, "float float"],
    ids=repr,
)  # fmt: skip
def test_unknown_types_are_refused(lib, type_):
    function = lib.find_function("echo_int")
    with pytest.raises(TypeError, match="Don't know how to convert"):
        function.args_type("int", type_)
    with pytest.raises(TypeError, match="Don't know how to convert"):
        function.ret_type(type_)
    assert (function._args_type, function._ret_type) == (None, None)


def test_types_may_be_bytes(lib, ctx):
    function = lib.find_function("echo_int")
    function.args_type(b"int")
    function.ret_type(b"int")
    assert function(ctx, -5).wait_result() == -5


def test_conversion_tables_of_py_veo():
    to = veo.ConvToI64
    assert to.from_int(-3) == -3
    assert to().from_double(3) == 4613937818241073152
    assert to.from_float(3) == 4629700416936869888
    assert to.from_addr(2**64 - 1) == -1
    assert to.from_void("anything") == "anything"
    assert [to.from_char(-1), to.from_uchar(255), to.from_short(-2), to.from_ushort(9)] == [
        -1, 255, -2, 9,
    ]  # fmt: skip
    assert [to.from_uint(2**32 - 1), to.from_long(-7), to.from_ulong(8)] == [2**32 - 1, -7, 8]
    with pytest.raises(OverflowError):
        to.from_char(128)
    assert veo.ConvFromI64.convert("double", 4613937818241073152) == 3.0
    assert veo.ConvFromI64.convert("unsigned char", -1) == 255
