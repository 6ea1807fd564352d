/* SPDX-License-Identifier: BSD-3-Clause */
/* A call whose arguments were checked: types and memory instead of flags and addresses. */
#ifndef ACCL_OPERATION_H
#define ACCL_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "accl.h"
#include "accl/base/communicator.h"

/* Where the elements of source and result go, too; NULL: nowhere. Whoever has made a copy sets it
 * to NULL, and the engine makes those that are left. */
struct operand_copies {
    uint8_t *source, *result;
    uint64_t bytes; /* of both */
};

/* Copies the source, of BYTES, if it has a copy that is not made. COPIES may be NULL. */
void acclib_operand_copy_source(struct operand_copies *copies, const uint8_t *source,
                                uint64_t bytes);

struct operation {
    const struct accl_call *call;
    const struct accl_operation_facts *facts; /* of call->operation */
    struct communicator *comm;                /* NULL for local operations */
    uint64_t count;
    uint32_t type, wire, arithmetic; /* uncompressed; on the wire; of sums */
    uint32_t source_type, source2_type, result_type;
    uint8_t *source, *source2, *result;    /* NULL where this rank has none */
    bool via16;                            /* float32 that is rounded to float16 on the way */
    bool source_is_array, result_is_array; /* not in the memory file */
    struct operand_copies *copies;         /* NULL: none */
};

/* The table of accl.h by number. Notes of calls have four bits for an operation. */
#define OPERATION_KINDS 16
extern const struct accl_operation_facts acclib_operations[OPERATION_KINDS + 2];

/* Facts of any number; those of an unknown one are 0 and NULL. */
static inline const struct accl_operation_facts *operation_facts(uint32_t operation)
{
    if (operation < OPERATION_KINDS)
        return &acclib_operations[operation];
    return &acclib_operations[OPERATION_KINDS + (operation != ACCL_NOP)];
}

/* True if a call names another rank: of a message, or a root. */
static inline bool operation_has_rank(const struct accl_operation_facts *facts)
{
    return facts->kind == ACCL_KIND_ROOTED || facts->kind == ACCL_KIND_MESSAGE;
}

static inline bool operation_is_collective(const struct accl_operation_facts *facts)
{
    return facts->kind == ACCL_KIND_ROOTED || facts->kind == ACCL_KIND_SYMMETRIC;
}

/* Parts, each of the count, that a collective of N ranks reads or writes where it does most. */
static inline uint64_t operation_parts(uint8_t root, uint8_t other, uint64_t n)
{
    uint8_t most = root > other ? root : other;
    return most == ACCL_SHARE_EACH ? n : most;
}

static inline uint64_t operation_parts_read(const struct accl_operation_facts *facts, uint64_t n)
{
    return operation_parts(facts->root_reads, facts->reads, n);
}

static inline uint64_t operation_parts_written(const struct accl_operation_facts *facts, uint64_t n)
{
    return operation_parts(facts->root_writes, facts->writes, n);
}

/* Name of an operation, "?" for an unknown number. Static. */
const char *acclib_operation_name(uint32_t operation);

/* Elements that OP, of which call, facts and communicator are set, reads and writes on this rank.
 */
void acclib_operation_extents(const struct operation *op, uint64_t *source, uint64_t *result);

/* COLLECTIVE_NOT_IMPLEMENTED: nothing makes this operation WHERE. */
uint32_t acclib_operation_refuse(accl_device *device, uint32_t operation, const char *where);

#endif
