# SPDX-License-Identifier: BSD-3-Clause
"""Run times of kernels: predicted by their specifications, and measured by running them."""

from accelforge.prediction.kernel import (
    Kernel,
    Measurement,
    compute,
    hold,
    loop,
    make_spec,
    phases,
    spread,
)
from accelforge.prediction.results import Results, Row
from accelforge.prediction.trial import measure, predict

__all__ = [
    "Kernel",
    "Measurement",
    "Results",
    "Row",
    "compute",
    "hold",
    "loop",
    "make_spec",
    "measure",
    "phases",
    "predict",
    "spread",
]
