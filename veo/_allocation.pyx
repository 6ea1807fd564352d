# SPDX-License-Identifier: BSD-3-Clause
"""VE memory that goes with the last reference to it."""

cimport cython
from libc.stdint cimport uint64_t
from veo._main_wait cimport limit_wait, main_wait, was_late
from veo._process_handle cimport ContextBase, ProcessOwner, ProcHandle
from veo.libveo cimport veo_proc_handle

from veo.errors import VeoClosedError

__all__ = ["Allocation"]


# Without waiting for what is queued in the main context: then the freeing is queued there. Errors
# are useless: with its process, the memory is gone.
cdef void _free_later(ProcHandle proc, uint64_t address) noexcept:
    cdef main_wait wait
    cdef veo_proc_handle *handle
    cdef ContextBase main = None
    cdef bint late
    if not proc.is_open() or proc.closing:
        return
    if proc.open_contexts.main is not NULL:
        main = <ContextBase>proc.open_contexts.main
    if proc.soft.veosoft_set_wait_limit is NULL and main is not None:
        main.free_later(address)
        return
    handle = proc.handle
    wait.slice = 0
    proc.users += 1
    with nogil:
        limit_wait(proc.soft, &wait)
        late = proc.table.veo_free_mem(handle, address) != 0
        late = was_late(proc.soft, &wait, late)
    if late and main is not None:
        main.free_later(address)
    proc.users -= 1


# No code of Python runs when it goes: Ctrl-C would be lost there.
@cython.no_gc_clear
cdef class Allocation:
    """VE memory that is freed with the last reference, or by `free()`.

    Parameters
    ----------
    proc : VeoProc
        Whose memory is taken.
    size : int
        Number of bytes.

    Attributes
    ----------
    proc : VeoProc
        The process.
    """

    cdef object __weakref__
    cdef readonly object proc
    # Its own reference: the garbage collector may have taken that of the process.
    cdef ProcHandle _handle
    cdef uint64_t _address
    cdef bint _held

    def __init__(self, ProcessOwner proc not None, size):
        if self._held:
            raise TypeError("this Allocation is already initialised")
        self._address = proc.alloc_mem(size)
        self.proc = proc
        self._handle = proc.handle
        self._held = True

    def __dealloc__(self):
        if self._held:
            _free_later(self._handle, self._address)

    def __reduce_ex__(self, protocol):
        raise TypeError("VE memory cannot be pickled: read it")

    @property
    def freed(self):
        """True if it is free, or its process closed."""
        return not self._held or self.proc.closed

    def address(self):
        """Return where it begins; VeoClosedError if it was freed."""
        if self.freed:
            raise VeoClosedError("the memory of this DeviceArray was freed")
        return self._address

    def free(self):
        """Free it after what is queued in the main context, without waiting for that."""
        if self._held:
            self._held = False
            _free_later(self._handle, self._address)
