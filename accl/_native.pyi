# SPDX-License-Identifier: BSD-3-Clause
import os
from typing import Any, NoReturn, SupportsIndex

from typing_extensions import disjoint_base

from offchip.loader import Refused

__all__ = ["Library", "library_info", "use_library"]

@disjoint_base
class Library:
    path: str
    kind: str
    found_via: str
    version: str | None
    api_version: int | None
    missing: tuple[str, ...]
    refused: tuple[Refused, ...]
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
    @property
    def is_soft(self) -> bool: ...
    @property
    def devices(self) -> int: ...

_LibraryLike = str | os.PathLike[str] | Library

def use_library(library: _LibraryLike) -> Library: ...
def library_info(library: _LibraryLike | None = None) -> dict[str, Any]: ...
