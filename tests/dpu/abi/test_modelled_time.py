# SPDX-License-Identifier: BSD-3-Clause
"""Time that launches and transfers of a C host would take on UPMEM's hardware."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.dpu.abi.case_runs import run_case

CASE = "launches_and_transfers"
NOTE = "libdpu: the DPUs of this program were simulated, and its timers measured the simulator."
CLOCK = 350e6
LAUNCH = 170e-6
TO, FROM, SERIAL = 57e-6, 100e-6, 35e-6
WRAM = 15e6
NO_COSTS = "softToMicroseconds=0,softFromMicroseconds=0,softSerialMicroseconds=0"
COLUMNS = ["pid", "event", "number", "ranks", "dpus", "bytes", "seconds", "cycles", "instructions"]
COLUMNS += ["joules", "runtime", "status", "ended"]


def read_report(text: str) -> list[dict[str, Any]]:
    comment, *lines = text.splitlines()
    assert comment.startswith("# offchip libdpu report 4: ")
    rows = list(csv.DictReader(lines))
    assert list(rows[0]) == COLUMNS
    numbers = {"ranks", "dpus", "bytes", "cycles", "instructions", "number", "pid"}
    return [
        {key: int(row[key]) if key in numbers else row[key] for key in COLUMNS}
        | {"seconds": float(row["seconds"]), "joules": float(row["joules"] or 0)}
        for row in rows
    ]


@pytest.fixture
def report(cases_program: Path, tmp_path: Path) -> list[dict[str, Any]]:
    file = tmp_path / "report.csv"
    assert run_case(cases_program, CASE, tmp_path, DPU_SOFT_REPORT=str(file)) == ""
    return read_report(file.read_text())


def test_each_launch_and_transfer_has_a_line(report: list[dict[str, Any]]) -> None:
    shown = [
        (row["event"], row["number"], row["ranks"], row["dpus"], row["bytes"])
        for row in report
        if not row["event"].startswith("total")
    ]
    # Transfers of load_loop() come first.
    assert shown[-7:] == [
        ("broadcast", shown[-7][1], 2, 65, 65 * 1024),
        ("parallel_to", 1, 2, 64, 64 * 1024),
        ("launch", 1, 2, 65, 0),
        ("launch", 2, 1, 1, 0),
        ("serial_from", 1, 1, 1, 4),
        ("serial_to", 1, 1, 1, 512),
        ("parallel_from", 1, 2, 65, 65 * 1024),
    ]


def test_launches_take_their_cycles_and_the_cost_of_a_launch(report: list[dict[str, Any]]) -> None:
    first, second = (row for row in report if row["event"] == "launch")
    assert first["cycles"] == second["cycles"] > 1000
    assert first["instructions"] == 65 * second["instructions"]
    for row in (first, second):
        assert row["seconds"] == pytest.approx(row["cycles"] / CLOCK + LAUNCH, abs=1e-9)


def test_launches_have_the_energy_of_their_instructions(report: list[dict[str, Any]]) -> None:
    for row in report:
        expected = 300e-12 * row["instructions"]  # transfers have none
        assert row["joules"] == pytest.approx(expected, rel=1e-5)
    assert report[-1]["joules"] > 0


@pytest.mark.parametrize(
    ("profile", "picojoules"),
    [
        ("softPipelineWidth=2", 0),
        ("softPipelineWidth=2,softInstructionPicojoules=400", 400),
        ("softInstructionPicojoules=0", 0),
        ("fckFrequency=400,softMaxCycles=1000000,softFaultStopsAccess=true", 300),
    ],
)
def test_other_chips_have_the_energy_that_is_given(
    profile: str, picojoules: int, cases_program: Path, tmp_path: Path
) -> None:
    shown = run_case(cases_program, CASE, tmp_path, DPU_SOFT_REPORT="-", UPMEM_PROFILE=profile)
    for row in read_report(shown):
        expected = picojoules * 1e-12 * row["instructions"]
        assert row["joules"] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("cost", [0, 1000])
def test_the_cost_of_a_launch_has_a_key(cost: int, cases_program: Path, tmp_path: Path) -> None:
    shown = run_case(
        cases_program,
        CASE,
        tmp_path,
        DPU_SOFT_REPORT="-",
        UPMEM_PROFILE=f"softLaunchMicroseconds={cost}",
    )
    for row in read_report(shown):
        if row["event"] == "launch":
            assert row["seconds"] == pytest.approx(row["cycles"] / CLOCK + 1e-6 * cost, abs=1e-9)


def test_bandwidths_have_keys(cases_program: Path, tmp_path: Path) -> None:
    keys = "softSerialToMBs=100,softSerialFromMBs=50,softParallelToMBs=6400,softParallelFromMBs=40"
    keys = f"{NO_COSTS},softWramMBs=20,{keys}"
    shown = run_case(cases_program, CASE, tmp_path, DPU_SOFT_REPORT="-", UPMEM_PROFILE=keys)
    seconds = {row["event"]: row["seconds"] for row in read_report(shown)}
    assert seconds["serial_to"] == pytest.approx(512 / 100e6, abs=2e-9)
    assert seconds["serial_from"] == pytest.approx(4 / 20e6, abs=2e-9)
    # A rank of 64, and one DPU of another; 63 DPUs at 63 times the bandwidth of one.
    assert seconds["parallel_from"] == pytest.approx(64 * 1024 / 40e6 + 1024 / 50e6, abs=2e-9)
    assert seconds["parallel_to"] == pytest.approx(2 * 1024 / 100e6, abs=2e-9)


def test_costs_of_calls_have_keys(cases_program: Path, tmp_path: Path) -> None:
    def seconds(keys: str) -> dict[str, float]:
        shown = run_case(cases_program, CASE, tmp_path, DPU_SOFT_REPORT="-", UPMEM_PROFILE=keys)
        return {row["event"]: row["seconds"] for row in read_report(shown)}

    free = seconds(NO_COSTS)
    keys = "softToMicroseconds=1000,softFromMicroseconds=2000,softSerialMicroseconds=3000"
    costs = {event: time - free[event] for event, time in seconds(keys).items()}
    assert costs["broadcast"] == costs["parallel_to"] == pytest.approx(1e-3)
    assert costs["parallel_from"] == pytest.approx(2e-3)  # once, though it is of two ranks
    assert costs["serial_to"] == costs["serial_from"] == pytest.approx(3e-3)
    assert costs["launch"] == 0


def test_launches_name_the_run_time_of_their_program(report: list[dict[str, Any]]) -> None:
    # Its program was assembled.
    for row in report:
        is_launch = row["event"] in ("launch", "total_launch", "total")
        assert row["runtime"] == ("other" if is_launch else "")


def test_transfers_take_published_bandwidths(report: list[dict[str, Any]]) -> None:
    by_event = {row["event"]: row["seconds"] for row in report}
    expected = {
        "serial_to": SERIAL + 512 / 0.33e9,
        "serial_from": SERIAL + 4 / WRAM,
        # A rank of 64, and one DPU of another.
        "parallel_from": FROM + 64 * 1024 / 4.74e9 + 1024 / 0.12e9,
    }
    for event, seconds in expected.items():
        assert by_event[event] == pytest.approx(seconds, abs=2e-9), event
    # 63 of a rank are a little slower than 64.
    rank = by_event["parallel_to"] - TO - 1024 / 0.33e9
    assert 1024 * 63 / 6.68e9 < rank < 1024 * 63 / 6.5e9


def test_totals_are_at_the_end(report: list[dict[str, Any]]) -> None:
    lines = [row for row in report if not row["event"].startswith("total")]
    totals = {row["event"]: row for row in report if row["event"].startswith("total")}
    assert report[-1]["event"] == "total"
    assert set(totals) == {"total"} | {f"total_{row['event']}" for row in lines}
    for name, total in totals.items():
        parts = [row for row in lines if name in ("total", f"total_{row['event']}")]
        assert total["number"] == len(parts)
        for key in ("bytes", "cycles", "instructions"):
            # Bytes that pass within DPUs are not added to those between them and the host.
            added = [
                row for row in parts if (key, name) != ("bytes", "total") or not is_launch(row)
            ]
            assert total[key] == sum(row[key] for row in added), (name, key)
        assert total["seconds"] == pytest.approx(sum(row["seconds"] for row in parts), abs=1e-8)


def test_the_report_can_go_to_stderr(cases_program: Path, tmp_path: Path) -> None:
    shown = run_case(cases_program, CASE, tmp_path, DPU_SOFT_REPORT="-", DPU_SOFT_QUIET="")
    assert read_report(shown)[-1]["event"] == "total"
    assert NOTE not in shown


@pytest.mark.parametrize("quiet", ["", "0"])
def test_hosts_without_a_report_say_what_their_timers_measured(
    quiet: str, cases_program: Path, tmp_path: Path
) -> None:
    shown = run_case(cases_program, CASE, tmp_path, DPU_SOFT_QUIET=quiet)
    (line,) = shown.splitlines()
    assert line.startswith(NOTE)
    assert re.search(
        r"Modelled time: launches \d+\.\d+ ms, transfers \d+\.\d+ ms \(run time: other\)\.", line
    )
    assert "DPU_SOFT_REPORT" in line and "DPU_SOFT_QUIET" in line


@pytest.mark.parametrize(("name", "quiet"), [(CASE, "1"), ("files_that_cannot_be_read", "")])
def test_the_line_can_be_omitted_and_needs_a_launch(
    name: str, quiet: str, cases_program: Path, tmp_path: Path
) -> None:
    assert NOTE not in run_case(cases_program, name, tmp_path, DPU_SOFT_QUIET=quiet)


def is_launch(row: dict[str, Any]) -> bool:
    return str(row["event"]) == "launch"


def test_what_ended_well_says_so(report: list[dict[str, Any]]) -> None:
    assert {(row["status"], row["ended"]) for row in report} == {("done", "")}


def test_a_launch_that_faulted_says_so_and_where(cases_program: Path, tmp_path: Path) -> None:
    name = "fails_in_an_asynchronous_launch"
    shown = run_case(cases_program, name, tmp_path, DPU_SOFT_REPORT="-")
    rows = read_report(shown[shown.index("# offchip") :])
    by_event = {row["event"]: row for row in rows}
    assert by_event["launch"]["status"] == by_event["total_launch"]["status"] == "fault"
    assert by_event["total"]["status"] == "fault"
    assert [row["status"] for row in rows[:-2] if not is_launch(row)] == ["done"] * (len(rows) - 3)
    assert re.fullmatch(
        r"DPU 0\.0\.0 \(id 0x0\): tasklet 0 at pc 0x\w+ \(main\+0x\w+\): fault instruction with"
        r" number 3 \(in C programs: assert failed\); 1 more DPU failed",
        by_event["launch"]["ended"],
    )
    note = run_case(cases_program, name, tmp_path, DPU_SOFT_QUIET="").splitlines()[-1]
    assert "(1 of 1 ended by a fault or were stopped, and took less)" in note


def test_a_name_can_have_the_process_id(cases_program: Path, tmp_path: Path) -> None:
    run_case(cases_program, CASE, tmp_path, DPU_SOFT_REPORT=str(tmp_path / "report-%p.csv"))
    (file,) = tmp_path.glob("report-*.csv")
    rows = read_report(file.read_text())
    assert file.name == f"report-{rows[0]['pid']}.csv"


FORK = """
import io, os, sys
from dpu import DpuSet
SOURCE = ".globl main\\nmain: jump r23\\n"
def work(count):
    with DpuSet(nr_dpus=count, asm_source=io.StringIO(SOURCE), library="soft") as dpus:
        dpus.exec()
work(2)
child = os.fork()
if child == 0:
    os.closerange(3, 100)
    work(3)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.nosanitize  # libasan's own locks may be held in the child
@pytest.mark.parametrize("name", ["report.csv", "report-%p.csv"])
def test_a_forked_child_reports_for_itself(name: str, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-P", "-c", FORK],
        check=True,
        env={**os.environ, "DPU_SOFT_REPORT": str(tmp_path / name)},
    )
    rows = []
    files = list(tmp_path.glob("report*.csv"))
    assert len(files) == (2 if "%p" in name else 1)
    for file in files:
        rows += read_report(file.read_text())
    launches = [row for row in rows if row["event"] == "launch"]
    assert sorted((row["number"], row["dpus"]) for row in launches) == [(1, 2), (1, 3)]
    assert len({row["pid"] for row in launches}) == 2
    totals = [row for row in rows if row["event"] == "total_launch"]
    assert sorted(row["dpus"] for row in totals) == [2, 3]


def test_a_total_has_no_energy_if_one_launch_has_none(tmp_path: Path) -> None:
    head, _, _ = FORK.partition("work(2)")
    file = tmp_path / "report.csv"
    program = head.replace("nr_dpus=count", "nr_dpus=1, profile=count")
    program += "work(''); work('softDmaEngines=2')"
    environment = {**os.environ, "DPU_SOFT_REPORT": str(file)}
    subprocess.run([sys.executable, "-P", "-c", program], check=True, env=environment)
    joules = {(row["event"], row["number"]): row["joules"] for row in read_report(file.read_text())}
    assert joules["launch", 1] > 0
    assert joules["launch", 2] == joules["total_launch", 2] == joules["total", 2] == 0


def test_python_hosts_have_reports_and_no_line() -> None:
    program = FORK.partition("child =")[0]
    environment = {key: value for key, value in os.environ.items() if key != "DPU_SOFT_QUIET"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], check=True, env=environment, capture_output=True
    )
    assert (done.stdout, done.stderr) == (b"", b"")


def test_sets_of_one_process_have_their_own_bandwidths() -> None:
    code = f"""
import dpu
for rate in (640, 1280, 640):
    keys = f"{NO_COSTS},softSerialToMBs=10,softParallelToMBs={{rate}}"
    with dpu.DpuSet(64, profile=keys) as dpus:
        dpus.copy(dpu.DpuSymbol("mram", (0x08000000, 1 << 20)), [bytes(1 << 20)] * 64)
"""
    environment = {**os.environ, "DPU_SOFT_REPORT": "-"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        check=True,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        env=environment,
    )
    rows = [row for row in read_report(done.stderr) if row["event"] == "parallel_to"]
    megabytes = 64 * 1.048576
    expected = [megabytes / 640, megabytes / 1280, megabytes / 640]
    assert [row["seconds"] for row in rows] == pytest.approx(expected, rel=1e-6)
