# SPDX-License-Identifier: BSD-3-Clause
"""Starts and stops the engine's use of MPI, to which mpi4py gives it the way.

The engine itself calls the MPI library that mpi4py has loaded. A thread that waits for a call
carries messages; if MPI allows calls from any thread, a thread of the engine does so otherwise, so
that calls progress while the program computes. No MPI symbol is linked; any MPI that mpi4py was
built for works.
"""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING

from accl._device import stop_carriers
from accl._mpi import REDUCTIONS, start_mpi
from accl.errors import ACCLArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpi4py import MPI

    from accl._device import Device

__all__ = ["MPICarrier", "reductions_of"]


def reductions_of(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return the sorted names of reductions, each once.

    Parameters
    ----------
    names : str or iterable of str
        Names, in a str with commas between them; ``all`` stands for all of them.

    Raises
    ------
    ACCLArgumentError
        There is no reduction of that name.
    """
    listed = names.split(",") if isinstance(names, str) else list(names)
    wanted = {str(name).strip() for name in listed} - {""}
    if "all" in wanted:
        return tuple(sorted(REDUCTIONS))
    unknown = sorted(wanted - set(REDUCTIONS))
    if unknown:
        raise ACCLArgumentError(
            f"no reduction is called {unknown[0]!r}: those that MPI can make are "
            f"{', '.join(sorted(REDUCTIONS))}, or all of them: all (argument mpi_reductions, or "
            "ACCL_MPI_REDUCTIONS)"
        )
    return tuple(sorted(wanted))


class MPICarrier:
    """Carries what a device sends to other hosts, by MPI.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        The ranks of communicator 0, in order. It is duplicated, so that messages
        cannot match those of the program; this is a collective operation.
    device : Device
        The device, which is not kept open.
    reductions : iterable of str
        Reductions that MPI makes itself; the same on all ranks.

    Raises
    ------
    RuntimeError
        MPI is not initialised, or was finalised.
    ACCLUnsupportedError
        The engine cannot call this MPI library.
    """

    def __init__(self, comm: MPI.Comm, device: Device, reductions: Iterable[str] = ()) -> None:
        from mpi4py import MPI

        if not MPI.Is_initialized() or MPI.Is_finalized():
            raise RuntimeError("MPI must be initialised, and not finalised, to reach other hosts")

        self._any_thread = MPI.Query_thread() == MPI.THREAD_MULTIPLE
        self._home = threading.get_ident()
        names = tuple(reductions)
        # A collective of MPI that an early end of a call leaves behind must not meet a packet.
        self._comms = [comm.Dup() for _ in range(2 if names else 1)]
        for own in self._comms:
            own.Set_errhandler(MPI.ERRORS_RETURN)
        start_mpi(
            device,
            self._comms[0],
            self._any_thread,
            names,
            self._comms[1] if names else None,
        )
        _stop_before_finalize()
        if not self._any_thread:
            import logging

            logging.getLogger("accl").warning(
                "MPI was initialised below MPI_THREAD_MULTIPLE: calls to other hosts progress only "
                "while this thread is in a call of accl"
            )

    @property
    def any_thread(self) -> bool:
        """True if calls progress on their own: MPI was initialised with THREAD_MULTIPLE."""
        return self._any_thread

    @property
    def home(self) -> int:
        """The thread that made it: the only one that makes calls unless `any_thread`."""
        return self._home

    def release(self, complete: bool) -> None:
        """Free the communicators, now that the engine has stopped.

        Parameters
        ----------
        complete : bool
            Nothing is in flight. Otherwise the communicators stay: their numbers must not be used
            again.
        """
        from mpi4py import MPI

        comms, self._comms = self._comms, []
        # It is not collective in practice, unlike Disconnect(), which would wait.
        if complete and not MPI.Is_finalized():
            for comm in comms:
                comm.Free()


@functools.cache
def _stop_before_finalize() -> None:
    """Arrange that all are stopped when MPI_Finalize() is called.

    It deletes the attributes of COMM_SELF before anything else that the MPI standard describes.
    MPICH (5.0.2) stops using its locks earlier, so a lock that the engine's thread holds at that
    moment stays locked, and MPICH aborts when it destroys it. So mpi4py's function stops them
    before it enters MPI; the attribute is for calls from elsewhere.

    Devices are closed at interpreter exit, before mpi4py calls MPI_Finalize().
    """
    from mpi4py import MPI

    finalize = MPI.Finalize

    @functools.wraps(finalize)
    def stop_and_finalize() -> None:
        stop_carriers()
        finalize()

    vars(MPI)["Finalize"] = stop_and_finalize
    keyval = MPI.Comm.Create_keyval(delete_fn=lambda *_: stop_carriers())
    MPI.COMM_SELF.Set_attr(keyval, None)
