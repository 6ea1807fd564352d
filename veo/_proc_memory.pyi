# SPDX-License-Identifier: BSD-3-Clause
from typing import SupportsIndex

from typing_extensions import disjoint_base

from veo._memory import _BufferLike
from veo._process_handle import ProcessOwner
from veo.memptr import VEMemPtr

__all__ = ["ProcMemory"]

@disjoint_base
class ProcMemory(ProcessOwner):
    def alloc_mem(self, size: SupportsIndex, *, timeout: float | None = None) -> VEMemPtr: ...
    def free_mem(self, addr: SupportsIndex, *, timeout: float | None = None) -> None: ...
    def read_mem(
        self,
        dst: _BufferLike,
        src: SupportsIndex,
        size: SupportsIndex,
        *,
        timeout: float | None = None,
    ) -> None: ...
    def write_mem(
        self,
        dst: SupportsIndex,
        src: _BufferLike,
        size: SupportsIndex,
        *,
        timeout: float | None = None,
    ) -> None: ...
    def _write_new(self, dst: SupportsIndex, src: _BufferLike, size: SupportsIndex) -> None: ...
    def i64_to_addr(self, x: int) -> int: ...
    def i64_to_memptr(self, x: int) -> VEMemPtr: ...
    def alloc_hmem(self, size: SupportsIndex, *, timeout: float | None = None) -> VEMemPtr: ...
    def free_hmem(self, addr: SupportsIndex, *, timeout: float | None = None) -> None: ...
    def set_proc_identifier(self, addr: SupportsIndex, ident: SupportsIndex) -> int: ...
