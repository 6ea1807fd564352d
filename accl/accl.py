# SPDX-License-Identifier: BSD-3-Clause
"""The class `accl`: one rank of offloaded collectives."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from accl._bare import BareCalls
from accl._collectives import Collectives
from accl._control import Control
from accl._primitives import Primitives
from accl._setup import Setup
from accl._vectors import Vectors
from accl.arithmetic import ACCL_DEFAULT_ARITH_CONFIG, ACCLArithConfig
from accl.buffer import ACCLBuffer
from accl.communicator import ACCLCommunicator
from accl.constants import (
    CFGRDY_OFFSET,
    EXCHANGE_MEM_ADDRESS_RANGE,
    EXCHANGE_MEM_OFFSET_ADDRESS,
    GLOBAL_COMM,
    IDCODE_OFFSET,
    RANKS_MAX,
    RETCODE_OFFSET,
    TAG_ANY,
    ACCLCompressionFlags,
    ACCLReduceFunctions,
    ACCLStreamFlags,
    CCLOCfgFunc,
    CCLOp,
    ErrorCode,
)
from accl.errors import ACCLArgumentError
from accl.mpi_carrier import MPICarrier, reductions_of

if TYPE_CHECKING:
    from mpi4py import MPI

    from accl._native import Library

__all__ = [
    "ACCL_DEFAULT_ARITH_CONFIG",
    "CFGRDY_OFFSET",
    "EXCHANGE_MEM_ADDRESS_RANGE",
    "EXCHANGE_MEM_OFFSET_ADDRESS",
    "GLOBAL_COMM",
    "IDCODE_OFFSET",
    "RETCODE_OFFSET",
    "TAG_ANY",
    "ACCLArithConfig",
    "ACCLBuffer",
    "ACCLCommunicator",
    "ACCLCompressionFlags",
    "ACCLReduceFunctions",
    "ACCLStreamFlags",
    "CCLOCfgFunc",
    "CCLOp",
    "ErrorCode",
    "accl",
]


class accl(Collectives, Primitives, Setup, Vectors, BareCalls):
    """One rank: its device, its communicators, and its calls.

    Parameters
    ----------
    nranks : int
        Number of ranks, if `ranks` is None.
    local_rank : int
        The rank of this instance.
    ranks : sequence of dict, optional
        For each rank ``ip`` (dotted), ``port``, ``max_segment_size``, and optionally
        ``session_id`` and ``reach`` (``auto``, ``shared`` or ``packets``). By default
        ports from 9000 on this host.
    protocol : {"TCP", "UDP", "AXIS"}, optional
        The network stack; TCP by default.
    nbufs, bufsize : int
        The pool of rx buffers: their number, and bytes per buffer.
    arith_config : dict
        Arithmetic configurations by names of the uncompressed and the compressed type.
    sim_mode : bool
        Accepted and ignored: without hardware the soft engine is used anyway.
    xclbin, board_idx, cclo_idx
        Bit stream, board and engine, for the vendor's driver.
    sim_sock : str, optional
        Endpoint of an emulator, for the vendor's driver.
    unified : bool, optional
        Host view and device memory are the same pages. Otherwise they are separate, as on
        hardware, and copied by syncs. None uses the environment variable ``ACCL_MEMORY``
        (``unified`` or ``separate``).
    job : str, optional
        The name by which the ranks find each other; see ``docs/accl.md`` for the default.
    library : Library, str or path, optional
        As for `use_library()`.
    memory_bytes : int
        Largest amount of device memory; 0 for no limit.
    comm : mpi4py.MPI.Comm, optional
        Carries packets to other hosts; its ranks are those of `ranks`. `from_comm()` passes it.
    mpi_reductions : str or iterable of str
        As for `from_comm()`, for `comm`; the same on all ranks.

    Attributes
    ----------
    communicators : list of ACCLCommunicator
        The first one has all ranks.
    rx_buffer_spares : list of RxBuffer
        The pool.
    rx_buffer_size, segment_size : int
        Bytes of an rx buffer, and of the largest segment.
    utility_spare : ACCLBuffer or None
        A spare buffer of that size.
    arith_config : dict
        The arithmetic configurations.
    protocol : str
        The network stack.
    config_rdy : bool
        Whether calls can be made.
    check_return_value_flag : bool
        Whether failed calls raise an exception. If not, see `get_retcode()`.
    ignore_safety_checks : bool
        Has no effect: checks are always made.
    streams : Streams
        The other end of the engine's streams.
    """

    def __new__(cls, *_arguments: Any, **_options: Any) -> Self:
        """Make an instance that is not open yet, whose calls raise an error that says so."""
        made = super().__new__(cls)
        made._control = Control(made._caller)
        return made

    def __init__(
        self,
        nranks: int,
        local_rank: int,
        ranks: Sequence[Mapping[str, Any]] | None = None,
        protocol: str | None = None,
        nbufs: int = 16,
        bufsize: int = 1024,
        arith_config: Mapping[tuple[str, str], ACCLArithConfig] = ACCL_DEFAULT_ARITH_CONFIG,
        sim_mode: bool = False,
        xclbin: str | os.PathLike[str] | None = None,
        sim_sock: str | None = None,
        board_idx: int | None = None,
        cclo_idx: int = 0,
        *,
        unified: bool | None = None,
        job: str | None = None,
        library: str | os.PathLike[str] | Library | None = None,
        memory_bytes: int = 0,
        comm: MPI.Comm | None = None,
        mpi_reductions: str | Iterable[str] = (),
    ) -> None:
        reductions = reductions_of(mpi_reductions)
        if ranks is None:
            if not 1 <= index(nranks) <= RANKS_MAX:
                raise ACCLArgumentError(f"nranks must be 1 to {RANKS_MAX:,}, not {nranks:,}")
            ranks = [
                {
                    "ip": "127.0.0.1",
                    "port": 9000 + number,
                    "session_id": number,
                    "max_segment_size": bufsize,
                }
                for number in range(nranks)
            ]

        self._open(
            protocol=protocol,
            sim_mode=sim_mode,
            xclbin=xclbin,
            sim_sock=sim_sock if sim_sock is not None else f"tcp://localhost:{5500 + local_rank}",
            board_idx=board_idx,
            cclo_idx=cclo_idx,
            unified=unified,
            job=job,
            library=library,
            memory_bytes=memory_bytes,
        )
        try:
            self.setup_rx_buffers(nbufs, bufsize)
            self._pending_arithmetic = arith_config
            self.configure_communicator(ranks, local_rank)
            if self._control.has_packets():
                if comm is None:
                    raise ACCLArgumentError(
                        "some ranks do not share memory with this one (see ip and reach of "
                        "`ranks`, and ACCL_TRANSPORT): MPI is required to reach them; start with "
                        "accl.from_comm(comm)"
                    )
                self._device.set_carrier(MPICarrier(comm, self._device, reductions))
            if self.protocol == "TCP":
                self.init_connection(GLOBAL_COMM)
        except BaseException:
            self.deinit()
            raise

        import logging

        logging.getLogger("accl").info(
            "accl rank %d of %d is ready: library %s, %s memory, %s",
            local_rank,
            len(ranks),
            self.library.path,
            "unified" if self.unified else "separate",
            self.protocol,
        )

    @classmethod
    def unconfigured(cls, **options: Any) -> Self:
        """Open a device that is configured by hand, as programs of 2021 do.

        `setup_rx_buffers()`, `configure_communicator()`, `open_port()` and `open_con()` come next.

        Parameters
        ----------
        **options
            Options of the constructor for the device: protocol, xclbin, board_idx,
            cclo_idx, unified, job, library, memory_bytes.
        """
        made = cls.__new__(cls)
        made._open(**options)
        return made

    @classmethod
    def from_comm(
        cls,
        comm: MPI.Comm,
        protocol: str | None = None,
        nbufs: int = 16,
        bufsize: int = 1024,
        *,
        transport: str | None = None,
        mpi_reductions: str | Iterable[str] | None = None,
        timeout: float | None = 1000.0,
        **options: Any,
    ) -> Self:
        """Make the instance for this process's rank in an mpi4py communicator.

        It is a collective MPI operation. Ranks on this host are reached through shared memory,
        others through MPI messages.

        Parameters
        ----------
        comm : mpi4py.MPI.Comm
            The ranks, in their order.
        protocol, nbufs, bufsize
            As for the constructor.
        transport : {"auto", "shared", "packets"}, optional
            ``packets`` sends everything through MPI, ``shared`` rejects other hosts. None uses the
            environment variable ``ACCL_TRANSPORT``, or else ``auto``.
        mpi_reductions : str or iterable of str, optional
            ``allreduce``, ``reduce`` and ``reduce_scatter``, or ``all``: which of them MPI makes
            itself between hosts, in the first communicator. It adds in an order of its own, which
            may be quicker; the same call gives the same bits again, but not those of the engine's
            order. None uses the environment variable ``ACCL_MPI_REDUCTIONS``, or else none of
            them. See "Order of sums" in ``docs/accl.md``.
        timeout : float, optional
            Seconds that this rank waits for the others to call it; None waits without limit.
        **options
            Further options of the constructor.

        Raises
        ------
        ACCLUnfinishedError
            A rank has not called it in time. MPI cannot take the part of this one back, so that
            the communicator is of no further use.
        """
        from accl.bootstrap import Settings, start_from_comm

        settings = Settings.make(transport, mpi_reductions)
        return start_from_comm(cls, comm, protocol, nbufs, bufsize, settings, timeout, options)

    def deinit(self) -> None:
        """Close it: running calls are interrupted, later ones fail.

        Other ranks that wait for this one get an error. Buffers of `allocate()` stay readable.
        Later calls do nothing.
        """
        device = getattr(self, "_device", None)
        if device is None or device.closed:
            return

        self.rx_buffer_spares = []
        self.utility_spare = None
        self.config_rdy = False
        device.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.deinit()

    def __repr__(self) -> str:
        device = getattr(self, "_device", None)
        if device is None or device.closed:
            return "<accl, deinitialised>"
        if not self.communicators:
            return "<accl, not configured>"

        world = self.communicators[0]
        return f"<accl rank {world.local_rank} of {len(world.ranks)}, {self.library.kind} library>"
