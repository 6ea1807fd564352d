# SPDX-License-Identifier: BSD-3-Clause
"""Runs the C programs of ``cases/`` against libdpu.so, each in a process of its own."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.dpu.abi.case_runs import environment, run_case
from tests.support.builds import STANDARD, STRICT

HERE = Path(__file__).resolve().parent
Run = Callable[..., str]

# Tests of their own run these.
SPECIAL = {
    "the_program_can_be_killed_while_dpus_run",
    "writes_its_programs",
    "shows_a_fault",
    "shows_many_faults",
    "launches_and_transfers",
}
# Memory of the sanitizers themselves is in the way of a measurement, and gcc's libasan does not
# free its own locks in a forked child of a program with threads.
UNSANITIZED = {
    "idle_dpus_take_little_memory",
    "a_full_server_fits",
    "a_forked_child_has_its_own_ranks_only",
}


def case_names(files: str = "*.c") -> list[str]:
    found = []
    for source in sorted((HERE / "cases").glob(files)):
        found += re.findall(r"^CASE\((\w+)\)", source.read_text(), re.MULTILINE)
    return found


def marked(name: str) -> Any:
    return pytest.param(name, marks=pytest.mark.nosanitize) if name in UNSANITIZED else name


@pytest.mark.parametrize("name", [marked(name) for name in case_names() if name not in SPECIAL])
def test_case(name: str, cases_program: Path, tmp_path: Path) -> None:
    run_case(cases_program, name, tmp_path)


def test_a_fault_is_shown_as_the_vendor_does(cases_program: Path, dpu_programs: Path) -> None:
    shown = run_case(cases_program, "shows_a_fault", dpu_programs).splitlines()
    date = r"api:W:\d{4}-\d\d-\d\d\|\d\d:\d\d:\d\d: "
    # The profile of the second set has a key that nobody knows.
    unknown = [line for line in shown if "the profile says someKey=5, but no property" in line]
    shown = [line for line in shown if line not in unknown]
    assert len(shown) == 2 and len(unknown) == 1, shown
    path = re.escape(str(dpu_programs / "assert.dpu"))
    place = r"tasklet 0 at pc 0x\w+ \(main\+0x\w+\)"
    reason = r"fault instruction with number 3 \(in C programs: assert failed\)"
    assert re.fullmatch(f"{date}DPU 0\\.0\\.0 '{path}' is in fault: {place}: {reason}", shown[0])
    assert re.fullmatch(f"{date}cannot allocate 0 DPUs", shown[1])


def test_faults_of_many_dpus_are_counted(cases_program: Path, dpu_programs: Path) -> None:
    shown = run_case(cases_program, "shows_many_faults", dpu_programs).splitlines()
    assert len(shown) == 6, shown
    assert all(" is in fault: tasklet 0 at " in line for line in [*shown[:4], shown[5]])
    assert shown[4].endswith(": 66 more DPUs of this launch are in fault")


@pytest.mark.parametrize("value", ["-,I", "api:I", "d", "log,3"])
def test_more_is_shown_when_asked_for(value: str, cases_program: Path, dpu_programs: Path) -> None:
    shown = run_case(cases_program, "shows_a_fault", dpu_programs, UPMEM_VERBOSE=value)
    assert "unused profile property: someKey (= 5)" in shown


@pytest.mark.parametrize("value", ["info", "api:X", "W,debug"])
def test_a_level_that_is_none_is_told(value: str, cases_program: Path, dpu_programs: Path) -> None:
    shown = run_case(cases_program, "shows_a_fault", dpu_programs, UPMEM_VERBOSE=value)
    slip = value.split(",")[-1]
    assert f"UPMEM_VERBOSE has '{slip}', which is neither a folder nor a level" in shown


@pytest.mark.parametrize("value", ["-", "/tmp,W", "ufi:V"])
def test_words_of_upmems_library_are_none_of_this_ones(
    value: str, cases_program: Path, dpu_programs: Path
) -> None:
    shown = run_case(cases_program, "shows_a_fault", dpu_programs, UPMEM_VERBOSE=value)
    assert "UPMEM_VERBOSE" not in shown


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_program_can_be_killed_while_dpus_run(
    number: signal.Signals, cases_program: Path
) -> None:
    """Also by a signal that has to find a thread that takes it."""
    name = "the_program_can_be_killed_while_dpus_run"
    with subprocess.Popen(
        [str(cases_program), name], env=environment(), stdout=subprocess.PIPE, text=True
    ) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == "running\n"
        host.send_signal(number)
        assert host.wait(10) == -number


def test_layouts_are_those_of_the_vendor(installed: Any, compiler: str, run: Run) -> None:
    run(
        [compiler, *STANDARD, *STRICT, "-fsyntax-only", f"-I{installed.include}"]
        + [HERE / "layout.c"]
    )


@pytest.mark.parametrize("standard", ["c99", "c11", "gnu17"])
def test_each_header_stands_alone(
    standard: str, installed: Any, compiler: str, tmp_path: Path, run: Run
) -> None:
    for header in sorted(installed.include.glob("*.h")):
        source = tmp_path / "program.c"
        source.write_text(f'#include <{header.name}>\n#include "{header.name}"\n')
        command = [
            compiler,
            f"-std={standard}",
            *STRICT,
            "-Wstrict-prototypes",
            "-fsyntax-only",
        ]
        run([*command, f"-I{installed.include}", source])


@pytest.mark.timeout(600)  # the ziglang wheel compiles its C++ library when first used
@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_a_program_in_cplusplus(
    standard: str,
    tmp_path: Path,
    installed: Any,
    dpu_programs: Path,
    cxx_compiler: list[str],
    run: Run,
) -> None:
    program = tmp_path / "program"
    command = [*cxx_compiler, f"-std={standard}", *STRICT, "-O1", f"-I{installed.include}"]
    command += [f'-DPROGRAM="{dpu_programs}/count.dpu"', str(HERE / "program.cpp")]
    command += ["-o", str(program), str(installed.library), "-pthread"]
    run([*command, f"-Wl,-rpath,{installed.library.parent}"])
    done = subprocess.run([program], env=environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    # DPU_CHECK() says where, and what.
    assert re.search(
        r"program\.cpp:\d+\(use_macros\): DPU Error \(invalid action for this dpu set\)",
        done.stderr,
    )


# --- under ThreadSanitizer ------------------------------------------------------------------------


TSAN_CASES = [*case_names("*races.c"), *case_names("asynchronous.c")[:12]]
TSAN_CASES.append("no_thread_outlives_the_last_set")


@pytest.mark.parametrize("name", TSAN_CASES)
def test_tsan_finds_no_race(
    name: str, tsan_cases: Path, tmp_path: Path, unrandomised: tuple[str, ...]
) -> None:
    changes = {"ROUNDS_PERCENT": "5", "LD_PRELOAD": ""}
    changes["TSAN_OPTIONS"] = "halt_on_error=0:exitcode=66"
    shown = run_case(tsan_cases, name, tmp_path, *unrandomised, **changes)
    assert "WARNING: ThreadSanitizer" not in shown, shown
