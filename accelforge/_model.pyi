from collections.abc import Mapping, Sequence
from typing import Any, final

from numpy.typing import ArrayLike

from accelforge._problem import ProblemError as ProblemError
from accelforge._results import Batch as Batch
from accelforge._results import Column
from accelforge._results import Failure as Failure
from accelforge._results import Result as Result

__all__ = ["Batch", "Failure", "Model", "ProblemError", "Result", "evaluate", "evaluate_batch"]

@final
class Model:
    @property
    def columns(self) -> list[Column]: ...
    def __init__(self, problem: Mapping[str, Any]) -> None: ...
    @property
    def parameters(self) -> list[str]: ...
    def evaluate(
        self, changed: Mapping[str, float] | None = None, /, **parameters: float
    ) -> Result: ...
    def evaluate_batch(
        self,
        series: Mapping[str, ArrayLike],
        *,
        threads: int = 0,
        columns: Sequence[Column] | None = None,
    ) -> Batch: ...
    def __reduce_ex__(self, protocol: Any) -> Any: ...

def evaluate(problem: Mapping[str, Any]) -> Result: ...
def evaluate_batch(
    problem: Mapping[str, Any],
    series: Mapping[str, ArrayLike],
    *,
    threads: int = 0,
    columns: Sequence[Column] | None = None,
) -> Batch: ...
