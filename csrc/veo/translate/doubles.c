/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doubles.c: which registers are variables of type double in the C of a plan: none where blocks
 * have what computes, or where calls are as many.
 */
#include "veo/translate/plan.h"

/* The kind of an operand. */
enum use {
    AS_BITS, /* an integer, or a part of a word */
    AS_DOUBLE,
    AS_EITHER /* what is moved */
};

struct uses {
    enum use x, y, z;
};

static struct uses uses_of(const struct ve_instruction *i)
{
    switch (i->operation) {
    case VE_OP_FADD_D:
    case VE_OP_FSUB_D:
    case VE_OP_FMUL_D:
    case VE_OP_FDIV_D:
    case VE_OP_FMAX_D:
    case VE_OP_FMIN_D:
    case VE_OP_FCMP_D: return (struct uses){AS_DOUBLE, AS_DOUBLE, AS_DOUBLE};
    case VE_OP_CVT_D_W:
    case VE_OP_CVT_D_L:
    case VE_OP_CVT_D_S: return (struct uses){AS_DOUBLE, AS_BITS, AS_BITS};
    case VE_OP_CVT_S_D: return (struct uses){AS_BITS, AS_DOUBLE, AS_BITS};
    case VE_OP_CMOV_D: return (struct uses){AS_EITHER, AS_DOUBLE, AS_EITHER};
    case VE_OP_BR_D:
    case VE_OP_B_D: return (struct uses){AS_EITHER, AS_DOUBLE, AS_DOUBLE};
    case VE_OP_LD:
    case VE_OP_DLD:
    case VE_OP_ST: return (struct uses){AS_EITHER, AS_BITS, AS_BITS};
    case VE_OP_OR: return (struct uses){AS_EITHER, AS_BITS, AS_EITHER};
    default: return (struct uses){AS_BITS, AS_BITS, AS_BITS};
    }
}

static void count(int32_t *balance, uint32_t source, enum use use)
{
    if (source < 64)
        balance[source] += use == AS_DOUBLE ? 1 : use == AS_BITS ? -1 : 0;
}

void ve_doubles_find(struct ve_plan *plan)
{
    int32_t balance[64] = {0};
    uint32_t computations = 0, calls = 0;
    bool has_blocks = false;
    for (uint32_t at = 0; at < plan->count; at++) {
        const struct ve_instruction *i = &plan->list[at].instruction;
        has_blocks |= plan->block_end[at] != 0;
        calls += ve_flow_of(i) == VE_FLOW_CALL;
        if (ve_is_called(i->operation))
            continue;
        struct uses uses = uses_of(i);
        computations += uses.x == AS_DOUBLE;
        count(balance, i->x, uses.x);
        count(balance, i->y_source, uses.y);
        count(balance, i->z_source, uses.z);
    }

    plan->doubles = 0;
    for (uint32_t r = 0; r < 64 && !has_blocks && computations > calls; r++)
        if (balance[r] > 0 && (r < VE_S_LIMIT || r > VE_S_THREAD))
            plan->doubles |= UINT64_C(1) << r;
}
