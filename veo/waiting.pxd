# SPDX-License-Identifier: BSD-3-Clause
"""Waiting with the vendor's functions alone."""

from libc.stdint cimport uint64_t
from veo.libveo cimport VEO_COMMAND_UNFINISHED, veo_table, veo_thr_ctxt
from offchip.waiting cimport now_ns, pause_ns


# The pauses between polls grow.
cdef inline int wait_by_peeking(const veo_table *table, veo_thr_ctxt *ctx, uint64_t id,
                                uint64_t *value, long long ns) noexcept nogil:
    cdef long long deadline = now_ns() + ns
    cdef long long pause = 0
    cdef int looks = 0
    cdef int rc
    while True:
        rc = table.veo_call_peek_result(ctx, id, value)
        if rc != VEO_COMMAND_UNFINISHED:
            return rc
        looks += 1
        if looks < 200:
            continue
        if now_ns() + pause >= deadline:
            return VEO_COMMAND_UNFINISHED
        pause = min(max(pause + pause // 4, 1_000), 500_000)
        pause_ns(pause)
