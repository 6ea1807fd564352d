# SPDX-License-Identifier: BSD-3-Clause
"""C declarations: csrc/veo/package/requests.h, which explains them. All need the GIL."""

from libc.stdint cimport uint64_t
from veo.libveo cimport veo_thr_ctxt


cdef extern from "veo/package/requests.h":
    enum:
        VEOPKG_CLOSED
        VEOPKG_FORKED
        VEOPKG_CANCELLED

    struct veopkg_request:
        void *owner         # the VeoRequest, borrowed
        void *keep
        void *text          # a str, the library's text about a failure, or NULL
        uint64_t id
        uint64_t value
        int state
        bint settled
        bint waiting

    struct veopkg_request_ops:
        int (*peek)(veo_thr_ctxt *, uint64_t, uint64_t *) noexcept nogil
        void (*failed)(void *, veopkg_request *) noexcept
        void (*release)(void *) noexcept
        void (*entomb)(void *, void *) noexcept

    struct veopkg_requests:
        size_t nkept
        size_t norphans

    void veopkg_requests_init(veopkg_requests *set, veopkg_request_ops ops, void *context)
    void veopkg_requests_free(veopkg_requests *set)
    void veopkg_request_add(veopkg_requests *set, veopkg_request *request, void *owner,
                            uint64_t id, void *keep)
    void veopkg_request_settle(veopkg_requests *set, veopkg_request *request, int state,
                               uint64_t value)
    bint veopkg_request_poll(veopkg_requests *set, veo_thr_ctxt *ctx, veopkg_request *request)
    void veopkg_request_drop(veopkg_requests *set, veopkg_request *request, bint is_open)
    void veopkg_requests_reap(veopkg_requests *set, veo_thr_ctxt *ctx, size_t limit)
    void veopkg_requests_close(veopkg_requests *set)
    void veopkg_request_note_given_up(veopkg_requests *set, const veopkg_request *request)
    bint veopkg_requests_have_given_up(veopkg_requests *set, veo_thr_ctxt *ctx)
    veopkg_request *veopkg_requests_oldest(const veopkg_requests *set)
    uint64_t veopkg_requests_oldest_orphan(const veopkg_requests *set)
    bint veopkg_requests_are_done(const veopkg_requests *set)
