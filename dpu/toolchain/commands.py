# SPDX-License-Identifier: BSD-3-Clause
"""Runs compilers and linkers."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from .errors import CommandError, ToolchainError

__all__ = ["run"]


def run(command: Sequence[str], *, text: str | None = None) -> tuple[str, str]:
    """Run a command and return its standard output and error output.

    Parameters
    ----------
    command : sequence of str
        The command and its arguments.
    text : str, optional
        Its standard input.

    Raises
    ------
    CommandError
        If it fails.
    ToolchainError
        If it cannot be started.
    """
    environment = dict(os.environ)
    # A library preloaded into the interpreter is not meant for the compiler.
    environment.pop("LD_PRELOAD", None)
    try:
        done = subprocess.run(
            command,
            input=text,
            stdin=subprocess.DEVNULL if text is None else None,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
            env=environment,
        )
    except OSError as error:
        raise ToolchainError(f"cannot run {command[0]}: {error}") from error

    if done.returncode:
        raise CommandError(done.returncode, command, done.stderr)
    return done.stdout, done.stderr
