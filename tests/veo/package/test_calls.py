# SPDX-License-Identifier: BSD-3-Clause
"""Calling functions: counts, mixtures, mistakes, and kernels that fail."""

from __future__ import annotations

import contextlib
import gc
import pickle
import signal
import weakref

import pytest

import veo


def test_mixed_types_reach_their_registers(typed, ctx):
    function = typed("mixed", "double", "int", "double", "float", "long", "double",
                     "unsigned char", "float")  # fmt: skip
    assert function(ctx, -1, 0.5, 0.25, -3, 1.5, 200, 2.0).wait_result() == (
        -1 + 5 + 25 - 3000 + 15000 + 20_000_000 + 2_000_000
    )


def test_more_arguments_than_registers(typed, ctx):
    function = typed("many", "double", *["double", "int"] * 9)
    values = [number / 2 if number % 2 == 0 else -number for number in range(18)]
    expected = sum((place + 1) * value for place, value in enumerate(values))
    assert function(ctx, *values).wait_result() == expected


@pytest.mark.parametrize("count", [0, 1, 6, 7, 12, 13, 31, 32, 33, 255, 256])
def test_any_number_of_arguments_up_to_256(make_proc, compile_c, count):
    parameters = ", ".join(f"long a{i}" for i in range(count)) or "void"
    terms = " + ".join(f"{i + 1} * a{i}" for i in range(count)) or "0"
    proc = make_proc()
    path = compile_c(f"long weigh({parameters}) {{ return {terms}; }}")
    weigh = proc.load_library(path).weigh
    weigh.args_type(*["long"] * count)
    weigh.ret_type("long")
    values = [(-1) ** i * i for i in range(count)]
    expected = sum((i + 1) * value for i, value in enumerate(values))
    assert weigh(proc.open_context(), *values).wait_result() == expected


def test_more_than_256_arguments_are_refused(proc, bare_kernels, ctx):
    lib = proc.load_library(bare_kernels)
    lib.echo_int.args_type(*["int"] * 257)
    with pytest.raises(ValueError, match="256"):
        lib.echo_int(ctx, *range(257))


def test_call_without_types_and_debug_info_is_refused(proc, bare_kernels, ctx):
    lib = proc.load_library(bare_kernels)
    with pytest.raises(RuntimeError, match="needs arguments format info before call"):
        lib.echo_int(ctx, 1)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_wrong_number_of_arguments_is_refused(typed, ctx, count):
    function = typed("divide", "int", "int", "int")
    with pytest.raises(ValueError, match=f"expected `2`, got `{count}`"):
        function(ctx, *range(count))


def test_void_entries_are_skipped(typed, ctx):
    assert typed("count_up", "int", "void")(ctx).wait_result() == 1
    assert typed("divide", "int", "int", "void", "int")(ctx, 6, 3).wait_result() == 2


def test_first_argument_is_a_context(typed, proc):
    function = typed("echo_int", "int", "int")
    for wrong in (None, 1, proc, "ctx"):
        with pytest.raises(TypeError, match="VeoCtxt"):
            function(wrong, 1)
    with pytest.raises(TypeError, match="VeoCtxt"):
        function()
    with pytest.raises(TypeError):
        function(ctx=None)


def test_context_of_another_process_is_refused(typed, make_proc):
    other = make_proc().open_context()
    with pytest.raises(ValueError, match="different processes"):
        typed("echo_int", "int", "int")(other, 1)


def test_pointer_of_another_process_is_refused(typed, ctx, make_proc):
    pointer = make_proc().alloc_mem(8)
    with pytest.raises(ValueError, match="another process"):
        typed("echo_pointer", "void *", "void *")(ctx, pointer)


def test_types_can_be_changed(typed, ctx):
    function = typed("echo_int", "int", "int")
    assert function(ctx, -1).wait_result() == -1
    function.ret_type("unsigned char")
    assert function(ctx, -1).wait_result() == 255
    function.args_type("short")
    with pytest.raises(ValueError, match="OverflowError"):
        function(ctx, 2**15)


def test_changing_types_while_arguments_are_converted_is_refused(typed, ctx):
    function = typed("divide", "int", "int", "int")

    class Sly:
        def __index__(self):
            function.args_type("int", "long")
            return 1

    with pytest.raises(ValueError, match="changed during the call"):
        function(ctx, Sly(), 1)
    assert function._args_type == ("int", "long")


def test_closing_while_arguments_are_converted_is_refused(typed, proc, ctx):
    function = typed("echo_int", "int", "int")

    class Sly:
        def __index__(self):
            proc.close()
            return 1

    with pytest.raises(veo.VeoClosedError):
        function(ctx, Sly())


def test_calls_in_one_context_run_in_order(typed, ctx):
    requests = [typed("count_up", "int")(ctx) for _ in range(100)]
    results = [request.wait_result() for request in reversed(requests)]
    assert results == list(range(100, 0, -1))
    numbers = [request.req for request in requests]
    assert numbers == sorted(set(numbers))


def test_contexts_share_memory_and_run_side_by_side(typed, proc, latch):
    first, second = proc.open_context(), proc.open_context()
    wait = typed("wait_for", "int", "int *")
    waiting = wait(first, latch.address)
    assert typed("count_up", "int")(second).wait_result() == 1
    assert not waiting.done()
    latch()
    assert waiting.wait_result() == 1


def test_repr_names_function_and_types(typed):
    function = typed("divide", "int", "int", "int")
    assert repr(function).startswith("<VeoFunction object VE function 'divide'('int', 'int') at 0x")
    assert function.name == "divide"
    assert function.addr.proc is function.lib.proc


def test_functions_are_made_with_a_library_only(lib):
    for wrong in (None, 1, "lib", lib.proc):
        with pytest.raises(TypeError, match="VeoLibrary"):
            veo.VeoFunction(wrong, 1, "f")
    with pytest.raises(TypeError, match="name"):
        veo.VeoFunction(lib, 1, 2)
    again = veo.VeoFunction(lib, lib.get_symbol("count_up"), b"count_up")
    assert again.name == "count_up"
    again.args_type()
    assert again(lib.proc.open_context()).wait_result() == 1


def test_pickle_is_refused_with_a_reason(typed, ctx, lib, proc):
    function = typed("count_up", "int")
    request = function(ctx)
    for thing in (function, request, ctx, lib, proc, veo.VeoArgs(), veo.OnStack(b"x"),
                  proc.alloc_mem(1)):  # fmt: skip
        with pytest.raises(TypeError, match="cannot be pickled: "):
            pickle.dumps(thing)


def test_weak_references(typed, ctx, lib, proc):
    for thing in (typed("count_up", "int"), ctx, lib, proc, veo.OnStack(b"x")):
        assert weakref.ref(thing)() is thing


@pytest.mark.parametrize("cls", [
    veo.VeoProc, veo.VeoCtxt, veo.VeoLibrary, veo.VeoFunction, veo.VeoRequest,
    veo.VeoMemRequest, veo.OnStack, veo.VeoArgs, veo.Library,
])  # fmt: skip
def test_objects_that_were_never_initialised_do_not_crash(cls):
    thing = cls.__new__(cls)
    calls = [(), (0,), (b"abcd", 1, 2), ("int",)]
    for name in dir(thing):
        if name.startswith("__") and name not in ("__call__", "__enter__", "__repr__", "__exit__"):
            continue
        try:
            member = getattr(thing, name)
        except Exception:
            continue
        for arguments in calls:
            try:
                if callable(member):
                    member(*arguments)
            except Exception:
                pass
    del thing
    gc.collect()


# --- kernels that fail ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "arguments", "number"),
    [
        ("segfault", (), signal.SIGSEGV),
        ("divide", (1, 0), signal.SIGFPE),
        ("abort_kernel", (), signal.SIGABRT),
    ],
)
def test_kernel_ended_by_a_signal_is_an_arithmetic_error(typed, ctx, kernel, arguments, number):
    request = typed(kernel, "int", *["int"] * len(arguments))(ctx, *arguments)
    with pytest.raises(ArithmeticError, match="wait_result command exception on VE") as caught:
        request.wait_result(20)
    assert isinstance(caught.value, veo.VeoKernelException)
    assert (caught.value.code, caught.value.name) == (number, number.name)
    assert number.name in str(caught.value)
    assert kernel in str(caught.value)
    with pytest.raises(ArithmeticError, match="peek_result command exception"):
        request.peek_result()


def test_crash_report_has_a_traceback(typed, ctx):
    with pytest.raises(ArithmeticError, match=r"#0 .*segfault.*libkernels\.so"):
        typed("segfault", "int")(ctx).wait_result(20)


def test_process_shows_that_it_died(typed, ctx, proc):
    assert proc.alive
    assert proc.death_report == ""
    assert "open" in repr(proc)
    with pytest.raises(ArithmeticError) as caught:
        typed("segfault", "int")(ctx).wait_result(20)
    assert not proc.alive
    assert proc.death_report in str(caught.value)
    assert "#0" in proc.death_report
    assert repr(proc).endswith("dead>")
    proc.close()
    assert not proc.alive
    assert proc.death_report == ""
    assert repr(proc).endswith("closed>")


def test_trace_of_a_crash_is_shown_once(typed, ctx, proc, latch):
    crash, count = typed("segfault", "int"), typed("count_up", "int")
    wait = typed("wait_for", "int", "int *")
    requests = [wait(ctx, latch.address), crash(ctx), count(ctx)]
    with contextlib.suppress(veo.VeoError):
        latch()
    with pytest.raises(RuntimeError) as behind:
        requests[2].wait_result(20)
    with pytest.raises(ArithmeticError, match="#0"):
        requests[1].wait_result(20)
    with pytest.raises(RuntimeError) as later:
        proc.alloc_mem(8)
    for caught in (behind, later):
        assert "#0" not in str(caught.value)
        assert "SIGSEGV" in str(caught.value)
        assert "VeoProc.death_report has the trace" in str(caught.value)


def test_requests_behind_a_crash_are_errors(typed, ctx, latch):
    wait, crash, count = (
        typed("wait_for", "int", "int *"), typed("segfault", "int"), typed("count_up", "int")
    )  # fmt: skip
    requests = [wait(ctx, latch.address), crash(ctx), count(ctx)]
    # The worker may be gone before it has said that the latch is open.
    with contextlib.suppress(veo.VeoError):
        latch()
    assert requests[0].wait_result(20) == 1
    with pytest.raises(ArithmeticError):
        requests[1].wait_result(20)
    with pytest.raises(RuntimeError, match="wait_result command handling error") as caught:
        requests[2].wait_result(20)
    assert not isinstance(caught.value, ArithmeticError)
    assert caught.value.code == veo.COMMAND_ERROR
    with pytest.raises(RuntimeError, match="peek_result command error on VE"):
        requests[2].peek_result()


def test_calls_after_death_raise(typed, ctx, lib, proc):
    function = typed("count_up", "int")
    with pytest.raises(ArithmeticError):
        typed("segfault", "int")(ctx).wait_result(20)
    with pytest.raises(RuntimeError, match=r"(?s)count_up was rejected.*SIGSEGV"):
        function(ctx)
    with pytest.raises(RuntimeError):
        proc.alloc_mem(8)
    with pytest.raises(RuntimeError):
        proc.read_mem(bytearray(4), 0x1000, 4)
    with pytest.raises(RuntimeError) as caught:
        lib.find_function("echo_int")
    assert not isinstance(caught.value, AttributeError)
    with pytest.raises(RuntimeError):
        proc.load_library("/nowhere.so")
    proc.close()
    assert proc.closed


def test_kernel_that_leaves_is_an_error(typed, ctx):
    with pytest.raises(RuntimeError) as caught:
        typed("leave", "void", "int")(ctx, 3).wait_result(20)
    assert not isinstance(caught.value, (ArithmeticError, TimeoutError))


LINES = """
static int __attribute__((noinline)) inner(volatile int *p)
{
    return *p + 1; /* inner */
}

int outer(int *p)
{
    return inner(p) + 1; /* outer */
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O1"])
@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_trace_names_lines_of_the_source(make_proc, compile_c, version, level):
    flags = ["-g", f"-gdwarf-{version}", level, "-fno-ipa-sra", "-fno-optimize-sibling-calls"]
    path = compile_c(LINES, flags=flags)
    lines = LINES.splitlines()
    proc = make_proc()
    outer = proc.load_library(path).outer
    with pytest.raises(ArithmeticError) as caught:
        outer(proc.open_context(), 0).wait_result(20)
    shown = [text for text in str(caught.value).splitlines() if "made.so+0x" in text]
    expected = [
        next(i for i, text in enumerate(lines, 1) if f"/* {name} */" in text)
        for name in ("inner", "outer")
    ]
    found = [int(text.partition(" at made.so.c:")[2]) for text in shown]
    assert found == expected, caught.value


def test_trace_without_debug_info_names_functions(make_proc, compile_c):
    proc = make_proc()
    outer = proc.load_library(compile_c(LINES, flags=["-g0"])).outer
    outer.args_type("int *")
    with pytest.raises(ArithmeticError, match=r"outer\+0x\w+ \(.*made\.so\+0x\w+\)(?m:$)"):
        outer(proc.open_context(), 0).wait_result(20)
