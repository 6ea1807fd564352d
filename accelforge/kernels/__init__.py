# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of the other packages, for `accelforge.predict` and `accelforge.measure`."""

from accelforge.kernels.dpu_kernels import (
    DpuKernel,
    dpu_gemv,
    dpu_histogram,
    dpu_matmul,
    dpu_reduction,
    dpu_scan,
)

__all__ = [
    "DpuKernel",
    "dpu_gemv",
    "dpu_histogram",
    "dpu_matmul",
    "dpu_reduction",
    "dpu_scan",
]
