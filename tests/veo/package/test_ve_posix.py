# SPDX-License-Identifier: BSD-3-Clause
"""Functions of POSIX and of C's lesser headers that Vector Engine code calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.veo.package.conftest import Run

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)

# Expected is what gcc's program prints on the host, but for basename(), which is POSIX's here.
FUNCTIONS = r"""
#define _GNU_SOURCE
#include <complex.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <libgen.h>
#include <locale.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>
"""


def test_regular_expressions(run: Run) -> None:
    source = (
        FUNCTIONS
        + r"""
        int main(void)
        {
            regex_t e;
            regmatch_t m[4];
            char text[64];
            printf("%d ", regcomp(&e, "([A-Z]+)=(x)?([0-9]+)", REG_EXTENDED | REG_ICASE));
            printf("%zu %d", e.re_nsub, regexec(&e, "..key=42.", 4, m, 0));
            for (int i = 0; i < 4; i++)
                printf(" %d-%d", m[i].rm_so, m[i].rm_eo);
            printf(" %d", regexec(&e, "nothing", 4, m, 0) == REG_NOMATCH);
            regfree(&e);
            int bad = regcomp(&e, "(", REG_EXTENDED);
            regerror(bad, &e, text, sizeof text);
            printf(" %d %s\n", bad == REG_EPAREN, text);
        }
    """
    )
    expected = "0 3 0 2-8 2-5 -1--1 6-8 1 1 Unmatched ( or \\(\n"
    assert run(source).stdout == expected


def test_wide_characters(run: Run) -> None:
    source = (
        FUNCTIONS
        + r"""
        static int print(const wchar_t *format, ...)
        {
            __builtin_va_list list;
            __builtin_va_start(list, format);
            return vwprintf(format, list);
        }
        int main(void)
        {
            wchar_t w[32];
            setlocale(LC_ALL, "C.UTF-8");
            wcscpy(w, L"h\u00e9");
            wcscat(w, L"llo");
            wprintf(L"%d %d %d ", wcscmp(w, L"h\u00e9llo"), iswalpha(w[1]) != 0,
                    towupper(w[1]) == L'\u00c9');
            wprintf(L"%d %ls ", swprintf(w, 32, L"%d-%ls", 7, L"\u00e9"), w);
            wprintf(L"%d %ls|", swprintf(w, 3, L"%d", 1234), w);
            print(L"%d %5.2f %lc\n", fwprintf(stdout, L"<%s>", "s"), 2.5, L'\u00e9');
            fflush(stdout);
            printf("%d\n", fwide(stdout, 0) > 0);
        }
    """
    )
    assert run(source).stdout == "0 1 1 3 7-é -1 7-é|<s>3  2.50 é\n"


def test_rounding_modes_and_flags(run: Run) -> None:
    source = (
        FUNCTIONS
        + r"""
        static volatile double one = 1, three = 3, zero = 0, sink;
        int main(void)
        {
            const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
            fenv_t held;
            fexcept_t flags;
            for (int i = 0; i < 4; i++) {
                int result = fesetround(modes[i]);
                printf("%d%d %a ", result, fegetround() == modes[i], -one / three);
            }
            printf("%d\n", fesetround(12));
            fesetround(FE_TONEAREST);
            feclearexcept(FE_ALL_EXCEPT);
            printf("%d", fetestexcept(FE_ALL_EXCEPT));
            sink = one / zero;
            printf("%d", fetestexcept(FE_ALL_EXCEPT) == FE_DIVBYZERO);
            fegetexceptflag(&flags, FE_DIVBYZERO);
            fesetround(FE_UPWARD);
            feholdexcept(&held);
            printf("%d%d", fetestexcept(FE_ALL_EXCEPT), fegetround() == FE_UPWARD);
            fesetround(FE_DOWNWARD);
            sink = one / three;
            printf("%d", fetestexcept(FE_ALL_EXCEPT) == FE_INEXACT);
            feupdateenv(&held);
            printf("%d", fetestexcept(FE_ALL_EXCEPT) == (FE_INEXACT | FE_DIVBYZERO));
            printf("%d", fegetround() == FE_UPWARD);
            fesetenv(FE_DFL_ENV);
            printf("%d%d", fetestexcept(FE_ALL_EXCEPT), fegetround() == FE_TONEAREST);
            fesetexceptflag(&flags, FE_DIVBYZERO | FE_INEXACT);
            feraiseexcept(FE_INVALID);
            printf("%d", fetestexcept(FE_ALL_EXCEPT) == (FE_DIVBYZERO | FE_INVALID));
            fegetenv(&held);
            feclearexcept(FE_INVALID);
            fesetenv(&held);
            printf("%d\n", fetestexcept(FE_INVALID) == FE_INVALID);
        }
    """
    )
    assert run(source, flags="-O1 -fno-builtin").stdout == (
        "01 -0x1.5555555555555p-2 01 -0x1.5555555555555p-2 01 -0x1.5555555555556p-2 "
        "01 -0x1.5555555555555p-2 -1\n01011110111\n"
    )


def test_long_double_and_its_complex_numbers(run: Run) -> None:
    source = (
        FUNCTIONS
        + r"""
        static void show(long double complex z) { printf("%.12Lg %.12Lg|", creall(z), cimagl(z)); }
        int main(void)
        {
            volatile long double l = 2.5L;
            volatile long double complex z = 1 + 2 * I, u = 3 - 1 * I;
            long double whole, sine, cosine;
            int n, q;
            long double fraction = frexpl(l, &n), part = modfl(-l, &whole);
            sincosl(l, &sine, &cosine);
            printf("%.15Lg %.15Lg %d %.15Lg %.15Lg ", cbrtl(l), fraction, n, part, whole);
            printf("%ld %.15Lg %.12Lg %.12Lg\n", lroundl(l), hypotl(3, 4), sine, cosine);
            printf("%a %a %.15Lg ", nexttoward(1.0, 2), nexttowardf(1.0f, 0), ldexpl(l, -3));
            printf("%.15Lg %d %.15Lg ", remquol(29, 3, &q), q & 7, fmal(l, 2, -1));
            printf("%d %d %d\n", ilogbl(l), __signbitl(-l) != 0, __fpclassifyl(l) == FP_NORMAL);
            show(z * u); show(z / u); show(csqrtl(z)); show(cpowl(z, u)); show(conjl(z));
            printf("%.12Lg %.12Lg\n", cabsl(z), cargl(z));
        }
    """
    )
    assert run(source, flags="-O1 -fno-builtin").stdout.splitlines() == [
        "1.35720880829745 0.625 2 -0.5 -2 3 5 0.598472144104 -0.801143615547",
        "0x1.0000000000001p+0 0x1.fffffep-1 0.3125 -1 2 4 1 1 1",
        "5 5|0.1 0.7|1.27201964951 0.786151377757|-27.4363819916 19.789310365|1 -2|"
        "2.2360679775 1.10714871779",
    ]


def test_files_sorting_and_warnings(run: Run, tmp_path: Path) -> None:
    source = (
        FUNCTIONS
        + r"""
        static int order(const void *a, const void *b, void *by)
        {
            return (*(const int *)a - *(const int *)b) * *(int *)by;
        }
        static int ascending(const void *a, const void *b)
        {
            return *(const int *)a - *(const int *)b;
        }
        int main(void)
        {
            int x[] = {3, 1, 2}, by = -1, odd[] = {1, 3, 5, 7};
            char path[] = "/usr/lib/", bytes[8] = "";
            struct stat status;
            qsort_r(x, 3, sizeof *x, order, &by);
            printf("%d%d%d ", x[0], x[1], x[2]);
            for (int key = 0; key < 9; key++) {
                int *found = bsearch(&key, odd, 4, sizeof *odd, ascending);
                printf(found != NULL ? "%d" : "-", (int)(found - odd));
            }
            printf(" %s ", basename(path));
            printf("%s ", dirname(path));
            int fd = openat(AT_FDCWD, "FILE", O_RDWR | O_CREAT, 0600);
            printf("%ld ", (long)pwrite(fd, "abcdef", 6, 2));
            printf("%ld %s ", (long)pread(fd, bytes, 3, 4), bytes);
            printf("%d %d ", fchmod(fd, 0640), fstatat(AT_FDCWD, "FILE", &status, 0));
            printf("%o %ld\n", status.st_mode & 0777, (long)status.st_size);
            srand48(7);
            long first = mrand48();
            srand48(7);
            printf("%d\n", mrand48() == first && first != lrand48());
            fflush(stdout);
            errno = ENOENT;
            warn("w %d", 1);
            warnx("x %s", "y");
            errx(3, "end %d", 5);
        }
    """
    )
    done = run(source.replace('FILE"', f'{tmp_path}/file"'))
    assert done.stdout == "321 -0-1-2-3- lib /usr 6 3 cde 0 0 640 8\n1\n"
    assert done.returncode == 3
    assert done.stderr.replace("veorun: ", "").splitlines() == [
        "w 1: No such file or directory",
        "x y",
        "end 5",
    ]


def test_lists_of_arguments_are_written_and_read(run: Run) -> None:
    source = (
        FUNCTIONS
        + r"""
        #include <stdarg.h>
        static void into(FILE *file, const char *format, ...)
        {
            va_list list;
            va_start(list, format);
            vfprintf(file, format, list);
            va_end(list);
        }
        static int from_text(const char *text, const char *format, ...)
        {
            va_list list;
            va_start(list, format);
            int found = vsscanf(text, format, list);
            va_end(list);
            return found;
        }
        static int from_file(FILE *file, const char *format, ...)
        {
            va_list list;
            va_start(list, format);
            int found = vfscanf(file, format, list);
            va_end(list);
            return found;
        }
        int main(void)
        {
            char word[16];
            int ends[2], i = 0, n;
            double d = 0;
            float f = 0;
            long l = 0;
            if (pipe(ends) || write(ends[1], "12 3.5 word rest -7 0x1f 2.25 99", 32) != 32)
                return 1;
            close(ends[1]);
            dup2(ends[0], 0);
            n = scanf("%d %lf %9s", &i, &d, word);
            printf("%d: %d %g %s\n", n, i, d, word);
            n = from_file(stdin, " rest %d %li %f %d %d", &i, &l, &f, &n, &n);
            printf("%d: %d %ld %g\n", n, i, l, f);
            n = from_text("5,x", "%d,%d", &i, &n);
            printf("%d: %d\n", n, i);
            into(stdout, "%d %s %.2f\n", n, "list", 1.5);
            fflush(stdout);
            n = dprintf(1, "%s=%05d\n", "n", 42);
            printf("%d\n", n);
        }
    """
    )
    expected = "3: 12 3.5 word\n4: -7 31 2.25\n1: 5\n1 list 1.50\nn=00042\n8\n"
    assert run(source).stdout == expected


def test_quotients_messages_locales_and_what_is_called_once(run: Run) -> None:
    source = (
        FUNCTIONS
        + r"""
        #include <inttypes.h>
        #include <pthread.h>
        #include <string.h>
        static int calls;
        static void call(void) { calls++; }
        int main(void)
        {
            static pthread_once_t once = PTHREAD_ONCE_INIT;
            char text[64];
            ldiv_t q = ldiv(-17, 5);
            lldiv_t r = lldiv(17, -5);
            imaxdiv_t s = imaxdiv(INTMAX_MIN, 10);
            printf("%ld %ld %lld %lld %jd %jd, ", q.quot, q.rem, r.quot, r.rem, s.quot, s.rem);
            printf("%d ", strerror_r(ENOENT, text, 5) == ERANGE);
            printf("%s, ", text);
            printf("%d ", strerror_r(ENOENT, text, sizeof text));
            printf("%s, ", text);
            locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
            printf("%d %d, ", c != 0, newlocale(LC_ALL_MASK, "no such", (locale_t)0) == 0);
            freelocale(c);
            for (int i = 0; i < 3; i++)
                pthread_once(&once, call);
            printf("%d\n", calls);
        }
    """
    )
    expected = "-3 -2 -3 2 -922337203685477580 -8, 1 No s, 0 No such file or directory, 1 1, 1\n"
    assert run(source).stdout == expected
