# SPDX-License-Identifier: BSD-3-Clause
"""The worker's signature reader against what the compilers at hand write.

Every source is compiled once for each compiler, DWARF version and optimisation, and all its
functions are looked up in the result.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.builds import c_program

VERSIONS = [2, 3, 4, 5]
LEVELS = ["-O0", "-O2"]

C_SOURCE = r"""
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#define NOINLINE __attribute__((noinline))
typedef struct point { double x, y; } point;
typedef double real;
typedef const volatile real odd_real;
typedef odd_real *odd_pointer;
enum small { ZERO, ONE };
enum below { MINUS = -1, PLUS = 1 };
typedef int (*callback)(double);
typedef union { int i; float f; } either;
typedef float four __attribute__((vector_size(16)));
struct { long only; } extern unnamed_struct;
typedef struct { long only; } by_alias;

void nothing(void) {}
double scalars(char a, unsigned char b, short c, unsigned short d, int e, unsigned f, long g,
               unsigned long h, float i, double j, bool k, void *l)
{ return a + b + c + d + e + f + g + h + i + j + k + (l != 0); }
int64_t fixed(int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e, uint32_t f, int64_t g,
              uint64_t h, size_t i, long long j, unsigned long long k)
{ return (int64_t)(a + b + c + d + e + (long)f + g + (long)h + (long)i + j + (long)k); }
float aliases(odd_real a, odd_pointer b, const int c, volatile float d)
{ return (float)(a + *b + c) + d; }
void *pointers(point *a, const char *restrict b, double c[], int d[4][5], callback e, int f(void))
{ return a && b && c && d && e && f ? a : 0; }
enum small enumerations(enum small a, enum below b) { return b == PLUS ? a : ZERO; }
enum below negative(void) { return MINUS; }
_Atomic int atomics(_Atomic long a) { return (int)a; }
int variadic(const char *format, float f, ...) { return format[0] + (int)f; }
double many(int a, float b, int c, double d, int e, float f, int g, double h, int i, float j,
            int k, double l, int m, float n, int o, double p, int q, float r, int s, double t)
{ return a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t; }
int by_value(int a, point b) { return a + (int)b.x; }
point returns_struct(void) { point p = {1, 2}; return p; }
int by_union(either a) { return a.i; }
long by_alias_only(by_alias a) { return a.only; }
int extended(float a, long double b) { return (int)(a + (float)b); }
long double returns_extended(int a) { return a; }
int complex_argument(double _Complex a) { return (int)__real__ a; }
int wide(int a, int b, __int128 c) { return a + b + (int)c; }
float vector_argument(four a) { return a[0]; }
int kr(a, b, c) float a; char b; double *c; { return (int)(a + b + (float)*c); }
/* Inlined below, and kept for other callers. */
double helper(double a, long b) { return a * (double)b; }
double caller(double a) { return helper(a, 3) + helper(a, 4); }
static double hidden(float a, int unused) { return a + 1; }
double user(float a) { return hidden(a, 1); }
/* A part that is hardly ever reached goes to a section of its own. */
__attribute__((cold, noreturn)) NOINLINE void give_up(int a) { exit(a); }
float hot(float *a, int n, float b)
{
    if (__builtin_expect(n < 0, 0)) { a[0] = 0; a[1] = b; give_up((int)b); }
    for (int i = 0; i < n; i++) b += a[i];
    return b;
}
float first_name(double a, int b) { return (float)a + (float)b; }
float second_name(double a, int b) __attribute__((alias("first_name")));
int unused_arguments(float a, int b, double c, long d) { return 1; }
"""

C_EXPECTED = {
    "nothing": "v()",
    "scalars": "d(bBhHiIlLfdBp)",
    "fixed": "l(bBhHiIlLLlL)",
    "aliases": "f(dpif)",
    "pointers": "p(pppppp)",
    "enumerations": "I(Ii)",
    "negative": "i()",
    "atomics": "i(l)",
    "variadic": "i(pf...)",
    "many": "d(" + "ifid" * 5 + ")",
    "by_value": "parameter 2 has type struct point, which the soft twin cannot pass",
    "returns_struct": "the result has type struct point, which the soft twin cannot return",
    "by_union": "parameter 1 has type either,",
    "by_alias_only": "parameter 1 has type by_alias,",
    "extended": "parameter 2 has type long double,",
    "returns_extended": "the result has type long double,",
    "complex_argument": "parameter 1 has type complex( double)?,|parameter 1 has type complex,",
    "wide": "parameter 3 has type __int128,",
    "vector_argument": "parameter 1 has type four,",
    "kr": "i(dbp)",
    "helper": "d(dl)",
    "caller": "d(d)",
    "user": "d(f)",
    "give_up": "v(i)",
    "hot": "f(pif)",
    "first_name": "f(di)",
    "second_name": "f(di)",
    "unused_arguments": "i(fidl)",
}

CXX_SOURCE = r"""
#include <cstddef>
#include <cstdint>
struct point { double x, y; };
enum class narrow : short { a, b };
enum class wide : unsigned long { a };
extern "C" double plain(int a, float b, bool c) { return a + b + c; }
extern "C" void nothing() {}
double overloaded(double a) { return a; }
float overloaded(float a, int b) { return a + b; }
namespace space { int inside(char a, unsigned char b, short &c, int &&d) { return a + b + c + d; } }
extern "C" narrow enums(narrow a, wide b) { return b == wide::a ? a : narrow::b; }
extern "C" int chars(char16_t a, char32_t b, wchar_t c) { return a + (int)b + (int)c; }
extern "C" int null(std::nullptr_t, float b) { return (int)b; }
extern "C" int members(double point::*a, point b) { return (int)(b.*a); }
extern "C" double data_member(double point::*a, const point &b) { return b.*a; }
extern "C" int function_member(int (point::*a)(int)) { return a != nullptr; }
extern "C" auto deduced(float a) { return a * 2.0; }
template <typename... T> double total(T... a) { return (0.0 + ... + a); }
template double total<int, float, double>(int, float, double);
template <typename T> T twice(T a, int b) { return a + a + (T)b; }
template float twice<float>(float, int);
struct counter {
    float step;
    double next(float by);
    static long zero(double a);
    double inlined(float by) const { return step + by; }
};
double counter::next(float by) { return step += by; }
long counter::zero(double a) { return (long)a; }
double use(counter &c, float f) { return c.inlined(f); }
double (*keep)(counter &, float) = use;
struct base { virtual ~base() {} int value; };
struct derived : virtual base { derived(float a, int b); double x; };
derived::derived(float a, int b) : x(a + b) {}
"""

CXX_EXPECTED = {
    "plain": "d(ifB)",
    "nothing": "v()",
    "_Z10overloadedd": "d(d)",
    "_Z10overloadedfi": "f(fi)",
    "_ZN5space6insideEchRsOi": "i(bBpp)",
    "enums": "h(hL)",
    "chars": "i(HIi)",
    "null": "i(pf)",
    "members": "parameter 2 has type struct point,",
    "data_member": "d(lp)",
    "function_member": "parameter 1 has type a pointer to a member",
    "deduced": "d(f)",
    "_Z5totalIJifdEEdDpT_": "d(ifd)",
    "_Z5twiceIfET_S0_i": "f(fi)",
    "_ZN7counter4nextEf": "d(pf)",
    "_ZN7counter4zeroEd": "l(d)",
    "_Z3useR7counterf": "d(pf)",
    "_ZN7derivedC1Efi": "v(pfi)",
    "_ZN7derivedC2Efi": "v(ppfi)",
}

# Strict DWARF 2 does not tell the integer type of an enumeration, nor that a type is a vector.
WITHOUT_ENUM_BASE = {"enums": "H(HL)"}

FORTRAN_SOURCE = """
function mixed(n, x, s, flag, c) result(r) bind(c, name="mixed")
  use iso_c_binding
  integer(c_int), value :: n
  real(c_double) :: x(n)
  real(c_float), value :: s
  logical(c_bool), value :: flag
  complex(c_double_complex) :: c
  real(c_double) :: r
  r = sum(x) * s
  if (flag) r = r + real(c)
end function
subroutine by_reference(a, b, d, l)
  integer, intent(in) :: a
  real, intent(out) :: b
  real(8), intent(inout) :: d
  logical :: l
  b = a
  if (l) d = d + b
end subroutine
real(8) function by_value(a, b, c, i)
  real, value :: a
  real(8), value :: b
  integer(8), value :: c
  integer(2), value :: i
  by_value = a * b + c + i
end function
subroutine strings(name, x, other)
  character(len=*) :: name, other
  real(8) :: x
  x = len(name) + len(other)
end subroutine
character(len=8) function text(i)
  integer :: i
  text = "x"
  if (i > 3) text = "y"
end function
real function unused(a, b, c)
  real :: a
  real, value :: b
  real(8) :: c
  unused = 1
end function
subroutine structured(t, al, p)
  type tt
    integer :: a
  end type
  type(tt) :: t
  real, allocatable :: al(:)
  real, pointer :: p
  t%a = 1
  allocate(al(3))
  p = 3.0
end subroutine
complex(8) function returns_complex(x)
  real(8) :: x
  returns_complex = x
end function
module shapes
contains
  real(8) function area(w, h)
    real(8), value :: w
    real(8) :: h
    area = w * h
  end function
end module
"""

FORTRAN_EXPECTED = {
    "mixed": "d(ipfBp)",
    "by_reference_": "v(pppp)",
    "by_value_": "d(fdlh)",
    "strings_": "v(pppll)",
    "text_": "v(plp)",
    "unused_": "f(pfp)",
    "structured_": "v(ppp)",
    "returns_complex_": r"the result has type complex\(kind=8\),",
    "__shapes_MOD_area": "d(dp)",
}


def compilers(*names: str) -> list[object]:
    """List those that are installed; in place of all, one that is skipped with the reason."""
    found: list[object] = [pytest.param(name, id=name) for name in names if shutil.which(name)]
    reason = f"none of {', '.join(names)} is installed"
    return found or [pytest.param(names[0], marks=pytest.mark.skip(reason=reason))]


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


@functools.cache
def needs(compiler: str) -> str:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    return compiler


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hold the sources."""
    folder = tmp_path_factory.mktemp("dwarf")
    (folder / "c.c").write_text(C_SOURCE)
    (folder / "cxx.cc").write_text(CXX_SOURCE)
    (folder / "fortran.f90").write_text(FORTRAN_SOURCE)
    return folder


def compiled(folder: Path, compiler: str, source: str, *flags: str) -> Path:
    library = folder / "library.so"
    library.unlink(missing_ok=True)
    warnings = ["-w"] if compiler != "gfortran" else ["-w", f"-J{folder}"]
    # Some options leave files in the current folder.
    words: list[str | Path] = [
        "-shared",
        "-fPIC",
        *warnings,
        *flags,
        folder / source,
        "-o",
        library,
    ]
    run(compiler, *words, cwd=folder)
    return library


def signatures(folder: Path, library: Path, *symbols: str) -> dict[str, str]:
    lines = run(c_program("tests/formats/unit/dwarf_print", "asan"), library, *symbols).splitlines()
    return dict(zip(symbols, lines, strict=True))


def compare(found: dict[str, str], expected: dict[str, str]) -> None:
    wrong = {}
    for symbol, text in expected.items():
        if re.fullmatch(r"\w\([^ ]*\)", text):
            right = found[symbol] == f"FOUND {text}"
        else:
            # Parameters have names in most of these.
            text = re.sub(r"parameter (\d) ", r"parameter \1 (?:\\(\\w+\\) )?", text)
            right = bool(re.match(f"UNSUPPORTED (?:{text})", found[symbol]))
        if not right:
            wrong[symbol] = (found[symbol], text)
    assert wrong == {}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("compiler", compilers("gcc", "clang", "clang-16"))
def test_c_signatures(folder: Path, compiler: str, version: int, level: str) -> None:
    library = compiled(folder, compiler, "c.c", f"-gdwarf-{version}", level)
    compare(signatures(folder, library, *C_EXPECTED), C_EXPECTED)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("compiler", compilers("g++", "clang++", "clang++-16"))
def test_cxx_signatures(folder: Path, compiler: str, version: int, level: str) -> None:
    flags = ["-std=c++17", f"-gdwarf-{version}", level]
    library = compiled(folder, compiler, "cxx.cc", *flags)
    without_base = version == 2 and compiler.startswith("clang")
    expected = CXX_EXPECTED | (WITHOUT_ENUM_BASE if without_base else {})
    compare(signatures(folder, library, *expected), expected)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("compiler", compilers("gfortran"))
def test_fortran_signatures(folder: Path, compiler: str, version: int, level: str) -> None:
    library = compiled(folder, compiler, "fortran.f90", f"-gdwarf-{version}", level)
    compare(signatures(folder, library, *FORTRAN_EXPECTED), FORTRAN_EXPECTED)


@pytest.mark.parametrize(
    "flags",
    [
        "-g -O3 -flto",
        "-g -O2 -flto -gdwarf-4",
        "-g -O2 -gdwarf64",
        "-g -O2 -fdebug-types-section",
        "-gdwarf-4 -fdebug-types-section",
        "-g -O2 -ffunction-sections -Wl,--gc-sections",
        "-g3 -O1",
        "-g -Og -gstrict-dwarf -gdwarf-2",
    ],
)
@pytest.mark.parametrize(
    ("compiler", "source", "expected"),
    [
        pytest.param("gcc", "c.c", C_EXPECTED, id="gcc"),
        pytest.param("g++", "cxx.cc", CXX_EXPECTED, id="g++"),
    ],
)
def test_other_ways_to_compile(
    folder: Path, compiler: str, source: str, expected: dict[str, str], flags: str
) -> None:
    needs(compiler)
    if "-gstrict-dwarf" in flags:
        expected = {name: text for name, text in expected.items() if name != "vector_argument"}
        expected |= WITHOUT_ENUM_BASE if "enums" in expected else {}
    library = compiled(folder, compiler, source, *flags.split())
    compare(signatures(folder, library, *expected), expected)


def test_fortran_with_link_time_optimisation(folder: Path) -> None:
    library = compiled(folder, needs("gfortran"), "fortran.f90", "-g", "-O2", "-flto")
    compare(signatures(folder, library, *FORTRAN_EXPECTED), FORTRAN_EXPECTED)


@pytest.mark.parametrize("version", VERSIONS)
def test_several_units_and_languages_in_one_file(folder: Path, version: int) -> None:
    needs("g++")
    (folder / "other.c").write_text("float other(double a, void *b) { return b ? a : 0; }\n")
    (folder / "asm.s").write_text(
        ".text\n.globl in_asm\n.type in_asm, @function\nin_asm: ret\n.size in_asm, .-in_asm\n"
        '.section .note.GNU-stack,"",@progbits\n'
    )
    objects = []
    for compiler, name in [("gcc", "c.c"), ("g++", "cxx.cc"), ("gcc", "other.c"), ("gcc", "asm.s")]:
        objects.append(folder / f"{name}.o")
        # Both define nothing(): the C++ one is made local.
        run(compiler, "-c", "-fPIC", "-w", f"-gdwarf-{version}", folder / name, "-o", objects[-1])
    run("objcopy", "--localize-symbol=nothing", objects[1])
    library = folder / "several.so"
    run("g++", "-shared", *objects, "-o", library)
    found = signatures(folder, library, "other", "@other", "in_asm", *C_EXPECTED, *CXX_EXPECTED)
    assert found["other"] == found["@other"] == "FOUND f(dp)"
    assert found["in_asm"].startswith("NOT_DESCRIBED")
    compare(found, C_EXPECTED | CXX_EXPECTED)


@pytest.mark.parametrize("compiler", compilers("gcc", "clang-16"))
@pytest.mark.parametrize(
    ("flags", "result"),
    [
        ("", "NO_DEBUG_INFO the file has no debug information"),
        ("-g -s", "NO_DEBUG_INFO the file has no debug information"),
        ("-g -Wl,--strip-debug", "NO_DEBUG_INFO the file has no debug information"),
        ("-g1", "NOT_DESCRIBED "),
        ("-g -gz -Wl,--compress-debug-sections=zlib", "UNSUPPORTED .*compressed debug information"),
        ("-g -gsplit-dwarf", "UNSUPPORTED .*split-dwarf"),
    ],
)
def test_files_without_usable_debug_information(
    folder: Path, compiler: str, flags: str, result: str
) -> None:
    library = compiled(folder, compiler, "c.c", *flags.split())
    for symbol, found in signatures(folder, library, "scalars", "nothing", "hot").items():
        assert re.match(result, found), f"{symbol}: {found}"


def test_a_function_that_was_compiled_without_g_is_not_described(folder: Path) -> None:
    needs("gcc")
    (folder / "use.c").write_text("double far(float a); double near(int a) { return far(a); }\n")
    (folder / "far.c").write_text("double far(float a) { return a; }\n")
    run("gcc", "-c", "-fPIC", "-O2", "-g", folder / "use.c", "-o", folder / "use.o")
    run("gcc", "-c", "-fPIC", "-O2", folder / "far.c", "-o", folder / "far.o")
    library = folder / "partly.so"
    run("gcc", "-shared", folder / "use.o", folder / "far.o", "-o", library)
    found = signatures(folder, library, "near", "far", "=far")
    assert found["near"] == "FOUND d(i)"
    assert found["far"].startswith("NOT_DESCRIBED")
    assert found["=far"].startswith("NOT_DESCRIBED")


def test_an_executable_is_read_like_a_library(folder: Path) -> None:
    (folder / "main.c").write_text("int f(float a) { return a; } int main(void) { return f(0); }\n")
    for flag in ["-pie", "-no-pie"]:
        run(needs("gcc"), "-g", flag, folder / "main.c", "-o", folder / "main")
        assert signatures(folder, folder / "main", "f") == {"f": "FOUND i(f)"}


def test_an_object_file_is_refused(folder: Path) -> None:
    run(needs("gcc"), "-g", "-w", "-c", folder / "c.c", "-o", folder / "c.o")
    found = signatures(folder, folder / "c.o", "scalars")["scalars"]
    assert found == "UNSUPPORTED the file is not a shared object or an executable"
