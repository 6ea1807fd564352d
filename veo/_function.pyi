# SPDX-License-Identifier: BSD-3-Clause
from typing import Any, NoReturn, SupportsIndex

from typing_extensions import disjoint_base

from veo._context import VeoCtxt
from veo._library import VeoLibrary
from veo._proc import VeoProc
from veo._request import VeoRequest
from veo.memptr import VEMemPtr

__all__ = ["VeoFunction"]

@disjoint_base
class LibraryOwner:
    proc: VeoProc

@disjoint_base
class VeoFunction:
    lib: VeoLibrary
    name: str
    _args_type: tuple[str | bytes, ...] | None
    _ret_type: str | bytes | None
    def __init__(self, lib: VeoLibrary, addr: SupportsIndex, name: str | bytes) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
    @property
    def addr(self) -> VEMemPtr: ...
    def args_type(self, *types: str | bytes) -> None: ...
    def ret_type(self, rettype: str | bytes) -> None: ...
    def __call__(self, ctx: VeoCtxt, /, *args: Any) -> VeoRequest: ...
