/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/translate/plan.h"

#include <stdlib.h>
#include <string.h>

/* How operations get into translated code. */
enum way {
    LEFT,   /* not at all: branches have their flow, and the interpreter does the rest */
    INLINE, /* as the text of the .inc files */
    CALLED  /* their executors are called */
};

static const uint8_t ways[VE_OPERATION_COUNT + 1] = {
#define SCALAR(operation, ...) [VE_OP_##operation] = INLINE,
#define MEMORY SCALAR
#include "veo/machine/scalar_float.inc"
#include "veo/machine/scalar_integer.inc"
#include "veo/machine/scalar_memory.inc"
#undef MEMORY
#undef SCALAR
#define INSTRUCTION(operation, ...) [VE_OP_##operation] = CALLED,
#include "veo/isa/vector.def"
#undef INSTRUCTION
    [VE_OP_LSV] = CALLED, [VE_OP_LVS] = CALLED, [VE_OP_LVM] = CALLED,
    [VE_OP_SVM] = CALLED, [VE_OP_SIC] = INLINE,
};

/* Conversions that round in a way of their own call functions of the host's libm. */
static bool rounds_itself(uint32_t operation)
{
    return operation == VE_OP_CVT_W_D_SX || operation == VE_OP_CVT_W_D_ZX ||
           operation == VE_OP_CVT_W_S_SX || operation == VE_OP_CVT_W_S_ZX ||
           operation == VE_OP_CVT_L_D;
}

bool ve_is_called(uint32_t operation)
{
    return ways[operation] == CALLED || rounds_itself(operation);
}

enum ve_flow ve_flow_of(const struct ve_instruction *instruction)
{
    switch (instruction->operation) {
    case VE_OP_BR_L:
    case VE_OP_BR_W:
    case VE_OP_BR_D:
    case VE_OP_BR_S: return VE_FLOW_BRANCH;
    case VE_OP_B_L:
    case VE_OP_B_W:
    case VE_OP_B_D:
    case VE_OP_B_S: return VE_FLOW_COMPUTED;
    case VE_OP_BSIC: return VE_FLOW_CALL;
    default: return ways[instruction->operation] != LEFT ? VE_FLOW_ON : VE_FLOW_LEAVE;
    }
}

/* --- what can be reached --- */

enum { SLOTS = 4 * VE_UNIT_MOST };

struct walk {
    struct ve_plan *plan;
    const struct ve_core *core;
    uint64_t pending[VE_UNIT_MOST];
    uint32_t count;
    uint64_t seen[SLOTS]; /* addresses; 0: free */
};

/* True if an address is new. */
static bool see(struct walk *w, uint64_t address)
{
    uint32_t slot = (uint32_t)(address >> 3) * 2654435761u % SLOTS;
    for (; w->seen[slot] != 0; slot = (slot + 1) % SLOTS)
        if (w->seen[slot] == address)
            return false;
    w->seen[slot] = address;
    return true;
}

static bool was_seen(const struct walk *w, uint64_t address)
{
    uint32_t slot = (uint32_t)(address >> 3) * 2654435761u % SLOTS;
    for (; w->seen[slot] != 0; slot = (slot + 1) % SLOTS)
        if (w->seen[slot] == address)
            return true;
    return false;
}

static void push(struct walk *w, uint64_t address)
{
    if (w->count < VE_UNIT_MOST && !was_seen(w, address))
        w->pending[w->count++] = address;
}

static bool read_word(const struct walk *w, uint64_t address, struct ve_instruction *instruction)
{
    const struct ve_page *page = ve_code_page(w->core->code, address);
    return address % 8 == 0 && page != NULL && page->is_used &&
           ve_decode(*(const volatile uint64_t *)(uintptr_t)address, instruction);
}

/* The address that is put into a call's register just before: lea x; and x, x, (32)0; lea.sl. */
static uint64_t set_before(const struct walk *w, uint64_t address,
                           const struct ve_instruction *call)
{
    enum { BEFORE = 8 };
    for (uint64_t back = 1; back <= BEFORE; back++) {
        struct ve_instruction high, mask, low;
        uint64_t at = address - 8 * back;
        if (!read_word(w, at, &high))
            return 0;
        if (high.operation != VE_OP_LEA_SL || high.x != call->z)
            continue;
        if (!read_word(w, at - 8, &mask) || !read_word(w, at - 16, &low) ||
            mask.operation != VE_OP_AND || mask.x != low.x || low.operation != VE_OP_LEA ||
            low.z_source < 64 || low.y_source < 64 || high.z_source != low.x)
            return 0;
        return (uint32_t)low.displacement + ((uint64_t)(uint32_t)high.displacement << 32);
    }
    return 0;
}

/*
 * Where a call probably goes to: what its register was set to just before, or else what is in it
 * now, as compilers take that out of loops. Translated code compares.
 */
static uint64_t callee_of(const struct walk *w, uint64_t address, const struct ve_instruction *call)
{
    struct ve_instruction first;
    if (call->z_source >= 64 || call->y_source < 64 || call->displacement != 0)
        return 0;

    uint64_t set = set_before(w, address, call);
    uint64_t now = w->core->s[call->z_source];
    return set == 0 && read_word(w, now, &first) ? now : set;
}

/*
 * Where the jump of a table probably goes to: where such jumps went before, in its page and in
 * those beside it.
 */
static void push_jumped_to(struct walk *w, uint64_t address)
{
    uint64_t first = (address >> VE_PAGE_SHIFT) - 1;
    for (uint64_t number = first; number < first + 3; number++) {
        const struct ve_page *page = ve_code_page(w->core->code, number << VE_PAGE_SHIFT);
        for (uint32_t word = 0; page != NULL && word < VE_PAGE_WORDS; word++)
            if (ve_code_was_jumped_to(page, word))
                push(w, page->list[word].address);
    }
}

/* Adds straight code from ADDRESS on. */
static void walk_on(struct walk *w, uint64_t address)
{
    struct ve_plan *plan = w->plan;
    for (;; address += 8) {
        struct ve_decoded decoded = {.address = address};
        const struct ve_instruction *i = &decoded.instruction;
        if (plan->count == VE_UNIT_MOST || !read_word(w, address, &decoded.instruction) ||
            !see(w, address))
            return;

        plan->list[plan->count++] = decoded;
        enum ve_flow flow = ve_flow_of(i);
        if (flow == VE_FLOW_BRANCH)
            push(w, address + (uint64_t)(int64_t)i->displacement);
        uint64_t callee = flow == VE_FLOW_CALL ? callee_of(w, address, i) : 0;
        if (callee != 0)
            push(w, callee);
        if (flow == VE_FLOW_COMPUTED && i->z_source != VE_S_LINK)
            push_jumped_to(w, address);
        if ((flow == VE_FLOW_BRANCH || flow == VE_FLOW_COMPUTED) && i->condition == VE_ALWAYS)
            return;
    }
}

static int by_address(const void *a, const void *b)
{
    uint64_t left = ((const struct ve_decoded *)a)->address;
    uint64_t right = ((const struct ve_decoded *)b)->address;
    return (left > right) - (left < right);
}

/* --- heads and entries --- */

uint32_t ve_plan_find(const struct ve_plan *plan, uint64_t address)
{
    uint32_t low = 0, high = plan->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (plan->list[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < plan->count && plan->list[low].address == address ? low : plan->count;
}

static void mark(struct ve_plan *plan, uint64_t address, bool is_entry)
{
    uint32_t at = ve_plan_find(plan, address);
    if (at == plan->count)
        return;
    plan->head[at] = true;
    plan->entry[at] |= is_entry && ve_flow_of(&plan->list[at].instruction) != VE_FLOW_LEAVE;
}

static void mark_all(struct walk *w)
{
    struct ve_plan *plan = w->plan;
    for (uint32_t at = 0; at < plan->count; at++) {
        uint64_t address = plan->list[at].address;
        const struct ve_instruction *i = &plan->list[at].instruction;
        const struct ve_page *page = ve_code_page(w->core->code, address);
        if (page != NULL && ve_code_was_jumped_to(page, address >> 3 & (VE_PAGE_WORDS - 1)))
            mark(plan, address, true);
        switch (ve_flow_of(i)) {
        case VE_FLOW_BRANCH:
            mark(plan, address + (uint64_t)(int64_t)i->displacement, i->displacement <= 0);
            break;
        case VE_FLOW_CALL:
            plan->callee[at] = callee_of(w, address, i);
            mark(plan, plan->callee[at], true);
            mark(plan, address + 8, true);
            break;
        case VE_FLOW_LEAVE: mark(plan, address + 8, true); break;
        default: break;
        }
    }
}

void ve_plan_make(struct ve_plan *plan, const struct ve_core *core, uint64_t start)
{
    memset(plan, 0, sizeof *plan);
    struct walk *w = calloc(1, sizeof *w);
    if (w == NULL)
        return;

    *w = (struct walk){.plan = plan, .core = core};
    push(w, start);
    while (w->count > 0)
        walk_on(w, w->pending[--w->count]);
    qsort(plan->list, plan->count, sizeof *plan->list, by_address);
    for (uint32_t at = 0; at < plan->count; at++) {
        const struct ve_instruction *i = &plan->list[at].instruction;
        plan->values[at][0] = i->y_source >= 64 ? core->sources[i->y_source] : 0;
        plan->values[at][1] = i->z_source >= 64 ? core->sources[i->z_source] : 0;
    }
    mark(plan, start, true);
    mark_all(w);
    free(w);
}
