# SPDX-License-Identifier: BSD-3-Clause
"""VEO_CHECK: mistakes that are found in Vector Engine code, and code that is right."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import veo
from veo.checks import as_junit, as_sarif, main, read_findings
from veo.ve_clang import clang_command

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)

VEORUN = Path(veo.__file__).parent / "bin" / "veorun"
NOTHING = "== checks: nothing found\n"
MADE = "which was never written, or computed from what was not"

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Compile ``main()`` with BODY and the FUNCTIONS before it, and run it; status and stderr."""

    def compile_and_run(
        body: str, functions: str = "", check: str = "all", flags: str = "-O1", cxx: bool = False
    ) -> tuple[int, str]:
        name = "p.cpp" if cxx else "p.c"
        headers = "stdio.h stdlib.h string.h unistd.h velintrin.h".split()
        source = "".join(f"#include <{header}>\n" for header in headers) + "#line 1\n"
        source += functions + "\nint main(int argc, char **argv)\n{\n" + body + "\n}\n"
        (tmp_path / name).write_text(source)
        command = [*clang_command("C++" if cxx else "C"), *flags.split(), "-g"]
        command += ["-fno-inline", "-c", name, "-o", "p.o"]
        subprocess.run(command, check=True, cwd=tmp_path)
        done = subprocess.run(
            [VEORUN, "p.o"],
            cwd=tmp_path,
            env={**os.environ, "VEO_CHECK": check},
            capture_output=True,
            text=True,
            timeout=300,
        )
        return done.returncode, done.stderr

    return compile_and_run


def masked(text: str) -> str:
    """Replace registers and addresses, which a compiler and a process choose."""
    text = re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", text)
    text = re.sub(r"\+0x[0-9a-f]+", "+N", text)
    text = re.sub(r"'[^']*'", lambda found: "'" + found[0][1:-1].split()[0] + "'", text)
    return re.sub(r"%([sv])\d+", r"%\1N", text)


def first(report: tuple[int, str]) -> str:
    """Give the first line of the only finding, without ``== VE FILE: ``."""
    lines = masked(report[1]).splitlines()
    assert sum(line.startswith("== VE ") for line in lines) == 1, report[1]
    assert re.fullmatch(r"== \d+ found, of which \d+ (is|are) repeated or .*", lines[-1])
    assert lines[0].startswith("== VE p.o: ")
    return lines[0].removeprefix("== VE p.o: ")


# --- what was never written ---


def test_a_branch_by_memory_that_was_never_written_is_told_with_its_calls(run):
    functions = """int f(const int *p) {
    if (p[3] > 7)
        puts("large");
    return 0;
}
int g(const int *p) { return f(p) + 1; }"""
    report = run("return g(malloc(40)) - 1;", functions)
    assert first(report) == f"uninitialised: 'brgt.w' decides by %sN, {MADE}"
    places = [line for line in masked(report[1]).splitlines() if line.startswith("==    ")]
    assert places == [
        "==    at pc ADDRESS (f+N, p.c:2)",
        "==    called at pc ADDRESS (g+N, p.c:6)",
        "==    called at pc ADDRESS (main+N, p.c:9)",
    ]


def test_a_stack_variable_is_fresh_in_each_call(run):
    functions = """int f(int set) {
    volatile int a[4];
    if (set)
        a[1] = 5;
    if (a[1] == 5)
        puts("five");
    return 0;
}"""
    report = run("f(1); return f(0);", functions, flags="-O0")
    assert first(report) == f"uninitialised: 'brne.w' decides by %sN, {MADE}"
    assert report[1].count("p.c:5") == 1


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("long *p = malloc(80); return argv[p[1]] != 0;", "'ld' takes an address from %sN, MADE"),
        (
            "int *p = malloc(8); __vr v = _vel_vbrdl_vsl(1, p[0] & 255);"
            " return _vel_lvsl_svs(v, 0) == 77;",
            "'lvl' takes the vector length from %sN, MADE",
        ),
        ('int *p = malloc(8); printf("%d\\n", *p); return 0;', "printf() gets argument 2, MADE"),
        (
            'double *p = malloc(8); printf("%s %ld%% %5.1f\\n", "a", 1L, *p); return 0;',
            "printf() gets argument 4, MADE",
        ),
        ("int *p = malloc(8); return abs(*p) & 0;", "abs() gets argument 1, MADE"),
        (
            "char *p = malloc(8); p[0] = 'a'; return puts(p) & 0;",
            "puts() reads the byte at A, MADE",
        ),
        (
            "char *p = malloc(8); p[0] = 0; return write(2, p, 2) & 0;",
            "write() reads the byte at A, MADE",
        ),
        (
            "long *p = malloc(2048); for (int i = 0; i < 100; i++) p[i] = i;"
            " return _vel_lvsl_svs(_vel_vsuml_vvl(_vel_vld_vssl(8, p, 256), 256), 0) == 77;",
            "'vsum.l' takes in elements 100-255 of %vN, which were never written, "
            "or computed from what was not",
        ),
        (
            "long *p = malloc(64); p[1] = 5; __vr v = _vel_vld_vssl(8, p, 2);"
            " return _vel_lvsl_svs(_vel_vgt_vvssl(v, 0, 0, 1), 0) == 77;",
            "'vgt' takes an address from element 0 of %vN, MADE",
        ),
        (
            "static double to[4]; double *p = malloc(64); p[0] = 1;"
            " __vr v = _vel_vld_vssl(8, p, 2);"
            " _vel_vst_vssml(v, 8, to, _vel_vfmkdgt_mvl(v, 2), 2); return 0;",
            "'vst' has a mask whose element 1 comes from a comparison with what was never written",
        ),
    ],
)
def test_what_was_never_written_is_told_where_it_decides(run, body, text):
    # An address that was never written leads nowhere.
    report = run(body, flags="-O1 -fno-builtin")[1]
    expected = text.replace("MADE", MADE).replace(" A, ", " ADDRESS, ")
    assert masked(report).splitlines()[0] == "== VE p.o: uninitialised: " + expected


def test_elements_beyond_the_length_that_a_vector_was_written_with_are_told(run):
    functions = """double f(const double *p) {
    __vr a = _vel_vld_vssl(8, p, 256);
    double t = _vel_lvsd_svs(_vel_vfsumd_vvl(a, 256), 0);
    __vr b = _vel_vld_vssl(8, p, 10);
    return t + _vel_lvsd_svs(_vel_vfsumd_vvl(b, 256), 0);
}"""
    report = run("static double x[256]; return f(x) > 1;", functions)
    text = "uninitialised: 'vfsum.d' takes in elements 10-255 of %vN, "
    assert first(report) == text + "which was last written with a length of 10"
    assert "(f+" in report[1] and "p.c:5)" in report[1]


def test_elements_that_an_operation_keeps_are_no_finding(run):
    body = """
    static double x[300], y[256];
    for (int i = 0; i < 300; i++)
        x[i] = i;
    /* A sum whose last step is short, and a vector that a short load is written over. */
    __vr sum = _vel_vbrdd_vsl(0, 256);
    for (int i = 0; i < 300; i += 256) {
        int vl = 300 - i < 256 ? 300 - i : 256;
        sum = _vel_vfaddd_vvvvl(sum, _vel_vld_vssl(8, x + i, vl), sum, vl);
    }
    __vr zeros = _vel_vbrdd_vsl(0, 256);
    __vr padded = _vel_vld_vssvl(8, x, zeros, 3);
    _vel_vst_vssl(padded, 8, y, 256);
    return _vel_lvsd_svs(_vel_vfsumd_vvl(sum, 256), 0) != 44850 ||
           _vel_lvsd_svs(_vel_vfsumd_vvl(padded, 256), 0) != 3;"""
    assert run(body) == (0, NOTHING)


def test_bits_that_are_copied_and_thrown_away_are_no_finding(run):
    functions = """struct padded { char a; double b; int c : 3, d : 20; };
struct padded copy(struct padded s) { return s; }
struct padded *volatile made;"""
    body = """
    struct padded *p = malloc(sizeof *p), s;
    p->a = 1, p->b = 2, p->c = 3, p->d = 4;
    s = copy(*p);
    made = realloc(p, 100);
    memcpy(made + 1, &s, sizeof s);
    return made[1].a != 1 || made->b != 2 || s.c != 3 || made[1].d != 4;"""
    for flags in ("-O0", "-O2"):
        assert run(body, functions, flags=flags) == (0, NOTHING)


# --- bounds ---


@pytest.mark.parametrize(
    ("body", "access", "where"),
    [
        (
            "double *p = malloc(80); p[10] = 1;",
            "'st' writes 8 bytes",
            "0 bytes after a block of 80",
        ),
        (
            "char *p = malloc(80); p[-3] = 1;",
            "'st1b' writes 1 byte",
            "3 bytes before a block of 80",
        ),
        ("long *p = malloc(76); p[9] = 1;", "'st' writes 8 bytes", "0 bytes after a block of 76"),
        ("int *p = malloc(80); free(p); p[2] = 1;", "'stl' writes 4 bytes", "8 bytes into a freed"),
        ("int *p = calloc(4, 4); memset(p, 0, 20);", "memset() writes 20 bytes", "0 bytes after a"),
        (
            "long *p = calloc(8, 10); _vel_vst_vssl(_vel_vseq_vl(12), 8, p, 12);",
            "'vst' writes 8 bytes at ADDRESS for element 10",
            "0 bytes after a block of 80",
        ),
        (
            "long *p = calloc(8, 10); _vel_vst_vssl(_vel_vseq_vl(3), 40, p, 3);",
            "'vst' writes 8 bytes at ADDRESS for element 2",
            "0 bytes after a block of 80",
        ),
        (
            "long *p = calloc(8, 10); __vr a = _vel_vsfa_vvssl(_vel_vseq_vl(11), 3, (long)p, 11);"
            " _vel_vsc_vvssl(a, a, 0, 0, 11);",
            "'vsc' writes 8 bytes at ADDRESS for element 10",
            "0 bytes after a block of 80",
        ),
    ],
)
def test_accesses_outside_of_blocks_are_told_with_the_block(run, body, access, where):
    report = run(body + " return 0;", flags="-O1 -fno-builtin")
    assert report[0] == 0
    text = first(report)
    assert text.startswith(
        f"bounds: {access} at ADDRESS" if " at " not in access else "bounds: " + access
    )
    assert f", {where}" in text
    assert "\n==   the block was allocated\n==    at pc " in report[1]
    assert ("\n==   the block was freed\n==    at pc " in report[1]) == ("freed" in where)


def test_blocks_that_are_freed_twice_or_nowhere_are_told_and_kept(run):
    body = "char *p = malloc(5); free(p); free(p); free(p + 1); return 0;"
    status, report = run(body, flags="-O1 -fno-builtin")
    found = [line for line in masked(report).splitlines() if line.startswith("== VE")]
    assert status == 0
    assert found == [
        "== VE p.o: bounds: free() is given ADDRESS, a block of 5 bytes that is freed already",
        "== VE p.o: bounds: free() is given ADDRESS, 1 bytes into a block of 5 bytes",
    ]


def test_a_null_pointer_is_told_before_the_crash_that_it_causes(run):
    functions = "struct s { long a, b; };\nlong f(struct s *p) { return p->b; }"
    status, report = run("return f(argc > 5 ? (void *)argv : 0);", functions)
    lines = masked(report).splitlines()
    text = "bounds: 'ld' reads 8 bytes at 0x8, which is a null pointer with an offset"
    assert status == 11
    assert lines[0] == "== VE p.o: " + text
    assert "[VE] ERROR: signal 11" in report
    assert lines[-1] == "== 1 found, of which 0 are repeated or too many to be shown"


def test_what_is_below_the_stack_pointer_is_told(run):
    functions = """int *f(void) {
    int a[8];
    int *volatile p = a;
    p[2] = 4;
    return p;
}"""
    report = run("int *volatile p = f(); p[2] = 1; return 0;", functions)
    assert re.search(
        r"'stl' writes 4 bytes at ADDRESS, \d+ bytes below the stack pointer", first(report)
    )


# --- alignment ---


def test_vectors_and_atomics_that_are_misaligned_are_told(run):
    body = (
        "static long x[9]; __vr v = _vel_vld_vssl(8, (char *)x + 4, 2); return _vel_lvsl_svs(v, 0);"
    )
    status, report = run(body)
    text = "align: 'vld' reads 8 bytes at ADDRESS for element 0, which is no multiple of 8"
    assert status == 7  # SIGBUS, as without checks
    assert masked(report).splitlines()[0] == "== VE p.o: " + text


def test_misaligned_scalars_are_told_if_asked_for(run):
    body = "static int x[9]; volatile int *p = (void *)((char *)x + 2); return *p;"
    assert run(body) == (0, NOTHING)
    text = first(run(body, check="align_scalar"))
    assert text == "align_scalar: 'ldl.sx' reads 4 bytes at ADDRESS, which is no multiple of 4"


# --- the words of VEO_CHECK ---

TWO = 'int *p = malloc(8); if (*p > 3) puts("x"); p[2] = 1; return 0;'


@pytest.mark.parametrize(
    ("check", "kinds", "status"),
    [
        ("all", ["uninitialised", "bounds"], 0),
        ("bounds,align", ["bounds"], 0),
        ("uninitialised,exit=9", ["uninitialised"], 9),
        ("exit=7", ["uninitialised", "bounds"], 7),
        ("all,ignore=main,exit=9", [], 0),
        ("all,ignore=other", ["uninitialised", "bounds"], 0),
    ],
)
def test_words_choose_what_is_looked_for(run, check, kinds, status):
    found = run(TWO, check=check)
    assert re.findall(r"(?m)^== VE p.o: (\w+): ", found[1]) == kinds
    assert found[0] == status
    assert (found[1] == NOTHING) == (not kinds)


def test_findings_go_to_a_log(run, tmp_path):
    log = tmp_path / "log"
    assert run(TWO, check=f"all,log={log}") == (0, "")
    assert log.read_text().count("== VE p.o: ") == 2
    assert log.read_text().endswith("== 2 found, of which 0 are repeated or too many to be shown\n")


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (
            "racing",
            "there is no check 'racing'; there are uninitialised, bounds, align, align_scalar, all",
        ),
        ("all,,", "there is no check ''; there are"),
        ("exit=256", "exit=256, but exit must be a status from 0 to 255"),
        ("exit=-1", "exit=-1, but exit must be a status"),
        ("log=", "log= must have a path"),
        ("ignore=", "ignore= must have a function, and 32 at most can be given"),
        ("ALL", "there is no check 'ALL'"),
        ("x" * 400, "there is no check 'xxxx"),
    ],
)
def test_words_that_mean_nothing_are_refused(run, check, why):
    status, report = run("return 0;", check=check)
    assert status == 126
    assert f"veorun: cannot load p.o: VEO_CHECK={check[:80]} is not allowed: " in report
    assert why in report


def test_a_log_that_cannot_be_written_is_refused(run):
    status, report = run("return 0;", check="all,log=/nowhere/log")
    assert status == 126
    assert "VEO_CHECK: log=/nowhere/log cannot be written: No such file" in report


def test_an_instruction_is_told_once(run):
    body = "int *volatile p = malloc(40); for (int i = 0; i < 13; i++) p[i] = i; return 0;"
    lines = run(body, flags="-O0")[1].splitlines()
    assert sum(line.startswith("== VE") for line in lines) == 1
    assert lines[-1] == "== 3 found, of which 2 are repeated or too many to be shown"


# --- programs that are right ---

RIGHT = r"""
static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}
static void *thread(void *argument)
{
    long *sum = argument;
    long part[64];
    for (int i = 0; i < 64; i++)
        part[i] = i;
    for (int i = 0; i < 64; i++)
        *sum += part[i];
    return sum;
}
"""


def test_a_program_with_threads_files_and_strings_is_right(run):
    functions = "#include <pthread.h>\n#include <setjmp.h>\n#include <math.h>\n" + RIGHT
    body = r"""
    pthread_t threads[4];
    long sums[4] = {0};
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, thread, &sums[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    char text[40], *line = NULL, *end;
    size_t size = 0;
    int numbers[20], exponent, got;
    for (int i = 0; i < 20; i++)
        numbers[i] = (i * 7) % 20;
    qsort(numbers, 20, sizeof *numbers, compare);
    snprintf(text, sizeof text, "%ld %d %g", sums[3], numbers[7], frexp(12.0, &exponent));
    if (sscanf(text, "%d", &got) != 1 || got != 2016 || exponent != 4)
        return 1;
    FILE *file = tmpfile();
    fputs(text, file);
    rewind(file);
    if (getline(&line, &size, file) < 3 || strtol(line, &end, 10) != 2016 || *end != ' ')
        return 2;
    free(line);
    fclose(file);
    jmp_buf back;
    volatile int jumps = 0;
    if (setjmp(back) < 3)
        longjmp(back, ++jumps);
    char *copy = strdup(text);
    copy = realloc(copy, 100);
    strcat(copy, "!");
    int status = strlen(copy) < 4 || strchr(copy, '!') == NULL || jumps != 3;
    free(copy);
    return status;"""
    for flags in ("-O0", "-O2"):
        assert run(body, functions, flags=flags) == (0, NOTHING)


def test_openmp_is_right(run):
    body = """
    static long x[1000];
    long sum = 0;
    #pragma omp parallel for reduction(+ : sum) num_threads(4)
    for (int i = 0; i < 1000; i++) {
        x[i] = i;
        sum += x[i];
    }
    #pragma omp parallel num_threads(4)
    #pragma omp single
    for (int i = 0; i < 4; i++)
        #pragma omp task firstprivate(i)
        x[i] = 2;
    return sum != 499500 || x[3] != 2;"""
    assert run(body, flags="-O1 -fopenmp") == (0, NOTHING)


def test_cplusplus_is_right(run):
    functions = "#include <memory>\n#include <vector>"
    body = """
    std::vector<std::unique_ptr<long[]>> rows;
    long sum = 0;
    for (int i = 0; i < 50; i++) {
        rows.push_back(std::make_unique<long[]>(10));
        rows.back()[i % 10] = i;
    }
    for (auto &row : rows)
        for (int i = 0; i < 10; i++)
            sum += row[i];
    return sum != 1225;"""
    assert run(body, functions, cxx=True, flags="-O1 -std=c++17") == (0, NOTHING)


# --- in a process of a host ---

KERNELS = """
#include <stdlib.h>
#include <velintrin.h>
double *take(long n) { return malloc(n * sizeof(double)); }
double sum(const double *x, long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        if (x[i] > 0)
            sum += x[i];
    return sum;
}
void fill(double *x, long have, long n)
{
    __vr v = _vel_vbrdd_vsl(1, have);
    _vel_vst_vssl(v, 8, x, n);
}
long second(long a, long b) { return b > 3 ? a : labs(a); }
"""
HOST = """
import sys, numpy as np, veo
with veo.VeoProc(0) as proc:
    library = proc.load_library(sys.argv[1])
    library.take.ret_type("unsigned long")
    library.sum.ret_type("double")
    with proc.open_context() as context:
        x = np.ones(10)
        {calls}
print("done")
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "k.c").write_text(KERNELS)
    command = [*clang_command("C"), "-O1", "-g", "-c", "k.c", "-o", "k.o"]
    subprocess.run(command, check=True, cwd=folder)
    return str(folder / "k.o")


def call_host(kernels: str, calls: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-c", HOST.format(calls=calls.replace("\n", "\n        ")), kernels],
        env={**os.environ, "VEO_CHECK": "all,exit=9"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout, masked(done.stderr.replace(kernels, "k.o"))


def test_memory_that_the_host_writes_counts_as_written(kernels):
    calls = """
block = proc.alloc_mem(80)
proc.write_mem(block, x, 80)
assert library.sum(context, block, 10).wait_result() == 10
assert library.sum(context, veo.OnStack(x), 10).wait_result() == 10
taken = library.take(context, 10).wait_result()
proc.write_mem(taken, x, 80)
assert library.sum(context, taken, 10).wait_result() == 10
library.fill(context, taken, 10, 10).wait_result()
proc.free_mem(taken)
proc.free_mem(block)
"""
    assert call_host(kernels, calls) == (0, "done\n", NOTHING)


@pytest.mark.parametrize(
    ("calls", "text"),
    [
        (
            "block = proc.alloc_mem(80); proc.write_mem(block, x, 80)\n"
            "library.sum(context, block, 11).wait_result()",
            "bounds: 'ld' reads 8 bytes at ADDRESS, 0 bytes after a block of 80 bytes that the host"
            " allocated",
        ),
        (
            "library.fill(context, veo.OnStack(x, inout=veo.INTENT_OUT), 12, 12).wait_result()",
            "bounds: 'vst' writes 8 bytes at ADDRESS for element 10, 0 bytes after a stack argument"
            " of 80 bytes",
        ),
        (
            "library.fill(context, veo.OnStack(x, inout=veo.INTENT_OUT), 4, 10).wait_result()",
            "uninitialised: 'vst' stores, where the host reads it, elements 4-9 of %vN, which was"
            " last written with a length of 4",
        ),
        (
            "taken = library.take(context, 10).wait_result(); proc.free_mem(taken)\n"
            "library.sum(context, taken, 1).wait_result()",
            "bounds: 'ld' reads 8 bytes at ADDRESS, 0 bytes into a freed block of 80 bytes",
        ),
    ],
)
def test_the_host_ends_with_the_status_that_is_asked_for(kernels, calls, text):
    status, out, report = call_host(kernels, calls)
    assert (status, out) == (9, "done\n")
    assert report.splitlines()[0] == "== VE k.o: " + text
    assert "of which" in report.splitlines()[-1]


def test_a_host_with_no_code_of_the_vector_engine_is_told():
    source = "import veo\nwith veo.VeoProc(0) as proc: pass"
    done = subprocess.run(
        [sys.executable, "-c", source],
        env={**os.environ, "VEO_CHECK": "all"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0
    assert "[VE] VEO_CHECK=all has checked nothing in this process, as it ran no" in done.stderr


def test_checks_and_traces_and_reports_go_together(run, tmp_path, monkeypatch):
    monkeypatch.setenv("VEORUN_TRACE", str(tmp_path / "trace"))
    monkeypatch.setenv("VEO_SOFT_REPORT", str(tmp_path / "report"))
    assert first(run("int *p = malloc(8); p[2] = 1; return 0;", flags="-O0")).startswith(
        "bounds: 'stl'"
    )
    assert "stl" in (tmp_path / "trace").read_text()
    assert ",total," in (tmp_path / "report").read_text()


def test_results_are_those_without_checks(kernels, monkeypatch):
    x = np.random.default_rng(1).normal(size=300)
    results = []
    for check in ("", "all"):
        monkeypatch.setenv("VEO_CHECK", check)
        with veo.VeoProc(0) as proc:
            library = proc.load_library(kernels)
            library.sum.ret_type("double")
            with proc.open_context() as context:
                results.append(library.sum(context, veo.OnStack(x), len(x)).wait_result())
    assert results[0] == results[1]


EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.mark.parametrize(
    "name", ["veo_async", "veo_hello", "veo_stack_args", "veo_static", "veo_ve_code"]
)
def test_examples_are_right(name, tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"],
        cwd=tmp_path,
        env={**os.environ, "VEBUILD_TARGET": "ve", "VEO_CHECK": "all,exit=9"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert NOTHING in done.stderr


# --- for CI ---


def test_logs_become_sarif_and_junit(run, tmp_path, monkeypatch, capsys):
    log = tmp_path / "log"
    run(TWO, check=f"all,log={log}")
    monkeypatch.chdir(tmp_path)
    with log.open() as lines:
        first_one, second = read_findings(["host's own line\n", *lines])
    assert (first_one.check, first_one.program) == ("uninitialised", "p.o")
    assert second.text.startswith("bounds: 'stl ") and "0 bytes after a block of 8" in second.text
    assert [(place.what, place.function, place.file, place.line) for place in second.places] == [
        ("", "main", "p.c", 4),
        ("the block was allocated", "main", "p.c", 4),
    ]
    [result] = as_sarif([second])["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("bounds", "error")
    physical = result["locations"][0]["physicalLocation"]
    assert physical == {"artifactLocation": {"uri": "p.c"}, "region": {"startLine": 4}}
    assert 'tests="4" failures="2"' in as_junit([first_one, second])

    assert main([str(log), "--sarif", str(tmp_path / "sarif"), "--junit", "-"]) == 1
    assert "<testsuite" in capsys.readouterr().out
    log.write_text(NOTHING)
    assert main([str(log)]) == 0
    assert capsys.readouterr().out == "0 findings\n"
