# SPDX-License-Identifier: BSD-3-Clause
"""The package's exceptions; each also derives from the builtin that fits it."""

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
    """A call of the CCLO, or its driver, failed.

    Attributes
    ----------
    retcode : int
        From the CCLO; 0 if it was never called.
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
    """An invalid argument: an unknown rank or communicator, a count beyond the buffer, ..."""


class ACCLReceiveTimeoutError(ACCLError, TimeoutError):
    """A receive found no matching send, or a send no receive, before the timeout."""


class ACCLPeerError(ACCLError, ConnectionError):
    """Another rank has ended, cannot be reached, or gave up the communicator.

    Attributes
    ----------
    peer : int or None
        That rank, as one of communicator 0; None if the library does not name one.
    rank : int or None
        The rank whose call failed, as one of communicator 0.
    """

    peer: int | None = None
    rank: int | None = None


class ACCLMemoryError(ACCLError, MemoryError):
    """The device is out of memory, or the exchange memory is full."""


class ACCLNotConfiguredError(ACCLError, AssertionError):
    """The instance is not configured yet, or no longer."""


class ACCLClosedError(ACCLNotConfiguredError, ValueError):
    """The instance was deinitialised, or belongs to the parent of this process."""


class ACCLDtypeError(ACCLError, TypeError, KeyError, AssertionError):
    """No arithmetic configuration supports these types."""


class ACCLUnfinishedError(RequestTimeoutError, ACCLError):
    """A wait timed out; the call continues."""


class ACCLUnsupportedError(ACCLError, NotImplementedError):
    """The library in use does not support the operation."""
