# SPDX-License-Identifier: BSD-3-Clause
"""Waits of synchronous functions for what is queued in the main context.

A function of the library is called with a limit of 100 ms, as often as it takes, with a look at
signals between. The default rule: no limit, and one warning; but once a wait for a request there
has timed out, 1.5 s, as for `VeoProc.close()`.
"""

from cpython.exc cimport PyErr_CheckSignals
from offchip.request cimport timeout_ns
from veo._log cimport log_warning
from veo.libveo cimport veo_thr_ctxt, veosoft_table
from offchip.waiting cimport NEVER, SLICE_NS, first_slice, now_ns

from veo.errors import VeoTimeoutError

__all__ = []

cdef extern from "veo/silence.h":
    const long long VEO_SILENCE_NS


cdef main_wait main_wait_of(object timeout) except *:
    cdef main_wait wait
    wait.limit = -1
    wait.began = 0
    wait.told = False
    wait.begun = False
    if timeout is not None:
        wait.limit = timeout_ns(timeout)
        if wait.limit < 0:
            wait.limit = NEVER
    wait.slice = first_slice(wait.limit)
    return wait


cdef int keep_waiting(main_wait *wait, const veosoft_table *soft, veo_thr_ctxt *main,
                      bint given_up, str function) except -1:
    cdef long long now = now_ns()
    cdef long long limit = wait.limit
    cdef long long left
    if wait.began == 0:
        wait.began = now - wait.slice
    PyErr_CheckSignals()
    if limit < 0 and given_up:
        limit = GIVEN_UP_NS
    if limit >= 0:
        left = limit - (now - wait.began)
        if left <= 0 and wait.begun:
            raise VeoTimeoutError(
                f"{function} did not end within {limit * 1e-9:g} s: code of the library still runs "
                "in the main context. The same call waits for it again, and VeoProc.close(0) ends "
                "it",
                function=function,
            )
        if left <= 0:
            fail_late(limit, oldest_of(soft, main), wait.limit < 0, function)
        wait.slice = min(left, <long long>SLICE_NS)
    elif now - wait.began > VEO_SILENCE_NS and not wait.told:
        wait.told = True
        log_warning(
            f"{function} has waited {VEO_SILENCE_NS * 1e-9:g} s for the main context, which still "
            f"has {oldest_of(soft, main)}"
        )
    return 0


cdef int fail_late(long long ns, str text, bint given_up, str function) except -1:
    rule = (
        "; as a wait for it timed out before, this one has that limit (timeout=math.inf has none)"
        if given_up else ""
    )
    raise VeoTimeoutError(
        f"{function} did not begin within {ns * 1e-9:g} s, and has done nothing: it comes after "
        f"what is queued in the main context, the first of the process, which still has "
        f"{text or 'a request'}{rule}. What other contexts do does not wait for it, and "
        "VeoProc.close(0) ends it",
        function=function,
    )


cdef str oldest_of(const veosoft_table *soft, veo_thr_ctxt *ctx):
    cdef char text[512]
    if soft.veosoft_waits_for is NULL or ctx is NULL:
        return ""
    if soft.veosoft_waits_for(ctx, text, sizeof(text)) == 0:
        return ""
    return (<bytes>text).decode("utf-8", "replace")
