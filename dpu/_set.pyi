# SPDX-License-Identifier: BSD-3-Clause
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self, SupportsIndex

from typing_extensions import disjoint_base

from dpu._context import DpuContext
from dpu._launch import DpuRequest
from dpu._native import Library, _LibraryLike
from dpu._program_set import ProgramSet, _BufferLike, _Sources
from dpu.ffi import RawSet
from dpu.reports import SetReport

__all__ = ["ALLOCATE_ALL", "DpuSet"]

ALLOCATE_ALL: int

class _Stream(Protocol):
    def write(self, text: str, /) -> object: ...

_Log = _Stream | Sequence[_Stream | None]

@disjoint_base
class DpuSet(ProgramSet):
    def __init__(
        self,
        nr_dpus: SupportsIndex | None = None,
        nr_ranks: SupportsIndex | None = None,
        profile: str = "",
        binary: str | os.PathLike[str] | _BufferLike | None = None,
        c_source: _Sources | None = None,
        asm_source: _Sources | None = None,
        log: _Log | None = None,
        async_mode: bool | None = False,
        _do_internals: bool = True,
        *,
        library: _LibraryLike | None = None,
        wait_limit: float | None = None,
    ) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[DpuSet]: ...
    def __bool__(self) -> bool: ...
    def dpus(self) -> list[DpuSet]: ...
    def ranks(self) -> list[DpuSet]: ...
    @property
    def library(self) -> Library: ...
    @property
    def c_set(self) -> RawSet: ...
    @property
    def closed(self) -> bool: ...
    @property
    def wait_limit(self) -> float | None: ...
    @wait_limit.setter
    def wait_limit(self, seconds: float | None) -> None: ...
    def exec(
        self,
        log: _Log | Mapping[DpuSet, _Stream | None] | None = None,
        async_mode: bool | None = None,
        *,
        timeout: float | None = None,
    ) -> None: ...
    def exec_async(self) -> DpuRequest: ...
    def sync(self, *, timeout: float | None = None) -> None: ...
    def interrupt(self) -> None: ...
    @property
    def report(self) -> SetReport: ...
    def log(self, stream: _Log | Mapping[DpuSet, _Stream | None] | None = None) -> None: ...
    def call(
        self,
        fn: Callable[[DpuSet, int, Any], object],
        arg: Any,
        async_mode: bool | None = None,
        is_blocking: bool = True,
        single_call: bool = False,
    ) -> None: ...
    def checkpoint(self, iram: bool = True, mram: bool = True, wram: bool = True) -> DpuContext: ...
    def restore(
        self, context: DpuContext, iram: bool = True, mram: bool = True, wram: bool = True
    ) -> None: ...
    def free(self) -> None: ...
