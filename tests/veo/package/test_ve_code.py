# SPDX-License-Identifier: BSD-3-Clause
"""Vector Engine code that the ziglang wheel compiles: loaded, called and run alone."""

from __future__ import annotations

import platform
import re
import signal
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import veo
from tests.support.libstdcxx import needs_libstdcxx
from tests.veo.fuzz.link_corpus import (
    HEADER,
    IDENTITY,
    SEGMENT,
    archive,
    whole_object,
    write_object,
)
from veo.cli import nec_compiler
from veo.compilers import select_toolchain
from veo.ve_clang import clang_command, write_library
from veo.vebuild import VeBuild

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)

VEORUN = Path(veo.__file__).parent / "bin" / "veorun"
KERNELS = """
#include <stdlib.h>
#include <velintrin.h>
long counter = 5;
int add(int a, int b) { return a + b; }
float add_floats(float a, float b) { return a + b; }
double mix(signed char a, float b, double c, unsigned short d) { return a + b + c + d; }
long many(long a, long b, long c, long d, long e, long f, long g, long h, double i, float j, int k)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * (long)i +
           10 * (long)j + 11 * k;
}
void scale(const double *in, double *out, double factor, long n)
{
    for (long i = 0; i < n; i += 256) {
        int vl = n - i < 256 ? n - i : 256;
        _vel_vst_vssl(_vel_vfmuld_vsvl(factor, _vel_vld_vssl(8, in + i, vl), vl), 8, out + i, vl);
    }
}
__attribute__((noinline)) static void look_away(void) { __asm__ volatile("" ::: "memory"); }
void where_positive(const double *in, const double *other, double *out, long n)
{
    __vm256 mask = _vel_vfmkdgt_mvl(_vel_vld_vssl(8, in, n), n);
    look_away();
    __vr x = _vel_vld_vssl(8, in, n), y = _vel_vld_vssl(8, other, n);
    _vel_vst_vssl(_vel_vmrg_vvvml(y, x, mask, n), 8, out, n);
}
static __thread int calls;
int count_calls(void) { return ++calls; }
static int backwards(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }
void sort(int *x, int n) { qsort(x, n, sizeof *x, backwards); }
int *make(int n)
{
    int *p = malloc(n * sizeof *p);
    for (int i = 0; i < n; i++)
        p[i] = i * i;
    return p;
}
__attribute__((noinline)) static int look(const int *p) { return *p; }
int crash(const int *p)
{
    return look(p) + 1;
}
"""
PROGRAM = r"""
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static __thread int mine = 7;
static jmp_buf there;
__attribute__((constructor)) static void begin(void) { puts("constructed"); }
static void end(void) { puts("ended"); }
static void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}
static void *thread(void *argument) { mine += (int)(long)argument; return (void *)(long)mine; }
struct five { long a[5]; };
static struct five make(long x) { struct five five = {{x, 2, 3, 4, 5}}; return five; }
int main(int argc, char **argv)
{
    pthread_t id;
    void *result;
    int number;
    double real;
    char word[20], text[40];
    atexit(end);
    say("%d %s|%5.2f|%-4s|%c|%lld|%Lf|%x|%*d\n", argc, argv[argc - 1], 3.14159, "ab", 'x',
        1LL << 40, 2.5L, 255u, 4, 7);
    if (setjmp(there) == 0)
        longjmp(there, 3);
    pthread_create(&id, NULL, thread, (void *)5L);
    pthread_join(id, &result);
    say("%ld %d\n", (long)result, mine);
    say("%d ", sscanf("12 3.5 word", "%d %lf %19s", &number, &real, word));
    say("%d %g %s\n", number, real, word);
    __int128 wide = ((__int128)argc << 100) / 3 * 5 % 1000000007;
    say("%lld %ld %d\n", (long long)wide, make(9).a[0], div(17, 5).rem);
    say("%d %s\n", snprintf(text, 6, "%s", "longer than"), text);
    return 42;
}
"""


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., str]:
    def make(source: str, name: str = "kernels", language: str = "c", flags: str = "-O2") -> str:
        result = VeBuild(target="ve")
        result.set_build_dir(tmp_path)
        (result.set_c_src if language == "c" else result.set_cpp_src)(name, source, flags)
        return result.build_so(check=True)

    return make


@pytest.fixture
def loaded(build: Callable[..., str], proc: veo.VeoProc) -> veo.VeoLibrary:
    return proc.load_library(build(KERNELS))


def veorun(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(VEORUN), *map(str, words)], capture_output=True, text=True, timeout=60
    )


def test_arguments_of_all_classes(loaded: veo.VeoLibrary, ctx: veo.VeoCtxt) -> None:
    assert loaded.add(ctx, 2, -3).wait_result() == -1
    assert loaded.add_floats(ctx, 1.5, 2.25).wait_result() == 3.75
    assert loaded.mix(ctx, -1, 2.5, 3.25, 4).wait_result() == 8.75
    values = [*range(1, 9), 9.9, 10.5, -11]
    assert loaded.many(ctx, *values).wait_result() == sum(i * i for i in range(1, 11)) - 121


def test_vectors_and_stack_arguments(loaded: veo.VeoLibrary, ctx: veo.VeoCtxt) -> None:
    x, y = np.arange(1000.0), np.zeros(1000)
    loaded.scale(ctx, veo.OnStack(x), veo.OnStack(y, inout=veo.INTENT_OUT), 1.5, 1000).wait_result()
    assert np.array_equal(y, 1.5 * x)
    z = np.array([3, 1, 2], np.int32)
    loaded.sort(ctx, veo.OnStack(z, inout=True), 3).wait_result()
    assert z.tolist() == [3, 2, 1]


def test_masks_survive_calls(loaded: veo.VeoLibrary, ctx: veo.VeoCtxt) -> None:
    values = np.random.default_rng(1).normal(size=200)
    other, out = np.arange(200.0), np.zeros(200)
    loaded.where_positive(
        ctx, veo.OnStack(values), veo.OnStack(other), veo.OnStack(out, inout=veo.INTENT_OUT), 200
    ).wait_result()
    np.testing.assert_array_equal(out, np.where(values > 0, values, other))


def test_memory_and_variables(loaded: veo.VeoLibrary, ctx: veo.VeoCtxt, proc: veo.VeoProc) -> None:
    address = loaded.make(ctx, 10).wait_result()
    squares = np.empty(10, np.int32)
    proc.read_mem(squares, address, squares.nbytes)
    assert squares.tolist() == [i * i for i in range(10)]
    counter = np.empty(1, np.int64)
    proc.read_mem(counter, loaded.get_symbol("counter"), 8)
    assert counter[0] == 5


def test_thread_local_variables_belong_to_contexts(
    loaded: veo.VeoLibrary, proc: veo.VeoProc
) -> None:
    with proc.open_context() as first, proc.open_context() as second:
        assert [loaded.count_calls(first).wait_result() for _ in range(3)] == [1, 2, 3]
        assert loaded.count_calls(second).wait_result() == 1


def test_a_crash_names_function_and_line(loaded: veo.VeoLibrary, ctx: veo.VeoCtxt) -> None:
    with pytest.raises(veo.VeoError, match="SIGSEGV.* in kernel crash") as caught:
        loaded.crash(ctx, 16).wait_result()
    line = 1 + KERNELS.split("\n").index("    return look(p) + 1;")
    assert "look+0x" in str(caught.value)
    assert f"at kernels.c:{line}" in str(caught.value)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other machines tell the address")
def test_a_crash_at_an_address_with_a_tag_says_how_it_is_removed(
    loaded: veo.VeoLibrary, ctx: veo.VeoCtxt
) -> None:
    with pytest.raises(veo.VeoError, match=r"tag of veo_alloc_hmem\(\), which veo_get_hmem_addr\("):
        loaded.crash(ctx, 0x8000200000000000).wait_result()


def test_undefined_symbols_are_listed(
    build: Callable[..., str], proc: veo.VeoProc, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "void nowhere(void); extern int neither; int f(void) { nowhere(); return neither; }"
    with pytest.raises(veo.VeoError, match="2 symbols it uses are nowhere: nowhere, neither"):
        proc.load_library(build(source))


@needs_libstdcxx
def test_undefined_symbols_of_cxx_are_listed_as_sources_have_them(
    build: Callable[..., str], proc: veo.VeoProc
) -> None:
    source = """
        namespace grid { double sum(const double *, int); struct A { A(); virtual ~A(); }; }
        extern "C" double f(const double *p) { grid::A a; return grid::sum(p, 1); }
    """
    names = r"grid::A::A\(\), grid::sum\(double const\*, int\), grid::A::~A\(\)"
    with pytest.raises(veo.VeoError, match=f"3 symbols it uses are nowhere: {names}"):
        proc.load_library(build(source, language="c++"))


@pytest.mark.parametrize("flags", ["-O0", "-O2", "-O2 -fPIC"])
def test_a_program_runs_alone(build: Callable[..., str], flags: str) -> None:
    done = veorun(build(PROGRAM, flags=flags), "last")
    assert done.stderr == ""
    wide = ((2 << 100) // 3 * 5) % 1000000007
    assert done.stdout.splitlines() == [
        "constructed",
        "2 last| 3.14|ab  |x|1099511627776|2.500000|ff|   7",
        "12 7",
        "3 12 3.5 word",
        f"{wide} 9 2",
        "11 longe",
        "ended",
    ]
    assert done.returncode == 42


def test_headers_of_compiler_and_library_agree(build: Callable[..., str]) -> None:
    headers = (
        *("stddef", "stdlib", "wchar", "stdint", "complex", "fenv", "limits", "float", "signal"),
        *("dirent", "sys/stat", "sys/mman", "semaphore", "stdatomic", "inttypes", "unistd"),
    )
    source = "".join(f"#include <{name}.h>\n" for name in headers)
    source += 'int main(void) { return (int)wcslen(L"abc") + (LDBL_MANT_DIG == 113); }'
    assert veorun(build(source)).returncode == 4


def test_old_c_programs_are_compiled(build: Callable[..., str]) -> None:
    """Errors of C99 are warnings, as with NEC's; <stdlib.h> declares int8_t, as glibc's."""
    source = """
        #include <stdlib.h>
        #include <omp.h>
        #include <sys/syscall.h>
        long syscall(long, ...);
        main()
        {
            int8_t small = -1;
            long pointer = "text";
            if (syscall(SYS_gettid) != getpid() || syscall(SYS_brk) != -1)
                return 1;
            return strlen(pointer) + omp_get_num_threads() + (omp_get_wtick() > 1) - small;
        }
    """
    assert veorun(build(source)).returncode == 6


def test_cxx_without_exceptions(build: Callable[..., str]) -> None:
    source = """
        #include <cstdio>
        #include <memory>
        #include <vector>
        struct A { virtual int f() { return 1; } virtual ~A() = default; };
        struct B : A { int f() override { return 2; } };
        static std::vector<int> numbers{3, 1};
        int main() {
            std::unique_ptr<A> a(new B);
            numbers.push_back(a->f());
            for (int x : numbers) std::printf("%d ", x);
        }
    """
    done = veorun(build(source, language="c++"))
    assert (done.stdout, done.stderr) == ("3 1 2 ", "")


def test_a_function_may_end_without_its_value(build: Callable[..., str]) -> None:
    source = """
        extern "C" int puts(const char *);
        __attribute__((noinline)) static int show(const char *text) { puts(text); }
        int main() { show("shown"); return 3; }
    """
    done = veorun(build(source, flags="-O2 -w", language="c++"))
    assert (done.stdout, done.returncode) == ("shown\n", 3)


def test_ncc_compiles_and_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # Both files define the variable, as NEC's compilers have it.
    Path("main.c").write_text(
        "int factor; int helper(int); int main(void) { factor = 2; return helper(3); }"
    )
    Path("helper.c").write_text("int factor; int helper(int x) { return factor * x; }")
    Path("unused.c").write_text("int unused(void); int u(void) { return unused(); }")
    for name in ("helper", "unused"):
        assert nec_compiler.main(["C", "--target=ve", "-c", f"{name}.c", "-o", f"{name}.o"]) == 0
    Path("libhelp.a").write_bytes(
        archive([(f"{name}.o", Path(f"{name}.o").read_bytes()) for name in ("helper", "unused")])
    )
    words = [
        "C",
        "--target=ve",
        "-O4",
        "-report-all",
        "main.c",
        "-L.",
        "-lhelp",
        "-lm",
        "-o",
        "out",
    ]
    assert nec_compiler.main(words) == 0
    assert veorun("./out").returncode == 6
    Path("bad.cpp").write_text("void f(int *p) { __builtin_vprefetch(p, 8); p = x; }")
    assert nec_compiler.main(["C++", "--target=ve", "-c", "bad.cpp"]) == 1
    assert capsys.readouterr().err.startswith("bad.cpp:1:49: error: ")
    assert nec_compiler.main(["F", "--target=ve", "x.f90"]) == 1
    assert "no Fortran compiler for the Vector Engine" in capsys.readouterr().err


def test_ncc_changes_nothing_of_a_device(
    null_device: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.c").write_text("int main(void) { return 0; }")
    mode = null_device.stat().st_mode
    for words in ((), ("-shared",), ("-c",), ("-S",)):
        words = ("C", "--target=ve", *words, "main.c", "-o", str(null_device))
        assert nec_compiler.main(words) == 0
        assert null_device.stat().st_mode == mode


def test_a_refused_input_leaves_the_library_as_it_was(tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    library.write_bytes(b"before")
    other = tmp_path / "other.o"
    other.write_bytes(b"text")
    with pytest.raises(ValueError, match=r"other\.o is no object or archive for the Vector Engine"):
        write_library(library, [other])
    assert library.read_bytes() == b"before"


def test_exceptions_end_a_program_by_their_names(tmp_path: Path) -> None:
    path = tmp_path / "stop.o"
    code = bytes(16)
    path.write_bytes(
        write_object([(".text", 1, 6, code, len(code), 0, 0)], [("main", 1, 2, 1, 0, 16)])
    )
    done = veorun(path)
    assert "[VE] ERROR: ILOP (illegal instruction)" in done.stderr
    assert "#0 VE 0x" in done.stderr
    assert "main+0x0" in done.stderr
    assert done.returncode == signal.SIGILL


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"text", "is no file of VE code"),
        (b"!<arch>\n", "the archive has no object"),
        (b"!<arch>\n" + b"x" * 80, "the archive is damaged at byte 8"),
        (write_object([], [], machine=62), "is no file of VE code"),
        (whole_object([]), "1 symbol it uses is nowhere: elsewhere"),
        (whole_object([])[:200], "its headers are beyond the end of the file"),
    ],
)
def test_files_that_cannot_be_run(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    done = veorun(path)
    assert reason in done.stderr
    assert done.returncode == 126


@pytest.mark.nosanitize  # the sanitizer's heap is where executables want to be
def test_an_executable_makes_system_calls(tmp_path: Path) -> None:
    source = tmp_path / "start.s"
    source.write_text("""
        ld %s1, 24(, %s14)     # the parameters: write(1, argv[1], 3)
        or %s63, 1, (0)1
        st %s63, (, %s1)
        st %s63, 8(, %s1)
        ld %s2, 16(, %s11)
        st %s2, 16(, %s1)
        or %s3, 3, (0)1
        st %s3, 24(, %s1)
        monc
        or %s63, 60, (0)1      # exit(what write() gave)
        st %s63, (, %s1)
        st %s0, 8(, %s1)
        monc
    """)
    command = clang_command("C")
    subprocess.run([*command, "-c", str(source), "-o", str(tmp_path / "start.o")], check=True)
    code = (tmp_path / "start.o").read_bytes()[64 : 64 + 13 * 8]
    base, size = 0x600000000000, 64 + 56 + len(code)
    header = struct.pack(HEADER, IDENTITY, 2, 251, 1, base + 64 + 56, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    header += struct.pack(SEGMENT, 1, 5, 0, base, base, size, size, 4096)
    path = tmp_path / "start"
    path.write_bytes(header + code)
    done = veorun(path, "abcdef")
    assert (done.stdout, done.stderr, done.returncode) == ("abc", "", 3)


@pytest.mark.parametrize("kind", [21, 40])
def test_types_of_relocations_that_objects_cannot_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: int
) -> None:
    path = tmp_path / "file"
    path.write_bytes(whole_object([kind]))
    monkeypatch.setenv("VEORUN_UNDEFINED", "call")
    assert f"has a relocation of type {kind}, which is none for objects" in veorun(path).stderr


def test_missing_functions_may_be_left_to_the_call(
    build: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build(
        "void nowhere(void); int main(int n, char **v) { if (n > 1) nowhere(); return 3; }"
    )
    monkeypatch.setenv("VEORUN_UNDEFINED", "call")
    assert veorun(path).returncode == 3
    done = veorun(path, "call it")
    assert "VE code called nowhere, which is nowhere" in done.stderr
    assert done.returncode == signal.SIGSEGV


def test_a_setting_of_undefined_symbols_that_is_none_is_an_error(
    build: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build("int main(void) { return 3; }")
    monkeypatch.setenv("VEORUN_UNDEFINED", "calls")
    done = veorun(path)
    assert "VEORUN_UNDEFINED=calls is not allowed: it takes call" in done.stderr
    assert done.returncode == 126
    monkeypatch.setenv("VEORUN_UNDEFINED", "")
    assert veorun(path).returncode == 3


def test_a_trace_that_cannot_be_written_is_an_error(
    build: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = build("int main(void) { return 3; }")
    monkeypatch.setenv("VEORUN_TRACE", str(tmp_path))
    done = veorun(path)
    assert f"VEORUN_TRACE={tmp_path} cannot be written: Is a directory" in done.stderr
    assert done.returncode == 126
    for number in ("257", "-1", "4x"):
        monkeypatch.setenv("VEORUN_TRACE_ELEMENTS", number)
        done = veorun(path)
        assert f"VEORUN_TRACE_ELEMENTS={number} is not allowed: it takes 0 to 256" in done.stderr
        assert done.returncode == 126


def test_a_trace_names_functions_and_has_as_many_elements_as_asked_for(
    build: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = """
        #include <velintrin.h>
        __attribute__((noinline)) static double last(int n)
        {
            return _vel_lvsd_svs(_vel_vseq_vl(n), n - 1) + 1;
        }
        int main(int argc, char **argv) { return last(argc + 5) > 0; }
    """
    path = build(source, "traced")
    monkeypatch.setenv("VEORUN_TRACE", str(tmp_path / "trace"))
    monkeypatch.setenv("VEORUN_TRACE_ELEMENTS", "256")
    assert veorun(path).returncode == 1
    text = (tmp_path / "trace").read_text()
    assert "vl=6 v0=0x0,0x1,0x2,0x3,0x4,0x5\n" in text
    places = re.findall(r"^# thread \d+: (\w+)\+0x([0-9a-f]+) \(.*\)(.*)$", text, re.MULTILINE)
    assert places[:2] == [("main", "0", " at traced.c:7"), ("last", "0", " at traced.c:4")]
    # The code after the call belongs to no line.
    assert [place[::2] for place in places[2:]] == [("main", "")]


def test_what_a_library_that_fails_asked_for_at_the_end_is_forgotten(
    build: Callable[..., str],
) -> None:
    path = build("""
        #include <stdlib.h>
        static void end(void) {}
        static void stop(void) { __asm__(".quad 0"); }
        __attribute__((constructor)) static void begin(void) { atexit(end); stop(); }
        int main(void) { return 0; }
    """)
    done = veorun(path)
    assert "a function that it calls when it is loaded failed" in done.stderr
    assert done.returncode == 126


def test_the_target_is_ve_code_by_clang() -> None:
    toolchain = select_toolchain("ve")
    assert (toolchain.target, toolchain.by_clang) == ("ve", True)
    assert toolchain.compile_flags("C", "-O4 -fpic -report-all") == ["-O3", "-g"]
