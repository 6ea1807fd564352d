# SPDX-License-Identifier: BSD-3-Clause
"""Runs the C programs of ``cases/`` against libveo.so.1, each in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.support.builds import ROOT, STANDARD, STRICT, c_program

HERE = Path(__file__).resolve().parent
Run = Callable[..., str]

# A case takes some fifty times as long under valgrind, and `make coverage` gives more time too.
VALGRIND = os.environ.get("OFFCHIP_VALGRIND", "0") not in ("", "0")
LIMIT_S = int(os.environ.get("OFFCHIP_PROGRAM_SECONDS", "900" if VALGRIND else "90"))
# These leave something for the test to look at, and are run by tests of their own.
SPECIAL = {
    "leaves_a_worker_behind",
    "forgets_to_destroy",
    "output_of_kernels_appears",
    "a_kernel_that_ends_its_thread",
}


def case_names(files: str = "*.c") -> list[str]:
    found = []
    for source in sorted((HERE / "cases").glob(files)):
        found += re.findall(r"^CASE\((\w+)\)", source.read_text(), re.MULTILINE)
    return found


def environment_of(kernels: dict[str, str], **changes: str) -> dict[str, str]:
    ours = {key: value for key, value in os.environ.items() if not key.startswith(("VE_", "VEO"))}
    return {**ours, **kernels, **changes}


def run_case(program: Path, name: str, environment: dict[str, str]) -> str:
    done = subprocess.run(
        [str(program), name],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LIMIT_S,
        text=True,
        errors="replace",
    )
    assert done.returncode == 0, f"{name}: status {done.returncode}\n{done.stdout}"
    return done.stdout


@pytest.mark.parametrize("name", [name for name in case_names() if name not in SPECIAL])
def test_case(name: str, cases_program: Path, kernels: dict[str, str]) -> None:
    run_case(cases_program, name, environment_of(kernels))


@pytest.mark.parametrize(
    "name", ["symbols_are_read_and_written", "large_transfers", "a_killed_worker_hangs_nobody"]
)
def test_transfers_where_the_kernel_refuses_process_vm(
    name: str,
    cases_program: Path,
    kernels: dict[str, str],
    tmp_path: Path,
    compiler: str,
    run: Run,
) -> None:
    """As under a seccomp filter: the calls fail with EPERM, and the worker copies."""
    source = tmp_path / "refuse.c"
    source.write_text(
        "#include <errno.h>\n#include <sys/types.h>\n"
        "ssize_t process_vm_readv(void) { errno = EPERM; return -1; }\n"
        "ssize_t process_vm_writev(void) { errno = EPERM; return -1; }\n"
    )
    refuse = tmp_path / "refuse.so"
    run([compiler, "-w", "-shared", "-fPIC", "-o", refuse, source])
    preload = " ".join(filter(None, [os.environ.get("LD_PRELOAD"), str(refuse)]))
    run_case(cases_program, name, environment_of(kernels, LD_PRELOAD=preload))


# AddressSanitizer takes the frames that pthread_exit() drops for live ones.
@pytest.mark.nosanitize
def test_a_kernel_that_ends_its_thread(cases_program: Path, kernels: dict[str, str]) -> None:
    run_case(cases_program, "a_kernel_that_ends_its_thread", environment_of(kernels))


def test_output_of_a_kernel_comes_before_what_its_caller_prints_next(
    cases_program: Path, kernels: dict[str, str]
) -> None:
    shown = run_case(cases_program, "output_of_kernels_appears", environment_of(kernels))
    assert shown.splitlines() == ["kernel: hello from the kernel", "host: after the call"]


def test_a_forgotten_process_ends_with_its_program_after_its_work(
    cases_program: Path, kernels: dict[str, str]
) -> None:
    shown = run_case(cases_program, "forgets_to_destroy", environment_of(kernels)).splitlines()
    assert "kernel: last words" in shown
    pid = int(next(line for line in shown if line.isdigit()))
    assert not Path(f"/proc/{pid}").exists()


def wait_until(condition: Callable[[], bool], limit_s: float = 5) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.005)


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def shared_names() -> set[str]:
    """Return the names in /dev/shm that may be ours; those of MPI, for example, come and go."""
    folder = Path("/dev/shm")
    return {path.name for path in folder.glob("*veo*")} if folder.is_dir() else set()


@pytest.mark.parametrize("end", ["killed", "leaves"])
def test_a_worker_does_not_outlive_its_host(
    end: str,
    cases_program: Path,
    kernels: dict[str, str],
    no_leaks: Callable[[float], AbstractContextManager[None]],
) -> None:
    names = shared_names()
    changes = {"LEAVE_AT_ONCE": "1"} if end == "leaves" else {}
    with subprocess.Popen(
        [str(cases_program), "leaves_a_worker_behind"],
        env=environment_of(kernels, **changes),
        stdout=subprocess.PIPE,
        text=True,
    ) as host:
        assert host.stdout is not None
        pid = int(host.stdout.readline())
        if end == "killed":
            assert not is_gone(pid)
            host.send_signal(signal.SIGKILL)
        host.wait(10)
    wait_until(lambda: is_gone(pid))
    assert shared_names() <= names


@pytest.mark.parametrize(("value", "before"), [("console", ["gdb"]), ("xterm", ["xterm", "gdb"])])
def test_the_worker_starts_under_a_debugger(
    value: str, before: list[str], cases_program: Path, kernels: dict[str, str], tmp_path: Path
) -> None:
    """Programs of the debuggers' names note that they were called, and run what they are given."""
    for name in ("gdb", "xterm"):
        script = tmp_path / name
        script.write_text(f'#!/bin/sh\necho {name} >> "{tmp_path}/called"\nshift\nexec "$@"\n')
        script.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    changes = {"VEO_DEBUG": value, "PATH": path}
    run_case(cases_program, "sync_calls_count", environment_of(kernels, **changes))
    assert (tmp_path / "called").read_text().split() == before


def test_cases_of_hooks_pass_in_an_executable_that_is_not_position_independent(
    tmp_path: Path,
    installed: Any,
    kernels: dict[str, str],
    compiler: str,
    case_sources: list[Path],
    run: Run,
) -> None:
    """There &veo_alloc_mem is an entry of the executable, not the function itself."""
    program = tmp_path / "cases"
    run(
        [compiler, *STANDARD, "-w", "-no-pie", "-fno-pie", f"-I{installed.include}", f"-I{ROOT}"]
        + [*case_sources, "-o", program, installed.library]
        + [f"-Wl,-rpath,{installed.library.parent}", "-pthread"]
    )
    run_case(program, "hooks_follow_each_kind_of_allocation", environment_of(kernels))


@pytest.mark.timeout(600)  # the ziglang wheel compiles its C++ library when first used
def test_headers_serve_cplusplus(
    tmp_path: Path, installed: Any, cxx_compiler: list[str], run: Run
) -> None:
    source = tmp_path / "program.cpp"
    source.write_text(
        "#include <ve_offload.h>\n#include <veosoft.h>\n"
        "int main() { return veo_api_version() - VEO_API_VERSION; }\n"
    )
    program = tmp_path / "program"
    command = [*cxx_compiler, *STRICT, f"-I{installed.include}", source, "-o", program]
    run([*command, installed.library, f"-Wl,-rpath,{installed.library.parent}"])
    assert subprocess.run([program]).returncode == 0


# --- under ThreadSanitizer ------------------------------------------------------------------------


@pytest.fixture(scope="session")
def tsan_cases(compiler: str) -> Path:
    """The cases and the library, built for ThreadSanitizer.

    The worker is not: its threads hand memory to each other by way of the host, which the
    sanitizer cannot see.
    """
    return c_program("tests/veo/abi/all_cases", "tsan")


@pytest.mark.parametrize("name", case_names("races.c"))
def test_tsan_finds_no_race(
    name: str,
    tsan_cases: Path,
    kernels: dict[str, str],
    unrandomised: tuple[str, ...],
    installed: Any,
) -> None:
    environment = environment_of(kernels, ROUNDS_PERCENT="5", VEORUN_BIN=str(installed.worker))
    environment.pop("LD_PRELOAD", None)
    environment["TSAN_OPTIONS"] = "halt_on_error=0:exitcode=66"
    done = subprocess.run(
        [*unrandomised, str(tsan_cases), name],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LIMIT_S,
        text=True,
    )
    assert done.returncode == 0, f"{name}: status {done.returncode}\n{done.stdout}"
    assert "WARNING: ThreadSanitizer" not in done.stdout, done.stdout
