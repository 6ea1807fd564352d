# SPDX-License-Identifier: BSD-3-Clause
"""Queued calls are cheap: no tuple, no look of the collector, none for loggers."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable

import pytest

import veo


class Context(veo.VeoCtxt):
    """One that has attributes of its own."""

    kept: list[object]


class Process(veo.VeoProc):
    """The same of a process."""


def test_requests_are_not_looked_at_for_cycles(typed, ctx):
    divide = typed("divide", "int", "int", "int")
    requests = [divide(ctx, i, 1) for i in range(3)]
    assert not any(map(gc.is_tracked, requests))
    assert [request.wait_result() for request in requests] == [0, 1, 2]


def test_cycle_with_a_request_is_freed(typed, proc):
    context = Context(proc)
    request = typed("divide", "int", "int", "int")(context, 6, 2)
    assert request.wait_result() == 3 and gc.is_tracked(request)
    context.kept = [request]
    gone = weakref.ref(context)
    del request, context
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("how", ["subclass", "output"])
def test_requests_of_a_process_with_objects_of_the_user_are_tracked(make_proc, kernels, how):
    if how == "subclass":
        proc = Process(0, library="soft")
    else:
        proc = make_proc(stdout=lambda text: None)
    with proc:
        divide = proc.load_library(kernels).divide
        divide.args_type("int", "int")
        request = divide(proc.open_context(), 6, 2)
        assert gc.is_tracked(request) and request.wait_result() == 3


def test_a_class_of_functions_may_have_its_own_call(typed, ctx, lib):
    class Function(veo.VeoFunction):
        def __call__(self, *args: object) -> object:
            return super().__call__(ctx, *args)

    class Other(veo.VeoFunction):
        pass

    divide = typed("divide", "int", "int", "int")
    for cls, first in ((Function, ()), (Other, (ctx,))):
        function = cls(lib, divide.addr.addr, "divide")
        function.args_type("int", "int")
        assert function(*first, 20, 5).wait_result() == 4


@pytest.mark.parametrize(
    "call", [lambda f, ctx: f(ctx, 1, b=2), lambda f, ctx: f(context=ctx), lambda f, ctx: f(b=1)]
)
def test_arguments_have_no_names(typed, ctx, call: Callable[..., object]):
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        call(typed("divide", "int", "int", "int"), ctx)


def test_call_without_a_context_is_an_error(typed):
    with pytest.raises(TypeError, match=r"divide\(\) is called with a VeoCtxt, then its arguments"):
        typed("divide", "int", "int", "int")()


@pytest.mark.parametrize(
    ("types", "values", "place", "message"),
    [
        (("int", "int"), (1, 2**31), 2, "2147483648 does not fit into type int"),
        (("int", "int"), (2**70, 1), 1, "does not fit into type int"),
        (("unsigned long", "long"), (-1, 1), 1, "-1 does not fit into type unsigned long"),
        (("long", "long"), (1, 1.5), 2, "1.5 is not whole"),
    ],
)
def test_number_that_does_not_fit_is_named(lib, ctx, types, values, place, message):
    divide = lib.find_function("divide")
    divide.args_type(*types)
    with pytest.raises(ValueError, match=message) as caught:
        divide(ctx, *values)
    assert isinstance(caught.value.__cause__, (OverflowError, TypeError))
    assert f"argument {place} of type" in str(caught.value)


LOGGED = """
import sys, veo
spare = {f"spare{i}": sys for i in range(500)}
with veo.VeoProc(0, library="soft") as proc, proc.open_context() as ctx:
    divide = proc.load_library(sys.argv[1]).divide
    divide.args_type("int", "int")
    sys.modules.update(spare)
    number = len(sys.modules)
    assert "logging" not in sys.modules
    divide(ctx, 6, 2).wait_result()
    import logging
    while sys.argv[2] == "same" and len(sys.modules) > number:
        del sys.modules[spare.popitem()[0]]
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
    for _ in range(70 if sys.argv[2] == "same" else 1):
        divide(ctx, 6, 2).wait_result()
"""


@pytest.mark.parametrize("number", ["same", "other"])
def test_logging_that_is_imported_later_is_heard(kernels, number):
    command = [sys.executable, "-P", "-c", LOGGED, kernels, number]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "call_async name=divide" in done.stdout and "wait_result nodeid=0" in done.stdout
