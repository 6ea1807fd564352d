# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong on the way from C to a DPU program."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

__all__ = ["CommandError", "ToolchainError", "TranslationError"]


class ToolchainError(Exception):
    """A program cannot be made; the message says of what and where."""


class TranslationError(ToolchainError):
    """An instruction has no counterpart on the DPU."""


class CommandError(ToolchainError, subprocess.CalledProcessError):
    """The compiler or the linker refused; the message has what it wrote.

    Parameters
    ----------
    returncode : int
        The exit status.
    command : sequence of str
        What was run.
    text : str
        What it wrote, with files and lines.
    """

    def __init__(self, returncode: int, command: Sequence[str], text: str) -> None:
        subprocess.CalledProcessError.__init__(self, returncode, list(command), "", text)

    def __str__(self) -> str:
        text = str(self.stderr).strip()
        return text or subprocess.CalledProcessError.__str__(self)
