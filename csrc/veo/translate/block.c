/* SPDX-License-Identifier: BSD-3-Clause */
/* block.c: which instructions are done together, and which block follows another. */
#include "veo/translate/block.h"

/* Properties of operands in element_wise.inc, beside which there are. */
enum {
    ALWAYS = 8,   /* y is Y */
    NEVER = 16,   /* it is a vector */
    EITHER = 32,  /* z may be Y too */
    PAIRED = 64,  /* halves have masks of their own */
    MERGES = 128, /* the mask chooses an operand */
    W_IS_Y = 256, /* whatever y is */
    W_IS_Z = 512, /* Z */
};

struct ve_element ve_element_of(const struct ve_instruction *i)
{
    static const struct ve_element elements[VE_OPERATION_COUNT + 1] = {
#define PART(operation, what, forms, part, made, ...) \
    [VE_OP_##operation] = {.kind = VE_ELEMENT_##what, \
                           .operands = forms, \
                           .from = VE_PART_##part, \
                           .to = VE_PART_##made},
#define ELEMENT(operation, what, forms, value) PART(operation, what, forms, WHOLE, WHOLE, )
#define TO_INTEGER(operation, part, made) PART(operation, WHOLE, 1 | NEVER, part, made, )
#define MASK(operation, what, part, value) \
    [VE_OP_##operation] = {.kind = VE_ELEMENT_MASK, \
                           .operands = 2, \
                           .numbers = VE_ELEMENT_##what, \
                           .from = VE_PART_##part},
#define ACCESS(operation, what, size, part, made) \
    [VE_OP_##operation] = {.kind = VE_ELEMENT_##what, \
                           .operands = VE_ELEMENT_##what >= VE_ELEMENT_GATHER ? 1 | NEVER : 0, \
                           .bytes = size, \
                           .from = VE_PART_##part, \
                           .to = VE_PART_##made},
#include "veo/translate/element_wise.inc"
        ACCESS(VLD, LOAD, 8, WHOLE, WHOLE) ACCESS(VLDU, LOAD, 4, WHOLE, UPPER)
            ACCESS(VLDL_SX, LOAD, 4, WHOLE, SIGNED) ACCESS(VLDL_ZX, LOAD, 4, WHOLE, UNSIGNED)
                ACCESS(VST, STORE, 8, WHOLE, WHOLE) ACCESS(VSTU, STORE, 4, UPPER, WHOLE)
                    ACCESS(VSTL, STORE, 4, LOWER, WHOLE) ACCESS(VGT, GATHER, 8, WHOLE, WHOLE)
                        ACCESS(VGTU, GATHER, 4, WHOLE, UPPER)
                            ACCESS(VGTL_SX, GATHER, 4, WHOLE, SIGNED)
                                ACCESS(VGTL_ZX, GATHER, 4, WHOLE, UNSIGNED)
                                    ACCESS(VSC, SCATTER, 8, WHOLE, WHOLE)
                                        ACCESS(VSCU, SCATTER, 4, UPPER, WHOLE)
                                            ACCESS(VSCL, SCATTER, 4, LOWER, WHOLE)};
#undef PART
#undef ELEMENT
#undef TO_INTEGER
#undef MASK
#undef ACCESS
    struct ve_element element = elements[i->operation];
    const struct ve_element none = {0};
    enum ve_causes causes = ve_operation_info(i->operation)->causes;
    if (element.kind == VE_ELEMENT_NONE ||
        (causes == VE_CAUSES_TO_FIXED && i->rounding != VE_ROUND_PSW &&
         i->rounding != VE_ROUND_ZERO))
        return none;

    uint32_t forms = element.operands;
    element.operands &= 7;
    if ((forms & (ALWAYS | NEVER)) != 0)
        element.scalars = (forms & ALWAYS) != 0 ? 1 : 0;
    else if (element.kind != VE_ELEMENT_MASK && element.operands != 0)
        element.scalars = (i->cs != 0 ? 1u : 0u) | ((forms & EITHER) != 0 && i->cs2 != 0 ? 2u : 0u);
    element.scalars |= (forms & (W_IS_Y | W_IS_Z)) != 0 ? 4 : 0;
    element.has_z = (forms & W_IS_Z) != 0;
    if (element.kind == VE_ELEMENT_DOUBLE || element.kind == VE_ELEMENT_SINGLE)
        element.numbers = element.kind;
    if (element.kind == VE_ELEMENT_COMPARE)
        element.numbers = i->operation == VE_OP_VFCMP_D ? VE_ELEMENT_DOUBLE : VE_ELEMENT_SINGLE;
    /* Loads have other fields where the mask is. */
    element.is_masked =
        ve_operation_info(i->operation)->masking != VE_MASKING_PLAIN && i->mask != 0;
    element.keeps = element.is_masked && element.operands != 0 && (forms & MERGES) == 0 &&
                    element.kind != VE_ELEMENT_MASK && element.kind != VE_ELEMENT_SCATTER;

    bool is_by_address = element.kind >= VE_ELEMENT_GATHER;
    bool has_registers = i->vx < VE_VECTORS && !(is_by_address && i->cs != 0);
    for (uint32_t operand = 1; operand <= 4; operand *= 2)
        if ((element.operands & ~element.scalars & operand) != 0)
            has_registers &= ve_element_register(i, operand) < VE_VECTORS;
    bool is_for_halves = element.is_masked && (forms & PAIRED) != 0;
    bool is_lost = element.kind == VE_ELEMENT_MASK && (i->vx & (VE_MASKS - 1)) == 0;
    return has_registers && !is_for_halves && !is_lost ? element : none;
}

uint8_t ve_element_register(const struct ve_instruction *i, uint32_t operand)
{
    return operand == 1 ? i->vy : operand == 2 ? i->vz : i->vw;
}

uint64_t ve_element_reads(const struct ve_instruction *i)
{
    struct ve_element element = ve_element_of(i);
    bool reads_x =
        element.kind == VE_ELEMENT_STORE || element.kind == VE_ELEMENT_SCATTER || element.keeps;
    uint64_t vectors = reads_x ? UINT64_C(1) << i->vx : 0;
    for (uint32_t operand = 1; operand <= 4; operand *= 2)
        if ((element.operands & ~element.scalars & operand) != 0)
            vectors |= UINT64_C(1) << ve_element_register(i, operand);
    return vectors;
}

/* True if an instruction does nothing but to write a scalar register, and to load from memory. */
static bool is_scalar(const struct ve_instruction *i)
{
    switch (i->operation) {
    case VE_OP_ST:
    case VE_OP_STU:
    case VE_OP_STL:
    case VE_OP_ST2B:
    case VE_OP_ST1B:
    case VE_OP_SHM_L:
    case VE_OP_SHM_W:
    case VE_OP_SHM_H:
    case VE_OP_SHM_B:
    case VE_OP_LVL:
    case VE_OP_LVIX:
    case VE_OP_SIC: return false;
    default: break;
    }
    uint32_t x = i->x & 63;
    return ve_flow_of(i) == VE_FLOW_ON && !ve_is_called(i->operation) && x != VE_S_FRAME &&
           x != VE_S_LINK;
}

static bool follows(const struct ve_plan *plan, uint32_t at)
{
    return at < plan->count && plan->list[at].address == plan->list[at - 1].address + 8;
}

/* The end of the block that begins at FIRST; 0 if none does. */
static uint32_t end_of(const struct ve_plan *plan, uint32_t first)
{
    uint32_t end = 0, vectors = 0;
    bool computes = false;
    for (uint32_t at = first; at - first < VE_BLOCK_MOST; at++) {
        if (at > first && (!follows(plan, at) || plan->head[at]))
            break;
        const struct ve_instruction *i = &plan->list[at].instruction;
        struct ve_element element = ve_element_of(i);
        enum ve_element_kind kind = element.kind;
        if (kind == VE_ELEMENT_NONE && (vectors == 0 || !is_scalar(i)))
            break;
        if (kind == VE_ELEMENT_NONE)
            continue;

        end = at + 1;
        vectors++;
        computes |= kind >= VE_ELEMENT_DOUBLE && kind <= VE_ELEMENT_MASK;
        if (ve_element_ends(element))
            break;
    }
    return vectors > 1 || computes ? end : 0;
}

/* True if an instruction does nothing but to write a scalar register, whatever is done before. */
static bool is_ahead(const struct ve_instruction *i)
{
    enum ve_causes causes = ve_operation_info(i->operation)->causes;
    return is_scalar(i) && (causes == VE_CAUSES_NONE || causes == VE_CAUSES_FIXED) &&
           i->operation != VE_OP_SVL;
}

/* The instructions up to the next block, whose place it returns; the count of the plan if there is
 * none. */
static uint32_t follow_scalars(const struct ve_plan *plan, uint32_t first,
                               struct ve_block_path *path)
{
    bool went_back = false;
    uint32_t at = plan->block_end[first];
    bool goes_on = follows(plan, at);
    while (goes_on && plan->block_end[at] == 0 && path->count < VE_BLOCK_MOST) {
        const struct ve_instruction *i = &plan->list[at].instruction;
        path->places[path->count++] = at;
        if (ve_flow_of(i) == VE_FLOW_BRANCH) {
            uint32_t to =
                ve_plan_find(plan, plan->list[at].address + (uint64_t)(int64_t)i->displacement);
            goes_on = to <= at && !went_back;
            went_back = true;
            at = to;
        } else {
            goes_on = (is_ahead(i) || i->operation == VE_OP_LVL) && follows(plan, at + 1);
            at++;
        }
    }
    return goes_on && plan->block_end[at] != 0 ? at : plan->count;
}

void ve_block_follow(const struct ve_plan *plan, uint32_t first, struct ve_block_path *path)
{
    *path = (struct ve_block_path){0};
    uint32_t next = follow_scalars(plan, first, path);
    if (next == plan->count)
        return;

    uint64_t read = 0;
    uint32_t masks_read = 0;
    for (uint32_t at = next; at < plan->block_end[next]; at++) {
        const struct ve_instruction *i = &plan->list[at].instruction;
        struct ve_element element = ve_element_of(i);
        bool is_vector = element.kind != VE_ELEMENT_NONE;
        if (ve_element_ends(element) || (!is_vector && !is_ahead(i)))
            break;
        path->places[path->count++] = at;
        read |= ve_element_reads(i);
        masks_read |= element.is_masked ? 1u << i->mask : 0;
        if (element.kind == VE_ELEMENT_MASK)
            path->masks_written |= 1u << (i->vx & (VE_MASKS - 1)) & ~masks_read;
        if (is_vector && element.kind != VE_ELEMENT_MASK)
            path->written |= (UINT64_C(1) << i->vx) & ~read;
    }
}

void ve_blocks_find(struct ve_plan *plan)
{
    for (uint32_t at = 0; at < plan->count; at++) {
        plan->block_end[at] = end_of(plan, at);
        at = plan->block_end[at] != 0 ? plan->block_end[at] - 1 : at;
    }
}
