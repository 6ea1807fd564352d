# SPDX-License-Identifier: BSD-3-Clause
"""The enumerations of the VEO API, with the names that py-veo gives their members."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["ArgsIntent", "CommandState", "ContextState"]


class ArgsIntent(IntEnum):
    """The direction in which the memory of an `OnStack` argument is copied."""

    #: Copied to the VE before the call.
    INTENT_IN = 0
    #: Copied to the VE before the call, and back after it.
    INTENT_INOUT = 1
    #: Zero-filled on the VE, copied back after the call.
    INTENT_OUT = 2


class ContextState(IntEnum):
    """State of a context."""

    STATE_UNKNOWN = 0
    STATE_RUNNING = 1
    STATE_SYSCALL = 2
    STATE_BLOCKED = 3
    STATE_EXIT = 4


class CommandState(IntEnum):
    """State of a request."""

    #: Done; there is a result.
    COMMAND_OK = 0
    #: Ended by a signal; the result is its number.
    COMMAND_EXCEPTION = 1
    #: Not executed, or its result was fetched before.
    COMMAND_ERROR = 2
    #: Queued or running.
    COMMAND_UNFINISHED = 3
