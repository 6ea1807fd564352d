from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from accelforge._problem import ProblemError as ProblemError
from accelforge._problem.mapspace import Mapspace
from accelforge._problem.mapspace import flatten_mapspace as flatten_mapspace

__all__ = ["METRICS", "Found", "bound_templates", "flatten_mapspace", "list_templates", "search"]

METRICS: list[str]

@final
class Found:
    @property
    def groups(self) -> list[dict[str, Any]]: ...
    @property
    def templates(self) -> int: ...
    @property
    def evaluated(self) -> int: ...
    @property
    def valid(self) -> int: ...
    @property
    def complete(self) -> bool: ...
    @property
    def bound(self) -> dict[str, float]: ...
    @property
    def low(self) -> NDArray[np.float64]: ...
    @property
    def backings(self) -> list[tuple[tuple[str, str], ...]]: ...
    @property
    def backing_of(self) -> NDArray[np.int32]: ...

def search(
    mapspace: Mapping[str, Any] | Mapspace,
    *,
    threads: int,
    stop: Any = None,
    deadline: float,
    memory_limit: float,
    progress: Callable[[dict[str, Any]], object] | None = None,
    width: int = 0,
    incumbents: Any = None,
) -> Found: ...
def list_templates(mapspace: Mapping[str, Any]) -> list[list[dict[str, Any]]]: ...
def bound_templates(mapspace: Mapping[str, Any]) -> NDArray[np.float64]: ...
