# SPDX-License-Identifier: BSD-3-Clause
"""Rendezvous of a group's ranks: the store of torch.distributed carries what they must know."""

from __future__ import annotations

import json
import socket
import sys
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from torch.distributed import TCPStore

from accl.accl import accl
from accl.bootstrap import host_identity
from accl.environment import read_setting
from accl.errors import ACCLError
from accl.torch.group import ProcessGroupACCL

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["create", "rendezvous_by_mpi"]

# Messages of up to their product are sent before they are received.
RX_BUFFERS, RX_BYTES = 16, 65536


def create(options: Any, _backend_options: Any = None) -> ProcessGroupACCL:
    """Make the process group of this rank, as torch.distributed asks for it.

    Parameters
    ----------
    options : object
        Store, rank, size, timeout, and the ranks in the default group.
    """
    rank, size, store = options.group_rank, options.group_size, options.store
    world = _mpi_world()
    ranks = list(options.global_ranks_in_group) or list(range(size))
    has_mpi = world is not None and max(ranks) < world.size and ranks[rank] == world.rank
    known = {"host": host_identity(), "mpi": has_mpi}
    if rank == 0:
        store.set("job", uuid.uuid4().hex)
    store.set(f"rank {rank}", json.dumps(known))
    job, *answers = store.multi_get(["job", *(f"rank {other}" for other in range(size))])
    others = [json.loads(answer) for answer in answers]
    settings: dict[str, Any] = {"unified": True, "nbufs": RX_BUFFERS, "bufsize": RX_BYTES}

    hosts = {other["host"] for other in others}
    if len(hosts) == 1 and read_setting("ACCL_TRANSPORT") != "packets":
        device = accl(size, rank, job=job.decode(), **settings)
    elif world is not None and all(other["mpi"] for other in others):
        comm = world.Create_group(world.group.Incl(ranks))
        device = accl.from_comm(comm, job=job.decode(), **settings)
    else:
        raise ACCLError(
            f"the ranks are on {len(hosts)} hosts, which accl connects by MPI: start the program "
            'with mpiexec, and with init_process_group("accl", init_method="mpi://")'
        )
    try:
        return ProcessGroupACCL(device, store, options.timeout)
    except BaseException:
        device.deinit()
        raise


def _mpi_world() -> MPI.Intracomm | None:
    """Return the communicator of all processes, if the program uses mpi4py."""
    module = sys.modules.get("mpi4py.MPI")
    if module is None or not module.Is_initialized() or module.Is_finalized():
        return None
    found: MPI.Intracomm = module.COMM_WORLD
    return found


def rendezvous_by_mpi(
    _url: str, *, timeout: timedelta = timedelta(minutes=30), **_: Any
) -> Iterator[tuple[TCPStore, int, int]]:
    """Start torch.distributed under mpiexec, for ``init_method="mpi://"``.

    Rank and size are those of mpi4py's COMM_WORLD, and rank 0 has the store.
    """
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    store = None
    if world.rank == 0:
        name = "127.0.0.1" if _on_one_host(world) else socket.gethostname()
        store = TCPStore(name, 0, world.size, True, timeout, wait_for_workers=False)
        world.bcast((name, store.port), 0)
    else:
        _on_one_host(world)
        name, port = world.bcast(None, 0)
        store = TCPStore(name, port, world.size, False, timeout, wait_for_workers=False)
    yield store, world.rank, world.size


def _on_one_host(world: MPI.Intracomm) -> bool:
    return len(set(world.allgather(socket.gethostname()))) == 1
