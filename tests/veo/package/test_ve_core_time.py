# SPDX-License-Identifier: BSD-3-Clause
"""Modelled time of Vector Engine code that several cores execute."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import veo
from tests.veo.package.test_ve_engines import wait_for
from veo.report import CallReport, read_report
from veo.ve_clang import clang_command

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)

VEORUN = Path(veo.__file__).parent / "bin" / "veorun"
PROGRAM = """
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <velintrin.h>
__attribute__((noinline)) static void work(long n)
{
    volatile long x = 0;
    while (n-- > 0)
        x++;
}
__attribute__((noinline)) static void fill(double *to, long n)
{
    __vr zero = _vel_vbrdd_vsl(0, 256);
    for (long i = 0; i < n; i++) {
        _vel_vst_vssl(zero, 8, to, 256);
        __asm__ volatile("" ::: "memory");
    }
}
static void *thread(void *n)
{
    work((long)n);
    return 0;
}
static void *thread_that_ends_all(void *n)
{
    work((long)n);
    exit(0);
}
static void *thread_that_exits(void *n)
{
    work((long)n);
    pthread_exit(0);
}
void start_detached(long n, long how)
{
    pthread_t id;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, how);
    pthread_create(&id, &attributes, thread, (void *)n);
    if (how == PTHREAD_CREATE_JOINABLE)
        pthread_detach(id);
}
void region(long n)
{
    _Pragma("omp parallel num_threads(3)") work(n);
}
void start_joinable(pthread_t *id, long n) { pthread_create(id, 0, thread, (void *)n); }
void detach(pthread_t *id) { pthread_detach(*id); }
long kept(pthread_t *id) { return *id != 0; }
#define REGION(how, clauses, ...)     \
    if (strcmp(argv[1], how) == 0) {  \
        _Pragma(clauses) __VA_ARGS__  \
    }
int main(int argc, char **argv)
{
    const long n = atol(argv[2]);
    static double memory[256];
    long sum = 0;
    pthread_t ids[3];
    if (strcmp(argv[1], "levels") == 0) {
        omp_set_max_active_levels(2);
        argv[1] = "nested";
    }
    REGION("region", "omp parallel num_threads(8)", work(n);)
    REGION("serialised", "omp parallel num_threads(8) if (argc > 3)", work(n);)
    REGION("sixteen", "omp parallel num_threads(16)", work(n);)
    REGION("unbalanced", "omp parallel num_threads(8)",
           work(omp_get_thread_num() == 5 ? 3 * n : n);)
    REGION("barrier", "omp parallel num_threads(2)", {
        work(omp_get_thread_num() == 0 ? 2 * n : n);
        _Pragma("omp barrier")
        work(omp_get_thread_num() == 1 ? 2 * n : n);
    })
    REGION("nested", "omp parallel num_threads(2)", {
        work(omp_get_thread_num() == 1 ? n : 0);
        _Pragma("omp parallel num_threads(4)") work(n);
    })
    REGION("twice", "omp parallel num_threads(4)", work(n);)
    REGION("twice", "omp parallel num_threads(4)", work(n);)
    REGION("critical", "omp parallel num_threads(4)", {
        work(n);
        for (int i = 0; i < 10; i++) {
            _Pragma("omp critical") work(n / 10);
        }
    })
    REGION("names", "omp parallel num_threads(2)", {
        if (omp_get_thread_num() == 0) {
            _Pragma("omp critical(one)") work(n);
        } else {
            _Pragma("omp critical(two)") work(n);
        }
    })
    REGION("dynamic", "omp parallel for schedule(dynamic) num_threads(4)",
           for (int i = 0; i < 16; i++) work(i == 0 ? 4 * n : n);)
    REGION("guided", "omp parallel for schedule(guided) num_threads(2)",
           for (int i = 0; i < 8; i++) work(n);)
    REGION("ordered", "omp parallel for ordered schedule(static, 1) num_threads(4)",
           for (int i = 0; i < 8; i++) {
               _Pragma("omp ordered") work(n);
           })
    REGION("doacross", "omp parallel for ordered(1) schedule(static, 1) num_threads(4)",
           for (int i = 0; i < 8; i++) {
               _Pragma("omp ordered depend(sink : i - 1)") work(n);
               _Pragma("omp ordered depend(source)")
           })
    REGION("reduction", "omp parallel for reduction(+ : sum) num_threads(8)",
           for (int i = 0; i < 8; i++) {
               work(n);
               sum += i;
           })
    REGION("fill", "omp parallel num_threads(8)", fill(memory, n);)
    REGION("fill one", "omp parallel num_threads(1)", fill(memory, n);)
    if (strcmp(argv[1], "threads") == 0) {
        for (long i = 0; i < 3; i++)
            pthread_create(&ids[i], 0, i < 2 ? thread : thread_that_exits, (void *)(n * (i + 1)));
        work(n);
        for (int i = 0; i < 3; i++)
            pthread_join(ids[i], 0);
        work(n);
    }
    if (strcmp(argv[1], "one") == 0)
        work(n);
    if (strncmp(argv[1], "exit", 4) == 0) {
        work(n);
        if (strcmp(argv[1], "exit thread") == 0) {
            pthread_create(ids, 0, thread_that_ends_all, (void *)(2 * n));
            pthread_join(*ids, 0);
        }
        if (strcmp(argv[1], "exit main") == 0) {
            pthread_create(ids, 0, thread, (void *)(2 * n));
            pthread_detach(*ids);
            pthread_exit(0);
        }
        exit(0);
    }
    return 0;
}
"""
N = 20_000
# Cycles and instructions of the code around in each thread, which is what clang writes for
# directives. What it calls for them, such as barriers, takes none.
AROUND = 400


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("cores")
    (folder / "program.c").write_text(PROGRAM)
    target = folder / "program.o"
    command = [*clang_command("C"), "-O1", "-fopenmp", "-c", folder / "program.c", "-o", target]
    subprocess.run(command, check=True)
    return str(target)


@pytest.fixture
def run(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., CallReport]:
    report = tmp_path / "report"
    monkeypatch.setenv("VEO_SOFT_REPORT", str(report))

    def run(how: str, n: int = N) -> CallReport:
        report.unlink(missing_ok=True)
        subprocess.run([VEORUN, program, how, str(n)], check=True, timeout=120)
        call, total = read_report(report)
        assert (call.cycles, call.instructions) == (total.cycles, total.instructions)
        return call

    return run


@pytest.mark.parametrize(
    ("how", "parts", "threads"),
    [
        # Cycles, and what all cores do, in those of work(N).
        ("region", 1, 8),
        ("serialised", 1, 1),
        ("twice", 2, 8),
        ("unbalanced", 3, 10),
        ("barrier", 4, 6),
        ("nested", 2, 3),
        ("levels", 2, 9),
        # The eight cores of a Vector Engine have two threads each.
        ("sixteen", 2, 16),
        # The first piece takes four, and the three other threads share the fifteen that follow.
        ("dynamic", 5, 19),
        ("guided", 4, 8),
        ("ordered", 8, 8),
        ("doacross", 8, 8),
        ("reduction", 1, 8),
        ("names", 1, 2),
    ],
)
def test_region_takes_as_long_as_its_slowest_core(run, how, parts, threads):
    one, call = run("one"), run(how)
    assert call.cycles == pytest.approx(parts * one.cycles, abs=parts * AROUND)
    assert call.instructions == pytest.approx(threads * one.instructions, abs=threads * AROUND)
    cores = call.core_seconds / one.seconds
    assert cores == pytest.approx(threads, rel=threads * AROUND / one.cycles)
    assert call.average_cores == pytest.approx(threads / parts, rel=0.02)


@pytest.mark.parametrize(
    ("how", "calls", "total"),
    [
        ("exit", [1], 1),
        # The total has the two threads beside each other, which nobody joins.
        ("exit main", [1], 3),
        # The thread that calls exit() is no call, and main() does not end.
        ("exit thread", [], 2),
    ],
)
def test_call_that_exit_ends_is_reported(run, program, tmp_path, how, calls, total):
    one = run("one").instructions
    path = tmp_path / "report"
    path.unlink()
    subprocess.run([VEORUN, program, how, str(N)], check=True, timeout=120)
    *found, whole = read_report(path)
    assert [call.function for call in found] == ["main"] * len(calls)
    assert [call.instructions for call in found] == pytest.approx(
        [one * n for n in calls], abs=AROUND
    )
    assert whole.instructions == pytest.approx(one * total, abs=2 * AROUND)


def test_critical_sections_are_one_after_the_other(run):
    one, call = run("one"), run("critical")
    # All come to their first section at the same time.
    assert call.cycles == pytest.approx(5 * one.cycles, abs=5 * AROUND)
    assert call.core_seconds == pytest.approx(8 * one.seconds, rel=0.02)


def test_times_are_the_same_each_time(run):
    assert len({run("dynamic", 500).cycles for _ in range(4)}) == 1


def test_cores_share_the_bandwidth_of_the_cache(run):
    n = 4000
    one, all_of_them = run("fill one", n), run("fill", n)
    assert all_of_them.vector_bytes == 8 * one.vector_bytes == 8 * n * 256 * 8
    # Of a core by itself, the port of the core is the limit.
    assert one.cycles == pytest.approx(one.vector_bytes / 588, rel=0.02)
    assert all_of_them.seconds == pytest.approx(all_of_them.vector_bytes / 3e12, rel=0.02)


def test_join_waits_for_the_thread(run):
    one, call = run("one"), run("threads")
    assert call.cycles == pytest.approx(4 * one.cycles, abs=4 * AROUND)
    assert call.instructions == pytest.approx(8 * one.instructions, abs=8 * AROUND)
    assert call.core_seconds == pytest.approx(8 * one.seconds, rel=0.02)


def test_threads_of_a_region_are_counted_once(program, tmp_path, monkeypatch, make_proc):
    monkeypatch.setenv("VEO_SOFT_REPORT", str(tmp_path / "report"))
    proc = make_proc()
    region = proc.load_library(program).region
    region.args_type("long")
    # The thread of the first context lasts as long as the process.
    _, context = proc.open_context(), proc.open_context()
    for _ in range(2):
        region(context, N).wait_result()
    # Its threads end with the one of the context.
    context.close()
    proc.close()
    first, second, total = read_report(tmp_path / "report")
    assert first.instructions == second.instructions > 3 * 4 * N
    assert second.cycles == pytest.approx(first.cycles, abs=1)
    assert total.instructions == first.instructions + second.instructions


@pytest.mark.parametrize("how", ["joinable", "detached", "later", "never"])
def test_total_has_threads_that_nobody_joins(program, tmp_path, monkeypatch, make_proc, how):
    monkeypatch.setenv("VEO_SOFT_REPORT", str(tmp_path / "report"))
    proc = make_proc()
    library, context = proc.load_library(program), proc.open_context()
    tasks = Path(f"/proc/{proc.pid}/task")
    before = len(list(tasks.iterdir()))
    if how in ("joinable", "detached"):
        library.start_detached.args_type("long", "long")
        library.start_detached(context, N, how == "detached").wait_result()
    else:
        place = proc.alloc_mem(8)
        library.start_joinable.args_type("void *", "long")
        library.start_joinable(context, place, N).wait_result()
    wait_for(lambda: len(list(tasks.iterdir())) == before)
    if how == "later":
        library.detach.args_type("void *")
        library.detach(context, place).wait_result()
    proc.close()
    *calls, total = read_report(tmp_path / "report")
    own = sum(call.instructions for call in calls)
    assert own < N < 4 * N < total.instructions - own < 6 * N
    assert total.core_seconds > 4 * N / 2.06 / 1.4e9
