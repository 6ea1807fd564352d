# SPDX-License-Identifier: BSD-3-Clause
from typing import NoReturn, SupportsIndex

from typing_extensions import disjoint_base

from veo._proc import VeoProc

__all__ = ["Allocation"]

@disjoint_base
class Allocation:
    proc: VeoProc
    def __init__(self, proc: VeoProc, size: SupportsIndex) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
    @property
    def freed(self) -> bool: ...
    def address(self) -> int: ...
    def free(self) -> None: ...
