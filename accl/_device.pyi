# SPDX-License-Identifier: BSD-3-Clause
import os
from typing import NoReturn, SupportsIndex, final

from accl._memory import Block
from accl._native import Library
from accl.mpi_carrier import MPICarrier

__all__ = ["Device", "stop_carriers"]

@final
class Device:
    unified: bool
    closed: bool
    def __init__(
        self,
        library: str | os.PathLike[str] | Library | None,
        *,
        unified: bool = False,
        memory_bytes: int = 0,
        stack: int = 1,
        job: str | None = None,
        xclbin: str | None = None,
        endpoint: str | None = None,
        board: int = 0,
        cclo: int = 0,
    ) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
    @property
    def library(self) -> Library: ...
    def close(self) -> None: ...
    def allocate(
        self, nbytes: int, dtype: int = 0, host_only: bool = False, zero: bool = False
    ) -> Block: ...
    def memory_info(self) -> dict[str, int]: ...
    def set_carrier(self, carrier: MPICarrier) -> None: ...
    def stop_carrier(self) -> None: ...

def stop_carriers() -> None: ...
