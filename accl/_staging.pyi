# SPDX-License-Identifier: BSD-3-Clause
from typing import Any, NoReturn, Protocol, SupportsIndex, final

import numpy as np

__all__ = ["Stage"]

class _HasDLPack(Protocol):
    def __dlpack__(self) -> Any: ...

_Array = np.ndarray[Any, Any] | _HasDLPack

@final
class Stage:
    def __init__(self, *args: object, **kwargs: object) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
