# SPDX-License-Identifier: BSD-3-Clause
"""Hosts whose DPUs are spread over processes do what they do alone."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.dpu.abi.case_runs import environment, run_case
from tests.dpu.abi.test_c_api import SPECIAL, UNSANITIZED, case_names
from tests.support.builds import ROOT, c_program
from tests.support.full import share

RUN_MODULE = Path(__file__).resolve().parents[2] / "support" / "run_module.py"
LIMIT_S = 100
PROGRAM = [sys.executable, str(RUN_MODULE), "tests.dpu.hosts.program"]
HOSTS = [sys.executable, "-m", "dpu.hosts"]
CASE_FILES = ("asynchronous", "launches", "programs", "races", "sets", "state", "transfers")

# A launch that never ends, which has begun when the text is there.
ENDLESS = """
import io, sys
from dpu import DpuSet
source = ".globl NR_TASKLETS\\n.set NR_TASKLETS, 1\\n.text\\n.globl main\\nmain: jump main\\n"
with DpuSet(nr_dpus=3, asm_source=io.StringIO(source), profile="softServers=only") as dpus:
    dpus.exec(async_mode=True)
    print("begun", flush=True)
    try:
        dpus.sync()
    except Exception as error:
        print(error.detail)
        sys.exit(3)
"""


def run(*command: str, folder: Path, **changes: str) -> str:
    done = subprocess.run(
        command, env=environment(**changes), capture_output=True, text=True, timeout=LIMIT_S,
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-500:]}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[[], tuple[subprocess.Popen[bytes], str]]]:
    """Start servers; give each with the name of its socket."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> tuple[subprocess.Popen[bytes], str]:
        path = tmp_path / f"server{len(started)}"
        command = [sys.executable, "-m", "dpu.serve", "--threads", "2", str(path)]
        started.append(subprocess.Popen(command, env=environment()))
        deadline = time.monotonic() + LIMIT_S
        while not path.is_socket():
            assert time.monotonic() < deadline and started[-1].poll() is None
            time.sleep(0.01)
        return started[-1], str(path)

    yield start
    for server in started:
        server.terminate()
        try:
            server.wait(LIMIT_S)
        finally:
            server.kill()
            server.wait()


@pytest.fixture
def begun() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a program, and wait until it says that its launch has begun."""
    started: list[subprocess.Popen[str]] = []

    def begin(*prefix: str, **changes: str) -> subprocess.Popen[str]:
        host = subprocess.Popen(
            [*prefix, sys.executable, "-c", ENDLESS], env=environment(**changes), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        started.append(host)
        assert host.stdout is not None and host.stdout.readline() == "begun\n"
        return host

    yield begin
    for host in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(host.pid, signal.SIGKILL)
        host.communicate(timeout=LIMIT_S)


def children(pid: int) -> set[int]:
    """Return the processes that a process has started, and those that they have."""
    found: set[int] = set()
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, path.read_text().split()):
            found |= {child} | children(child)
    return found


def wait_for_end(pids: set[int]) -> None:
    deadline = time.monotonic() + LIMIT_S
    for pid in pids:
        while Path(f"/proc/{pid}").exists() and "\nState:\tZ" not in state(pid):
            assert time.monotonic() < deadline, f"process {pid} goes on"
            time.sleep(0.01)


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return "\nState:\tZ"


# --- as alone ---------------------------------------------------------------------------------


def modelled(report: Path) -> list[str]:
    """Return the rows without process and number: two launches may end in either order."""
    rows = report.read_text().splitlines()
    return sorted(re.sub(r"^\d+,(\w+),\d+", r"\1", row) for row in rows)


@pytest.mark.parametrize("profile", ["nrDpusPerCi=1", "nrDpusPerCi=1,softServers=only"])
def test_a_host_prints_the_same_with_processes(profile: str, tmp_path: Path) -> None:
    report = tmp_path / "report"
    results = []
    for prefix in ([], [*HOSTS, "--processes", "3", "--"]):
        text = run(*prefix, *PROGRAM, profile, folder=tmp_path, DPU_SOFT_REPORT=str(report))
        results.append((text, modelled(report)))
    assert results[0] == results[1]
    assert "out of bounds" in results[0][0]


def test_a_host_prints_the_same_with_ranks_of_mpi(mpiexec: str, tmp_path: Path) -> None:
    alone = run(*PROGRAM, "nrDpusPerCi=1", folder=tmp_path)
    ranks = [mpiexec, "-n", "3", *HOSTS, "--bytes", "--"]
    assert run(*ranks, *PROGRAM, "nrDpusPerCi=1", folder=tmp_path) == alone


def names() -> list[str]:
    found = [name for file in CASE_FILES for name in case_names(f"{file}.c")]
    return [name for name in found if name not in SPECIAL | UNSANITIZED]


def test_cases_of_the_c_api_pass_with_a_server(compiler, checked, start_server, tmp_path) -> None:
    program = checked(c_program("tests/dpu/abi/all_cases", "installed"))
    _, path = start_server()
    for name in names()[:: share(4, 1)]:
        run_case(program, name, tmp_path, DPU_SOFT_SERVERS=path,
                 UPMEM_PROFILE_BASE="softServers=only")  # fmt: skip


def test_the_status_is_that_of_the_host(tmp_path: Path) -> None:
    for command, status in ((["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -9 $$"], 137)):
        done = subprocess.run([*HOSTS, "--processes", "2", "--", *command], timeout=LIMIT_S)
        assert done.returncode == status


def test_the_status_is_that_of_the_host_under_mpi(mpiexec: str) -> None:
    command = [mpiexec, "-n", "2", *HOSTS, "--", "sh", "-c", "exit 7"]
    assert subprocess.run(command, timeout=LIMIT_S, capture_output=True).returncode == 7


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (["--processes", "2", "--", "/nowhere/host"], 127, "/nowhere/host: No such file"),
        (["--processes", "2"], 2, "there is no host to run"),
        (["--processes", "0", "--", "true"], 2, "--processes must be 1 or more"),
    ],
)
def test_what_cannot_be_run_is_told(arguments: list[str], status: int, text: str) -> None:
    done = subprocess.run([*HOSTS, *arguments], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == status and text in done.stderr


def limits() -> list[int]:
    """The least and the most seconds, as the page of the environment has them."""
    page = (ROOT / "docs" / "reference" / "environment.md").read_text()
    return [int(word) for word in re.findall(r"SERVER_SECONDS` \| (\d+) to (\d+) ", page)[0]]


@pytest.mark.parametrize(
    ("setting", "value", "why"),
    [
        ("DPU_SOFT_SERVER_SECONDS", limits()[0] - 1, "a number from {} to {}".format(*limits())),
        ("DPU_SOFT_SERVER_SECONDS", limits()[1] + 1, "a number from {} to {}".format(*limits())),
        ("DPU_SOFT_SERVER_SECONDS", "2s", "a number from"),
        ("DPU_SOFT_SERVERS", "a::b", "names of sockets with colons between them, at most 256"),
        ("DPU_SOFT_SERVERS", "/" * 108, "each of at most 107 bytes"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(setting, value, why, tmp_path) -> None:
    done = subprocess.run(
        [*PROGRAM, "nrDpusPerCi=1"], env=environment(**{setting: str(value)}), capture_output=True,
        text=True, timeout=LIMIT_S, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode != 0
    assert f"{setting}={value} cannot be used: it" in done.stderr and why in done.stderr


# --- ends -------------------------------------------------------------------------------------


def test_a_server_that_is_killed_ends_the_launch(start_server, begun) -> None:
    server, path = start_server()
    host = begun(DPU_SOFT_SERVERS=path)
    server.kill()
    out, _ = host.communicate(timeout=LIMIT_S)
    assert host.returncode == 3
    assert re.search(rf"the server at {path}.* is lost: it has ended\. .*start the program", out)


def test_a_server_that_hangs_ends_the_launch(start_server, begun) -> None:
    server, path = start_server()
    host = begun(DPU_SOFT_SERVERS=path, DPU_SOFT_SERVER_SECONDS="2")
    server.send_signal(signal.SIGSTOP)
    try:
        out, _ = host.communicate(timeout=LIMIT_S)
    finally:
        server.send_signal(signal.SIGCONT)
    assert host.returncode == 3 and "it said nothing for too long" in out


@pytest.mark.parametrize("killed", ["launcher", "host"])
def test_nothing_remains_of_what_is_killed(killed: str, begun) -> None:
    launcher = begun(*HOSTS, "--processes", "3", "--")
    started = children(launcher.pid)
    assert len(started) >= 3
    host = next(pid for pid in started if "asm_source" in Path(f"/proc/{pid}/cmdline").read_text())
    os.kill(launcher.pid if killed == "launcher" else host, signal.SIGKILL)
    launcher.wait(LIMIT_S)
    wait_for_end(started)


def test_a_server_survives_its_hosts(start_server, tmp_path, begun) -> None:
    server, path = start_server()
    host = begun(DPU_SOFT_SERVERS=path)
    host.kill()
    host.wait(LIMIT_S)
    run(*PROGRAM, "softServers=only", folder=tmp_path, DPU_SOFT_SERVERS=path)
    assert server.poll() is None


def test_a_server_ends_at_a_signal_while_it_serves(start_server, begun) -> None:
    server, path = start_server()
    host = begun(DPU_SOFT_SERVERS=path)
    server.terminate()
    assert server.wait(LIMIT_S) == 0
    assert "is lost" in host.communicate(timeout=LIMIT_S)[0]


def test_nobody_else_may_connect(start_server) -> None:
    _, path = start_server()
    assert Path(path).stat().st_mode & 0o077 == 0


def test_a_name_that_is_taken_is_told(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    command = [sys.executable, "-m", "dpu.serve", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 1 and "Address already in use" in done.stderr
    assert path.exists()
