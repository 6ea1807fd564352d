# SPDX-License-Identifier: BSD-3-Clause
"""The engine by itself: it evaluates problems, which `Spec.to_problem` and other tools make.

A problem is plain data that JSON can hold; docs/design/accelforge.md describes it. `Model` checks
one and evaluates it, also for many values of its numbers in one call.
"""

from accelforge._model import (
    Batch,
    Failure,
    Model,
    ProblemError,
    Result,
    evaluate,
    evaluate_batch,
)

__all__ = [
    "Batch",
    "Failure",
    "Model",
    "ProblemError",
    "Result",
    "evaluate",
    "evaluate_batch",
]
