# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of all tests: a guard against leaks, and factories for programs and libraries."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

# Threads of OpenBLAS, which NumPy has, spin after each start, here and in what tests start, for
# half of the time that an import of NumPy takes. With the least of its limits they sleep at once.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

# Its thread pool must not be taken for a leak of the first test that imports it.
import numpy as np  # noqa: F401
import pytest

if TYPE_CHECKING:
    from dpu.toolchain import Toolchain

ROOT = Path(__file__).resolve().parent.parent

# For what tests import of each other (`tests.`) and of the build (`buildtools.`). Last, so that
# packages are those that are installed.
sys.path.append(str(ROOT))

from tests.support.alone import open_room, room  # noqa: E402
from tests.support.builds import (  # noqa: E402
    UNDER_VALGRIND,
    build_before,
    c_command,
    clean_environment,
    compiler_name,
)
from tests.support.full import FULL  # noqa: E402
from tests.support.report import RunReport, leave_out_long, read_times  # noqa: E402
from tests.support.run_progress import RunProgress  # noqa: E402

TIMES = ROOT / "build" / "test-times.json"

if "OFFCHIP_DENY_PROCESS_VM" in os.environ:
    from tests.support.seccomp import deny_process_vm

    deny_process_vm()

# Shells start jobs in the background with SIGINT ignored, which programs inherit: tests that
# interrupt a program would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# --- the guard against leaks ------------------------------------------------------------------


class Resources(NamedTuple):
    """Resources of a process that do not go away with its memory."""

    children: frozenset[int]
    descriptors: frozenset[tuple[str, str]]
    threads: frozenset[str]
    shared_memory: int

    @classmethod
    def now(cls) -> Resources:
        tasks = _threads()
        return cls(_children(tasks), _descriptors(), frozenset(tasks), _shared_mappings())

    def beyond(self, before: Resources) -> list[str]:
        """Say what is there now that was not there before."""
        found = [f"child process {pid}" for pid in sorted(self.children - before.children)]
        found += [
            f"file descriptor {number} ({target})"
            for number, target in sorted(self.descriptors - before.descriptors)
        ]
        found += [_describe(task) for task in sorted(self.threads - before.threads)]
        if self.shared_memory > before.shared_memory:
            found.append(f"{self.shared_memory - before.shared_memory} shared mapping(s)")
        return found


# Translated code of the last programs, which the library keeps for DPUs that run them again; that
# they are few is tested in tests/dpu/unit/test_programs_kept.c.
KEPT = "/memfd:host-code"


def _threads() -> list[str]:
    """List the threads until two lists agree: the kernel leaves out what follows one that ends."""
    tasks: list[str] = []
    while tasks != (again := os.listdir("/proc/self/task")):
        tasks = again
    return tasks


def _children(tasks: Sequence[str]) -> frozenset[int]:
    found: set[int] = set()
    for task in tasks:
        with contextlib.suppress(OSError):
            found.update(map(int, Path(f"/proc/self/task/{task}/children").read_text().split()))
    return frozenset(found)


def _describe(task: str) -> str:
    """Name a thread with its program's name for it and its age, which tell whose it is."""
    try:
        stat = Path(f"/proc/self/task/{task}/stat").read_text()
    except OSError:
        return f"thread {task} (it has ended)"
    name, _, fields = stat.partition("(")[2].rpartition(")")
    started = int(fields.split()[19]) / os.sysconf("SC_CLK_TCK")
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    return f"thread {task} ({name!r}, started {age:.2f} s ago)"


def _descriptors() -> frozenset[tuple[str, str]]:
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found.add((number, os.readlink(f"/proc/self/fd/{number}")))
    return frozenset(item for item in found if KEPT not in item[1])


def _shared_mappings() -> int:
    with open("/proc/self/maps") as lines:
        return sum(
            ("/memfd:" in line or "/dev/shm/" in line) and KEPT not in line for line in lines
        )


@contextlib.contextmanager
def no_leaks(limit: float = 3.0) -> Iterator[None]:
    """Fail when something is left that was not there before, after `limit` seconds."""
    before = Resources.now()
    yield
    deadline = time.monotonic() + limit
    pause = 1e-4
    while left := Resources.now().beyond(before):
        if time.monotonic() > deadline:
            names = ", ".join(thread.name for thread in threading.enumerate())
            pytest.fail(f"left behind: {'; '.join(left)} (Python's threads: {names})")
        gc.collect()
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


# --- a run -------------------------------------------------------------------------------------


def _is_worker(config: pytest.Config) -> bool:
    """Say whether this is a process of pytest-xdist's, which runs a part of the tests."""
    return hasattr(config, "workerinput")


def _expect_installed_packages() -> None:
    """Refuse the packages in the tree where those of another preset are to be tested."""
    preset, found = os.environ.get("OFFCHIP_PRESET"), importlib.util.find_spec("offchip")
    if preset and found and found.origin == str(ROOT / "offchip" / "__init__.py"):
        raise pytest.UsageError(
            f"OFFCHIP_PRESET is {preset}, and offchip is that in the tree, which is not built so: "
            "python -P -m pytest does not look here"
        )


def pytest_configure(config: pytest.Config) -> None:
    """Have a room for the tests that are to be alone."""
    _expect_installed_packages()
    if not _is_worker(config):
        stack = contextlib.ExitStack()
        stack.enter_context(open_room())
        config.add_cleanup(stack.close)
        config.pluginmanager.register(RunReport(TIMES))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Use all cores, and one process more, as tests wait for others; none for named tests."""
    single = all("::" in word for word in config.args)
    return 0 if single else len(os.sched_getaffinity(0)) + 1


def pytest_sessionstart(session: pytest.Session) -> None:
    """Build the C programs of the tests that are asked for, once and on all cores."""
    config = session.config
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and config.option.verbose <= 0 and not _is_worker(config):
        config.pluginmanager.register(RunProgress(terminal, read_times(TIMES)))
    if not _is_worker(config) and not config.option.collectonly:
        places = [config.invocation_params.dir / word for word in config.args]
        # Of a single test, only what it needs is built, by itself.
        build_before(str(place) for place in places if "::" not in str(place))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only `make test-full` runs, and put tests that are to be alone at the end.

    C programs are the first, as some of them take long: at the end, all others would wait for them.
    """
    left_out = [] if FULL else [item for item in items if item.get_closest_marker("full")]
    if left_out:
        items[:] = [item for item in items if not item.get_closest_marker("full")]
    left_out += leave_out_long(items, TIMES)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    items.sort(key=lambda item: (_is_alone(item), item.path.name != "test_c_units.py"))


def _is_alone(item: pytest.Item) -> bool:
    return item.get_closest_marker("alone") is not None


def _spare_the_collector() -> None:
    """Have later collections pass over what is there now."""
    gc.collect()
    gc.freeze()


# Around the time limit of a test, which is not for what it waits for here.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    with room(_is_alone(item)):
        result = yield
    if nextitem is not None and nextitem.path != item.path:
        _spare_the_collector()
    return result


def pytest_collection_finish() -> None:
    """Spare the garbage collector what thousands of collected tests consist of."""
    _spare_the_collector()


@pytest.fixture(autouse=True)
def _guard() -> Iterator[None]:
    with no_leaks():
        yield


@pytest.fixture(name="no_leaks")
def _no_leaks() -> Callable[[float], contextlib.AbstractContextManager[None]]:
    return no_leaks


# --- factories --------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def root() -> Path:
    """Top of the source tree."""
    return ROOT


@pytest.fixture
def compile_c(tmp_path: Path) -> Callable[..., Path]:
    """Compile C text into a shared library, or into a program with ``shared=False``."""

    def compile_(
        text: str, name: str = "made.so", *, flags: Sequence[str] = (), shared: bool = True
    ) -> Path:
        compiler = c_command()
        if compiler is None:
            pytest.skip("no C compiler: neither gcc nor the ziglang wheel")
        source = tmp_path / f"{name}.c"
        source.write_text(text)
        target = tmp_path / name
        command = [*compiler, "-O1", "-Wall", "-Werror", "-fPIC"]
        command += ["-shared"] if shared else []
        command += ["-o", str(target), str(source), *flags]
        done = subprocess.run(command, capture_output=True, text=True, env=clean_environment())
        assert done.returncode == 0, done.stderr
        return target

    return compile_


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a program in an interpreter of its own, away from the tree."""

    def run(
        text: str, *arguments: str, env: dict[str, str] | None = None, limit: float = 60.0
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-c", text, *arguments],
            capture_output=True,
            text=True,
            timeout=limit,
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
        )

    return run


@pytest.fixture(scope="session")
def unrandomised() -> tuple[str, ...]:
    """The command under which TSan finds room on kernels that spread mappings widely."""
    command = ("setarch", os.uname().machine, "-R")
    if shutil.which("setarch") is None:
        return ()
    works = subprocess.run([*command, "true"], capture_output=True).returncode == 0
    return command if works else ()


@pytest.fixture
def null_device(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A device like ``/dev/null``, which a command run by root could replace or change."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a device")
    null = tmp_path_factory.mktemp("device") / "null"
    os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    try:
        null.write_bytes(b"")
    except PermissionError:
        pytest.skip("this file system has no devices")
    return null


VALGRIND = """#!/bin/sh
# Threads take turns in a fair order, else one that spins keeps back what it waits for.
exec valgrind --quiet --error-exitcode=9 --fair-sched=yes --leak-check=full \\
    --show-leak-kinds=definite --errors-for-leak-kinds=definite "{program}" "$@"
"""


@pytest.fixture(scope="session")
def checked() -> Callable[[Path], Path]:
    """Give what runs a C program: itself, or with ``make valgrind`` a script."""

    def check(program: Path) -> Path:
        if not UNDER_VALGRIND:
            return program
        if shutil.which("valgrind") is None:
            pytest.fail("valgrind is not installed. On Debian and Ubuntu: apt-get install valgrind")
        script = program.with_name(f"{program.name}-checked")
        script.write_text(VALGRIND.format(program=program))
        script.chmod(0o755)
        return script

    return check


@pytest.fixture(scope="session")
def compiler() -> str:
    """The C compiler."""
    if shutil.which(compiler_name()) is None:
        pytest.skip(f"{compiler_name()} is not installed")
    return compiler_name()


@pytest.fixture(scope="session")
def cxx_compiler() -> list[str]:
    """The C++ compiler: CXX, or one on PATH, or the one of the ziglang wheel."""
    if os.environ.get("CXX"):
        return shlex.split(os.environ["CXX"])
    for name in ("g++", "clang++"):
        if shutil.which(name) is not None:
            return [name]
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("no C++ compiler: neither g++ nor clang++ is on PATH, nor is ziglang installed")
    return [sys.executable, "-P", "-m", "ziglang", "c++"]


@pytest.fixture(scope="session")
def run() -> Callable[..., str]:
    """Run a step of a build in the source tree, and give its output; its failure is the test's."""

    def run(command: Sequence[str | Path], **changes: str) -> str:
        words = [str(word) for word in command]
        done = subprocess.run(
            words, capture_output=True, text=True, env=clean_environment(**changes), cwd=ROOT
        )
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}{done.stderr}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def mpiexec() -> str:
    """Path of the launcher: MPICH's, from the same environment as this interpreter."""
    pytest.importorskip("mpi4py")
    path = Path(sys.executable).parent / "mpiexec"
    if not path.exists():
        pytest.skip(f"{path} is not there: install offchip with the extra mpi")
    return str(path)


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    """A C compiler for DPUs whose code is translated; the vendor's is not what is tested."""
    from dpu.toolchain import ToolchainError, find_toolchain

    try:
        return find_toolchain({"PATH": os.environ.get("PATH", os.defpath)})
    except ToolchainError as error:
        pytest.skip(str(error))
