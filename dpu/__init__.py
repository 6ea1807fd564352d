# SPDX-License-Identifier: BSD-3-Clause
"""Drive UPMEM's processing-in-memory DPUs, or a simulation of them.

Programs for UPMEM's package of this name run unchanged. With UPMEM's hardware and libdpu they run
there; otherwise the DPUs are simulated on this host. `library_info()` and ``python -m dpu`` show
which library is used.

>>> from dpu import DpuSet
>>> with DpuSet(nr_dpus=64, binary="checksum.dpu") as dpus:
...     dpus.copy("buffer", [bytes(block) for block in blocks])
...     dpus.exec()
...     print(dpus.checksum.uint32(), dpus.report.cycles)
"""

from __future__ import annotations

from dpu._native import Library, library_info, use_library
from dpu._set import ALLOCATE_ALL, DpuSet
from dpu._symbol import DpuSymbol
from dpu.driver import DpuContext
from dpu.errors import DpuError, DpuTimeoutError, DpuWarning
from offchip import __version__

__all__ = [
    "ALLOCATE_ALL",
    "DpuContext",
    "DpuError",
    "DpuSet",
    "DpuSymbol",
    "DpuTimeoutError",
    "DpuWarning",
    "Library",
    "__version__",
    "library_info",
    "use_library",
]
