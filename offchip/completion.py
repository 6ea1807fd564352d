# SPDX-License-Identifier: BSD-3-Clause
"""Completion of command lines in shells, by argcomplete (the extra ``completion``)."""

from __future__ import annotations

import argparse
import os

__all__ = ["COMMANDS", "SHELLS", "complete", "shell_code"]

#: Commands whose options argparse reads; compilers complete file names as it is.
COMMANDS = (
    *("offchip", "veo-env", "dpu-env", "dpu-lldb"),
    *("veo-pkg-config", "dpu-pkg-config", "accl-pkg-config"),
)
SHELLS = ("bash", "zsh", "fish")


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that asks how the command line may go on, and end; else do nothing."""
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser)


def shell_code(shell: str) -> str:
    """Return the commands that a shell runs at its start, so that it completes `COMMANDS`.

    Parameters
    ----------
    shell : {"bash", "zsh", "fish"}
        Its kind.

    Raises
    ------
    ModuleNotFoundError
        argcomplete is not installed.
    """
    try:
        import argcomplete
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "completion needs argcomplete: pip install 'offchip[completion]'", name="argcomplete"
        ) from error
    return str(argcomplete.shell_integration.shellcode(COMMANDS, shell=shell))
