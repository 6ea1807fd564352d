# SPDX-License-Identifier: BSD-3-Clause
"""What the package raises; each class is also the builtin that a program would expect."""

from __future__ import annotations

from typing import Any

from accl.constants import ErrorCode, error_names
from offchip.errors import OffchipError, RequestTimeoutError

__all__ = [
    "ACCLArgumentError",
    "ACCLClosedError",
    "ACCLDtypeError",
    "ACCLError",
    "ACCLMemoryError",
    "ACCLNotConfiguredError",
    "ACCLPeerError",
    "ACCLReceiveTimeoutError",
    "ACCLUnfinishedError",
    "ACCLUnsupportedError",
]


class ACCLError(OffchipError, RuntimeError):
    """A call of the CCLO failed, or its driver did.

    Attributes
    ----------
    retcode : int
        What the CCLO gave, 0 when it was never asked.
    """

    retcode: int = 0

    def __init__(self, message: str = "", *, retcode: int = 0, **details: Any) -> None:
        super().__init__(message, **details)
        self.retcode = retcode

    @property
    def flags(self) -> tuple[ErrorCode, ...]:
        """The bits of the return code that have a name."""
        return tuple(code for code in ErrorCode if self.retcode & code)

    @property
    def flag_names(self) -> list[str]:
        """Names of all bits of the return code."""
        return error_names(self.retcode)


class ACCLArgumentError(ACCLError, ValueError):
    """An argument cannot be: no such rank or communicator, a count beyond the buffer, ..."""


class ACCLReceiveTimeoutError(ACCLError, TimeoutError):
    """Nobody sent what was to be received, or received what was sent, until the timeout."""


class ACCLPeerError(ACCLError, ConnectionError):
    """Another rank has ended, or cannot be reached."""


class ACCLMemoryError(ACCLError, MemoryError):
    """The device is out of memory, or the exchange memory is full."""


class ACCLNotConfiguredError(ACCLError, AssertionError):
    """The instance is not configured yet, or not any more."""


class ACCLClosedError(ACCLNotConfiguredError, ValueError):
    """The instance was deinitialised, or belongs to the parent of this process."""


class ACCLDtypeError(ACCLError, TypeError, KeyError, AssertionError):
    """There is no arithmetic configuration for these types."""


class ACCLUnfinishedError(RequestTimeoutError, ACCLError):
    """A wait reached its limit; the call continues."""


class ACCLUnsupportedError(ACCLError, NotImplementedError):
    """The library that is used cannot do it."""
