# SPDX-License-Identifier: BSD-3-Clause
"""Kernels in C that run on a core of this host, in the worker of veo."""

from __future__ import annotations

import io
import tempfile
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    import veo

__all__ = ["HostProgram"]

HERE = Path(__file__).parent
FLAGS = "-O3 -march=native -mprefer-vector-width=512 -g"


class HostProgram:
    """A C file, compiled and loaded into a process of veo; a context manager.

    Parameters
    ----------
    source : Path
        The file.

    Raises
    ------
    RuntimeError
        The library of veo in use is NEC's, which runs kernels on a Vector Engine.
    """

    def __init__(self, source: Path) -> None:
        import veo

        if veo.library_info()["kind"] != "soft":
            raise RuntimeError(
                "kernels are measured on this host, which needs the soft twin of VEO; "
                "set VEO_LIBRARY=soft"
            )
        self._stack = ExitStack()
        with self._stack:
            folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="accelforge-"))
            build = veo.VeBuild()
            build.set_build_dir(folder)
            build.set_c_src(source.stem, source.read_text(), flags=f"{FLAGS} -I{HERE}")
            self._process = veo.VeoProc(0)
            self._stack.callback(self._process.proc_destroy)
            with redirect_stdout(io.StringIO()):  # which file is compiled is of no interest here
                library = build.build_so(libs=["-lm"], check=True)
            self._library = self._process.load_library(library)
            self._context = self._process.open_context()
            self._stack = self._stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function, and return its result."""
        return getattr(self._library, name)(self._context, *arguments).wait_result()

    def put(self, data: np.ndarray[Any, Any]) -> veo.VEMemPtr:
        """Copy an array to memory of the process."""
        pointer = self._process.alloc_mem(data.nbytes)
        self._process.write_mem(pointer, data, data.nbytes)
        return pointer

    def get(self, pointer: veo.VEMemPtr, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Copy it back, into an array like the one given."""
        data = np.empty_like(like)
        self._process.read_mem(data, pointer, data.nbytes)
        return data
