/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * numbers.c: which registers are variables of type double or float in the C of a plan: none where
 * blocks have what computes, or where calls are as many.
 */
#include "veo/translate/plan.h"

/* The kind of an operand. */
enum use {
    AS_BITS, /* an integer, or a part of a word */
    AS_DOUBLE,
    AS_SINGLE, /* the upper half is a number */
    AS_EITHER  /* what is moved */
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
    case VE_OP_FADD_S:
    case VE_OP_FSUB_S:
    case VE_OP_FMUL_S:
    case VE_OP_FDIV_S:
    case VE_OP_FMAX_S:
    case VE_OP_FMIN_S:
    case VE_OP_FCMP_S: return (struct uses){AS_SINGLE, AS_SINGLE, AS_SINGLE};
    case VE_OP_CVT_D_W:
    case VE_OP_CVT_D_L: return (struct uses){AS_DOUBLE, AS_BITS, AS_BITS};
    case VE_OP_CVT_S_W: return (struct uses){AS_SINGLE, AS_BITS, AS_BITS};
    case VE_OP_CVT_D_S: return (struct uses){AS_DOUBLE, AS_SINGLE, AS_BITS};
    case VE_OP_CVT_S_D: return (struct uses){AS_SINGLE, AS_DOUBLE, AS_BITS};
    case VE_OP_CMOV_D: return (struct uses){AS_EITHER, AS_DOUBLE, AS_EITHER};
    case VE_OP_CMOV_S: return (struct uses){AS_EITHER, AS_SINGLE, AS_EITHER};
    case VE_OP_BR_D: return (struct uses){AS_EITHER, AS_DOUBLE, AS_DOUBLE};
    case VE_OP_BR_S: return (struct uses){AS_EITHER, AS_SINGLE, AS_SINGLE};
    case VE_OP_B_D: return (struct uses){AS_EITHER, AS_DOUBLE, AS_BITS};
    case VE_OP_B_S: return (struct uses){AS_EITHER, AS_SINGLE, AS_BITS};
    case VE_OP_LD:
    case VE_OP_DLD:
    case VE_OP_LDU:
    case VE_OP_DLDU:
    case VE_OP_ST: return (struct uses){AS_EITHER, AS_BITS, AS_BITS};
    case VE_OP_STU: return (struct uses){AS_SINGLE, AS_BITS, AS_BITS};
    case VE_OP_OR: return (struct uses){AS_EITHER, AS_BITS, AS_EITHER};
    default: return (struct uses){AS_BITS, AS_BITS, AS_BITS};
    }
}

struct balance {
    int32_t doubles, singles;
};

static void count(struct balance *balances, uint32_t source, enum use use)
{
    if (source >= 64 || use == AS_EITHER)
        return;
    balances[source].doubles += use == AS_DOUBLE ? 1 : -1;
    balances[source].singles += use == AS_SINGLE ? 1 : -1;
}

void ve_numbers_find(struct ve_plan *plan)
{
    struct balance balances[64] = {{0, 0}};
    uint32_t computations = 0, calls = 0;
    bool has_blocks = false;
    for (uint32_t at = 0; at < plan->count; at++) {
        const struct ve_instruction *i = &plan->list[at].instruction;
        has_blocks |= plan->block_end[at] != 0;
        calls += ve_flow_of(i) == VE_FLOW_CALL;
        if (ve_is_called(i->operation))
            continue;
        struct uses uses = uses_of(i);
        computations += uses.x == AS_DOUBLE || uses.x == AS_SINGLE;
        count(balances, i->x, uses.x);
        count(balances, i->y_source, uses.y);
        count(balances, i->z_source, uses.z);
    }

    plan->doubles = plan->singles = 0;
    for (uint32_t r = 0; r < 64 && !has_blocks && computations > calls; r++) {
        bool is_free = r < VE_S_LIMIT || r > VE_S_THREAD;
        if (is_free && balances[r].doubles > 0)
            plan->doubles |= UINT64_C(1) << r;
        else if (is_free && balances[r].singles > 0)
            plan->singles |= UINT64_C(1) << r;
    }
}

static bool is_single(const struct ve_plan *plan, uint32_t source)
{
    return source < 64 && (plan->singles >> source & 1) != 0;
}

struct ve_halves ve_upper_halves(const struct ve_plan *plan, const struct ve_instruction *i)
{
    struct uses uses = uses_of(i);
    return (struct ve_halves){
        uses.x == AS_SINGLE && is_single(plan, i->x),
        uses.y == AS_SINGLE && is_single(plan, i->y_source),
        uses.z == AS_SINGLE && is_single(plan, i->z_source),
    };
}
