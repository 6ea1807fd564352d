# SPDX-License-Identifier: BSD-3-Clause
"""VEO_CHECK in processes of host programs, and its logs."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import veo
from tests.veo.support.checks import NOTHING, Run, first, masked, run_checked
from veo.checks import as_junit, as_sarif, main, read_findings
from veo.ve_clang import clang_command

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return functools.partial(run_checked, tmp_path)


TWO = 'int *p = malloc(8); if (*p > 3) puts("x"); p[2] = 1; return 0;'


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
void pass(long *wide, int *narrow, const volatile long *p, const volatile int *q)
{
    *wide = *p;
    *narrow = *q;
}
void pass_own(long *wide, int *narrow)
{
    pass(wide, narrow, malloc(8), malloc(4));
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


def test_what_the_host_reads_and_nobody_wrote_is_told(kernels):
    calls = """
block = proc.alloc_mem(16)
library.pass_own(context, int(block), int(block) + 8).wait_result()
proc.free_mem(block)"""
    status, _, report = call_host(kernels, calls)
    assert status == 9
    told = [line for line in report.splitlines() if line.startswith("== VE ")]
    where = "stores, where the host reads it, %sN, which was never written"
    assert [line.partition(", or")[0] for line in told] == [
        f"== VE k.o: uninitialised: 'st' {where}",
        f"== VE k.o: uninitialised: 'stl' {where}",
    ]


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
    assert main([str(log), "--json"]) == 1
    assert [found["check"] for found in json.loads(capsys.readouterr().out)] == [
        "uninitialised",
        "bounds",
    ]
    log.write_text(NOTHING)
    assert main([str(log)]) == 0
    assert capsys.readouterr().out == "0 findings\n"
