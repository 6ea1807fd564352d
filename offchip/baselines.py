# SPDX-License-Identifier: BSD-3-Clause
"""Baselines in C: what this machine does without a package, compiled by ``gcc -O2``."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from offchip.measurements import Missing

__all__ = ["NoBaseline", "c_library", "missing_compiler"]

LIMIT_S = 60


class NoBaseline(Exception):
    """C code could not be compiled; the text says why."""


def missing_compiler(what: str, peer: str, error: Exception) -> Missing:
    """Say that `what` has no baseline, as there is no compiler for it."""
    return Missing(what, peer, f"{error}; on Debian: apt-get install gcc libc6-dev")


@contextlib.contextmanager
def c_library(source: str, flags: Sequence[str] = ()) -> Iterator[ctypes.CDLL]:
    """Compile C for this processor, as a user would without thinking about it, and load it.

    Parameters
    ----------
    source : str
        The text of the file.
    flags : sequence of str
        What follows ``-O2``, such as libraries.

    Raises
    ------
    NoBaseline
        No compiler was found, or it failed.
    """
    words = shlex.split(os.environ.get("CC", "")) or ["gcc"]
    if shutil.which(words[0]) is None:
        raise NoBaseline(f"{words[0]} was not found")
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as folder:
        path, output = Path(folder, "baseline.c"), Path(folder, "baseline.so")
        path.write_text(source)
        command = [*words, "-O2", "-shared", "-fPIC", str(path), "-o", str(output), *flags]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or ["no message"]
            raise NoBaseline(f"{words[0]} failed: {lines[-1]}")
        yield ctypes.CDLL(str(output))
