# SPDX-License-Identifier: BSD-3-Clause
"""Calls with arrays of arguments: results, refusals, failures in the middle, limits."""

from __future__ import annotations

import gc
import io
import re
import subprocess
import threading
from decimal import Decimal

import numpy as np
import pytest

import veo
from veo.ve_clang import clang_command

KERNELS = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static long calls;
long count(long x) { calls += x; return calls; }
double mix(int a, long b, double c, float d, unsigned char e, double *f)
{
    return a + (double)b + c + d + e + *f;
}
long crash_at(long x, long at) { if (x == at) abort(); return 2 * x; }
long wait_at(volatile int *gate, long x, long at) { while (x == at && !*gate) ; calls++; return x; }
struct pair { long a, b; };
long pair(struct pair x) { return x.a; }
void say(int x) { printf("%d\\n", x); }
"""

# Two requests and a part of the twin's, whatever the number of arguments.
MANY = 70_000


@pytest.fixture
def many(proc, compile_c):
    return proc.load_library(str(compile_c(KERNELS, "libmany.so", flags=["-g"])))


ECHOES = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
    "float": np.float32,
    "double": np.float64,
}


@pytest.mark.parametrize("kind", ECHOES)
def test_results_have_the_type_of_the_function(lib, ctx, kind):
    dtype = np.dtype(ECHOES[kind])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        given = np.array([limits.min, 0, 1, limits.max], dtype)
    else:
        given = np.array([0, 1, -2.5, 3e9]).astype(dtype)
    results = ctx.call_many(lib.find_function(f"echo_{kind}"), given)
    assert results.dtype == dtype
    assert results.tolist() == given.tolist()


def test_stated_bool_is_one(typed, ctx):
    results = ctx.call_many(typed("echo_bool", "bool", "bool"), np.array([0, 2, -0.5]))
    assert (results.dtype, results.tolist()) == (np.bool_, [False, True, True])


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.float32, np.float64])
def test_arrays_are_converted_as_single_values_are(lib, ctx, dtype):
    given = np.arange(6, dtype=dtype)[::-2]
    for name in ("echo_int", "echo_ulong", "echo_double", "echo_float"):
        assert ctx.call_many(lib.find_function(name), given).tolist() == given.tolist()


@pytest.mark.parametrize("length", [0, 1, 2, MANY])
def test_function_is_called_for_each_element_in_order(many, ctx, length):
    steps = np.arange(length)
    assert ctx.call_many(many.count, steps).tolist() == np.cumsum(steps).tolist()


def test_single_values_are_those_of_all_calls(proc, many, ctx):
    numbers = veo.to_device(proc, np.array([0.25, 0.5]))
    results = ctx.call_many(many.mix, 1, [10, 20], 0.5, np.float32(2), True, numbers)
    assert results.tolist() == [13.75 + 1, 23.75 + 1]
    both = [numbers, numbers[1:]]
    assert ctx.call_many(many.mix, 0, 0, 0.0, (0.0, 0.0), 0, both).tolist() == [0.25, 0.5]
    addresses = np.array([int(array.address) for array in both])
    assert ctx.call_many(many.mix, 0, 0, 0.0, 0.0, 0, addresses).tolist() == [0.25, 0.5]


def test_function_without_a_result_gives_none(make_proc, many):
    text = io.StringIO()
    proc = make_proc(stdout=text)
    say = proc.load_library(many.name).say
    assert proc.open_context().call_many(say, [3, 4]) is None
    assert text.getvalue() == "3\n4\n"


def test_calls_come_after_what_is_queued(many, ctx, latch):
    # Its result shows whether it came first.
    first = many.wait_at(ctx, latch.address, 1, 1)
    threading.Timer(0, latch).start()
    assert ctx.call_many(many.count, [0]).tolist() == [1]
    assert first.wait_result(20) == 1


REFUSED = {
    "no array": (lambda: (1, 2), ValueError, "one of the arguments of crash_at.. must be an array"),
    "lengths": (lambda: ([1, 2], [1]), ValueError, "different lengths: 1, 2"),
    "two dimensions": (lambda: (np.zeros((2, 2)), 1), ValueError, "argument 1 .*2 dimensions"),
    "fraction": (lambda: (1, np.array([2, 0.5])), TypeError, "argument 2 .*0.5.*call 1"),
    "NaN": (lambda: (1, np.array([2, np.nan])), TypeError, "argument 2 .*nan.*call 1"),
    "too large": (lambda: ([0, 2**63], 1), OverflowError, "argument 1 .*call 1"),
    "double too large": (
        lambda: (np.array([0, 2.0**63]), 1),
        OverflowError,
        "argument 1 .*call 1, does not fit into type long",
    ),
    "text": (lambda: ("ab", [1]), TypeError, "argument 1 .*an integer is required, not str"),
    "list of text": (lambda: ([1], ["a"]), TypeError, "argument 2 .*call 0: an integer"),
    "complex": (lambda: (np.zeros(2, complex), 1), TypeError, "argument 1 .*array of complex128"),
    "number of arguments": (lambda: ([1],), ValueError, "expected `2`, got `1`"),
    "OnStack": (lambda: (veo.OnStack(bytearray(8)), [1]), TypeError, "cannot be OnStack"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_wrong_arguments_are_refused_before_any_call(many, ctx, why):
    make, kind, text = REFUSED[why]
    with pytest.raises(kind, match=text):
        ctx.call_many(many.crash_at, *make())
    assert many.count(ctx, 0).wait_result(20) == 0


def test_values_that_do_not_fit_narrow_types_are_refused(lib, ctx):
    for name, value in (("echo_char", 128), ("echo_uint", -1), ("echo_short", 40_000.0)):
        with pytest.raises(OverflowError, match="call 1, does not fit"):
            ctx.call_many(lib.find_function(name), np.array([0, value]))


def test_integers_that_no_numpy_type_has_all_of_stay_exact(lib, ctx):
    echo = lib.find_function("echo_ulong")
    assert ctx.call_many(echo, [2**63 + 1, 0]).tolist() == [2**63 + 1, 0]
    assert ctx.call_many(echo, [2**64 - 1, 5]).tolist() == [2**64 - 1, 5]
    with pytest.raises(OverflowError, match="for call 1: -1 does not fit"):
        ctx.call_many(echo, [2**63 + 1, -1])


@pytest.mark.parametrize(
    ("timeout", "kind", "got"), [("1", TypeError, "str"), (float("nan"), ValueError, "NaN")]
)
def test_timeout_that_is_no_number_is_refused_before_any_call(many, ctx, timeout, kind, got):
    with pytest.raises(kind, match=f"timeout must be a number of seconds or None, not {got}"):
        ctx.call_many(many.count, [1], timeout=timeout)
    assert many.count(ctx, 0).wait_result(20) == 0
    assert ctx.call_many(many.count, [1], timeout=Decimal(20)).tolist() == [1]


def test_function_that_cannot_be_called_is_refused(many, ctx, make_proc):
    with pytest.raises(TypeError, match="pair.. cannot be called"):
        ctx.call_many(many.pair, [1])
    other = make_proc().open_context()
    with pytest.raises(ValueError, match="different processes"):
        other.call_many(many.count, [1])
    with pytest.raises(TypeError):
        ctx.call_many("count", [1])
    ctx.close()
    with pytest.raises(veo.VeoClosedError):
        ctx.call_many(many.count, [1])


@pytest.mark.parametrize("at", [0, 5, MANY - 1])
def test_crash_tells_which_call_it_was(many, ctx, at):
    with pytest.raises(
        veo.VeoKernelException, match=f"^call {at} of {MANY}: .*ended by SIGABRT"
    ) as caught:
        ctx.call_many(many.crash_at, np.arange(MANY), at)
    assert (caught.value.index, caught.value.name) == (at, "SIGABRT")
    with pytest.raises(veo.VeoError):
        ctx.call_many(many.count, [1])


def test_limit_takes_back_the_calls_behind_the_one_that_runs(many, ctx, latch):
    with pytest.raises(veo.VeoTimeoutError) as caught:
        ctx.call_many(many.wait_at, latch.address, np.arange(MANY), 7, timeout=0.05)
    assert re.fullmatch(
        rf"{MANY} calls of wait_at\(\) did not end within 0\.05 s\. The one that runs continues, "
        r"and those behind it were taken back\. Their context still has request \d+, many calls of "
        r"wait_at\(\), submitted \d\.\d s ago",
        str(caught.value),
    )
    latch()
    # The eight that had begun, and no other.
    assert many.count(ctx, 0).wait_result(20) == 8
    assert ctx.call_many(many.count, [1], timeout=20).tolist() == [9]


def test_limit_before_the_first_call_takes_all_back(many, ctx, latch):
    first = many.wait_at(ctx, latch.address, 1, 1)
    with pytest.raises(veo.VeoTimeoutError) as caught:
        ctx.call_many(many.count, [1, 2], timeout=0)
    assert re.match(
        r"2 calls of count\(\) did not end within 0 s\. Those that had not begun were taken back\. "
        rf"Their context still has request {first.req}, a call of wait_at\(\), submitted \d\.\d s "
        r"ago$",
        str(caught.value),
    )
    latch()
    assert first.wait_result(20) == 1
    assert many.count(ctx, 0).wait_result(20) == 1


def test_close_ends_calls_that_hang(many, ctx, proc, latch):
    with pytest.raises(veo.VeoTimeoutError):
        ctx.call_many(many.wait_at, latch.address, [1], 1, timeout=0.01)
    proc.close(0)
    gc.collect()
    assert proc.closed


def test_closing_in_another_thread_ends_the_calls(many, ctx, proc, latch):
    threading.Timer(0, lambda: proc.close(0)).start()
    with pytest.raises(veo.VeoError):
        ctx.call_many(many.wait_at, latch.address, [1], 1)


class TestLibraryWithoutIt:
    """A library like the vendor's gets a request for each call."""

    @pytest.fixture
    def proc(self, null, make_proc):
        return make_proc(library=null.path)

    @pytest.fixture
    def kernels(self):
        return "/any"

    def test_results_are_the_same(self, typed, ctx):
        total = typed("sum", "long", "long", "long")
        assert ctx.call_many(total, np.arange(300), 5).tolist() == list(range(5, 305))
        echo = typed("echo", "double", "double")
        assert ctx.call_many(echo, [0.5, -1.0]).tolist() == [0.5, -1.0]
        assert ctx.call_many(typed("echo", "void", "int"), [1, 2]) is None

    @pytest.mark.parametrize(
        ("name", "kind"), [("crash", ArithmeticError), ("error", RuntimeError)]
    )
    def test_failure_tells_which_call_it_was(self, typed, ctx, name, kind):
        with pytest.raises(kind, match="^call 0 of 100: ") as caught:
            ctx.call_many(typed(name, "long", "long"), np.arange(100))
        assert caught.value.index == 0

    def test_call_that_is_refused_raises(self, typed, ctx):
        with pytest.raises(veo.VeoError, match="calls of refuse were rejected"):
            ctx.call_many(typed("refuse", "long", "long"), [1])

    def test_limit_ends_the_wait(self, typed, ctx, null):
        with pytest.raises(veo.VeoTimeoutError) as caught:
            ctx.call_many(typed("hold", "long", "long"), np.arange(100), timeout=Decimal("0.01"))
        assert re.match(
            r"100 calls of hold\(\) did not end within 0\.01 s\. 64 that are queued continue, as "
            r"the library takes no call back; those behind them were not called\. Their context "
            r"still has request \d+",
            str(caught.value),
        )
        null.release()


@pytest.mark.timeout(600)
class TestVectorEngineCode:
    """Kernels that are code of the Vector Engine."""

    @pytest.fixture
    def lib(self, proc, tmp_path):
        pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
        (tmp_path / "many.c").write_text(
            "double mix(int a, float b, double c) { return a + b + c; }\n"
            "long load(const long *x) { return *x; }\n"
        )
        target = str(tmp_path / "many.o")
        command = [*clang_command("C"), "-O1", "-c", str(tmp_path / "many.c"), "-o", target]
        subprocess.run(command, check=True)
        return proc.load_library(target)

    def test_results_are_those_of_single_calls(self, typed, ctx):
        mix = typed("mix", "double", "int", "float", "double")
        numbers = np.arange(MANY)
        results = ctx.call_many(mix, -numbers, 0.5, 2 * numbers)
        assert (results == numbers + 0.5).all()
        assert mix(ctx, -3, 0.5, 6.0).wait_result() == results[3]

    def test_crash_tells_which_call_it_was(self, proc, typed, ctx):
        number = veo.to_device(proc, [5])
        addresses = [number, number, 8, number]
        with pytest.raises(veo.VeoKernelException, match="^call 2 of 4: .*SIGSEGV") as caught:
            ctx.call_many(typed("load", "long", "void *"), addresses)
        assert caught.value.index == 2
