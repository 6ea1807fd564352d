# SPDX-License-Identifier: BSD-3-Clause
import os
from typing import Any

from typing_extensions import disjoint_base

from offchip.native import LoadedLibrary

__all__ = ["Library", "library_info", "use_library"]

@disjoint_base
class Library(LoadedLibrary):
    version: str | None
    api_version: int | None
    def trace(self, on: bool) -> bool: ...
    def serve(self, fd: int, threads: int = 0) -> None: ...
    def take_trace(self) -> tuple[list[tuple[str, int, int, int, int, int]], int]: ...
    @property
    def is_soft(self) -> bool: ...
    @property
    def devices(self) -> int: ...

_LibraryLike = str | os.PathLike[str] | Library

def use_library(library: _LibraryLike) -> Library: ...
def library_info(library: _LibraryLike | None = None) -> dict[str, Any]: ...
