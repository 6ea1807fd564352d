# SPDX-License-Identifier: BSD-3-Clause
"""Processes, contexts and kernels for the tests of the veo package."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import veo
from tests.support.builds import STANDARD, clean_environment, compiler_name
from veo.ve_clang import clang_command

HERE = Path(__file__).resolve().parent
VEORUN = Path(veo.__file__).parent / "bin" / "veorun"
Run = Callable[..., subprocess.CompletedProcess[str]]


def compile_shared(source: Path, target: Path, *flags: str) -> Path:
    compiler = compiler_name()
    if shutil.which(compiler) is None:
        pytest.skip(f"kernels cannot be compiled without {compiler}")
    command = [compiler, *STANDARD, "-O1", "-Wall", "-fPIC", "-shared", *flags]
    done = subprocess.run(
        [*command, "-o", str(target), str(source), "-lpthread", "-lm"],
        capture_output=True,
        text=True,
        env=clean_environment(),
    )
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Path of the compiled kernels, with debug info."""
    target = tmp_path_factory.mktemp("kernels") / "libkernels.so"
    return str(compile_shared(HERE / "kernels.c", target, "-g"))


@pytest.fixture(scope="session")
def bare_kernels(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same without debug info."""
    target = tmp_path_factory.mktemp("bare") / "libkernels.so"
    return str(compile_shared(HERE / "kernels.c", target, "-g0", "-s"))


@pytest.fixture
def make_proc() -> Iterator[Callable[..., veo.VeoProc]]:
    """Make processes, and close them at the end."""
    made: list[veo.VeoProc] = []

    def make(nodeid: int = 0, *args: object, **kwargs: object) -> veo.VeoProc:
        kwargs.setdefault("library", "soft")
        made.append(veo.VeoProc(nodeid, *args, **kwargs))
        return made[-1]

    yield make
    for proc in made:
        proc.close(0)
        assert proc.closed


@pytest.fixture
def proc(make_proc: Callable[..., veo.VeoProc]) -> veo.VeoProc:
    return make_proc()


@pytest.fixture
def ctx(proc: veo.VeoProc) -> veo.VeoCtxt:
    return proc.open_context()


@pytest.fixture
def lib(proc: veo.VeoProc, kernels: str) -> veo.VeoLibrary:
    return proc.load_library(kernels)


@pytest.fixture
def typed(lib: veo.VeoLibrary) -> Callable[..., veo.VeoFunction]:
    """Find a function and set its types: result first."""

    def find(name: str, result: str, *types: str) -> veo.VeoFunction:
        function = lib.find_function(name)
        function.args_type(*types)
        function.ret_type(result)
        return function

    return find


@pytest.fixture
def latch(proc: veo.VeoProc) -> Iterator[Callable[[], None]]:
    """Memory that wait_for() waits for; ``latch.address`` is passed, calling it opens it."""

    class Latch:
        def __init__(self) -> None:
            self.address = proc.alloc_mem(4)
            proc.write_mem(self.address, bytes(4), 4)
            # Written from aside: write_mem() would wait for the queue.
            self.side: veo.VeoCtxt | None = None

        def open_context(self) -> None:
            if proc.context == []:
                proc.open_context()
            self.side = proc.open_context()

        def __call__(self) -> None:
            assert self.side is not None
            one = (1).to_bytes(4, "little")
            self.side.async_write_mem(self.address, one, 4).wait_result(10)

    made = Latch()
    made.open_context()
    yield made
    # A test may have ended the process.
    with contextlib.suppress(veo.VeoError):
        made()


class NullLibrary:
    """The library that answers at once, and what it can be told."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._c = ctypes.CDLL(path)
        for name in ("procs", "contexts", "args", "memory"):
            getattr(self._c, f"null_live_{name}").restype = ctypes.c_long

    def live(self) -> tuple[int, int]:
        """Number of processes and contexts."""
        return (self._c.null_live_procs(), self._c.null_live_contexts())

    def live_args(self) -> int:
        """Number of argument lists."""
        return int(self._c.null_live_args())

    def release(self) -> None:
        self._c.null_release()

    def kill(self, proc: veo.VeoProc) -> None:
        self._c.null_kill(ctypes.c_void_p(proc._proc_handle))


@pytest.fixture(scope="session")
def null_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    target = tmp_path_factory.mktemp("null") / "libnull.so"
    return str(compile_shared(HERE / "null_libveo.c", target, "-fvisibility=hidden"))


@pytest.fixture
def null(null_path: str) -> Iterator[NullLibrary]:
    """Check that no process and no context is left at the end."""
    library = NullLibrary(null_path)
    gc.collect()
    before = library.live()
    yield library
    library.release()
    gc.collect()
    # A traceback of an earlier test may have kept something until now.
    assert all(now <= then for now, then in zip(library.live(), before, strict=True))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Compile a program for the Vector Engine, and run it."""

    def compile_and_run(
        source: str, language: str = "C", flags: str = "-O2"
    ) -> subprocess.CompletedProcess[str]:
        path = tmp_path / ("program.c" if language == "C" else "program.cpp")
        path.write_text(source)
        out = tmp_path / "program.o"
        command = [*clang_command(language), *flags.split(), "-c", str(path), "-o", str(out)]
        subprocess.run(command, check=True, timeout=300)
        return subprocess.run([VEORUN, out], capture_output=True, text=True, timeout=60)

    return compile_and_run
