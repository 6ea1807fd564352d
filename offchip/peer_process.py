# SPDX-License-Identifier: BSD-3-Clause
"""A package that cannot be imported beside ours, measured in a process of its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence

__all__ = ["PeerFailed", "PeerProcess"]


class PeerFailed(Exception):
    """The process could not do what was asked of it."""


class PeerProcess:
    """A program that works for each line of its input, and prints "done"; to be used in `with`.

    Parameters
    ----------
    python : str
        The interpreter that has the package.
    program : str
        The text of the program.
    *arguments : str
        Its arguments.
    variables : mapping, optional
        Environment variables of the process beside our own.
    """

    def __init__(
        self, python: str, program: str, *arguments: str, variables: Mapping[str, str] | None = None
    ) -> None:
        self._python = python
        self._folder = tempfile.TemporaryDirectory(prefix="offchip-bench-")  # what it leaves
        command: Sequence[str] = [python, "-P", "-c", program, *arguments]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self._folder.name,  # the package itself, and not a folder of its name here
            env={**os.environ, **(variables or {})},
        )

    def __enter__(self) -> PeerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate()
        self._folder.cleanup()

    def run(self, line: str) -> None:
        """Have a line worked for."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            print(line, file=self._process.stdin, flush=True)
        if self._process.stdout.readline() != "done\n":
            raise PeerFailed(f"that of {self._python} failed; its message is above")
