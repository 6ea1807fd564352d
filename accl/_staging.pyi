# SPDX-License-Identifier: BSD-3-Clause
from typing import Any, NoReturn, Protocol, SupportsIndex, final

import numpy as np
from typing_extensions import Buffer

__all__ = ["Stage", "as_array"]

class _HasDLPack(Protocol):
    def __dlpack__(self) -> Any: ...

class _HasArrayInterface(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

_Array = np.ndarray[Any, Any] | _HasDLPack | _HasArrayInterface | Buffer

def as_array(given: _Array, writes: bool, what: str, name: str) -> np.ndarray[Any, Any]: ...

@final
class Stage:
    def __init__(self, *args: object, **kwargs: object) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
