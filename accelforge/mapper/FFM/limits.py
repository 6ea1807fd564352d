# SPDX-License-Identifier: BSD-3-Clause
"""Limits of the mapper: of time and of memory."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Limits"]


class Limits:
    """Limits of the mapper's time and memory.

    Parameters
    ----------
    seconds : float
        From now on; infinity for no limit.
    memory : float
        Bytes.
    interrupted : bool
        Whether they are for what Ctrl-C left.
    """

    def __init__(
        self, seconds: float = math.inf, memory: float = math.inf, *, interrupted: bool = False
    ) -> None:
        self.interrupted = interrupted
        self.seconds = seconds
        self.memory = memory
        self.deadline = time.monotonic() + seconds
        self.stop: NDArray[np.uint8] = np.zeros(1, np.uint8)

    @classmethod
    def of(cls, mapper: Any) -> Limits:
        """Return those of the settings of the mapper."""
        names = ("time_limit", "memory_limit", "memory_limit_per_process")
        seconds, *memory = (float(getattr(mapper, name)) for name in names)
        for name, limit in zip(names, (seconds, *memory), strict=True):
            if not limit >= 0:
                raise ValueError(
                    f"mapper.{name} is a number that is not negative, inf for no limit, "
                    f"not {limit:g}"
                )
        return cls(seconds, min(memory))

    def remaining(self) -> float:
        """Return the seconds that are left."""
        return max(self.deadline - time.monotonic(), 0.0)

    @property
    def stopped(self) -> bool:
        """True if everything must stop."""
        return bool(self.stop[0])

    def __str__(self) -> str:
        parts = []
        if self.seconds < math.inf:
            parts.append(f"time limit of {self.seconds:g} s")
        if self.memory < math.inf:
            parts.append(f"memory limit of {self.memory:g} bytes")
        return " or its ".join(parts)
