# SPDX-License-Identifier: BSD-3-Clause
import os
from collections.abc import Sequence
from typing import Any, Protocol, SupportsIndex

from typing_extensions import Buffer as _SupportsBuffer
from typing_extensions import disjoint_base

from dpu._handle import SetView
from dpu._program import DpuProgram
from dpu._symbol import DpuSymbol
from dpu.symbols import ProgramSymbols
from dpu.variable import DpuVariable

__all__ = ["ProgramSet"]

# numpy declares its buffer only for Python 3.12 and later, though it always has one.
class _HasArrayInterface(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

class _Readable(Protocol):
    def read(self) -> str | bytes: ...

_BufferLike = _SupportsBuffer | _HasArrayInterface
_Host = _BufferLike | Sequence[_BufferLike | None]
_Side = str | DpuSymbol | _Host
_Source = str | os.PathLike[str] | _Readable
_Sources = _Source | Sequence[_Source]

@disjoint_base
class ProgramSet(SetView):
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any, /) -> None: ...
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
