# SPDX-License-Identifier: BSD-3-Clause
"""Errors of the C toolchain."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from offchip.error_pages import point_to_page

__all__ = ["CommandError", "ToolchainError", "TranslationError"]


class ToolchainError(Exception):
    """A program cannot be built; the message says what failed and where."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        point_to_page(self)


class TranslationError(ToolchainError):
    """An instruction has no counterpart on the DPU."""


class CommandError(ToolchainError, subprocess.CalledProcessError):
    """The compiler or the linker failed; the message is its output.

    Parameters
    ----------
    returncode : int
        The exit status.
    command : sequence of str
        The command.
    text : str
        Its output, with files and lines.
    """

    def __init__(self, returncode: int, command: Sequence[str], text: str) -> None:
        subprocess.CalledProcessError.__init__(self, returncode, list(command), "", text)

    def __str__(self) -> str:
        text = str(self.stderr).strip()
        return text or subprocess.CalledProcessError.__str__(self)
