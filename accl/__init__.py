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

from accl._handle import ACCLHandle
from accl._native import Library, library_info, use_library
from accl.accl import (
    ACCL_DEFAULT_ARITH_CONFIG,
    ACCLArithConfig,
    ACCLCommunicator,
    accl,
)
from accl.buffer import ACCLBuffer
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
