# SPDX-License-Identifier: BSD-3-Clause
"""Tells the engine how to call the MPI library that mpi4py has loaded."""

from libc.string cimport memcpy, memset
from accl._device cimport Device
from accl.libaccl cimport (
    ACCL_ALLREDUCE,
    ACCL_OK,
    ACCL_REDUCE,
    ACCL_REDUCE_SCATTER,
    accl_mpi,
)

__all__ = ["REDUCTIONS", "find_offset", "start_mpi"]

#: Numbers of the reductions that MPI can make itself, by name.
REDUCTIONS = {
    "allreduce": ACCL_ALLREDUCE,
    "reduce": ACCL_REDUCE,
    "reduce_scatter": ACCL_REDUCE_SCATTER,
}

cdef enum:
    # No 32 bits of a fresh status, or of another field.
    MARK = 0x5ac1e5


def find_offset(status, setter):
    """Return where a status has a field.

    Parameters
    ----------
    status : mpi4py.MPI.Status
        Its field is overwritten.
    setter : callable
        Sets the field to a number.
    """
    from mpi4py import MPI

    cdef size_t address = MPI._addressof(status)
    cdef const char *memory = <const char *>address
    cdef size_t size = MPI._sizeof(status)
    cdef size_t at
    cdef int value
    setter(MARK)
    for at in range(0, size - sizeof(int) + 1, sizeof(int)):
        memcpy(&value, memory + at, sizeof(int))
        if value == MARK:
            setter(0)
            memcpy(&value, memory + at, sizeof(int))
            if value == 0:
                return at
            setter(MARK)

    raise RuntimeError("mpi4py has an MPI_Status whose fields cannot be found")


def start_mpi(Device device, comm, bint any_thread, reductions=(), reduction_comm=None):
    """Have the engine carry packets through an mpi4py communicator, which it then owns.

    Parameters
    ----------
    device : Device
        The device.
    comm : mpi4py.MPI.Comm
        The ranks of communicator 0.
    any_thread : bool
        MPI may be called by any thread.
    reductions : iterable of str
        Those of `REDUCTIONS` that MPI makes itself.
    reduction_comm : mpi4py.MPI.Comm, optional
        A duplicate of `comm`, for these.
    """
    from mpi4py import MPI

    cdef accl_mpi mpi
    cdef int status
    cdef bytes library = MPI.__file__.encode()
    sample = MPI.Status()
    memset(&mpi, 0, sizeof(mpi))
    mpi.size = sizeof(mpi)
    mpi.library = library
    mpi.comm = MPI._handleof(comm)
    mpi.byte = MPI._handleof(MPI.BYTE)
    mpi.handle_bytes = MPI._sizeof(comm)
    mpi.status_bytes = MPI._sizeof(sample)
    mpi.status_source = find_offset(sample, sample.Set_source)
    mpi.status_tag = find_offset(sample, sample.Set_tag)
    mpi.any_source = MPI.ANY_SOURCE
    mpi.any_tag = MPI.ANY_TAG
    mpi.any_thread = any_thread
    if reduction_comm is not None:
        mpi.reduction_comm = MPI._handleof(reduction_comm)
        for name in reductions:
            mpi.reductions |= 1u << <int>REDUCTIONS[name]
        for i, datatype in enumerate((MPI.FLOAT, MPI.DOUBLE, MPI.INT32_T, MPI.INT64_T)):
            mpi.reduction_types[i] = MPI._handleof(datatype)
        for i, function in enumerate((MPI.SUM, MPI.MAX, MPI.MIN, MPI.PROD)):
            mpi.reduction_functions[i] = MPI._handleof(function)

    device.enter("start_mpi")
    try:
        with nogil:
            status = device.table.accl_mpi_start(device.c, &mpi)
    finally:
        device.leave()
    if status != ACCL_OK:
        device.fail(status, "from_comm")
    device.raise_interruption()
