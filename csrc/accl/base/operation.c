/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/base/operation.h"

#include "accl/base/device.h"
#include "common/copy.h"

#define AT(value) [(value) == ACCL_NOP ? OPERATION_KINDS : (value)] =
const struct accl_operation_facts acclib_operations[OPERATION_KINDS + 2] = {
    ACCL_OPERATION_ROWS(ACCL_OPERATION_FACTS, AT)};

#define IS_PACKED(name, value) \
    _Static_assert((value) < OPERATION_KINDS || (value) == ACCL_NOP, \
                   "tables of operations, and notes of calls, have no place for " #name);
ACCL_OPERATION_LIST(IS_PACKED)

const char *acclib_operation_name(uint32_t operation)
{
    const char *name = operation_facts(operation)->name;
    return name != NULL ? name : "?";
}

uint32_t acclib_operation_refuse(accl_device *device, uint32_t operation, const char *where)
{
    return acclib_call_fail(device, ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED),
                            "%s is not implemented %s", acclib_operation_name(operation), where);
}

void acclib_operation_extents(const struct operation *op, uint64_t *source, uint64_t *result)
{
    const struct accl_operation_facts *facts = op->facts;
    uint64_t n = op->comm != NULL ? op->comm->n : 1, count = op->call->count;
    bool is_root = facts->kind == ACCL_KIND_ROOTED && op->comm != NULL &&
                   op->comm->me == op->call->root_src_dst;
    const uint64_t elements[] = {[ACCL_SHARE_NONE] = 0,
                                 [ACCL_SHARE_ONE] = count,
                                 [ACCL_SHARE_EACH] =
                                     count > UINT64_MAX / n ? UINT64_MAX : count * n};

    *source = elements[is_root ? facts->root_reads : facts->reads];
    *result = elements[is_root ? facts->root_writes : facts->writes];
}

void acclib_operand_copy_source(struct operand_copies *copies, const uint8_t *source,
                                uint64_t bytes)
{
    if (copies == NULL || copies->source == NULL)
        return;

    copy_piece(copies->source, source, bytes, copies->bytes);
    copies->source = NULL;
}
