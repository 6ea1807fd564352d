# SPDX-License-Identifier: BSD-3-Clause
from typing import Any, Protocol

import numpy as np

__all__ = ["Stage"]

class _HasDLPack(Protocol):
    def __dlpack__(self) -> Any: ...

_Array = np.ndarray[Any, Any] | _HasDLPack

class Stage: ...
