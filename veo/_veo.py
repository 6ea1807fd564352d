# SPDX-License-Identifier: BSD-3-Clause
"""The names of py-veo's extension module, for programs that import it directly."""

from __future__ import annotations

from typing import Any

from veo._context import VeoCtxt
from veo._convert import ConvFromI64, ConvToI64
from veo._function import VeoFunction
from veo._library import VeoLibrary
from veo._memory import VEO_HMEM, OnStack, VeoArgs
from veo._native import Library, library_info, use_library
from veo._proc import VeoProc, del_proc_init_hook, get_ve_arch, set_proc_init_hook
from veo._request import VeoMemRequest, VeoRequest
from veo.enums import ArgsIntent, CommandState, ContextState
from veo.memptr import VEMemPtr

__all__ = [
    "COMMAND_ERROR",
    "COMMAND_EXCEPTION",
    "COMMAND_OK",
    "COMMAND_UNFINISHED",
    "INTENT_IN",
    "INTENT_INOUT",
    "INTENT_OUT",
    "STATE_BLOCKED",
    "STATE_EXIT",
    "STATE_RUNNING",
    "STATE_SYSCALL",
    "STATE_UNKNOWN",
    "VEO_HMEM",
    "VEO_INTENT_IN",
    "VEO_INTENT_INOUT",
    "VEO_INTENT_OUT",
    "ConvFromI64",
    "ConvToI64",
    "Library",
    "OnStack",
    "VEMemPtr",
    "VeoArgs",
    "VeoCtxt",
    "VeoFunction",
    "VeoLibrary",
    "VeoMemRequest",
    "VeoProc",
    "VeoRequest",
    "del_proc_init_hook",
    "get_ve_arch",
    "library_info",
    "set_proc_init_hook",
    "use_library",
]

INTENT_IN = VEO_INTENT_IN = ArgsIntent.INTENT_IN
INTENT_INOUT = VEO_INTENT_INOUT = ArgsIntent.INTENT_INOUT
INTENT_OUT = VEO_INTENT_OUT = ArgsIntent.INTENT_OUT
STATE_UNKNOWN = ContextState.STATE_UNKNOWN
STATE_RUNNING = ContextState.STATE_RUNNING
STATE_SYSCALL = ContextState.STATE_SYSCALL
STATE_BLOCKED = ContextState.STATE_BLOCKED
STATE_EXIT = ContextState.STATE_EXIT
COMMAND_OK = CommandState.COMMAND_OK
COMMAND_EXCEPTION = CommandState.COMMAND_EXCEPTION
COMMAND_ERROR = CommandState.COMMAND_ERROR
COMMAND_UNFINISHED = CommandState.COMMAND_UNFINISHED

#: py-veo's names of the enumerations.
_veo_args_intent = ArgsIntent
_veo_context_state = ContextState
_veo_command_state = CommandState

#: Version of the API that the package was built for, and its limit for arguments of a call.
_veo_api_version = 16
_veo_max_num_args = 256


def __getattr__(name: str) -> Any:
    if name == "_veo_version":
        # Loads the library, which the import must not do.
        return library_info()["version"]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
