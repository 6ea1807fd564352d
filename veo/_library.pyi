# SPDX-License-Identifier: BSD-3-Clause
from typing import Any, NoReturn, SupportsIndex

from typing_extensions import disjoint_base

from veo._function import LibraryOwner, VeoFunction
from veo._proc import VeoProc
from veo.memptr import VEMemPtr
from veo.namedict import NameDict

__all__ = ["VeoLibrary"]

@disjoint_base
class VeoLibrary(LibraryOwner):
    name: str
    func: NameDict
    symbol: NameDict
    def __init__(self, proc: VeoProc, name: str | bytes, handle: SupportsIndex) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
    def get_symbol(self, name: str | bytes, *, timeout: float | None = None) -> VEMemPtr: ...
    def find_function(self, name: str | bytes, *, timeout: float | None = None) -> VeoFunction: ...
    # A function, or the address of a variable that was asked for with get_symbol().
    def __getattr__(self, name: str) -> Any: ...
    @property
    def closed(self) -> bool: ...
