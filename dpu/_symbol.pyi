# SPDX-License-Identifier: BSD-3-Clause
from typing import Any, SupportsIndex

from typing_extensions import disjoint_base

__all__ = ["DpuSymbol"]

@disjoint_base
class DpuSymbol:
    name: str
    def __init__(
        self, name: str, c_symbol: tuple[SupportsIndex, SupportsIndex] | DpuSymbol
    ) -> None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def c_symbol(self) -> tuple[int, int]: ...
    def value(self) -> int: ...
    def size(self) -> int: ...
