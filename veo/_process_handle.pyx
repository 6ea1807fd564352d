# SPDX-License-Identifier: BSD-3-Clause
"""The C handle of a process."""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint64_t
from offchip cimport native
from veo._main_wait cimport GIVEN_UP_NS, fail_late, keep_waiting, main_wait, main_wait_of, oldest_of
from veo._native cimport Library, death_report
from veo.context_set cimport veopkg_context, veopkg_context_next, veopkg_contexts_first
from veo.libveo cimport veo_proc_handle, veo_table
from offchip.waiting cimport now_ns, pause_ns

import atexit
import sys

from veo.errors import VeoClosedError

__all__ = []

# As long as NEC's library waits for kernels that do not end.
cdef long long DROPPED_NS = 20_000_000_000

cdef bint _hurry = False
# When the interpreter ends, 0 before that.
cdef long long _end_of_patience = 0


def _look_why_it_ends():
    global _hurry, _end_of_patience
    _hurry = hasattr(sys, "last_exc") or hasattr(sys, "last_type")
    _end_of_patience = now_ns() + GIVEN_UP_NS


atexit.register(_look_why_it_ends)


cdef bint in_a_hurry() noexcept:
    return _hurry


cdef long long patience_ends(bint given_up) noexcept:
    if _end_of_patience:
        return _end_of_patience
    return now_ns() + (GIVEN_UP_NS if given_up else DROPPED_NS)


@cython.no_gc
cdef class ContextBase:

    cdef int finish(self, long long ns) except -1:
        raise NotImplementedError

    cdef bint has_given_up(self) noexcept:
        return False

    cdef bint free_later(self, uint64_t address) noexcept:
        return False

    cdef str oldest(self):
        return ""

    cdef void bury(self) noexcept:
        pass


@cython.final
@cython.no_gc
cdef class ProcHandle:

    def __cinit__(self):
        self.handle = NULL
        self.main = NULL
        self.grave = []

    def __dealloc__(self):
        # Contexts hold this object: none is left.
        cdef veo_proc_handle *handle = self.handle
        if handle is not NULL and self.forks == native.fork_count:
            if self.unfinished:
                self.give_up()
            self.handle = NULL
            with nogil:
                self.table.veo_proc_destroy(handle)
            if self.output is not None:
                self.output.leave()

    cdef bint is_open(self) noexcept:
        return self.handle is not NULL and self.forks == native.fork_count

    cdef int refuse(self) except -1:
        if self.forks != native.fork_count:
            raise VeoClosedError(
                "this process was forked: the VE process belongs to the parent; make a new "
                "VeoProc here"
            )
        if self.handle is NULL:
            raise VeoClosedError("the VeoProc is closed")
        raise VeoClosedError("the VeoProc is being closed by another thread")

    cdef veo_proc_handle *enter(self) except NULL:
        if self.handle is NULL or self.closing or self.forks != native.fork_count:
            self.refuse()
        self.users += 1
        return self.handle

    cdef void leave(self) noexcept:
        self.users -= 1

    cdef main_wait begin(self, object timeout, str function) except *:
        cdef main_wait wait = main_wait_of(timeout)
        cdef ContextBase main
        cdef bint given_up
        if self.soft.veosoft_set_wait_limit is NULL and self.open_contexts.main is not NULL:
            # Synchronous functions of the vendor's library do not see signals; requests known to be
            # queued before them are waited for here.
            main = <ContextBase>self.open_contexts.main
            given_up = wait.limit < 0 and main.has_given_up()
            if given_up:
                wait.limit = GIVEN_UP_NS
            if main.finish(wait.limit):
                fail_late(wait.limit, main.oldest(), given_up, function)
        return wait

    cdef int go_on(self, main_wait *wait, str function) except -1:
        if self.leaving:
            self.refuse()
        self.runs_library = self.runs_library or wait.begun
        return keep_waiting(wait, self.soft, self.main, self.main_has_given_up(), function)

    cdef bint main_has_given_up(self) noexcept:
        # A main context that was closed leaves its requests.
        if self.open_contexts.main is NULL:
            return self.unfinished
        return (<ContextBase>self.open_contexts.main).has_given_up()

    cdef void give_up(self) noexcept:
        if self.soft.veosoft_proc_kill is not NULL and not death_report(self.soft, self.handle):
            self.soft.veosoft_proc_kill(self.handle)

    cdef bint still_loads(self, long long deadline) noexcept:
        if not self.runs_library:
            return False
        while oldest_of(self.soft, self.main) and now_ns() < deadline:
            with nogil:
                pause_ns(1_000_000)
        return bool(oldest_of(self.soft, self.main))

    cdef list contexts(self):
        cdef list found = []
        cdef veopkg_context *at = veopkg_contexts_first(&self.open_contexts)
        while at is not NULL:
            found.append(<ContextBase>at.owner)
            at = veopkg_context_next(at)
        return found

    cdef int wait_for_users(self) except -1:
        cdef long long pause = 10_000
        while self.users > 0:
            with nogil:
                pause_ns(pause)
            PyErr_CheckSignals()
            pause = min(pause * 2, 5_000_000)
        return 0

    cdef int close(self, long long ns) except? -1:
        cdef ContextBase ctx
        cdef veo_proc_handle *handle
        cdef list contexts
        cdef int rc = 0
        cdef long long deadline = now_ns() + ns if ns >= 0 else 0
        if self.forks != native.fork_count:
            return 0
        while self.closing:
            with nogil:
                pause_ns(1_000_000)
            PyErr_CheckSignals()
        if self.handle is NULL:
            return 0
        self.closing = True
        try:
            for ctx in self.contexts():
                if ns < 0 and ctx.has_given_up():
                    ns = GIVEN_UP_NS
                    deadline = now_ns() + ns
            for ctx in self.contexts():
                ctx.finish(-1 if ns < 0 else max(deadline - now_ns(), 0))
            self.leaving = True
            self.wait_for_users()
        except BaseException:
            self.closing = self.leaving = False
            raise
        # From here to the end of the process no thread is in C, and none can enter.
        contexts = self.contexts()
        for ctx in contexts:
            ctx.bury()
        if self.unfinished or self.still_loads(deadline if ns >= 0 else now_ns() + GIVEN_UP_NS):
            self.give_up()
        handle = self.handle
        self.handle = NULL
        self.main = NULL
        with nogil:
            rc = self.table.veo_proc_destroy(handle)
        self.grave.clear()
        self.closing = self.leaving = False
        if self.output is not None:
            self.output.finish()
        return rc


cdef str _no_device(Library library):
    # A library given by path is used even if the probe found no device.
    if library.devices:
        return ""
    return (
        f" ({library.path} finds no Vector Engine; VEO_LIBRARY=soft runs kernels on the host)"
    )


cdef veo_proc_handle *_create(Library library, int nodeid, bytes veorun) except NULL:
    cdef const veo_table *table = library.table
    cdef veo_proc_handle *handle
    cdef char *path = NULL
    if veorun is not None:
        path = veorun
        with nogil:
            handle = table.veo_proc_create_static(nodeid, path)
        if handle is NULL:
            library.fail(
                f"veo_proc_create_static({nodeid}, {veorun!r}) failed{_no_device(library)}",
                "veo_proc_create_static",
            )
    else:
        with nogil:
            handle = table.veo_proc_create(nodeid)
        if handle is NULL:
            library.fail(
                f"veo_proc_create({nodeid}) failed{_no_device(library)}", "veo_proc_create"
            )
    return handle


cdef veo_proc_handle *_create_with_output(Library library, int nodeid, bytes veorun,
                                          object output) except NULL:
    library.need(<const void *>library.soft.veosoft_set_output, "veosoft_set_output")
    cdef int out = output.descriptors[0]
    cdef int err = output.descriptors[1]
    library.soft.veosoft_set_output(out, err)
    try:
        return _create(library, nodeid, veorun)
    finally:
        library.soft.veosoft_set_output(-1, -1)


cdef ProcHandle open_process(Library library, int nodeid, bytes veorun, object output):
    cdef ProcHandle proc = ProcHandle.__new__(ProcHandle)
    proc.library = library
    proc.table = library.table
    proc.soft = library.soft
    proc.forks = native.fork_count
    proc.nodeid = nodeid
    proc.output = output
    if output is None:
        proc.handle = _create(library, nodeid, veorun)
    else:
        try:
            proc.handle = _create_with_output(library, nodeid, veorun, output)
        except BaseException:
            output.finish()
            raise
        output.started()
    if proc.soft.veosoft_main_context is not NULL:
        proc.main = proc.soft.veosoft_main_context(proc.handle)
    return proc


cdef class ProcessOwner:
    """Base class of objects that have a VE process."""
