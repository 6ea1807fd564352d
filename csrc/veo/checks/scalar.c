/* SPDX-License-Identifier: BSD-3-Clause */
/* scalar.c: undefined bits of scalar registers, as instructions pass them on. */
#include "state.h"
#include "veo/time/kinds.h"

/* All bits from the lowest one of BITS on: as a sum may carry. */
static uint64_t carried(uint64_t bits)
{
    return bits != 0 ? ~((bits & (0 - bits)) - 1) : 0;
}

static uint64_t part_of(enum ve_fact_part part, uint64_t bits)
{
    return part == VE_PART_LOW ? bits & LOW_HALF : part == VE_PART_HIGH ? bits & HIGH_HALF : bits;
}

uint64_t ve_check_spread(const struct ve_fact *fact, uint64_t undefined)
{
    if (fact->to == VE_PART_HALVES)
        return ((undefined & LOW_HALF) != 0 ? LOW_HALF : 0) |
               ((undefined & HIGH_HALF) != 0 ? HIGH_HALF : 0);
    if (part_of((enum ve_fact_part)fact->from, undefined) == 0)
        return 0;
    return part_of((enum ve_fact_part)fact->to, ALL);
}

/* --- results --- */

/* Values and undefined bits of the operands. */
struct operands {
    uint64_t x, y, z, ux, uy, uz;
};

/* A sum of 32 bits, as it is extended to 64. */
static uint64_t extended(const struct ve_fact *fact, uint64_t bits)
{
    uint64_t low = bits & LOW_HALF;
    return fact->to == VE_PART_ALL && (low >> 31) != 0 ? low | HIGH_HALF : low;
}

static uint64_t sum(const struct ve_fact *fact, uint64_t undefined)
{
    return fact->from == VE_PART_LOW ? extended(fact, carried(undefined & LOW_HALF))
                                     : carried(undefined);
}

static uint64_t and_of(uint64_t y, uint64_t z, uint64_t uy, uint64_t uz)
{
    return (uy & uz) | (uy & z) | (uz & y);
}

static uint64_t shift_of(uint16_t operation, const struct ve_fact *fact, const struct operands *o)
{
    unsigned by = (unsigned)o->y & (fact->from == VE_PART_LOW ? 31 : 63);
    uint64_t low = o->uz & LOW_HALF;
    if (o->uy != 0)
        return ve_check_spread(fact, ALL);
    switch (operation) {
    case VE_OP_SLL:
    case VE_OP_SLA_L: return o->uz << by;
    case VE_OP_SRL: return o->uz >> by;
    case VE_OP_SRA_L: return (uint64_t)((int64_t)o->uz >> by);
    case VE_OP_SLA_W_SX:
    case VE_OP_SLA_W_ZX: return extended(fact, low << by);
    default: return extended(fact, (uint32_t)((int32_t)(uint32_t)low >> by));
    }
}

/* A register that keeps its value or gets another one, if CHOICE decides by what is undefined. */
static uint64_t chosen(const struct ve_checks *checks, const struct ve_fact *fact,
                       const struct operands *o)
{
    const struct ve_instruction *i = checks->instruction;
    bool holds;
    if (part_of((enum ve_fact_part)fact->from, o->uy) != 0)
        return o->ux | o->uz | (o->x ^ o->z);
    switch (i->operation) {
    case VE_OP_CMOV_L: holds = ve_holds_integer(i->condition, (int64_t)o->y, 0); break;
    case VE_OP_CMOV_W: holds = ve_holds_integer(i->condition, (int32_t)(uint32_t)o->y, 0); break;
    case VE_OP_CMOV_D: holds = ve_holds_float(i->condition, ve_double(o->y), 0); break;
    default: holds = ve_holds_float(i->condition, (double)ve_upper_float(o->y), 0); break;
    }
    return holds ? o->uz : o->ux;
}

/* The undefined bits of a result. Those that one operation alone decides are exact. */
static uint64_t result_of(const struct ve_checks *checks, const struct ve_fact *fact,
                          const struct operands *o)
{
    uint16_t operation = checks->instruction->operation;
    switch (operation) {
    case VE_OP_AND: return and_of(o->y, o->z, o->uy, o->uz);
    case VE_OP_NND: return and_of(~o->y, o->z, o->uy, o->uz);
    case VE_OP_OR: return and_of(~o->y, ~o->z, o->uy, o->uz);
    case VE_OP_XOR:
    case VE_OP_EQV: return o->uy | o->uz;
    case VE_OP_MRG:
        return (o->uy & o->z) | (o->ux & ~o->z) | (o->uz & ((o->y ^ o->x) | o->uy | o->ux));
    case VE_OP_SLL:
    case VE_OP_SRL:
    case VE_OP_SLA_L:
    case VE_OP_SRA_L:
    case VE_OP_SLA_W_SX:
    case VE_OP_SLA_W_ZX:
    case VE_OP_SRA_W_SX:
    case VE_OP_SRA_W_ZX: return shift_of(operation, fact, o);
    case VE_OP_CMOV_L:
    case VE_OP_CMOV_W:
    case VE_OP_CMOV_D:
    case VE_OP_CMOV_S: return chosen(checks, fact, o);
    case VE_OP_LEA:
    case VE_OP_LEA_SL:
    case VE_OP_ADDS_L:
    case VE_OP_ADDU_L:
    case VE_OP_SUBS_L:
    case VE_OP_SUBU_L:
    case VE_OP_MULS_L:
    case VE_OP_MULU_L:
    case VE_OP_ADDS_W_SX:
    case VE_OP_ADDS_W_ZX:
    case VE_OP_ADDU_W:
    case VE_OP_SUBS_W_SX:
    case VE_OP_SUBS_W_ZX:
    case VE_OP_SUBU_W:
    case VE_OP_MULS_W_SX:
    case VE_OP_MULS_W_ZX:
    case VE_OP_MULU_W: return sum(fact, o->uy | o->uz);
    case VE_OP_SLD:
    case VE_OP_SRD: return (o->ux | o->uy | o->uz) != 0 ? ALL : 0;
    case VE_OP_BSWP: return o->uz != 0 ? ALL : 0;
    case VE_OP_PCNT:
    case VE_OP_LDZ: return o->uz != 0 ? 127 : 0;
    default: return ve_check_spread(fact, o->uy | o->uz);
    }
}

static uint64_t pair_of(const struct ve_checks *checks, unsigned source)
{
    return undefined_of(checks, source) |
           (source < 64 ? undefined_of(checks, (source + 1) % 64) : 0);
}

/* --- what depends on it --- */

/* True if the known bits already say that two values differ. */
static bool differ(const struct operands *o, uint64_t part)
{
    return ((o->y ^ o->z) & ~(o->uy | o->uz) & part) != 0;
}

static void branch(struct ve_checks *checks, const struct ve_fact *fact, struct operands o)
{
    const struct ve_instruction *i = checks->instruction;
    uint64_t part = part_of((enum ve_fact_part)fact->from, ALL);
    bool is_integer = fact->from == VE_PART_LOW || i->operation == VE_OP_BR_L;
    bool asks_equality = i->condition == VE_EQUAL || i->condition == (VE_GREATER | VE_LESS);
    if (fact->kind == VE_FACT_JUMP)
        o.z = o.uz = 0; /* compared with 0 */
    if (i->condition == VE_ALWAYS || i->condition == VE_NEVER || ((o.uy | o.uz) & part) == 0 ||
        (is_integer && asks_equality && differ(&o, part)))
        return;
    ve_check_tell_scalar(checks, VE_FINDING_CONDITION,
                         (o.uy & part) != 0 ? i->y_source : i->z_source);
    if (i->y_source < 64)
        checks->s[i->y_source] = 0;
    if (fact->kind == VE_FACT_BRANCH && i->z_source < 64)
        checks->s[i->z_source] = 0;
}

static void jump_address(struct ve_checks *checks, unsigned source)
{
    if (undefined_of(checks, source) == 0)
        return;
    ve_check_tell_scalar(checks, VE_FINDING_ADDRESS, source);
    checks->s[source] = 0;
}

void ve_check_scalar(struct ve_checks *checks, const struct ve_fact *fact)
{
    const struct ve_instruction *i = checks->instruction;
    const struct ve_core *core = checks->core;
    unsigned x = i->x % 64;
    struct operands o = {
        .x = core->s[x],
        .y = ve_y(core, i),
        .z = ve_z(core, i),
        .ux = checks->s[x],
        .uy = undefined_of(checks, i->y_source),
        .uz = undefined_of(checks, i->z_source),
    };

    switch ((enum ve_fact_kind)fact->kind) {
    case VE_FACT_BRANCH: branch(checks, fact, o); return;
    case VE_FACT_JUMP:
        branch(checks, fact, o);
        jump_address(checks, i->z_source);
        return;
    case VE_FACT_CALL:
        jump_address(checks, i->y_source);
        jump_address(checks, i->z_source);
        checks->s[x] = 0;
        return;
    case VE_FACT_LENGTH:
        if (o.uy != 0) {
            ve_check_tell_scalar(checks, VE_FINDING_LENGTH, i->y_source);
            checks->s[i->y_source] = 0;
        }
        return;
    default: break;
    }

    /* Fields that an operation does not have are no operands. */
    if ((fact->reads & VE_TIME_SY) == 0)
        o.uy = 0;
    if ((fact->reads & VE_TIME_SZ) == 0)
        o.uz = 0;
    if ((fact->writes & VE_TIME_SX) == 0)
        return;
    if (fact->is_pair) {
        uint64_t any = ((fact->reads & VE_TIME_SY) != 0 ? pair_of(checks, i->y_source) : 0) |
                       ((fact->reads & VE_TIME_SZ) != 0 ? pair_of(checks, i->z_source) : 0);
        checks->s[x] = any != 0 ? ALL : 0;
        if (i->operation != VE_OP_CVT_D_Q && i->operation != VE_OP_CVT_S_Q &&
            i->operation != VE_OP_FCMP_Q)
            checks->s[(x + 1) % 64] = checks->s[x];
        return;
    }
    checks->s[x] = result_of(checks, fact, &o);
}
