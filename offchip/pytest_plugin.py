# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures and markers for tests of programs for accelerators; pytest loads this by itself.

`ve_process` and `ve_compile` for a Vector Engine, `dpu_set` for DPUs, `accl_device` for a rank, and
the markers ``ranks(n)`` and ``hardware(package)``. docs/testing.md is the guide.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

#: In the environment of a rank: its number, how many there are, and the name of the job.
RANK_VARIABLE = "OFFCHIP_TEST_RANK"

#: Seconds that a test on several ranks may take; `timeout=` of the marker says otherwise.
TIMEOUT = 60.0


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known."""
    config.addinivalue_line(
        "markers",
        "ranks(n, timeout=60): run the test in n processes, each with an accl device of its own",
    )
    config.addinivalue_line(
        "markers", "hardware(package): skip the test if veo, dpu or accl runs on its soft twin"
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs hardware that is not there."""
    for marker in item.iter_markers("hardware"):
        if marker.args not in (("veo",), ("dpu",), ("accl",)) or marker.kwargs:
            raise pytest.UsageError(
                f"{item.nodeid}: hardware() takes one of 'veo', 'dpu', 'accl', not {marker.args}"
            )
        kind = pytest.importorskip(marker.args[0]).library_info()["kind"]
        if kind == "soft":
            pytest.skip(f"{marker.args[0]} runs on its soft twin, and the test needs the hardware")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test with the marker `ranks` in processes of its own, instead of here."""
    marker = pyfuncitem.get_closest_marker("ranks")
    if marker is None or RANK_VARIABLE in os.environ:
        return None
    ranks, timeout = _read_marker(pyfuncitem, *marker.args, **marker.kwargs)
    _run_ranks(pyfuncitem, ranks, timeout)
    return True


def _read_marker(item: pytest.Item, *args: Any, **options: Any) -> tuple[int, float]:
    """Check what a marker says; returns number of ranks and seconds."""
    timeout = options.pop("timeout", TIMEOUT)
    if len(args) != 1 or options or not isinstance(args[0], int) or not 1 <= args[0] <= 1024:
        raise pytest.UsageError(
            f"{item.nodeid}: ranks() takes a number from 1 to 1024, and timeout= in seconds"
        )
    return args[0], float(timeout)


def _run_ranks(item: pytest.Item, ranks: int, timeout: float) -> None:
    """Run a test as several processes, and fail with what each that failed has printed."""
    job = f"pytest-{uuid.uuid4().hex}"
    # pytest's own options of this run apply to the ranks too, but for what writes files.
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider"]
    command += [
        "--rootdir",
        str(item.config.rootpath),
        "-o",
        "addopts=",
        "-o",
        "console_output_style=classic",
    ]
    if item.config.inipath is not None:
        command += ["-c", str(item.config.inipath)]
    command.append(_node_path(item))
    end = time.monotonic() + timeout
    failed = []
    with ExitStack() as stack:
        # Files, as a full pipe would stop a rank that the others wait for.
        outputs = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(ranks)]
        processes: list[subprocess.Popen[bytes]] = []
        try:
            for rank, output in enumerate(outputs):
                processes.append(
                    subprocess.Popen(
                        command,
                        cwd=item.config.invocation_params.dir,
                        env={**os.environ, RANK_VARIABLE: f"{rank}/{ranks}/{job}"},
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        # A session of its own, so that what it has started ends with it.
                        start_new_session=True,
                    )
                )
            for rank, process in enumerate(processes):
                try:
                    process.wait(timeout=max(end - time.monotonic(), 0.0))
                    late = ""
                except subprocess.TimeoutExpired:
                    late = f"\nnot done within {timeout:g} s"
                    _end(process)
                if process.returncode != 0:
                    outputs[rank].seek(0)
                    said = outputs[rank].read().strip()
                    failed.append(f"--- rank {rank} of {ranks}\n{said}{late}")
        finally:
            for process in processes:
                _end(process)
    if failed:
        pytest.fail("\n".join(failed), pytrace=False)


def _node_path(item: pytest.Item) -> str:
    """Give the name of a test with a path that is right in every folder."""
    _, _, name = item.nodeid.partition("::")
    return f"{item.path}::{name}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a rank with all that it has started, if it still runs."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def accl_device(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Open the accl device of this rank, in a test with the marker ``ranks(n)``.

    The device's communicator 0 has all ranks of the test.
    """
    if request.node.get_closest_marker("ranks") is None:
        raise pytest.UsageError(f"{request.node.nodeid}: accl_device needs the marker ranks(n)")
    if RANK_VARIABLE not in os.environ:
        yield None  # The test runs in the processes of its ranks.
        return
    rank, ranks, job = os.environ[RANK_VARIABLE].split("/")
    with import_module("accl").accl(int(ranks), int(rank), job=job) as device:
        yield device


@pytest.fixture
def dpu_set() -> Iterator[Callable[..., Any]]:
    """Give a function that allocates DPUs as `dpu.DpuSet` does, and frees them after the test."""
    sets: list[Any] = []

    def allocate(*args: Any, **options: Any) -> Any:
        sets.append(import_module("dpu").DpuSet(*args, **options))
        return sets[-1]

    yield allocate
    for item in reversed(sets):
        item.free()


@pytest.fixture
def ve_process() -> Iterator[Any]:
    """Start a process on Vector Engine 0, or a worker of the soft twin, for this test."""
    with import_module("veo").VeoProc(0) as process:
        yield process


@pytest.fixture
def ve_compile(tmp_path: Path, ve_process: Any) -> Callable[..., Any]:
    """Give a function that compiles C source and loads it into `ve_process`.

    It takes the source and, as `flags`, options of the compiler.
    """
    count = 0

    def compile_source(source: str, flags: str | None = None) -> Any:
        nonlocal count
        count += 1
        build = import_module("veo").VeBuild(check=True)
        build.set_build_dir(tmp_path)
        build.set_c_src(f"kernels{count}", source, flags=flags)
        return ve_process.load_library(build.build_so())

    return compile_source
