# SPDX-License-Identifier: BSD-3-Clause
"""Collectives that are offloaded to FPGAs with ACCL, or to an engine in software.

Programs for pyaccl run unchanged but for the import. Without FPGAs a soft engine executes the
collectives, over shared memory on one host and over MPI between hosts. `library_info()` and
``python -m accl`` show which library is used.

>>> from mpi4py import MPI
>>> from accl import accl
>>> device = accl.from_comm(MPI.COMM_WORLD)
>>> mine, total = device.allocate((1024,)), device.allocate((1024,))
>>> mine[:] = device.communicators[0].local_rank
>>> device.allreduce(mine, total)
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from accl._native import Library, library_info, use_library
from accl.arithmetic import ACCL_DEFAULT_ARITH_CONFIG, ACCLArithConfig
from accl.communicator import ACCLCommunicator
from accl.constants import (
    GLOBAL_COMM,
    TAG_ANY,
    ACCLCompressionFlags,
    ACCLReduceFunctions,
    ACCLStreamFlags,
    CCLOCfgFunc,
    CCLOp,
    ErrorCode,
)
from accl.errors import (
    ACCLArgumentError,
    ACCLClosedError,
    ACCLDtypeError,
    ACCLError,
    ACCLMemoryError,
    ACCLNotConfiguredError,
    ACCLPeerError,
    ACCLReceiveTimeoutError,
    ACCLUnfinishedError,
    ACCLUnsupportedError,
)
from offchip import __version__

if TYPE_CHECKING:
    from accl._handle import ACCLHandle as ACCLHandle
    from accl.accl import accl as accl
    from accl.buffer import ACCLBuffer as ACCLBuffer

__all__ = [
    "ACCL_DEFAULT_ARITH_CONFIG",
    "GLOBAL_COMM",
    "TAG_ANY",
    "ACCLArgumentError",
    "ACCLArithConfig",
    "ACCLBuffer",
    "ACCLClosedError",
    "ACCLCommunicator",
    "ACCLCompressionFlags",
    "ACCLDtypeError",
    "ACCLError",
    "ACCLHandle",
    "ACCLMemoryError",
    "ACCLNotConfiguredError",
    "ACCLPeerError",
    "ACCLReceiveTimeoutError",
    "ACCLReduceFunctions",
    "ACCLStreamFlags",
    "ACCLUnfinishedError",
    "ACCLUnsupportedError",
    "CCLOCfgFunc",
    "CCLOp",
    "ErrorCode",
    "Library",
    "__version__",
    "accl",
    "library_info",
    "use_library",
]

# Names whose modules load NumPy, and these modules.
_LATER = {"ACCLBuffer": "accl.buffer", "ACCLHandle": "accl._handle", "accl": "accl.accl"}
# Modules that programs reach as attributes of the package.
_MODULES = ("buffer", "device", "environment", "mpi_carrier", "rxbuffer")


class _Package(ModuleType):
    """The package, whose attribute ``accl`` is the class, and not the module that it is in."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "accl" and isinstance(value, ModuleType):
            value = value.accl
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _LATER:
        value: Any = getattr(import_module(_LATER[name]), name)
    elif name in _MODULES:
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_MODULES})
