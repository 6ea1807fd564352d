from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from accelforge._joining import GroupError as GroupError
from accelforge._joining import Join as Join

__all__ = ["COUNTERS", "Front", "GroupError", "Join", "join"]

COUNTERS: int

@final
class Front:
    def __new__(cls, width: int) -> Self: ...
    def add(self, costs: NDArray[np.float64]) -> NDArray[np.int64]: ...

def run(
    tables: Any,
    columns: Any,
    goal: Any,
    limits: Any,
    tolerances: Any,
    all_memories: Any,
    progress: Any,
) -> Join: ...
def join(
    groups: Sequence[Sequence[Any]],
    problem: Mapping[str, Any],
    columns: Sequence[str],
    metrics: Collection[str],
    *,
    threads: int = 0,
    stop: NDArray[np.uint8] | None = None,
    deadline: float = ...,
    memory_limit: float = ...,
    objective_tolerance: float = 0.0,
    resource_usage_tolerance: float = 0.0,
    all_memories: bool = False,
    progress: NDArray[np.uint64] | None = None,
    here: bool = False,
) -> Join: ...
