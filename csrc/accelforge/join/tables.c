/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/join/tables.h"

#include <math.h>

static const char *const texts[FUSE_STATUS_COUNT] = {
#define X(name, text) text,
    FUSE_STATUSES(X)
#undef X
};

const char *fuse_status_text(enum fuse_status status)
{
    return (unsigned)status < FUSE_STATUS_COUNT ? texts[status] : "unknown status";
}

/* How far the check has come in each table. */
struct cursor {
    size_t access;
    size_t group;
    size_t loop;
    size_t holder;
    size_t reservation;
    size_t stop;
    size_t rank;
    size_t bound;
    size_t objective;
    size_t tile;
    size_t value;
};

static bool left(size_t count, size_t used, size_t more)
{
    return more <= count - used;
}

static enum fuse_status check_numbers(const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(numbers[i] >= 0) || isinf(numbers[i]))
            return FUSE_BAD_NUMBER;
    return FUSE_OK;
}

/* --- Einsums --- */

static enum fuse_status check_accesses(const struct fuse_tables *t, struct cursor *at,
                                       const struct fuse_einsum *einsum)
{
    for (uint32_t i = 0; i < einsum->tensors; i++) {
        const struct fuse_access *access = &t->accesses[at->access + i];
        if (access->tensor >= t->tensor_count)
            return FUSE_BAD_INDEX;
        for (uint32_t j = 0; j < i; j++)
            if (t->accesses[at->access + j].tensor == access->tensor)
                return FUSE_BAD_INDEX;
    }
    at->access += einsum->tensors;
    at->rank += (size_t)einsum->tensors * einsum->variables;

    for (uint32_t v = 0; v < einsum->variables; v++) {
        double bound = t->bounds[at->bound + v];
        if (!(bound >= 1) || bound > 1e15)
            return FUSE_BAD_NUMBER;
    }
    at->bound += einsum->variables;
    return FUSE_OK;
}

/* --- groups --- */

static enum fuse_status check_holders(const struct fuse_tables *t, const struct cursor *at,
                                      const struct fuse_einsum *einsum, size_t accesses,
                                      const struct fuse_group *group, struct fuse_fault *fault)
{
    for (uint32_t h = 0; h < group->holders; h++) {
        const struct fuse_holder *holder = &t->holders[at->holder + h];
        bool found = false;
        for (uint32_t i = 0; i < einsum->tensors; i++)
            found = found || t->accesses[accesses + i].tensor == holder->tensor;
        for (uint32_t i = 0; i < h; i++)
            found = found && t->holders[at->holder + i].tensor != holder->tensor;
        if (!found || holder->memory >= t->memory_count ||
            (holder->depth > group->loops && holder->depth != FUSE_NONE)) {
            fault->tensor = holder->tensor;
            return FUSE_BAD_INDEX;
        }
    }
    return FUSE_OK;
}

static enum fuse_status check_tiles(const struct fuse_tables *t, const struct cursor *at,
                                    const struct fuse_group *group)
{
    size_t count = (size_t)group->rows * group->loops;
    if (!left(t->tile_count, at->tile, count))
        return FUSE_BAD_COUNT;
    for (size_t i = 0; i < count; i++)
        if (t->tiles[at->tile + i] < 1 || t->tiles[at->tile + i] > INT64_C(1000000000000000))
            return FUSE_BAD_NUMBER;
    return FUSE_OK;
}

static enum fuse_status check_structure(const struct fuse_tables *t, const struct cursor *at,
                                        const struct fuse_einsum *einsum, size_t accesses,
                                        const struct fuse_group *group, struct fuse_fault *fault)
{
    if (group->rows > FUSE_MAX_RECORDS || group->loops > FUSE_MAX_LOOPS ||
        group->holders > FUSE_MAX_HOLDERS)
        return FUSE_TOO_LARGE;
    if (!left(t->loop_count, at->loop, group->loops) ||
        !left(t->holder_count, at->holder, group->holders) ||
        !left(t->reservation_count, at->reservation, group->reservations) ||
        !left(t->stop_count, at->stop, group->stops))
        return FUSE_BAD_COUNT;

    for (uint32_t l = 0; l < group->loops; l++)
        if (t->loops[at->loop + l].variable >= einsum->variables)
            return FUSE_BAD_INDEX;
    for (uint32_t r = 0; r < group->reservations; r++) {
        const struct fuse_reservation *reservation = &t->reservations[at->reservation + r];
        if (reservation->memory >= t->memory_count ||
            (reservation->depth > group->loops && reservation->depth != FUSE_NONE))
            return FUSE_BAD_INDEX;
    }
    for (uint32_t s = 0; s < group->stops; s++)
        if (t->stops[at->stop + s] > group->loops)
            return FUSE_BAD_INDEX;
    return check_holders(t, at, einsum, accesses, group, fault);
}

static enum fuse_status check_group(const struct fuse_tables *t, struct cursor *at,
                                    const struct fuse_einsum *einsum, size_t accesses,
                                    struct fuse_fault *fault)
{
    const struct fuse_group *group = &t->groups[at->group];
    enum fuse_status status = check_structure(t, at, einsum, accesses, group, fault);
    if (status == FUSE_OK)
        status = check_tiles(t, at, group);
    if (status != FUSE_OK)
        return status;

    size_t objectives = (size_t)group->rows * t->objective_count;
    size_t values = (size_t)group->rows * ((size_t)group->holders + group->reservations);
    if (!left(t->objective_number_count, at->objective, objectives) ||
        !left(t->value_count, at->value, values))
        return FUSE_BAD_COUNT;
    if (check_numbers(t->objectives + at->objective, objectives) != FUSE_OK ||
        check_numbers(t->values + at->value, values) != FUSE_OK)
        return FUSE_BAD_NUMBER;

    at->group++;
    at->loop += group->loops;
    at->holder += group->holders;
    at->reservation += group->reservations;
    at->stop += group->stops;
    at->tile += (size_t)group->rows * group->loops;
    at->objective += objectives;
    at->value += values;
    return FUSE_OK;
}

/* --- everything --- */

static enum fuse_status check_sizes(const struct fuse_tables *t)
{
    if (t->einsum_count == 0 || t->objective_count == 0 || t->tensor_count > t->access_count)
        return FUSE_BAD_COUNT;
    if (t->einsum_count > FUSE_MAX_EINSUMS || t->objective_count > FUSE_MAX_OBJECTIVES ||
        t->memory_count > FUSE_MAX_MEMORIES || t->tensor_count > FUSE_MAX_RECORDS)
        return FUSE_TOO_LARGE;
#define X(record, table) \
    if (t->record##_count > FUSE_MAX_RECORDS) \
        return FUSE_TOO_LARGE;
    FUSE_TABLES(X)
#undef X
    return FUSE_OK;
}

static enum fuse_status check_einsum(const struct fuse_tables *t, struct cursor *at, uint32_t e,
                                     struct fuse_fault *fault)
{
    const struct fuse_einsum *einsum = &t->einsums[e];
    if (!left(t->access_count, at->access, einsum->tensors) ||
        !left(t->bound_count, at->bound, einsum->variables) ||
        !left(t->group_count, at->group, einsum->groups) ||
        !left(t->rank_count, at->rank, (size_t)einsum->tensors * einsum->variables))
        return FUSE_BAD_COUNT;
    if (einsum->tensors > FUSE_MAX_HOLDERS)
        return FUSE_TOO_LARGE;

    size_t accesses = at->access;
    size_t rows = 0;
    enum fuse_status status = check_accesses(t, at, einsum);
    for (uint32_t g = 0; status == FUSE_OK && g < einsum->groups; g++) {
        fault->group = g;
        rows += t->groups[at->group].rows;
        status =
            rows > FUSE_MAX_RECORDS ? FUSE_TOO_LARGE : check_group(t, at, einsum, accesses, fault);
    }
    return status;
}

enum fuse_status fuse_tables_check(const struct fuse_tables *tables, struct fuse_fault *fault)
{
    *fault = (struct fuse_fault){FUSE_OK, FUSE_NONE, FUSE_NONE, FUSE_NONE};
    struct cursor at = {0};
    enum fuse_status status = check_sizes(tables);
    for (uint32_t e = 0; status == FUSE_OK && e < tables->einsum_count; e++) {
        fault->einsum = e;
        fault->group = FUSE_NONE;
        status = check_einsum(tables, &at, e, fault);
    }

    if (status == FUSE_OK &&
        (at.access != tables->access_count || at.group != tables->group_count ||
         at.loop != tables->loop_count || at.holder != tables->holder_count ||
         at.reservation != tables->reservation_count || at.stop != tables->stop_count ||
         at.rank != tables->rank_count || at.bound != tables->bound_count ||
         at.objective != tables->objective_number_count || at.tile != tables->tile_count ||
         at.value != tables->value_count)) {
        fault->einsum = FUSE_NONE;
        fault->group = FUSE_NONE;
        status = FUSE_BAD_COUNT;
    }
    fault->status = status;
    return status;
}
