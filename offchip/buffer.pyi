# SPDX-License-Identifier: BSD-3-Clause
from types import TracebackType
from typing import Any, Protocol, Self, final

from typing_extensions import Buffer as _SupportsBuffer

__all__ = ["Buffer"]

# numpy declares its buffer only for Python 3.12 and later, though it always has one.
class _HasArrayInterface(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

class _HasDlpack(Protocol):
    def __dlpack__(self, *, stream: Any = None) -> Any: ...

_BufferLike = _SupportsBuffer | _HasArrayInterface | _HasDlpack

@final
class Buffer:
    def __init__(self, obj: _BufferLike, *, writable: bool = False) -> None: ...
    def release(self) -> int: ...
    @property
    def obj(self) -> Any: ...
    @property
    def address(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def readonly(self) -> bool: ...
    def __len__(self) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
