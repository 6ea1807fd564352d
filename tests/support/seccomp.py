# SPDX-License-Identifier: BSD-3-Clause
"""Seccomp filters as containers have them: some system calls fail."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence

__all__ = ["PIDFD_OPEN", "deny", "deny_process_vm"]

PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
SECCOMP_RET_ERRNO = 0x0005_0000
SECCOMP_RET_ALLOW = 0x7FFF_0000
AUDIT_ARCH_X86_64 = 0xC000_003E
EPERM = 1
PROCESS_VM_READV, PROCESS_VM_WRITEV, PIDFD_OPEN = 310, 311, 434

# Of BPF: load a word, jump if equal, return.
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
# Offsets in struct seccomp_data.
NUMBER, ARCHITECTURE = 0, 4


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _program(denied: Sequence[int]) -> bytes:
    tests = [
        _instruction(JUMP_EQUAL, number, if_true=len(denied) - i) for i, number in enumerate(denied)
    ]
    return b"".join(
        [
            _instruction(LOAD, ARCHITECTURE),
            _instruction(JUMP_EQUAL, AUDIT_ARCH_X86_64, if_false=len(denied) + 1),
            _instruction(LOAD, NUMBER),
            *tests,
            _instruction(RETURN, SECCOMP_RET_ALLOW),
            _instruction(RETURN, SECCOMP_RET_ERRNO | EPERM),
        ]
    )


def deny_process_vm() -> None:
    """Deny what reaches into the memory of other processes, as `deny()` does."""
    deny(PROCESS_VM_READV, PROCESS_VM_WRITEV)


def deny(*numbers: int) -> None:
    """Deny system calls to this process and to all that it starts, for good: EPERM.

    Raises
    ------
    OSError
        The kernel does not take the filter.
    """

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]

    code = _program(numbers)
    program = Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in (
        (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0),
    ):
        if libc.prctl(*arguments) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
