# SPDX-License-Identifier: BSD-3-Clause
"""Submission of many calls of a function: as one request, or one by one."""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from offchip.buffer cimport Buffer, get_buffer
from offchip.request cimport timeout_ns
from veo._context cimport VeoCtxt
from veo._context_handle cimport CtxHandle
from veo._convert cimport to_bits
from veo._function cimport VeoFunction
from veo._request cimport VeoRequest, new_request
from veo.libveo cimport (
    VEO_REQUEST_ID_INVALID, veo_args, veo_thr_ctxt, veosoft_calls, veosoft_column,
)
from veo.request_set cimport veopkg_requests_are_done

__all__ = ["check", "oldest", "submit_batch", "submit_call", "to_word"]


def check(VeoFunction function not None, VeoCtxt context not None, Py_ssize_t count, timeout):
    """Return letters of the function's types, whether the library takes many calls at once, and
    the timeout in seconds.

    ValueError, TypeError or VeoError if it cannot be called with `count` arguments.
    """
    timeout_ns(timeout)
    function.check_call(context, count)
    context.get().usable()
    batches = function.proc.soft.veosoft_call_many is not NULL
    limit = None if timeout is None else float(timeout)
    return function.codes[:count].decode(), chr(function.ret), batches, limit


def to_word(str code, object value, object proc):
    """Return the register of one value for a parameter of type `code`."""
    cdef uint64_t bits
    value = getattr(value, "_ve_array", value)
    owner = getattr(value, "proc", None)
    if owner is not None and owner is not proc:
        raise ValueError(f"{value!r} belongs to another process than the function")
    to_bits(<char><int>ord(code), value, &bits)
    return bits


def oldest(VeoRequest request not None):
    """Describe the oldest request of the context of `request` that is not done; "" if all are."""
    if veopkg_requests_are_done(&request.handle.requests):
        return ""
    return request.handle.oldest()


cdef object refuse(VeoFunction function, str name):
    return function.proc.library.fail(
        f"calls of {function.name} were rejected", name, function.proc.handle
    )


def submit_batch(VeoFunction function, VeoCtxt context, list columns, Py_ssize_t count,
                 results, ended):
    """Queue `count` calls as one request, whose result is how many have ended.

    `columns` are arrays of 64-bit words, of `count` elements or 1; `results` and `ended` are such
    arrays, which are filled by the time that the request is done.
    """
    cdef CtxHandle handle = context.get()
    cdef Py_ssize_t n = len(columns)
    cdef Py_ssize_t i
    cdef list held = [get_buffer(column, False) for column in columns]
    cdef Buffer to = get_buffer(results, True)
    cdef Buffer done = get_buffer(ended, True)
    cdef VeoRequest request = new_request(VeoRequest, handle, context, c"l", function.name)
    cdef unsigned int generation = function.generation
    cdef veo_args *types
    cdef veo_thr_ctxt *thread
    cdef veosoft_calls calls
    cdef uint64_t id
    cdef veosoft_column *list_ = <veosoft_column *>malloc((n + 1) * sizeof(veosoft_column))
    if list_ is NULL:
        raise MemoryError()
    for i in range(n):
        list_[i].values = <const uint64_t *>(<Buffer>held[i]).ptr
        list_[i].step = (<Buffer>held[i]).nbytes > 8
    calls.address = function.address
    calls.count = <size_t>count
    calls.ncolumns = <size_t>n
    calls.columns = list_
    calls.results = <uint64_t *>to.ptr
    calls.ended = <uint64_t *>done.ptr
    try:
        thread = handle.usable()
        types = function._take_args()
        handle.enter()
        with nogil:
            id = function.proc.soft.veosoft_call_many(thread, &calls, types)
        handle.leave()
        function._put_args(types, generation)
    finally:
        free(list_)
    if id == VEO_REQUEST_ID_INVALID:
        refuse(function, "veosoft_call_many")
    request.start(id, (to, done))
    return request


def submit_call(VeoFunction function, VeoCtxt context, words):
    """Queue one call, with the registers of its arguments."""
    cdef CtxHandle handle = context.get()
    cdef VeoRequest request = new_request(VeoRequest, handle, context, function.ret, function.name)
    cdef unsigned int generation = function.generation
    cdef veo_args *list_ = function._take_args()
    cdef veo_thr_ctxt *thread
    cdef uint64_t id
    cdef uint64_t word
    cdef int i = 0
    try:
        for word in words:
            function.proc.table.veo_args_set_i64(list_, i, <int64_t>word)
            i += 1
        thread = handle.usable()
        handle.enter()
        with nogil:
            id = function.proc.table.veo_call_async(thread, function.address, list_)
        handle.leave()
    finally:
        function._put_args(list_, generation)
    if id == VEO_REQUEST_ID_INVALID:
        refuse(function, "veo_call_async")
    request.start(id, None)
    return request
