# SPDX-License-Identifier: BSD-3-Clause
"""Makes an `accl` on each rank of an mpi4py communicator."""

from __future__ import annotations

import math
import os
import socket
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Self, TypeVar

from accl.environment import SETTINGS, read_setting
from accl.errors import ACCLArgumentError, ACCLError, ACCLUnfinishedError
from accl.mpi_carrier import reductions_of

if TYPE_CHECKING:
    from mpi4py import MPI

    from accl.accl import accl

__all__ = ["Settings", "host_identity", "make_ranks", "start_from_comm"]

TRANSPORTS = SETTINGS["ACCL_TRANSPORT"].words
FIRST_PORT = 9000
# Between looks at whether all ranks are there; the first looks follow each other.
PAUSE_S = 0.001
EAGER_S = 0.002

Started = TypeVar("Started", bound="accl")


@dataclass(frozen=True)
class Settings:
    """Settings that all ranks must choose alike.

    Parameters
    ----------
    transport : {"auto", "shared", "packets"}
        How to reach ranks.
    mpi_reductions : tuple of str
        Reductions that MPI makes itself.
    """

    transport: str
    mpi_reductions: tuple[str, ...]

    @classmethod
    def make(cls, transport: str | None, mpi_reductions: str | Iterable[str] | None) -> Self:
        """Make the settings from the arguments of `from_comm()`, or else the environment."""
        wanted = transport if transport is not None else read_setting("ACCL_TRANSPORT")
        if wanted not in TRANSPORTS:
            raise ACCLArgumentError(
                f"the transport must be one of {', '.join(TRANSPORTS)}, not {wanted!r}"
            )
        if mpi_reductions is None:
            mpi_reductions = read_setting("ACCL_MPI_REDUCTIONS")
        return cls(wanted, reductions_of(mpi_reductions))


def host_identity() -> str:
    """Identify what processes need in common to share memory: kernel and network namespace."""
    parts = [socket.gethostname()]
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            parts.append(file.read().strip())
        parts.append(os.readlink("/proc/self/ns/net"))
    except OSError:
        # Without /proc, use the host's name.
        pass

    # A name that tells ranks apart which this does not.
    parts.append(read_setting("ACCL_HOST"))

    return f"{os.getuid()} {' '.join(parts)}"


def make_ranks(hosts: list[str], me: int, bufsize: int, transport: str) -> list[dict[str, Any]]:
    """List the ranks for `configure_communicator()`.

    Parameters
    ----------
    hosts : list of str
        `host_identity()` of each rank.
    me : int
        This rank.
    bufsize : int
        Bytes of an rx buffer.
    transport : {"auto", "shared", "packets"}
        How to reach ranks.
    """
    numbers = {host: number for number, host in enumerate(dict.fromkeys(hosts))}
    ranks = []
    for rank, host in enumerate(hosts):
        # The addresses only identify the ranks that share a host; packets go through MPI.
        number = numbers[host]
        reach = "shared" if host == hosts[me] and transport != "packets" else "packets"
        ranks.append(
            {
                "ip": f"127.{number >> 16}.{number >> 8 & 255}.{(number & 255) + 1}",
                "port": FIRST_PORT + rank,
                "session_id": rank,
                "max_segment_size": bufsize,
                "reach": reach,
            }
        )

    return ranks


def meet(comm: MPI.Comm, timeout: float | None) -> None:
    """Wait until each rank of the communicator is in `from_comm()`; signals are handled meanwhile.

    Raises
    ------
    ACCLArgumentError
        The timeout is no number; the communicator was not used.
    ACCLUnfinishedError
        One is not, after `timeout` seconds. MPI has no way to take this rank's part back.
    """
    given: Any = math.inf if timeout is None else timeout
    if not isinstance(given, Real) or math.isnan(given):
        raise ACCLArgumentError(
            f"from_comm: timeout must be a number of seconds or None, not {timeout!r}"
        )

    limit = float(given)
    began = time.monotonic()
    barrier = comm.Ibarrier()
    while not barrier.Test():
        passed = time.monotonic() - began
        if passed >= limit:
            raise ACCLUnfinishedError(
                f"from_comm: after {limit:g} s, not all {comm.size} ranks of the communicator "
                "have called from_comm(), which all of them must do"
            )
        if passed > EAGER_S:
            time.sleep(min(PAUSE_S, limit - passed))


def start_from_comm(
    cls: type[Started],
    comm: MPI.Comm,
    protocol: str | None,
    nbufs: int,
    bufsize: int,
    settings: Settings,
    timeout: float | None,
    options: dict[str, Any],
) -> Started:
    """Implement `accl.from_comm()`."""
    meet(comm, timeout)
    job = options.pop("job", None)
    if job is None:
        job = comm.bcast(uuid.uuid4().hex if comm.rank == 0 else None, 0)

    answers = comm.allgather((host_identity(), settings))
    hosts = [host for host, _ in answers]
    for name in ("transport", "mpi_reductions"):
        if len({getattr(other, name) for _, other in answers}) > 1:
            raise ACCLArgumentError(f"from_comm: all ranks must choose the same {name}")

    apart = comm.size > 1 and (settings.transport == "packets" or len(set(hosts)) > 1)
    if apart and settings.transport == "shared":
        raise ACCLError(
            f"from_comm: the ranks are on {len(set(hosts))} hosts, and the transport is 'shared'"
        )

    return cls(
        comm.size,
        comm.rank,
        ranks=make_ranks(hosts, comm.rank, bufsize, settings.transport),
        protocol=protocol,
        nbufs=nbufs,
        bufsize=bufsize,
        sim_mode=options.pop("sim_mode", True),
        job=job,
        comm=comm if apart else None,
        mpi_reductions=settings.mpi_reductions,
        **options,
    )
