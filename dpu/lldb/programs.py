# SPDX-License-Identifier: BSD-3-Clause
"""Hosts that the debugger starts for a program."""

from __future__ import annotations

from collections.abc import Sequence

from ..debugger.errors import DebuggerError
from ..debugger.host import program_command
from ..elf.format import ELF_MACHINE
from ..elf.reader import ElfError, ElfFile

__all__ = ["command_for"]


def command_for(words: Sequence[str]) -> list[str]:
    """Return the command of a host program, or one that launches a program for DPUs.

    Parameters
    ----------
    words : sequence of str
        The program and its arguments.
    """
    try:
        with open(words[0], "rb") as file:
            data = file.read()
        machine = ElfFile(data).machine
    except OSError:
        # A command on PATH.
        return list(words)
    except ElfError:
        return list(words)
    if machine != ELF_MACHINE:
        return list(words)
    if len(words) > 1:
        raise DebuggerError(f"{words[0]} is a program for DPUs, which has no arguments")
    return program_command(words[0])
