# SPDX-License-Identifier: BSD-3-Clause
"""VEO_CHECK: its words, code that is right, host programs, and logs."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from tests.veo.support.checks import NOTHING, Run, run_checked

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return functools.partial(run_checked, tmp_path)


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


def test_what_functions_and_system_calls_write_counts_as_written(run):
    functions = """#include <stdarg.h>
static int scan(const char *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int count = vsscanf(text, format, list);
    va_end(list);
    return count;
}
static long call(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("ld %%s61, 24(, %%s14)\\n shm.l %1, (%%s61)\\n shm.l %2, 8(%%s61)\\n"
                     " shm.l %3, 16(%%s61)\\n shm.l %4, 24(%%s61)\\n monc\\n or %0, 0, %%s0"
                     : "=r"(result) : "r"(number), "r"(a), "r"(b), "r"(c) : "s0", "s61", "memory");
    return result;
}"""
    body = """
    int a[10], b, ends[2];
    char *text = malloc(4000);
    if (sscanf("1 2 3 4 5 6 7 8 9 10", "%d%d%d%d%d%d%d%d%d%d", a, a + 1, a + 2, a + 3, a + 4, a + 5,
               a + 6, a + 7, a + 8, a + 9) != 10 || a[9] != 10 || a[2] != 3)
        return 1;
    if (scan("12", "%d", &b) != 1 || b != 12)
        return 2;
    if (pipe(ends) != 0 || write(ends[1], "abcd", 4) != 4 || call(0, ends[0], (long)text, 4) != 4)
        return 3;
    return text[3] != 'd';"""
    assert run(body, functions) == (0, NOTHING)


def test_formats_that_write_or_name_an_error_are_right(run):
    body = r"""
    int first, second;
    char text[40];
    printf("abc%n\n", &first);
    snprintf(text, sizeof text, "%d%n", 12, &second);
    printf("%s: %m\n", text);
    return first != 3 || second != 2;"""
    for flags in ("-O0", "-O2"):
        assert run(body, flags=flags) == (0, NOTHING)


def test_memory_that_files_write_into_is_right(run):
    body = r"""
    char small[100], *large = malloc(700), *grown;
    size_t size;
    int count = 0;
    FILE *file = fmemopen(small, sizeof small, "w");
    fprintf(file, "%2$s %1$d", 5, "text");
    fflush(file);
    if (small[0] != 't')
        return 1;
    fputs(" more", file);
    fclose(file);
    file = fmemopen(large, 700, "w+");
    for (int i = 0; i < 600; i++)
        fputc('a' + i % 26, file);
    fclose(file);
    for (int i = 0; i < 600; i++)
        count += large[i] == 'c';
    free(large);
    file = open_memstream(&grown, &size);
    for (int i = 0; i < 5000; i++)
        fputc('z', file);
    fclose(file);
    for (size_t i = 0; i < size; i++)
        count += grown[i] == 'z';
    free(grown);
    return count != 5023 || strcmp(small, "text 5 more") != 0;"""
    for flags in ("-O0", "-O2"):
        assert run(body, flags=flags) == (0, NOTHING)


def test_sorted_elements_may_have_parts_that_were_never_written(run):
    functions = """struct row { int key, has, extra; };
static int compare(const void *a, const void *b)
{
    return ((const struct row *)a)->key - ((const struct row *)b)->key;
}"""
    body = """
    struct row *rows = malloc(20 * sizeof *rows);
    int sum = 0;
    for (int i = 0; i < 20; i++) {
        rows[i].key = i * 7 % 20;
        rows[i].has = i % 3 == 0;
        if (rows[i].has)
            rows[i].extra = i;
    }
    qsort(rows, 20, sizeof *rows, compare);
    for (int i = 0; i < 20; i++)
        if (rows[i].has && rows[i].extra > 3)
            sum += rows[i].extra;
    return sum != 60;"""
    assert run(body, functions) == (0, NOTHING)


def test_long_strings_of_all_kinds_are_right(run):
    functions = """#include <stdarg.h>
#include <wchar.h>
static void format(char *to, size_t size, const char *how, ...)
{
    va_list list;
    va_start(list, how);
    vsnprintf(to, size, how, list);
    va_end(list);
}"""
    body = """
    enum { SIZE = 3000 };
    char *text = malloc(SIZE), *made = malloc(2 * SIZE);
    wchar_t *wide = malloc(2 * SIZE * sizeof *wide), *other = malloc(2 * SIZE * sizeof *other);
    memset(text, 'a', SIZE - 1);
    text[SIZE - 1] = 0;
    format(made, 2 * SIZE, "%s!", text);
    strncat(made, "hello", 3);
    if (strlen(made) != SIZE + 3 || made[SIZE + 2] != 'l')
        return 1;
    wmemset(wide, L'x', SIZE);
    wide[SIZE] = 0;
    wcscpy(other, wide);
    wcsncat(other, L"yes", 1);
    wcscat(other, L"z");
    if (other[SIZE - 1] != L'x' || other[SIZE + 1] != L'z' || other[SIZE + 2] != 0)
        return 2;
    return mbstowcs(wide, text, SIZE) != SIZE - 1 || wide[SIZE - 2] != L'a';"""
    assert run(body, functions) == (0, NOTHING)


@pytest.mark.parametrize("memory", ["malloc(3000)", "(char[3000]){0}", "stack"])
def test_long_strings_that_are_scanned_are_right(run, memory):
    body = """
    char stack[3000], *from = malloc(3000), *to = MEMORY;
    memset(from, 'x', 2500);
    from[2500] = 0;
    return sscanf(from, "%2999s", to) != 1 || strlen(to) != 2500 || to[2499] != 'x';"""
    assert run(body.replace("MEMORY", memory)) == (0, NOTHING)


def test_what_a_call_finds_by_addresses_in_structures_is_right(run):
    functions = "#include <iconv.h>\n#include <poll.h>\n#include <sys/uio.h>"
    body = """
    int ends[2];
    char *a = malloc(2000), *b = malloc(2000), *from = a, *to = b;
    struct iovec pieces[2] = {{a, 1000}, {b, 1000}};
    struct pollfd *files = malloc(100 * sizeof *files);
    if (pipe(ends) != 0 || write(ends[1], memset(malloc(2000), 7, 2000), 2000) != 2000)
        return 1;
    if (readv(ends[0], pieces, 2) != 2000 || a[999] != 7 || b[999] != 7)
        return 2;
    for (int i = 0; i < 100; i++) {
        files[i].fd = ends[1];
        files[i].events = POLLOUT;
    }
    if (poll(files, 100, 0) != 100 || files[99].revents != POLLOUT)
        return 3;
    size_t in = 1000, out = 2000;
    iconv_t way = iconv_open("UTF-16LE", "ASCII");
    if (iconv(way, &from, &in, &to, &out) != 0 || b[1998] != 7)
        return 4;
    return iconv_close(way);"""
    assert run(body, functions) == (0, NOTHING)


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


def test_a_mask_beyond_the_length_decides_nothing(run):
    body = """
    static long z[16];
    long *p = malloc(128);
    for (int i = 0; i < 8; i++)
        p[i] = 1;
    __vm256 mask = _vel_vfmklgt_mvl(_vel_vld_vssl(8, p, 9), 9);
    __vr v = _vel_vld_vssl(8, z, 16);
    v = _vel_vcp_vvmvl(v, mask, v, 8);
    return _vel_lvsl_svs(_vel_vsuml_vvl(v, 8), 0) != 0;"""
    assert run(body) == (0, NOTHING)
