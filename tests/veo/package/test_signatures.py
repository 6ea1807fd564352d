# SPDX-License-Identifier: BSD-3-Clause
"""Types from debug info: what they give, and mistakes that they show."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

import veo
from veo.signature import DebugInfo, parse, prototype

SOURCE = """
struct point { double x, y; };
double axpy(int n, double a, const float *x, short last) { return n * a + x[0] + last; }
float half(float x) { return x / 2; }
long large(void) { return 1L << 40; }
unsigned char flags(unsigned char x) { return x; }
void nothing(int *p) { *p = 7; }
int sum(int count, ...) {
    __builtin_va_list list;
    __builtin_va_start(list, count);
    int total = 0;
    while (count-- > 0)
        total += __builtin_va_arg(list, int);
    __builtin_va_end(list);
    return total;
}
int keywords(int lambda, int class, int ctx) { return lambda + class + ctx; }
double by_value(int n, struct point p) { return n + p.x + p.y; }
long double wide(double x) { return x; }
double from_wide(double x, long double y) { return x + (double)y; }
double total;
"""


@pytest.fixture
def lib(proc: veo.VeoProc, compile_c: Callable[..., str]) -> veo.VeoLibrary:
    return proc.load_library(compile_c(SOURCE, flags=["-g"]))


# --- types that the program does not state ------------------------------------------------------


def test_types_come_from_debug_info(lib: veo.VeoLibrary, ctx: veo.VeoCtxt) -> None:
    x = lib.proc.alloc_mem(4)
    lib.proc.write_mem(x, b"\0\0\x80\x3f", 4)
    assert lib.axpy(ctx, 3, 0.5, x, -2).wait_result(10) == 0.5
    assert lib.half(ctx, 3.0).wait_result(10) == 1.5
    assert lib.large(ctx).wait_result(10) == 2**40
    assert lib.flags(ctx, 255).wait_result(10) == 255
    assert lib.nothing(ctx, x).wait_result(10) is None


def test_values_are_checked_against_them(lib: veo.VeoLibrary, ctx: veo.VeoCtxt) -> None:
    with pytest.raises(ValueError, match="does not fit into type unsigned char"):
        lib.flags(ctx, 256)
    with pytest.raises(ValueError, match="not whole"):
        lib.axpy(ctx, 1.5, 0.5, 0, 0)


def test_result_type_alone_may_be_left_out(lib: veo.VeoLibrary, ctx: veo.VeoCtxt) -> None:
    lib.half.args_type("float")
    assert lib.half(ctx, 5.0).wait_result(10) == 2.5
    lib.large.ret_type("int")
    assert lib.large(ctx).wait_result(10) == 0


@pytest.mark.parametrize(
    ("count", "missing"), [(0, "for n, a, x, last"), (3, "for last"), (5, "1 argument too many")]
)
def test_missing_arguments_are_named(
    lib: veo.VeoLibrary, ctx: veo.VeoCtxt, count: int, missing: str
) -> None:
    with pytest.raises(ValueError, match=f"expected `4`, got `{count}`: .*{missing}$"):
        lib.axpy(ctx, *[0] * count)


def test_variadic_functions_take_stated_types(lib: veo.VeoLibrary, ctx: veo.VeoCtxt) -> None:
    assert lib.sum(ctx, 0).wait_result(10) == 0
    lib.sum.args_type("int", "int", "int")
    assert lib.sum(ctx, 2, 30, 12).wait_result(10) == 42
    with pytest.raises(TypeError, match="no type for count"):
        lib.sum.args_type()


def test_functions_made_by_address_have_them(lib: veo.VeoLibrary, ctx: veo.VeoCtxt) -> None:
    function = veo.VeoFunction(lib, lib.get_symbol("half"), "half")
    assert function(ctx, 1.0).wait_result(10) == 0.5


def test_variables_have_no_signature(lib: veo.VeoLibrary, ctx: veo.VeoCtxt) -> None:
    function = veo.VeoFunction(lib, lib.get_symbol("total"), "total")
    assert not hasattr(function, "__signature__")
    with pytest.raises(veo.VeoError, match="needs arguments format info"):
        function(ctx)


@pytest.mark.nosanitize  # the sanitized archive wants a compiler that sanitizes
def test_functions_linked_into_the_worker_have_them(
    make_proc: Callable[..., veo.VeoProc], tmp_path: object
) -> None:
    build = veo.VeBuild(target="host", check=True)
    build.set_build_dir(f"{tmp_path}/out")
    build.set_c_src("half", "float half(float x) { return x / 2; }")
    proc = make_proc(veorun_bin=build.build_veorun())
    half = proc.static_library().find_function("half")
    assert half(proc.open_context(), 3.0).wait_result(10) == 1.5


# --- what inspect shows -------------------------------------------------------------------------


def test_signature_has_names_and_types(lib: veo.VeoLibrary) -> None:
    signature = inspect.signature(lib.axpy)
    assert list(signature.parameters) == ["ctx", "n", "a", "x", "last"]
    assert signature.parameters["ctx"].annotation is veo.VeoCtxt
    shown = [parameter.annotation for parameter in signature.parameters.values()][1:]
    assert shown == ["int", "double", "float *", "short"]
    assert signature.return_annotation == "double"
    assert repr(lib.axpy).startswith(
        "<VeoFunction object VE function 'axpy'('int', 'double', 'float *', 'short') at 0x"
    )


def test_signature_shows_what_is_stated(lib: veo.VeoLibrary) -> None:
    lib.axpy.args_type("long", "double", "float *", "int")
    lib.axpy.ret_type("void")
    signature = inspect.signature(lib.axpy)
    shown = [parameter.annotation for parameter in signature.parameters.values()][1:]
    assert shown == ["long", "double", "float *", "int"]
    assert signature.return_annotation == "void"


def test_names_that_python_reserves_are_replaced(lib: veo.VeoLibrary) -> None:
    names = list(inspect.signature(lib.keywords).parameters)
    assert names == ["ctx", "arg0", "arg1", "arg2"]


def test_signature_of_stated_types_alone(proc: veo.VeoProc, bare_kernels: str) -> None:
    function = proc.load_library(bare_kernels).divide
    assert not hasattr(function, "__signature__")
    function.args_type("int", "long")
    assert str(inspect.signature(function)).endswith("arg0: 'int', arg1: 'long', /) -> 'int'")


def test_class_has_no_signature_of_a_function() -> None:
    assert not hasattr(veo.VeoFunction, "__signature__")


# --- mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        (("int", "float", "float *", "int"), "parameter a of double axpy.* has type double, not f"),
        (("int", "long", "float *", "int"), "parameter a of .* has type double, not long"),
        (("double", "double", "float *", "int"), "parameter n of .* has type int, not double"),
        (("int", "double", "double", "int"), r"parameter x of .* has type void \*, not double"),
        (("int", "void *", "float *", "int"), r"parameter a of .* double, not void \*"),
        (("int", "double", "float *"), "no type for last"),
        (("int",), "no type for a, x, last"),
        ((), "no type for n, a, x, last"),
        (("int", "double", "float *", "int", "int"), "1 type too many"),
    ],
)
def test_types_that_disagree_are_refused(
    lib: veo.VeoLibrary, stated: tuple[str, ...], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        lib.axpy.args_type(*stated)
    assert lib.axpy._args_type is None


@pytest.mark.parametrize(
    ("function", "stated"),
    [("axpy", "int"), ("axpy", "float"), ("half", "double"), ("large", "double")],
)
def test_result_that_disagrees_is_refused(lib: veo.VeoLibrary, function: str, stated: str) -> None:
    with pytest.raises(TypeError, match=f"result of .* {function}.* has type .*, not {stated} "):
        lib.find_function(function).ret_type(stated)


def test_any_result_may_be_dropped(lib: veo.VeoLibrary, ctx: veo.VeoCtxt) -> None:
    lib.half.ret_type("void")
    assert lib.half(ctx, 1.0).wait_result(10) is None


def test_stated_widths_of_integers_count(lib: veo.VeoLibrary, ctx: veo.VeoCtxt) -> None:
    lib.flags.args_type("long")
    lib.flags.ret_type("signed char")
    assert lib.flags(ctx, 511).wait_result(10) == -1


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("by_value", r"parameter 2 \(p\) has type struct point"),
        ("from_wide", r"parameter 2 \(y\) has type long double"),
        ("wide", "the result has type long double"),
    ],
)
def test_what_no_register_holds_is_refused(
    lib: veo.VeoLibrary, ctx: veo.VeoCtxt, function: str, reason: str
) -> None:
    found = lib.find_function(function)
    with pytest.raises(TypeError, match=rf"{function}\(\) cannot be called: {reason}"):
        found(ctx, 1.0, 2.0)
    with pytest.raises(TypeError, match=reason):
        found.args_type("double", "double")
    with pytest.raises(TypeError, match=reason):
        found.ret_type("double")


# --- the text that the library gives ------------------------------------------------------------


def test_text_is_read() -> None:
    assert parse("") is None
    assert parse("v") == DebugInfo("v", "", ("",), (), False, "")
    wanted = DebugInfo("i", "ld", ("", "", ""), ("n", ""), True, "")
    assert parse("i\nl n\nd \n...") == wanted
    wanted = DebugInfo("p", "pp", ("d", "b", ""), ("x", "y"), False, "")
    assert parse("pd\npb x\np y") == wanted
    assert parse("!why not") == DebugInfo("v", "", ("",), (), False, "why not")


def test_prototype_is_spelled_as_in_c() -> None:
    assert prototype("f", DebugInfo("v", "", ("",), (), False, "")) == "void f(void)"
    info = DebugInfo("d", "pi", ("", "", ""), ("x", ""), True, "")
    assert prototype("f", info) == "double f(void *x, int, ...)"
    info = DebugInfo("p", "ppp", ("f", "b", "L", "B"), ("", "y", "z"), False, "")
    assert prototype("f", info) == "float *f(char *, unsigned long *y, unsigned char *z)"
