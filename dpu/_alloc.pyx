# SPDX-License-Identifier: BSD-3-Clause
"""Allocating and freeing."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc
from dpu._handle cimport SetHandle, SetView
from dpu._native cimport Library, fail_set
from dpu.libdpu cimport (
    DPU_OK,
    dpu_error_t,
    dpu_set_dpu_iterator_t,
    dpu_set_rank_iterator_t,
    dpu_set_t,
)
from offchip.waiting cimport pause_ns

import threading
import time
from operator import index

from dpu._handle import register
from dpu.errors import DpuTimeoutError

__all__ = []


cdef uint32_t _count(object number, str what) except? 0xfffffffe:
    value = index(number)
    if not 0 <= value <= 0xffffffff:
        raise ValueError(f"{what} must be 0 to 4294967295 (ALLOCATE_ALL), not {value}")
    return value


cdef SetHandle allocate(Library library, object nr_dpus, object nr_ranks, bytes profile):
    cdef SetHandle handle = SetHandle.__new__(SetHandle)
    cdef const char *text = profile
    cdef dpu_error_t rc
    cdef bint by_rank = nr_ranks is not None
    cdef uint32_t count = (
        _count(nr_ranks, "nr_ranks") if by_rank else _count(nr_dpus, "nr_dpus")
    )
    handle.library = library
    handle.table = library.table
    handle.soft = library.soft
    handle.transfer_lock = threading.Lock()
    with nogil:
        if by_rank:
            rc = handle.table.dpu_alloc_ranks(count, text, &handle.whole)
        else:
            rc = handle.table.dpu_alloc(count, text, &handle.whole)
    if rc != DPU_OK:
        library.fail(rc, "dpu_alloc_ranks" if by_rank else "dpu_alloc")
    handle.live = True
    # Printed by the library; they become Python warnings.
    if handle.soft.dpusoft_keep_warnings is not NULL:
        handle.soft.dpusoft_keep_warnings(handle.whole, True)
    try:
        _list_parts(handle)
        register(handle)
    except BaseException:
        handle.end()
        raise
    return handle


cdef int _list_parts(SetHandle handle) except -1:
    """Record the set of each rank and each DPU."""
    cdef dpu_set_rank_iterator_t ranks
    cdef dpu_set_dpu_iterator_t dpus
    cdef uint32_t nr_ranks = 0
    cdef uint32_t nr_dpus = 0
    cdef uint32_t rank = 0
    cdef uint32_t dpu = 0
    cdef dpu_error_t rc
    rc = handle.table.dpu_get_nr_ranks(handle.whole, &nr_ranks)
    if rc == DPU_OK:
        rc = handle.table.dpu_get_nr_dpus(handle.whole, &nr_dpus)
    if rc != DPU_OK:
        handle.library.fail(rc, "dpu_get_nr_dpus")
    handle.rank_sets = <dpu_set_t *>calloc(nr_ranks + 1, sizeof(dpu_set_t))
    handle.dpu_sets = <dpu_set_t *>calloc(nr_dpus + 1, sizeof(dpu_set_t))
    handle.first_dpu = <uint32_t *>calloc(nr_ranks + 1, sizeof(uint32_t))
    if handle.rank_sets is NULL or handle.dpu_sets is NULL or handle.first_dpu is NULL:
        raise MemoryError()
    ranks = handle.table.dpu_set_rank_iterator_from(&handle.whole)
    while ranks.has_next and rank < nr_ranks:
        handle.rank_sets[rank] = ranks.next
        dpus = handle.table.dpu_set_dpu_iterator_from(&handle.rank_sets[rank])
        while dpus.has_next and dpu < nr_dpus:
            handle.dpu_sets[dpu] = dpus.next
            dpu += 1
            handle.table.dpu_set_dpu_iterator_next(&dpus)
        rank += 1
        handle.first_dpu[rank] = dpu
        handle.table.dpu_set_rank_iterator_next(&ranks)
    handle.nr_ranks = rank
    handle.nr_dpus = dpu
    handle.programs = [None] * dpu
    return 0


cdef int release(SetHandle handle) except -1:
    cdef dpu_set_t whole = handle.whole
    cdef dpu_error_t rc
    cdef SetView view
    if handle.in_callback():
        fail_set("dpu_free", "a callback cannot free the set that it is called for")
    handle.enter("dpu_free")
    handle.closing = True
    try:
        # Queued jobs finish first, and other threads leave the library.
        view = SetView.__new__(SetView)
        view.handle, view.c = handle, whole
        view.rank1, view.dpu1 = handle.nr_ranks, handle.nr_dpus
        view.wait_idle("dpu_free")
        began = time.monotonic()
        while handle.users > 1:
            with nogil:
                pause_ns(1_000_000)
            PyErr_CheckSignals()
            if handle.wait_limit is not None and time.monotonic() - began > handle.wait_limit:
                raise DpuTimeoutError(
                    f"dpu_free waited {handle.wait_limit:g} s in vain: {handle.users - 1} calls of "
                    "other threads are under way",
                    function="dpu_free",
                )
    except BaseException:
        handle.closing = False
        handle.users -= 1
        raise
    handle.live = False
    handle.users -= 1
    with nogil:
        # Errors of jobs that were never waited for are dropped.
        handle.table.dpu_sync(whole)
        rc = handle.table.dpu_free(whole)
    handle.programs = [None] * handle.nr_dpus
    handle.loads += 1
    handle.keep_only([])
    if rc != DPU_OK:
        handle.library.fail(rc, "dpu_free")
    return 0
