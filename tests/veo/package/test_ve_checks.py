# SPDX-License-Identifier: BSD-3-Clause
"""VEO_CHECK: mistakes that are found in Vector Engine code."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from tests.veo.support.checks import NOTHING, Run, first, masked, run_checked

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)

MADE = "which was never written, or computed from what was not"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return functools.partial(run_checked, tmp_path)


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
            "static long z[16]; long *p = malloc(128);"
            " for (int i = 0; i < 16; i++) if (i != 5) p[i] = 1;"
            " __vm256 m = _vel_vfmklgt_mvl(_vel_vld_vssl(8, p, 16), 16);"
            " __vr v = _vel_vld_vssl(8, z, 16); v = _vel_vmv_vsvmvl(1, v, m, v, 10);"
            " return _vel_lvsl_svs(_vel_vsuml_vvl(v, 10), 0) == 77;",
            "'vsum.l' takes in element 4 of %vN, which was never written, "
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


def test_addresses_that_were_never_written_are_told_once(run):
    body = """
    static long t[4];
    long *p = malloc(64);
    __vr v = _vel_vld_vssl(8, p, 4);
    v = _vel_vaddsl_vsvl((long)t, _vel_vxor_vvvl(v, v, 4), 4);
    long sum = 0;
    for (int i = 0; i < 2; i++) {
        sum += _vel_lvsl_svs(_vel_vsuml_vvl(_vel_vgt_vvssl(v, 0, 0, 4), 4), 0);
        sum += _vel_lvsl_svs(_vel_vsuml_vvl(_vel_vgtnc_vvssl(v, 0, 0, 4), 4), 0);
    }
    return sum != 0;"""
    report = run(body)
    assert report[0] == 0
    told = f"takes an address from elements 0-3 of %vN, {MADE}".replace("was never", "were never")
    assert first(report) == f"uninitialised: 'vgt' {told}"
    assert report[1].endswith("== 1 found, of which 0 are repeated or too many to be shown\n")


def test_bits_that_do_not_depend_on_operands_are_defined(run):
    body = """
    long *p = malloc(2048);
    __vr v = _vel_vld_vssl(8, p, 256);
    long low = _vel_lvsl_svs(_vel_vsuml_vvl(_vel_vand_vsvl(0, v, 256), 256), 0);
    long all = _vel_lvsl_svs(_vel_vsuml_vvl(_vel_vor_vsvl(-1, v, 256), 256), 0);
    return low != 0 || all != -256;"""
    assert run(body) == (0, NOTHING)


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


def test_a_store_reads_a_vector(run):
    functions = """static double y[256];
double f(const double *p) {
    _vel_vst_vssl(_vel_vld_vssl(8, p, 256), 8, y, 256);
    return _vel_lvsd_svs(_vel_vfsumd_vvl(_vel_vld_vssl(8, p, 10), 256), 0);
}"""
    text = first(run("static double x[256]; return f(x) > 1;", functions))
    assert "elements 10-255 of" in text


def test_elements_of_a_vector_that_was_read_are_kept_by_masks_and_sums(run):
    functions = """double sum(const double *p) {
    __vr v = _vel_vld_vssl(8, p, 256);
    double first = _vel_lvsd_svs(_vel_vfsumd_vvl(v, 256), 0);
    __vr one = _vel_vbrdd_vsl(1, 256);
    __vm256 mask = _vel_vfmkdgt_mvl(one, 256);
    v = _vel_vfaddd_vvvvl(v, one, v, 10);
    first += _vel_lvsd_svs(_vel_vfsumd_vvl(v, 256), 0);
    v = _vel_vfaddd_vvvmvl(one, one, mask, v, 10);
    return first + _vel_lvsd_svs(_vel_vfsumd_vvl(v, 256), 0);
}"""
    assert run("static double x[256]; return sum(x) != 30;", functions) == (0, NOTHING)


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
            'char *p = calloc(8, 1); strcpy(p, "abcdef"); strncat(p, "xyz", 2);',
            "strncat() writes 3 bytes",
            "0 bytes after a block of 8",
        ),
        (
            'char *p = calloc(8, 1); strcpy(p, "abcdef"); strncat(p, "xy", 9);',
            "strncat() writes 3 bytes",
            "0 bytes after a block of 8",
        ),
        (
            'char *p = calloc(8, 1); strcpy(p, "abcdef"); strcat(p, "xy");',
            "strcat() writes 3 bytes",
            "0 bytes after a block of 8",
        ),
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


def test_functions_that_read_are_told_as_such(run):
    text = first(run('return memcmp(calloc(4, 1), "abcdefgh", 8) & 0;', flags="-O1 -fno-builtin"))
    assert text == "bounds: memcmp() reads 8 bytes at ADDRESS, 0 bytes after a block of 4 bytes"


def test_functions_of_the_heap_are_those_of_the_c_library(run):
    functions = "#include <malloc.h>"
    body = """
    void *block = NULL;
    char *p = aligned_alloc(64, 100), *q = memalign(4096, 10), *r = reallocarray(NULL, 3, 5);
    if (posix_memalign(&block, 3, 8) != 22 || posix_memalign(&block, 256, 8) != 0)
        return 1;
    if ((long)block % 256 || (long)p % 64 || (long)q % 4096 || malloc_usable_size(r) < 15)
        return 2;
    memset(p, 7, 100);
    p = realloc(p, 5000);
    if (p[99] != 7 || malloc(-1ul) != NULL || calloc(1ul << 33, 1ul << 33) != NULL)
        return 3;
    free(p), free(q), free(r), free(block), free(NULL);
    return 0;"""
    assert run(body, functions, flags="-O1 -fno-builtin") == (0, NOTHING)


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
