# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of the other packages, for `accelforge.predict` and `accelforge.measure`.

Kernels of DPUs take simulated cycles, the same in each run. Those of veo and accl run on this host,
whose figures are measured first; on a host that is busy with other things they are off by more.
"""

from accelforge.kernels.accl_calibration import RankFigures, Timing, calibrate_ranks
from accelforge.kernels.accl_kernels import AcclAllreduce, accl_allreduce
from accelforge.kernels.dpu_kernels import (
    DpuKernel,
    dpu_gemv,
    dpu_histogram,
    dpu_matmul,
    dpu_reduction,
    dpu_scan,
)
from accelforge.kernels.veo_kernels import VeoDgemm, VeoStencil, veo_dgemm, veo_stencil
from accelforge.prediction import Kernel, Measurement

__all__ = [
    "AcclAllreduce",
    "DpuKernel",
    "Kernel",
    "Measurement",
    "RankFigures",
    "Timing",
    "VeoDgemm",
    "VeoStencil",
    "accl_allreduce",
    "calibrate_ranks",
    "dpu_gemv",
    "dpu_histogram",
    "dpu_matmul",
    "dpu_reduction",
    "dpu_scan",
    "list_kernels",
    "veo_dgemm",
    "veo_stencil",
]


def list_kernels() -> list[Kernel]:
    """Return the ten kernels of which docs/accelforge.md shows the errors."""
    return [
        dpu_gemv(),
        dpu_reduction(),
        dpu_histogram(),
        dpu_scan(),
        dpu_matmul(),
        veo_dgemm(),
        veo_stencil(),
        *(accl_allreduce(size) for size in (1 << 10, 64 << 10, 256 << 10)),
    ]
