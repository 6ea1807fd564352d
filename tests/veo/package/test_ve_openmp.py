# SPDX-License-Identifier: BSD-3-Clause
"""OpenMP in Vector Engine code: teams of threads, whose results are those of the host's OpenMP."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import veo
from veo.ve_clang import clang_command, clang_flags

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)

VEORUN = Path(veo.__file__).parent / "bin" / "veorun"
DIRECTIVES = Path(__file__).parent / "openmp.c"


@pytest.fixture
def compile_ve(tmp_path: Path) -> Callable[..., Path]:
    def make(source: str | Path, *flags: str, language: str = "C") -> Path:
        path = source
        if isinstance(path, str):
            path = tmp_path / f"program.{'c' if language == 'C' else 'cpp'}"
            path.write_text(str(source))
        out = tmp_path / "program.o"
        words = clang_flags(["-O1", "-fopenmp", *flags])
        command = [*clang_command(language), *words, "-c", str(path), "-o", str(out)]
        subprocess.run(command, check=True, timeout=300)
        return out

    return make


def veorun(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(VEORUN), str(path)], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_directives_give_the_results_of_the_host(
    compile_ve: Callable[..., Path], tmp_path: Path, level: str
) -> None:
    compiler = shutil.which("gcc")
    host = tmp_path / "host"
    command = [compiler or "", "-fopenmp", "-O1", str(DIRECTIVES), "-o", str(host)]
    if compiler is None or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("gcc has no OpenMP here")
    expected = subprocess.run([host], capture_output=True, text=True, check=True, timeout=60).stdout
    done = veorun(compile_ve(DIRECTIVES, level))
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.splitlines() == expected.splitlines()


def test_a_kernel_has_the_threads_that_are_asked_for(
    compile_ve: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = compile_ve("""
        #include <omp.h>
        int most(void) { return omp_get_max_threads(); }
        long sum(long n)
        {
            long threads = 0, total = 0;
            #pragma omp parallel reduction(+ : threads)
            threads += 1;
            #pragma omp parallel for reduction(+ : total)
            for (long i = 0; i < n; i++)
                total += i;
            return threads * 1000000 + total;
        }
    """)
    monkeypatch.setenv("VE_OMP_NUM_THREADS", "3")
    with veo.VeoProc(0) as proc, proc.open_context() as ctx, proc.open_context() as other:
        library = proc.load_library(str(path))
        assert library.most(ctx).wait_result() == 3
        requests = [library.sum(c, 1000) for c in (ctx, other) for _ in range(5)]
        assert {request.wait_result() for request in requests} == {3_000_000 + 499_500}


def test_time_goes_on_in_seconds(compile_ve: Callable[..., Path]) -> None:
    path = compile_ve("""
        #include <omp.h>
        #include <time.h>
        int main(void)
        {
            struct timespec pause = {0, 20000000};
            double begin = omp_get_wtime();
            nanosleep(&pause, NULL);
            double took = omp_get_wtime() - begin;
            return took >= 0.02 && took < 30 && omp_get_wtick() > 0 && omp_get_wtick() < 1e-3;
        }
    """)
    assert veorun(path).returncode == 1


def test_a_copy_that_stops_ends_the_program_where_it_was_called(
    compile_ve: Callable[..., Path],
) -> None:
    path = compile_ve(
        """
        struct value {
            int x;
            value() : x(0) {}
            value(const value &other) : x(other.x) {}
            value &operator=(const value &) { asm volatile(".quad -1"); return *this; }
        };
        int main()
        {
            #pragma omp parallel num_threads(3)
            {
                value a;
                #pragma omp single copyprivate(a)
                a.x = 3;
            }
            return 0;
        }
    """,
        language="C++",
    )
    done = veorun(path)
    assert "illegal instruction" in done.stderr and "main.omp_outlined" in done.stderr
    assert done.returncode == 4


def test_sums_are_the_same_each_time(compile_ve: Callable[..., Path]) -> None:
    path = compile_ve("""
        #include <stdio.h>
        int main(void)
        {
            for (int turn = 0; turn < 50; turn++) {
                double sum = 0;
                #pragma omp parallel for reduction(+ : sum) num_threads(7) schedule(static, 1)
                for (int i = 1; i < 1000; i++)
                    sum += 1.0 / (i * i);
                printf("%a\\n", sum);
            }
        }
    """)
    assert len(set(veorun(path).stdout.splitlines())) == 1


def test_helpers_end_with_the_thread_that_made_them(compile_ve: Callable[..., Path]) -> None:
    path = compile_ve("""
        #include <pthread.h>
        #include <stdio.h>
        #include <string.h>
        static void *work(void *sum)
        {
            #pragma omp parallel num_threads(4)
            #pragma omp atomic
            *(int *)sum += 1;
            return NULL;
        }
        int main(void)
        {
            int sum = 0, threads = 0;
            char line[200];
            for (int i = 0; i < 20; i++) {
                pthread_t id;
                pthread_create(&id, NULL, work, &sum);
                pthread_join(id, NULL);
            }
            FILE *status = fopen("/proc/self/status", "r");
            while (fgets(line, sizeof line, status) != NULL)
                sscanf(line, "Threads: %d", &threads);
            fclose(status);
            printf("%d %d\\n", sum, threads);
        }
    """)
    assert veorun(path).stdout == "80 1\n"


@pytest.mark.parametrize(
    ("statement", "reason", "status"),
    [
        ("*nowhere = 1;", r"signal 11 \(SIGSEGV, invalid memory access\)", signal.SIGSEGV),
        ('__asm__(".quad 0");', r"ILOP \(illegal instruction\)", signal.SIGILL),
    ],
)
def test_a_thread_that_crashes_tells_its_line(
    compile_ve: Callable[..., Path], statement: str, reason: str, status: int
) -> None:
    path = compile_ve(f"""#include <omp.h>
        int *nowhere;
        int main(void)
        {{
            #pragma omp parallel num_threads(3)
            {{
                if (omp_get_thread_num() == 2)
                    {statement}
                #pragma omp barrier
            }}
        }}
    """)
    done = veorun(path)
    assert re.search(rf"\[VE\] ERROR: {reason} in the program, at address", done.stderr)
    assert "program.c:8" in done.stderr
    assert done.returncode == status


def test_a_thread_of_a_kernel_that_stops_is_told_to_the_host(
    compile_ve: Callable[..., Path], proc: veo.VeoProc, ctx: veo.VeoCtxt
) -> None:
    path = compile_ve("""
        #include <omp.h>
        void stop(void)
        {
            #pragma omp parallel num_threads(2)
            if (omp_get_thread_num() == 1)
                __asm__(".quad 0");
        }
    """)
    with pytest.raises(veo.VeoError, match=r"ILOP .* in a thread that a kernel made"):
        proc.load_library(str(path)).stop(ctx).wait_result()


@pytest.mark.parametrize(
    ("name", "value", "warning"),
    [
        ("OMP_NUM_THREADS", "many", "it takes a number from 1 to 256"),
        ("OMP_NUM_THREADS", "0", "it takes a number from 1 to 256"),
        ("OMP_MAX_ACTIVE_LEVELS", "17", "it takes a number from 1 to 16"),
        ("OMP_SCHEDULE", "static,", "it takes static, dynamic, guided or auto"),
        ("OMP_SCHEDULE", "sorted", "it takes static, dynamic, guided or auto"),
    ],
)
def test_settings_that_are_none_are_ignored_with_a_warning(
    compile_ve: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
    warning: str,
) -> None:
    path = compile_ve("#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }")
    monkeypatch.setenv(name, value)
    done = veorun(path)
    assert f"[VE] WARNING: {name}={value} is ignored: {warning}" in done.stderr
    assert done.returncode == 0


def test_settings_are_taken(
    compile_ve: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = compile_ve("""
        #include <omp.h>
        #include <stdio.h>
        int main(void)
        {
            omp_sched_t kind;
            int chunk, turns = 0;
            omp_get_schedule(&kind, &chunk);
            #pragma omp parallel for schedule(runtime) reduction(+ : turns)
            for (int i = 0; i < 100; i++)
                turns++;
            printf("%d %d %d %d %d\\n", omp_get_max_threads(), omp_get_max_active_levels(), kind,
                   chunk, turns);
        }
    """)
    monkeypatch.setenv("OMP_NUM_THREADS", "5,2")
    monkeypatch.setenv("OMP_MAX_ACTIVE_LEVELS", "3")
    for text, numbers in (
        ("nonmonotonic:dynamic,6", "2 6"),
        ("GUIDED", "3 0"),
        ("static,7", "1 7"),
        ("auto", "4 0"),
    ):
        monkeypatch.setenv("OMP_SCHEDULE", text)
        assert veorun(path).stdout == f"5 3 {numbers} 100\n"


def test_cxx_tasks_and_reductions_of_classes(compile_ve: Callable[..., Path]) -> None:
    path = compile_ve(
        """
        #include <cstdio>
        #include <vector>
        static int made, ended;
        struct Sum {
            int value = 0;
            Sum() { made++; }
            Sum(const Sum &other) : value(other.value) { made++; }
            ~Sum() { ended++; }
        };
        #pragma omp declare reduction(+ : Sum : omp_out.value += omp_in.value)
        int main()
        {
            std::vector<double> numbers(1000, 2.0);
            {
                Sum sum;
                #pragma omp parallel for reduction(+ : sum) num_threads(1)
                for (int i = 0; i < 10; i++)
                    sum.value += i;
                for (int i = 0; i < 3; i++)
                    #pragma omp task firstprivate(sum)
                    std::printf("%d ", sum.value + i);
            }
            #pragma omp parallel for num_threads(3)
            for (auto number = numbers.begin(); number < numbers.end(); ++number)
                *number += 1;
            double total = 0;
            for (double number : numbers)
                total += number;
            std::printf("%g %d\\n", total, made - ended);
        }
        """,
        language="C++",
    )
    assert veorun(path).stdout == "45 46 47 3000 0\n"


def test_teams_in_each_other_share_the_threads_that_there_may_be(
    compile_ve: Callable[..., Path],
) -> None:
    """A thread and its teams have 256 threads at most, as openmp.h says."""
    path = compile_ve("""
        #include <omp.h>
        #include <stdio.h>
        int main(void)
        {
            int outer = 0, inner = 0, after = 0;
            omp_set_max_active_levels(2);
            #pragma omp parallel num_threads(250)
            if (omp_get_thread_num() == 0) {
                outer = omp_get_num_threads();
                #pragma omp parallel num_threads(100)
                #pragma omp master
                inner = omp_get_num_threads();
            }
            #pragma omp parallel num_threads(1000)
            #pragma omp master
            after = omp_get_num_threads();
            printf("%d %d %d\\n", outer, inner, after);
        }
    """)
    done = veorun(path)
    assert (done.stdout, done.stderr) == ("250 7 256\n", "")


def test_what_is_missing_is_named(compile_ve: Callable[..., Path]) -> None:
    path = compile_ve("""
        typedef unsigned long omp_event_handle_t;
        int main(void)
        {
            omp_event_handle_t event;
            #pragma omp task detach(event)
            ;
        }
    """)
    done = veorun(path)
    assert "1 symbol it uses is nowhere: __kmpc_task_allow_completion_event" in done.stderr
    assert done.returncode == 126
