# SPDX-License-Identifier: BSD-3-Clause
"""Errors in a C unit test are found by the sanitizers, or by its status."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.builds import FOUND_BY_ASAN, UNDER_VALGRIND, compile_as
from tests.support.c_units import run_program

# Errors that the sanitizers, and the check of the status, must find.
PLANTED = {
    "leak": ("asan", "volatile char *p = malloc(10); p[0] = 1; p = NULL; return 0;", "leak"),
    "block": (
        "asan",
        "volatile char *p = calloc((size_t)argc, 9); return p[9 * argc];",
        "heap-buffer-overflow",
    ),
    "number": (
        "asan",
        "volatile int x = 0x7fffffff; x += argc; return x == 1;",
        "signed integer overflow",
    ),
    "result": ("asan", "return argc;", "status 1"),
    "lost": (
        "valgrind",
        "volatile char *p = malloc(10); p[0] = 1; p = NULL; return 0;",
        "definitely lost",
    ),
    "unset": (
        "valgrind",
        "char *volatile p = malloc(10); if (p[3] == argc) exit(3); free(p); return 0;",
        "uninitialised",
    ),
    "race": (
        "tsan",
        "for (int i = 0; i < 8; i++) race(i); return 0;",
        "data race",
    ),
}


@pytest.mark.parametrize(
    ("sanitizer", "body", "report"),
    [
        pytest.param(
            *planted, id=name, marks=FOUND_BY_ASAN if name in ("leak", "block", "number") else ()
        )
        for name, planted in PLANTED.items()
        if (planted[0] == "valgrind") == UNDER_VALGRIND
    ],
)
def test_planted_fault_is_found(
    sanitizer: str,
    body: str,
    report: str,
    tmp_path: Path,
    unrandomised: tuple[str, ...],
    checked: Callable[[Path], Path],
) -> None:
    source = tmp_path / "test_planted.c"
    source.write_text(
        "#include <pthread.h>\n#include <stdlib.h>\nstatic volatile int numbers[8];\n"
        "static void *count(void *number)\n"
        "{ for (int i = 0; i < 1000; i++) ++*(volatile int *)number; return 0; }\n"
        # TSan misses one in some thousand races of two threads, so there are eight.
        "static void race(int i)\n"
        "{ pthread_t t; pthread_create(&t, 0, count, (void *)&numbers[i]);\n"
        "  count((void *)&numbers[i]); pthread_join(t, 0); }\n"
        f"int main(int argc, char **argv) {{ (void)argv; (void)argc; (void)race; {body} }}\n"
    )
    role = "tsan" if sanitizer == "tsan" else "asan"
    program = compile_as(role, source, tmp_path / "planted")
    with pytest.raises(AssertionError, match=report):
        run_program(program, sanitizer, tmp_path, unrandomised, checked)
