# SPDX-License-Identifier: BSD-3-Clause
"""Declarations of the join; the headers in csrc/accelforge/join say what they mean."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef extern from "accelforge/join/tables.h":
    enum fuse_status:
        FUSE_OK
        FUSE_OUT_OF_MEMORY
        FUSE_NO_ROWS
        FUSE_NOTHING_JOINS
        FUSE_STOPPED

    struct fuse_einsum:
        pass
    struct fuse_access:
        pass
    struct fuse_group:
        pass
    struct fuse_loop:
        pass
    struct fuse_holder:
        pass
    struct fuse_reservation:
        pass

    struct fuse_tables:
        const fuse_einsum *einsums
        size_t einsum_count
        const fuse_access *accesses
        size_t access_count
        const fuse_group *groups
        size_t group_count
        const fuse_loop *loops
        size_t loop_count
        const fuse_holder *holders
        size_t holder_count
        const fuse_reservation *reservations
        size_t reservation_count
        const uint32_t *stops
        size_t stop_count
        const uint32_t *ranks
        size_t rank_count
        const double *bounds
        size_t bound_count
        const double *objectives
        size_t objective_number_count
        const int64_t *tiles
        size_t tile_count
        const double *values
        size_t value_count
        uint32_t objective_count
        uint32_t tensor_count
        uint32_t memory_count

    struct fuse_fault:
        fuse_status status
        uint32_t einsum
        uint32_t group
        uint32_t tensor

    const char *fuse_status_text(fuse_status status) nogil

cdef extern from "accelforge/join/goal.h":
    struct fuse_goal:
        uint32_t wanted
        bint product
        uint32_t energy
        uint32_t latency
        bint usage

cdef extern from "accelforge/join/pool.h":
    struct fuse_limits:
        unsigned threads
        const uint8_t *stop
        double deadline
        size_t bytes

cdef extern from "accelforge/join/fuse.h":
    enum:
        FUSE_COUNTER_COUNT

    struct fuse_request:
        const fuse_tables *tables
        fuse_goal goal
        fuse_limits limits
        double objective_tolerance
        double usage_tolerance
        bint all_memories
        uint64_t *progress

    struct fuse_answer:
        size_t row_count
        double *objectives
        double *usage
        uint32_t *groups
        uint32_t *rows
        bint complete
        double least[8]
        double least_product
        uint64_t joined

    fuse_status fuse_join(
        const fuse_request *request, fuse_answer *answer, fuse_fault *fault) nogil
    void fuse_answer_clear(fuse_answer *answer) nogil

cdef extern from "accelforge/join/pareto.h":
    struct fuse_front:
        uint32_t width
        size_t count

    void fuse_front_reset(fuse_front *front, uint32_t width, uint32_t compared) nogil
    bint fuse_front_add(fuse_front *front, const double *numbers, uint64_t tag) nogil
    bint fuse_front_reduce(fuse_front *front) nogil
    uint64_t fuse_front_tag(const fuse_front *front, size_t i) nogil
    void fuse_front_clear(fuse_front *front) nogil
