# SPDX-License-Identifier: BSD-3-Clause
"""Contexts: queues of a VE process."""

cimport cython
from libc.stdint cimport uint64_t
from offchip.buffer cimport Buffer, get_buffer
from offchip.request cimport timeout_ns
from veo._convert cimport to_address, to_size
from veo._context_handle cimport CtxHandle, open_context
from veo._log cimport log_info, log_on
from veo._process_handle cimport ProcessOwner
from veo._request cimport VeoMemRequest, VeoRequest, new_request
from veo.libveo cimport VEO_REQUEST_ID_INVALID, veo_thr_ctxt

from importlib import import_module

from veo.errors import VeoClosedError

__all__ = ["VeoCtxt"]

cdef extern from "Python.h":
    # Classes that are made in Python, whose objects have attributes of their own.
    const unsigned long Py_TPFLAGS_HEAPTYPE
    bint PyType_HasFeature(type kind, unsigned long feature)


cdef Buffer destination(object memory):
    cdef Buffer buffer
    try:
        return get_buffer(memory, True)
    except BufferError:
        buffer = get_buffer(memory, False)
    import warnings

    warnings.warn(
        f"a transfer overwrites a read-only {type(memory).__name__}; equal constants may "
        "share its memory. Use a bytearray or a writable numpy array",
        DeprecationWarning,
        # Extension modules have no frames.
        stacklevel=1,
    )
    return buffer


@cython.no_gc_clear
cdef class VeoCtxt:
    """A thread of a VE process, and its queue of requests.

    Requests of one context are executed in order; contexts of one process run concurrently and
    share its memory. The first context of a process is its main
    one, on which the synchronous functions of `VeoProc` run as well.

    Parameters
    ----------
    proc : VeoProc
        The process. Usually contexts come from `VeoProc.open_context()`.
    timeout : float, optional
        As for that.

    Attributes
    ----------
    proc : VeoProc
        The process.
    """

    def __init__(self, proc, *, timeout=None):
        if not isinstance(proc, ProcessOwner):
            raise TypeError(f"a VeoProc is required, not {type(proc).__name__}")
        if self.handle is not None:
            raise TypeError("this VeoCtxt is already initialised")
        if (<ProcessOwner>proc).handle is None:
            raise VeoClosedError("the VeoProc was not initialised")
        self.handle = open_context((<ProcessOwner>proc).handle, timeout)
        self.handle.is_plain = not (
            PyType_HasFeature(type(self), Py_TPFLAGS_HEAPTYPE)
            or PyType_HasFeature(type(proc), Py_TPFLAGS_HEAPTYPE)
        )
        self.proc = proc

    def __reduce_ex__(self, protocol):
        raise TypeError("a VeoCtxt cannot be pickled: it is a thread of a VE process")

    cdef CtxHandle get(self):
        if self.handle is None:
            raise VeoClosedError("the VeoCtxt was not initialised")
        return self.handle

    @property
    def tid(self):
        """Always 0: what py-veo shows since VE threads have no number on the host."""
        return 0

    @property
    def _thr_ctxt(self):
        """The C handle as an integer, 0 when closed."""
        return <size_t>self.handle.handle if self.handle is not None else 0

    @property
    def closed(self):
        """True if the context was closed, or its process."""
        return (self.handle is None or self.handle.handle is NULL
                or not self.handle.proc.is_open())

    def async_read_mem(self, dst, src, size):
        """Queue a transfer from the VE.

        Parameters
        ----------
        dst : object with the buffer protocol
            Contiguous memory that receives the bytes. The request holds it. Read-only memory is
            written too, with a DeprecationWarning.
        src : VEMemPtr or int
            VE address.
        size : int
            Number of bytes.

        Returns
        -------
        VeoMemRequest

        Raises
        ------
        TypeError, ValueError
            `dst` has no buffer, is not contiguous, or is smaller than `size`.
        VeoError
            The library rejected the request, for example because the process is dead.
        """
        return self._transfer(dst, src, size, True)

    def async_write_mem(self, dst, src, size):
        """Queue a transfer to the VE.

        Parameters
        ----------
        dst : VEMemPtr or int
            VE address.
        src : object with the buffer protocol
            Contiguous memory with the bytes; it must not be changed before the request is done.
            The request holds it.
        size : int
            Number of bytes.

        Returns
        -------
        VeoMemRequest

        Raises
        ------
        TypeError, ValueError
            `src` has no buffer, is not contiguous, or is smaller than `size`.
        VeoError
            The library rejected the request, for example because the process is dead.
        """
        return self._transfer(src, dst, size, False)

    def call_many(self, function, *arguments, timeout=None):
        """Call a function for each element of arrays, in order, and wait for all.

        Parameters
        ----------
        function : VeoFunction
            The function.
        *arguments : array-like, int, float, VEMemPtr or DeviceArray
            An array, list or tuple has a value for each call; its length says how often the
            function is called. Other values are those of all calls. They are converted as those of
            one call are; `OnStack` is not possible.
        timeout : float, optional
            Timeout in seconds for all calls; None waits without limit. At the limit, and after
            Ctrl-C, the call that runs continues, and those behind it are taken back; with NEC's
            library, which takes none back, up to 64 that are queued continue.

        Returns
        -------
        numpy.ndarray or None
            The results, of the type that one call has; None if the function returns nothing.

        Raises
        ------
        TypeError, ValueError, OverflowError
            Arguments of which the error names the number and the call; nothing was called.
        VeoError, VeoKernelException
            A call failed: the first such, whose index is the attribute ``index``. Those behind
            it were not executed.
        VeoTimeoutError
            They were not done within the time.
        """
        # It is above this module, and loads NumPy.
        return import_module("veo.batches").call_many(self, function, arguments, timeout)

    cdef VeoRequest _transfer(self, object memory, object where, object size, bint reading):
        cdef CtxHandle handle = self.get()
        cdef veo_thr_ctxt *ctx
        cdef VeoRequest request
        cdef Py_ssize_t nbytes = to_size(size, "size")
        cdef Buffer buffer
        cdef uint64_t address, id
        to_address(where, self.proc, &address)
        buffer = destination(memory) if reading else get_buffer(memory, False)
        if buffer.nbytes < nbytes:
            raise ValueError(
                f"the {'destination' if reading else 'source'} buffer is smaller than required "
                f"size ({buffer.nbytes} < {nbytes})"
            )
        name = "async_read_mem" if reading else "async_write_mem"
        request = new_request(VeoMemRequest, handle, self, c"i", name)
        # Methods of the user's objects may have closed it.
        ctx = handle.usable()
        handle.enter()
        # The vendor's library copies here.
        with nogil:
            if reading:
                id = handle.table.veo_async_read_mem(ctx, buffer.ptr, address, <size_t>nbytes)
            else:
                id = handle.table.veo_async_write_mem(ctx, address, buffer.ptr, <size_t>nbytes)
        handle.leave()
        if id == VEO_REQUEST_ID_INVALID:
            handle.proc.library.fail(
                f"{name} of {nbytes} bytes at {address:#x} was rejected", f"veo_{name}",
                handle.proc.handle,
            )
        request.start(id, buffer)
        if log_on():
            log_info(f"{name} nodeid={handle.proc.nodeid} size={nbytes} reqid={id}")
        if handle.requests.norphans or handle.requests.nkept:
            handle.reap(4)
        return request

    def context_sync(self, timeout=None):
        """Wait until everything queued has been executed; results remain available.

        Parameters
        ----------
        timeout : float, optional
            Timeout in seconds; None waits without limit.

        Raises
        ------
        VeoTimeoutError
            The wait timed out; it says for which request. It is a TimeoutError.
        """
        self.get().drain(timeout_ns(timeout))

    def close(self, timeout=None):
        """Execute what is queued, keep the results, and end the thread. May be called again.

        Results of requests remain available. The thread of the main context keeps running, as
        the process needs it.

        Parameters
        ----------
        timeout : float, optional
            Timeout in seconds for queued requests; those that are not done by then raise
            VeoClosedError, and their thread ends with the process. None waits without limit, or
            1.5 s if a wait for one of them has timed out before.
        """
        if self.handle is not None:
            self.handle.close(timeout_ns(timeout))

    def context_close(self):
        """Close it, as `close()` does."""
        self.close()

    def __enter__(self):
        self.get().usable()
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __repr__(self):
        cdef CtxHandle handle = self.handle
        if handle is None:
            return "<VeoCtxt object, not initialised>"
        state = "closed" if self.closed else "open"
        return (
            f"<VeoCtxt object at {<size_t><void *>self:#x} of node {handle.proc.nodeid}, {state}>"
        )
