/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tables.h: the pmappings of all Einsums as flat tables.
 *
 * Einsums are in the order in which they are executed. Records follow one another in the order of
 * what they belong to: the groups of the first Einsum, then those of the second; the loops of the
 * first group, then those of the second; and so on. Nothing holds an offset.
 *
 * A group's numbers follow one another too: for each of its rows `objectives` has objective_count
 * numbers and `tiles` has loop_count numbers; `values` has a number per row for each holder of the
 * group, then a number per row for each of its reservations.
 */
#ifndef OFFCHIP_FUSE_TABLES_H
#define OFFCHIP_FUSE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUSE_NONE UINT32_MAX

#define FUSE_MAX_EINSUMS UINT32_C(4096)
#define FUSE_MAX_LOOPS UINT32_C(32)
#define FUSE_MAX_HOLDERS UINT32_C(64)
#define FUSE_MAX_MEMORIES UINT32_C(64)
#define FUSE_MAX_OBJECTIVES UINT32_C(8)
#define FUSE_MAX_RECORDS (UINT32_C(1) << 26)

/* X(name, text) */
#define FUSE_STATUSES(X) \
    X(OK, "") \
    X(OUT_OF_MEMORY, "out of memory") \
    X(BAD_COUNT, "tables and counts do not fit together") \
    X(BAD_INDEX, "an index is outside its table") \
    X(BAD_NUMBER, "a number is negative, infinite or not a number") \
    X(TOO_LARGE, "a group has more loops or tensors, or the input more parts, than are supported") \
    X(MISSING_TENSOR, "a group does not hold a tensor that its Einsum shares with another one") \
    X(NO_ROWS, "an Einsum has no pmappings") \
    X(NOTHING_JOINS, "no pmappings fit together") \
    X(STOPPED, "stopped")

enum fuse_status {
#define X(name, text) FUSE_##name,
    FUSE_STATUSES(X)
#undef X
        FUSE_STATUS_COUNT
};

struct fuse_einsum {
    uint32_t variables; /* number of rank variables; `bounds` has their bounds */
    uint32_t tensors;   /* number of accesses */
    uint32_t groups;
    uint32_t copy;
};

struct fuse_access {
    uint32_t tensor;
    uint32_t output;
};

struct fuse_group {
    uint32_t rows;
    uint32_t loops;
    uint32_t holders;
    uint32_t reservations;
    uint32_t stops;
};

/* A fused loop. */
struct fuse_loop {
    uint32_t variable; /* of the Einsum */
    uint32_t kind;     /* 0: temporal; else which dimension of which fan-out */
};

/* The outermost holder of a tensor. */
struct fuse_holder {
    uint32_t tensor;
    uint32_t memory;
    uint32_t depth; /* fused loops above it, or FUSE_NONE: it lives as long as the workload */
};

/* Other memory held below `depth` fused loops, or FUSE_NONE as above. */
struct fuse_reservation {
    uint32_t memory;
    uint32_t depth;
};

/* X(record, table): tables of records that consist of uint32_t. */
#define FUSE_TABLES(X) \
    X(einsum, einsums) \
    X(access, accesses) \
    X(group, groups) \
    X(loop, loops) \
    X(holder, holders) \
    X(reservation, reservations)

struct fuse_tables {
#define X(record, table) \
    const struct fuse_##record *table; \
    size_t record##_count;
    FUSE_TABLES(X)
#undef X
    const uint32_t *stops; /* depths between which loops may change places */
    size_t stop_count;
    /* For each access and each variable of its Einsum: the rank that names it, or FUSE_NONE. */
    const uint32_t *ranks;
    size_t rank_count;
    const double *bounds; /* of variables */
    size_t bound_count;
    const double *objectives;
    size_t objective_number_count;
    const int64_t *tiles;
    size_t tile_count;
    const double *values;
    size_t value_count;
    uint32_t objective_count;
    uint32_t tensor_count; /* number of different tensors */
    uint32_t memory_count;
};

/* The table and the record that are wrong; `record` is FUSE_NONE if it is the table as a whole. */
struct fuse_fault {
    enum fuse_status status;
    uint32_t einsum;
    uint32_t group; /* among those of the Einsum */
    uint32_t tensor;
};

/*
 * Checks every count, index and number: after FUSE_OK the other functions can follow any of them.
 * Any bytes may be given. Says in FAULT (may not be NULL) where it is wrong.
 */
enum fuse_status fuse_tables_check(const struct fuse_tables *tables, struct fuse_fault *fault);

/* The text of a status; never NULL. */
const char *fuse_status_text(enum fuse_status status);

#endif
