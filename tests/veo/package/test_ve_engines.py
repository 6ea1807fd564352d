# SPDX-License-Identifier: BSD-3-Clause
"""Translated Vector Engine code beside interpreted code: results, crashes, traces, ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import veo
from tests.support.full import FULL
from veo.ve_clang import clang_command

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)

VEORUN = Path(veo.__file__).parent / "bin" / "veorun"
PROGRAM = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <velintrin.h>
static long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static unsigned crc(const unsigned char *p, long n)
{
    unsigned c = ~0u;
    while (n-- > 0) {
        c ^= *p++;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
    }
    return ~c;
}
static double series(int n)
{
    double sum = 0;
    float small = 1;
    for (int i = 1; i <= n; i++) {
        sum += i % 3 ? 1.0 / i : -sqrt(i) / 7;
        small = small * 1.0001f - 1.0f / i;
    }
    return sum + small;
}
static double x[1000], y[1000];
static void axpy(double a, long n)
{
    for (long i = 0; i < n; i += 256) {
        int vl = n - i < 256 ? n - i : 256;
        __vr v = _vel_vfmadd_vvsvl(_vel_vld_vssl(8, y + i, vl), a, _vel_vld_vssl(8, x + i, vl), vl);
        _vel_vst_vssl(v, 8, y + i, vl);
    }
}
static int compare(const void *a, const void *b)
{
    unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;
    return (left > right) - (left < right);
}
__attribute__((noinline)) static int look(const int *p, long i) { return p[i * 4096]; }
__attribute__((noinline)) static int walk(const int *p)
{
    int sum = 0;
    for (long i = 0; i < 1 << 30; i++)
        sum += i < 100000 ? look(p, 0) : look(p, i << 20);
    return sum;
}
int main(int argc, char **argv)
{
    static unsigned words[3000];
    static int one;
    int *volatile hidden = &one;
    long n = argc > 2 ? atol(argv[2]) : 20;
    for (int i = 0; i < 3000; i++)
        words[i] = i * 2654435761u;
    for (int i = 0; i < 1000; i++)
        x[i] = i / 7.0, y[i] = 1;
    if (argc > 1 && !strcmp(argv[1], "crash"))
        return walk(hidden);
    if (argc > 1 && !strcmp(argv[1], "forever"))
        for (volatile long k = 0;; k++)
            ;
    for (int i = 0; i < 100; i++)
        axpy(0.001 * i, 1000);
    qsort(words, 3000, sizeof *words, compare);
    unsigned sum = crc((void *)words, sizeof words);
    printf("%ld %x %a %a %u\n", fib(n), sum, series(20000), y[999], words[77]);
}
"""
KERNELS = """
long count(long n, long by) { volatile long x = 0; for (long i = 0; i < n; i++) x += by; return x; }
long forever(long *at) { for (;;) ++*(volatile long *)at; return 0; }
"""


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    def compile(name: str, source: str, flags: str = "-O1 -g") -> str:
        folder = tmp_path_factory.mktemp(name)
        (folder / f"{name}.c").write_text(source)
        command = [*clang_command("C"), *flags.split(), "-c", f"{name}.c", "-o", f"{name}.o"]
        subprocess.run(command, check=True, cwd=folder)
        return str(folder / f"{name}.o")

    return compile


@pytest.fixture(scope="module")
def program(build: Callable[..., str]) -> str:
    return build("program", PROGRAM)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/offchip/translations"


def start(program: str, engine: str, *words: str, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [VEORUN, program, *words],
        env={**os.environ, "VEO_SOFT_ENGINE": engine, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(program: str, engine: str, *words: str, **variables: str) -> tuple[int, str, str]:
    with start(program, engine, *words, **variables) as process:
        out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def without_addresses(text: str) -> str:
    """Replace the addresses of one process, which differ from run to run."""
    return re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", text)


def kept(cache: Path) -> set[str]:
    names = os.listdir(cache) if cache.is_dir() else []
    return {name for name in names if re.fullmatch("[0-9a-f]{64}", name)}


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("flags", ["-O1 -g", *(["-O0", "-O2", "-O3"] if FULL else [])])
def test_engines_print_the_same(build, cache, flags):
    program = build("program", PROGRAM, flags)
    expected = run(program, "interpreter")
    assert expected[0] == 0 and expected[1].startswith("6765 ") and expected[2] == ""
    assert not kept(cache)
    assert run(program, "translated") == expected
    first = kept(cache)
    assert first
    assert run(program, "translated") == expected
    assert kept(cache) == first
    assert run(program, "auto") == expected


def test_a_crash_in_translated_code_is_told_as_in_the_interpreter(program, cache):
    code, out, report = run(program, "interpreter", "crash")
    assert (code, out) == (signal.SIGSEGV, "")
    lines = PROGRAM.split("\n")
    for function, line in [
        ("look", "p[i * 4096]"),
        ("walk", "look(p, 0)"),
        ("main", "walk(hidden)"),
    ]:
        number = next(i for i, text in enumerate(lines, 1) if line in text)
        assert re.search(rf"VE .* {function}\+0x.*program.c:{number}\n?", report), report
    assert not kept(cache)
    translated = run(program, "translated", "crash")
    assert kept(cache)
    assert (translated[0], translated[1]) == (code, out)
    assert without_addresses(translated[2]) == without_addresses(report)


def test_traces_and_reports_are_those_of_the_interpreter(program, cache, tmp_path):
    traces, reports = [], []
    for engine in ("interpreter", "translated"):
        trace, report = tmp_path / f"{engine}.trace", tmp_path / f"{engine}.csv"
        variables = {"VEORUN_TRACE": str(trace), "VEO_SOFT_REPORT": str(report)}
        code, _, err = run(program, engine, "short", "5", **variables)
        assert (code, err) == (0, "")
        # Results may be addresses, and immediates what these are made of.
        text = re.sub(r"-?\d{5,}", "IMMEDIATE", trace.read_text())
        traces.append([line.split(":")[1].split("  ")[0] for line in text.splitlines()])
        reports.append(re.sub(r"(?m)^\d+,", "", report.read_text()))
    assert len(traces[0]) > 100000
    assert traces[0] == traces[1]
    assert reports[0] == reports[1]


def test_processes_that_translate_at_once_do_not_disturb_each_other(program, cache):
    expected = run(program, "interpreter")
    processes = [start(program, "translated") for _ in range(3)]
    for process in processes:
        with process:
            out, err = process.communicate(timeout=300)
        assert (process.returncode, out, err) == expected
    before = {name: (cache / name).stat().st_mtime_ns for name in kept(cache)}
    assert before
    assert run(program, "translated") == expected
    assert set(before) == kept(cache)


def test_what_is_damaged_in_the_cache_is_replaced(program, cache):
    expected = run(program, "translated")
    names = kept(cache)
    good = {name: (cache / name).read_bytes() for name in names}
    for name, data in good.items():
        (cache / name).write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert run(program, "translated") == expected
    for name, data in good.items():
        assert len((cache / name).read_bytes()) == len(data)
        assert (cache / name).read_bytes()[-1] == data[-1]


def test_a_folder_that_others_can_write_to_is_not_used(program, cache, tmp_path):
    expected = run(program, "translated")
    names = kept(cache)
    for name in names:
        (cache / name).unlink()
    (tmp_path / "cache").chmod(0o777)
    assert run(program, "translated") == expected
    assert not kept(cache)


def test_without_a_compiler_code_is_interpreted_and_that_is_told(program, cache):
    expected = run(program, "interpreter")
    assert run(program, "auto", VEO_SOFT_CC="") == expected
    code, out, err = run(program, "translated", VEO_SOFT_CC="")
    assert (code, out) == expected[:2]
    assert err == (
        "[VE] WARNING: VEO_SOFT_ENGINE=translated needs a C compiler of the host, and there is"
        " none, so code is interpreted: install gcc, clang or zig, or name one in VEO_SOFT_CC\n"
    )
    assert not kept(cache)


def test_a_compiler_that_fails_leaves_code_interpreted(program, cache):
    assert run(program, "translated", VEO_SOFT_CC="false") == run(program, "interpreter")
    assert not kept(cache)


def test_a_program_ends_while_its_code_is_compiled(program, cache, tmp_path):
    compiler, started = tmp_path / "compiler", tmp_path / "started"
    script = f"echo $$ >{started}.new\nmv {started}.new {started}\nsleep 1000\n"
    compiler.write_text(f"#!/bin/sh\n{script}")
    compiler.chmod(0o755)
    # On a busy machine a short program may end before its compiler has begun.
    number = 33
    while not started.exists():
        expected = run(program, "interpreter", "long", str(number))
        assert run(program, "auto", "long", str(number), VEO_SOFT_CC=str(compiler)) == expected
        number += 1
    pid = int(started.read_text())
    wait_for(lambda: not Path(f"/proc/{pid}").exists())
    assert os.listdir(cache) == []


def test_a_compiler_that_is_not_there_is_an_error(program):
    code, out, err = run(program, "auto", VEO_SOFT_CC="no-such-compiler")
    assert code != 0 and out == ""
    assert "VEO_SOFT_CC=no-such-compiler is not allowed: its first word is no program" in err


def test_an_engine_that_is_not_there_is_an_error(program):
    code, out, err = run(program, "fast")
    assert code != 0 and out == ""
    assert "VEO_SOFT_ENGINE=fast is not allowed: it takes auto, interpreter or translated" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_translated_loop_without_an_end(program, cache, number):
    with start(program, "translated", "forever") as process:
        wait_for(lambda: kept(cache))
        process.send_signal(number)
        assert process.wait(60) in (-number, 128 + number)


@pytest.fixture
def translated(cache, monkeypatch) -> Iterator[Path]:
    monkeypatch.setenv("VEO_SOFT_ENGINE", "translated")
    return cache


def test_a_translated_kernel_without_an_end_has_limits(translated, make_proc, build):
    proc = make_proc()
    function = proc.load_library(build("kernels", KERNELS)).forever
    function.args_type("void *")
    function.ret_type("long")
    at = proc.alloc_mem(8)
    request = function(proc.open_context(), at)
    with pytest.raises(veo.VeoTimeoutError, match="forever"):
        request.wait_result(0.2)
    wait_for(lambda: kept(translated))
    with pytest.raises(veo.VeoTimeoutError, match="forever"):
        request.wait_result(0.2)
    started = time.monotonic()
    proc.close()
    assert time.monotonic() - started < 30


def test_libraries_come_and_go_where_translated_code_was(translated, make_proc, build):
    proc = make_proc()
    ctx = proc.open_context()
    paths = [
        build(f"library{by}", KERNELS.replace("x += by", f"x += by * {by}")) for by in (1, 2, 3)
    ]
    for round in range(3):
        for by, path in enumerate(paths, 1):
            library = proc.load_library(path)
            function = library.count
            function.args_type("long", "long")
            function.ret_type("long")
            assert function(ctx, 20000, round).wait_result(120) == 20000 * round * by
            proc.unload_library(library)
    assert kept(translated)
