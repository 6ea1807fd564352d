# SPDX-License-Identifier: BSD-3-Clause
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self, SupportsIndex

from typing_extensions import Buffer as _SupportsBuffer
from typing_extensions import disjoint_base

from dpu._context import DpuContext
from dpu._handle import SetView
from dpu._launch import DpuRequest
from dpu._native import Library, _LibraryLike
from dpu._program import DpuProgram
from dpu._symbol import DpuSymbol
from dpu.ffi import RawSet
from dpu.reports import SetReport
from dpu.symbols import ProgramSymbols
from dpu.variable import DpuVariable

__all__ = ["ALLOCATE_ALL", "DpuSet"]

ALLOCATE_ALL: int

# numpy declares its buffer only for Python 3.12 and later, though it always has one.
class _HasArrayInterface(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

class _Stream(Protocol):
    def write(self, text: str, /) -> object: ...

class _Readable(Protocol):
    def read(self) -> str | bytes: ...

_BufferLike = _SupportsBuffer | _HasArrayInterface
_Host = _BufferLike | Sequence[_BufferLike | None]
_Side = str | DpuSymbol | _Host
_Source = str | os.PathLike[str] | _Readable
_Sources = _Source | Sequence[_Source]
_Log = _Stream | Sequence[_Stream | None]

@disjoint_base
class DpuSet(SetView):
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
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any, /) -> None: ...
    def dpus(self) -> list[DpuSet]: ...
    def ranks(self) -> list[DpuSet]: ...
    @property
    def library(self) -> Library: ...
    @property
    def c_set(self) -> RawSet: ...
    @property
    def closed(self) -> bool: ...
    def load(
        self,
        binary: str | os.PathLike[str] | _BufferLike | None = None,
        c_source: _Sources | None = None,
        asm_source: _Sources | None = None,
    ) -> DpuProgram: ...
    @property
    def program(self) -> DpuProgram | None: ...
    @property
    def symbols(self) -> ProgramSymbols: ...
    def _read_symbol(self, symbol: DpuSymbol) -> DpuVariable: ...
    def copy(
        self,
        dst: _Side,
        src: _Side,
        size: SupportsIndex | None = None,
        offset: SupportsIndex = 0,
        async_mode: bool | None = None,
    ) -> None: ...
    def exec(
        self,
        log: _Log | Mapping[DpuSet, _Stream | None] | None = None,
        async_mode: bool | None = None,
    ) -> None: ...
    def exec_async(self) -> DpuRequest: ...
    def sync(self) -> None: ...
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
