/* SPDX-License-Identifier: BSD-3-Clause */
/* veo_trace.c: the functions of veo_traced.h, noting their time. */
#include "veo_traced.h"

#include "veo_table.h"
#include "trace.h"

static struct veo_table real;
static struct veosoft_table real_soft;
static struct veo_table *traced;

#define X(type, name, bytes, parameters, arguments) \
    OFFCHIP_TRACED(real, type, name, bytes, -1, parameters, arguments)
VEO_TRACED(X)
#undef X
#define X(name, parameters, arguments) OFFCHIP_TRACED_VOID(real, name, -1, parameters, arguments)
VEO_TRACED_VOID(X)
#undef X
#define X(type, name, bytes, parameters, arguments) \
    OFFCHIP_TRACED(real_soft, type, name, bytes, -1, parameters, arguments)
VEOSOFT_TRACED(X)
#undef X

bool veo_table_trace(struct veo_table *table, struct veosoft_table *soft)
{
    if (traced != NULL)
        return false;

    traced = table;
    real = *table;
    real_soft = *soft;
    offchip_trace_begin();
#define X(type, name, ...) OFFCHIP_TRACE_FIELD(table, name)
    VEO_TRACED(X)
#undef X
#define X(name, ...) OFFCHIP_TRACE_FIELD(table, name)
    VEO_TRACED_VOID(X)
#undef X
#define X(type, name, ...) OFFCHIP_TRACE_FIELD(soft, name)
    VEOSOFT_TRACED(X)
#undef X
    return true;
}

void veo_table_untrace(struct veo_table *table, struct veosoft_table *soft)
{
    if (traced != table)
        return;

#define X(type, name, ...) OFFCHIP_UNTRACE_FIELD(table, real, name)
    VEO_TRACED(X)
#undef X
#define X(name, ...) OFFCHIP_UNTRACE_FIELD(table, real, name)
    VEO_TRACED_VOID(X)
#undef X
#define X(type, name, ...) OFFCHIP_UNTRACE_FIELD(soft, real_soft, name)
    VEOSOFT_TRACED(X)
#undef X
    traced = NULL;
}
