# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Callable, Iterable

from mpi4py import MPI

from accl._device import Device

__all__ = ["REDUCTIONS", "find_offset", "start_mpi"]

REDUCTIONS: dict[str, int]

def find_offset(status: MPI.Status, setter: Callable[[int], object]) -> int: ...
def start_mpi(
    device: Device,
    comm: MPI.Comm,
    any_thread: bool,
    reductions: Iterable[str] = (),
    reduction_comm: MPI.Comm | None = None,
) -> None: ...
