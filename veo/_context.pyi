# SPDX-License-Identifier: BSD-3-Clause
from types import TracebackType
from typing import Any, NoReturn, Self, SupportsIndex

import numpy.typing as npt
from typing_extensions import disjoint_base

from veo._function import VeoFunction
from veo._memory import _BufferLike
from veo._proc import VeoProc
from veo._request import VeoMemRequest

__all__ = ["VeoCtxt"]

@disjoint_base
class VeoCtxt:
    proc: VeoProc
    def __init__(self, proc: VeoProc, *, timeout: float | None = None) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
    @property
    def tid(self) -> int: ...
    @property
    def _thr_ctxt(self) -> int: ...
    @property
    def closed(self) -> bool: ...
    def async_read_mem(
        self, dst: _BufferLike, src: SupportsIndex, size: SupportsIndex
    ) -> VeoMemRequest: ...
    def async_write_mem(
        self, dst: SupportsIndex, src: _BufferLike, size: SupportsIndex
    ) -> VeoMemRequest: ...
    def call_many(
        self, function: VeoFunction, *arguments: Any, timeout: float | None = None
    ) -> npt.NDArray[Any] | None: ...
    def context_sync(self, timeout: float | None = None) -> None: ...
    def close(self, timeout: float | None = None) -> None: ...
    def context_close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
