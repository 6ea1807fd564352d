# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from veo._context import VeoCtxt
from veo._function import VeoFunction
from veo._proc import VeoProc
from veo._request import VeoRequest

__all__ = ["check", "oldest", "submit_batch", "submit_call", "to_word"]

def check(
    function: VeoFunction, context: VeoCtxt, count: int, timeout: float | None
) -> tuple[str, str, bool, float | None]: ...
def to_word(code: str, value: Any, proc: VeoProc) -> int: ...
def oldest(request: VeoRequest) -> str: ...
def submit_batch(
    function: VeoFunction,
    context: VeoCtxt,
    columns: list[npt.NDArray[np.uint64]],
    count: int,
    results: npt.NDArray[np.uint64],
    ended: npt.NDArray[np.uint64],
) -> VeoRequest: ...
def submit_call(function: VeoFunction, context: VeoCtxt, words: Iterable[int]) -> VeoRequest: ...
