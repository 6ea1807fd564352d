# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands of ranks beside each other, and finds the launcher of MPI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

__all__ = ["find_launcher", "run_together"]

# Open MPI, where mpiexec is its own, refuses root and more ranks than cores without being told.
_OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def find_launcher() -> str | None:
    """Find mpiexec: beside this Python, else on PATH; None if there is none."""
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def run_together(commands: Sequence[Sequence[str]], *, timeout: float) -> list[str]:
    """Run commands at the same time, and end all of them with the first that fails.

    Parameters
    ----------
    commands : sequence of sequence of str
        One ``mpiexec``, or one for each rank.
    timeout : float
        Seconds for all of them.

    Returns
    -------
    list of str
        What each has printed.

    Raises
    ------
    RuntimeError
        One ended with a status other than 0; the text has the last line of its standard error.
    subprocess.TimeoutExpired
        They were not done in time.
    """
    end = time.monotonic() + timeout
    with ExitStack() as stack:
        # Files, as a full pipe would stop a rank that the others wait for.
        outputs = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in commands]
        errors = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in commands]
        started: list[subprocess.Popen[str]] = []
        try:
            for command, output, error in zip(commands, outputs, errors, strict=True):
                started.append(
                    subprocess.Popen(
                        command,
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=error,
                        text=True,
                        env={**os.environ, **_OPEN_MPI},
                    )
                )
            for process, error in zip(started, errors, strict=True):
                process.wait(timeout=max(end - time.monotonic(), 0.1))
                if process.returncode != 0:
                    error.seek(0)
                    lines = error.read().strip().splitlines()
                    last = lines[-1] if lines else f"status {process.returncode}"
                    raise RuntimeError(f"a rank failed: {last}")
        finally:
            for process in started:
                process.kill()
                process.wait()
        for output in outputs:
            output.seek(0)
        return [output.read() for output in outputs]
