# SPDX-License-Identifier: BSD-3-Clause
"""Hosts in C show the text of a code; libdpu says on stderr why a call failed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dpu.abi.case_runs import environment, run_case


def reasons(program: Path, name: str, folder: Path, **changes: str) -> list[str]:
    shown = run_case(program, name, folder, **{"DPU_SOFT_QUIET": "", **changes})
    return re.findall(r"^api:E:[\d|:-]+: (.*)$", shown, re.MULTILINE)


def test_a_host_in_c_is_told_why_a_call_failed(cases_program: Path, tmp_path: Path) -> None:
    assert reasons(cases_program, "asks_for_what_is_not_there", tmp_path) == [
        "262144 DPUs were requested, but there are 2560 DPUs (40 ranks of 64):"
        " DPU_SOFT_RANKS=4096, or softNrRanks=4096 in the profile, makes as many",
        "262145 DPUs were requested, but there are 2560 DPUs (40 ranks of 64), and never more"
        " than 4096 ranks",
        "the profile says chipId=none, but chipId must be a number from 0 to 4294967295",
        f"the program ./nowhere cannot be read in the folder {tmp_path}: No such file or directory"
        " (errno 2)",
        "DPU 0.0.0 has no program: load one first",
        "4 bytes at offset 2 are more than the 4 bytes of the symbol at 0x44",
    ]


def test_a_host_that_wants_real_dpus_is_told_how_it_runs_as_it_is(
    cases_program: Path, tmp_path: Path
) -> None:
    said = reasons(cases_program, "asks_for_real_dpus", tmp_path)
    assert len(said) == 4, "backend=hw is told once"
    assert all(line.startswith("UPMEM_PROFILE=backend=cas in the environment") for line in said)
    asked = [re.search(r"real DPUs \(backend=(\w+)\)", line) for line in said]
    assert [match and match[1] for match in asked] == ["hw", "spi", "scenario", "model"]


def test_the_variable_that_is_named_makes_it_run(cases_program: Path, tmp_path: Path) -> None:
    changes = {"UPMEM_PROFILE": "backend=cas", "DPU_SOFT_QUIET": ""}
    shown = run_case(cases_program, "asks_for_real_dpus", tmp_path, **changes).splitlines()
    assert [line for line in shown if not line.startswith("api:W:")][:5] == ["0"] * 5


def test_a_reason_is_told_once_and_few_of_a_kind(cases_program: Path, tmp_path: Path) -> None:
    said = reasons(cases_program, "misspells_symbols", tmp_path)
    assert [re.sub(r".*'(\w+)'", r"\1", line) for line in said] == [
        "nosuch0",
        "nosuch1",
        "nosuch2",
        "nosuch3 (others of this kind are not told)",
    ]


def test_a_fault_is_told_once(cases_program: Path, tmp_path: Path) -> None:
    changes = {"DPU_SOFT_QUIET": ""}
    shown = run_case(cases_program, "fails_in_an_asynchronous_launch", tmp_path, **changes)
    assert (shown.count("is in fault:"), shown.count("api:E")) == (2, 0), shown


def test_reasons_are_off_when_asked_for(cases_program: Path, tmp_path: Path) -> None:
    shown = run_case(cases_program, "asks_for_what_is_not_there", tmp_path, DPU_SOFT_QUIET="1")
    assert shown == ""


@pytest.mark.parametrize("program", ["nowhere", "/nowhere"])
def test_python_shows_the_same_words_in_the_exception_alone(program: str, tmp_path: Path) -> None:
    script = f"""
import dpu
with dpu.DpuSet(nr_dpus=1) as dpus:
    try:
        dpus.load({program!r})
    except dpu.DpuError as error:
        print(error.detail)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(DPU_SOFT_QUIET=""),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    place = "" if program.startswith("/") else f" in the folder {tmp_path}"
    wanted = f"the program {program} cannot be read{place}: No such file or directory (errno 2)\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, wanted, "")
