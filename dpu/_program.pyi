# SPDX-License-Identifier: BSD-3-Clause
from typing import Any, NoReturn, SupportsIndex

from typing_extensions import disjoint_base

from dpu._symbol import DpuSymbol

__all__ = ["DpuProgram"]

@disjoint_base
class DpuProgram:
    path: str | None
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
    @property
    def c_program(self) -> int: ...
    @property
    def symbols(self) -> dict[str, DpuSymbol]: ...
    def get_symbol(self, symbol: str) -> DpuSymbol | None: ...
    def fetch_all_symbols(self) -> dict[str, DpuSymbol]: ...
