/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_trace.c: the functions of dpu_traced.h, noting their time. */
#include "dpu_traced.h"

#include "dpu_table.h"
#include "trace.h"

static struct dpu_table real;
static struct dpusoft_table real_soft;
static struct dpu_table *traced;

#define X(type, name, bytes, parameters, arguments) \
    OFFCHIP_TRACED(real, type, name, bytes, -1, parameters, arguments)
DPU_TRACED(X)
#undef X
#define X(type, name, bytes, parameters, arguments) \
    OFFCHIP_TRACED(real_soft, type, name, bytes, -1, parameters, arguments)
DPUSOFT_TRACED(X)
#undef X

bool dpu_table_trace(struct dpu_table *table, struct dpusoft_table *soft)
{
    if (traced != NULL)
        return false;

    traced = table;
    real = *table;
    real_soft = *soft;
    offchip_trace_begin();
#define X(type, name, ...) OFFCHIP_TRACE_FIELD(table, name)
    DPU_TRACED(X)
#undef X
#define X(type, name, ...) OFFCHIP_TRACE_FIELD(soft, name)
    DPUSOFT_TRACED(X)
#undef X
    return true;
}

void dpu_table_untrace(struct dpu_table *table, struct dpusoft_table *soft)
{
    if (traced != table)
        return;

#define X(type, name, ...) OFFCHIP_UNTRACE_FIELD(table, real, name)
    DPU_TRACED(X)
#undef X
#define X(type, name, ...) OFFCHIP_UNTRACE_FIELD(soft, real_soft, name)
    DPUSOFT_TRACED(X)
#undef X
    traced = NULL;
}
