# SPDX-License-Identifier: BSD-3-Clause
from typing import Any, NoReturn, SupportsIndex

from typing_extensions import disjoint_base

from offchip.loader import Refused

__all__ = ["LoadedLibrary"]

@disjoint_base
class LoadedLibrary:
    path: str
    kind: str
    found_via: str
    version: Any
    api_version: Any
    missing: tuple[str, ...]
    refused: tuple[Refused, ...]
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
