# SPDX-License-Identifier: BSD-3-Clause
"""The names of what jobs measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

OPERATIONS = (
    "barrier",
    "pingpong",
    "bcast",
    "scatter",
    "gather",
    "allgather",
    "reduce",
    "allreduce",
    "reduce_scatter",
)
# Costs of an implementation to a program besides the time of its calls.
COSTS = ("barrier cpu", "own allreduce")
# The floor: a copy of the vector.
COPY = "copy"
# Measured once, at this size.
SIZELESS = {"barrier": 0, "barrier cpu": 0, "own allreduce": 4}


def cells_of(operations: Sequence[str], sizes: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Give every operation at every size, in the bytes of whole float32."""
    for operation in operations:
        if operation in SIZELESS:
            yield operation, SIZELESS[operation]
    for size in sizes:
        for operation in operations:
            if operation not in SIZELESS:
                yield operation, max(1, size // 4) * 4
