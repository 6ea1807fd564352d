# SPDX-License-Identifier: BSD-3-Clause
"""Offload functions to NEC Vector Engines, or to a host process that simulates one.

Programs for py-veo run unchanged. With a Vector Engine and NEC's libveo, kernels run on it;
otherwise they are compiled for the host and run in a worker process. `library_info()` and
``python -m veo`` show which library is used.

>>> import veo
>>> with veo.VeoProc(0) as proc:
...     lib = proc.load_library("/path/to/libkernel.so")
...     lib.scale.args_type("double *", "int", "double")
...     request = lib.scale(proc.open_context(), veo.OnStack(data, inout=veo.INTENT_INOUT), n, 2.0)
...     request.wait_result()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from offchip import __version__
from veo._veo import (
    COMMAND_ERROR,
    COMMAND_EXCEPTION,
    COMMAND_OK,
    COMMAND_UNFINISHED,
    INTENT_IN,
    INTENT_INOUT,
    INTENT_OUT,
    STATE_BLOCKED,
    STATE_EXIT,
    STATE_RUNNING,
    STATE_SYSCALL,
    STATE_UNKNOWN,
    VEO_HMEM,
    VEO_INTENT_IN,
    VEO_INTENT_INOUT,
    VEO_INTENT_OUT,
    ConvFromI64,
    ConvToI64,
    Library,
    OnStack,
    VEMemPtr,
    VeoArgs,
    VeoCtxt,
    VeoFunction,
    VeoLibrary,
    VeoMemRequest,
    VeoProc,
    VeoRequest,
    del_proc_init_hook,
    get_ve_arch,
    library_info,
    set_proc_init_hook,
    use_library,
)
from veo.errors import (
    VeoClosedError,
    VeoError,
    VeoKernelException,
    VeoMemoryError,
    VeoSymbolError,
    VeoTimeoutError,
    VeoUnfinished,
)

if TYPE_CHECKING:
    import atexit
    import collections
    import gc
    import numbers
    import os
    import subprocess
    import sys
    from shutil import rmtree

    import numpy as np

    from veo import logging, vebuild
    from veo.arrays import DeviceArray as DeviceArray
    from veo.arrays import to_device as to_device
    from veo.completion import ALL_COMPLETED as ALL_COMPLETED
    from veo.completion import FIRST_COMPLETED as FIRST_COMPLETED
    from veo.completion import FIRST_EXCEPTION as FIRST_EXCEPTION
    from veo.completion import as_completed as as_completed
    from veo.completion import wait as wait
    from veo.kernels import Kernel as Kernel
    from veo.kernels import kernel as kernel
    from veo.kernels import offload as offload
    from veo.kernels import shared_process as shared_process
    from veo.vebuild import (
        COMPILER,
        FLAGS,
        GLOBAL_SO_FLAGS,
        MK_VEORUN_STATIC,
        SUFFIX,
        VeBuild,
        VeCObj,
        VeCppObj,
        VeFtnObj,
        VeObj,
        VeoBuildError,
    )

__all__ = [
    "COMMAND_ERROR",
    "COMMAND_EXCEPTION",
    "COMMAND_OK",
    "COMMAND_UNFINISHED",
    "COMPILER",
    "FLAGS",
    "GLOBAL_SO_FLAGS",
    "INTENT_IN",
    "INTENT_INOUT",
    "INTENT_OUT",
    "MK_VEORUN_STATIC",
    "STATE_BLOCKED",
    "STATE_EXIT",
    "STATE_RUNNING",
    "STATE_SYSCALL",
    "STATE_UNKNOWN",
    "SUFFIX",
    "VEO_HMEM",
    "VEO_INTENT_IN",
    "VEO_INTENT_INOUT",
    "VEO_INTENT_OUT",
    "ConvFromI64",
    "ConvToI64",
    "Library",
    "OnStack",
    "VEMemPtr",
    "VeBuild",
    "VeCObj",
    "VeCppObj",
    "VeFtnObj",
    "VeObj",
    "VeoArgs",
    "VeoBuildError",
    "VeoClosedError",
    "VeoCtxt",
    "VeoError",
    "VeoFunction",
    "VeoKernelException",
    "VeoLibrary",
    "VeoMemRequest",
    "VeoMemoryError",
    "VeoProc",
    "VeoRequest",
    "VeoSymbolError",
    "VeoTimeoutError",
    "VeoUnfinished",
    "__version__",
    "atexit",
    "collections",
    "del_proc_init_hook",
    "gc",
    "get_ve_arch",
    "library_info",
    "logging",
    "np",
    "numbers",
    "os",
    "rmtree",
    "set_proc_init_hook",
    "subprocess",
    "sys",
    "use_library",
    "vebuild",
]

# The compilers are imported on first use: most programs never need them.
_FROM_VEBUILD = frozenset(
    [
        "COMPILER",
        "FLAGS",
        "GLOBAL_SO_FLAGS",
        "MK_VEORUN_STATIC",
        "SUFFIX",
        "VeBuild",
        "VeCObj",
        "VeCppObj",
        "VeFtnObj",
        "VeObj",
        "VeoBuildError",
    ]
)

# Our own names are imported on first use too, and are not in __all__: programs for py-veo that
# import everything have no use for them.
_ADDED = {
    "DeviceArray": "veo.arrays",
    "to_device": "veo.arrays",
    "ALL_COMPLETED": "veo.completion",
    "FIRST_COMPLETED": "veo.completion",
    "FIRST_EXCEPTION": "veo.completion",
    "as_completed": "veo.completion",
    "wait": "veo.completion",
    "Kernel": "veo.kernels",
    "kernel": "veo.kernels",
    "offload": "veo.kernels",
    "shared_process": "veo.kernels",
}

# py-veo has no __all__: the modules that it imports are among its names, and programs use them.
_MODULES = {
    "np": "numpy",
    "os": "os",
    "sys": "sys",
    "gc": "gc",
    "atexit": "atexit",
    "numbers": "numbers",
    "collections": "collections",
    "subprocess": "subprocess",
    "logging": "veo.logging",
    "vebuild": "veo.vebuild",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    value: Any
    if name in _MODULES:
        value = import_module(_MODULES[name])
    elif name in _ADDED:
        value = getattr(import_module(_ADDED[name]), name)
    elif name in _FROM_VEBUILD:
        value = getattr(import_module("veo.vebuild"), name)
    elif name == "rmtree":
        from shutil import rmtree as value
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
