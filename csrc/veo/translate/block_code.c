/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_code.c: the C of a block, of what strips.h has. First the scalar instructions, which keep
 * what vector instructions need of them, and touch what is loaded, in their order. Then groups of
 * elements pass through all vector instructions; the last group may be a part of one. Where that
 * cannot be done, instructions are done one by one, as if there were no block.
 */
#include "veo/translate/block_state.h"

/* Groups that pass together, and vector instructions of a block up to which they do: the host has
 * registers for what those make, and four groups take more time to compile. */
#define TOGETHER 4
#define TOGETHER_INSTRUCTIONS_MOST 10

/* --- what it reads and leaves --- */

static void open_block(struct block *b, const struct ve_plan *plan, uint32_t first)
{
    *b = (struct block){.plan = plan, .first = first, .end = plan->block_end[first]};
    b->store = b->end;
    for (uint32_t vector = 0; vector < VE_VECTORS; vector++)
        b->last[vector] = NOWHERE;
    for (uint32_t mask = 0; mask < VE_MASKS; mask++)
        b->last_mask[mask] = NOWHERE;

    for (uint32_t at = first; at < b->end; at++) {
        const struct ve_instruction *i = instruction_of(b, at);
        struct ve_element element = b->elements[at - first] = ve_element_of(i);
        uint64_t read = ve_element_reads(i);
        for (uint32_t vector = 0; vector < VE_VECTORS; vector++)
            b->is_read[vector] |= (read & ve_bit(vector)) != 0 && b->last[vector] == NOWHERE;
        if (element.is_masked)
            b->mask_is_read[i->mask] |= b->last_mask[i->mask] == NOWHERE;
        if (ve_element_ends(element))
            b->store = at;
        else if (element.kind == VE_ELEMENT_MASK)
            b->last_mask[mask_made(b, at)] = at;
        else if (element.kind != VE_ELEMENT_NONE)
            b->last[i->vx] = at;
    }

    ve_block_follow(plan, first, &b->path);
    for (uint32_t vector = 0; vector < VE_VECTORS; vector++)
        if (b->last[vector] != NOWHERE)
            b->forgotten |= b->path.written & ve_bit(vector);
}

/* --- scalars, addresses and what they must be --- */

static void write_saved(FILE *out, const struct block *b, const char *form)
{
    uint64_t written = 0;
    for (uint32_t at = b->first; at < b->end; at++)
        if (element_of(b, at).kind == VE_ELEMENT_NONE)
            written |= ve_bit(instruction_of(b, at)->x & 63);
    for (uint32_t r = 0; r < 64; r++)
        if ((written & ve_bit(r)) != 0)
            fprintf(out, form, r, r);
}

static bool compares(const struct block *b)
{
    bool has = false;
    for (uint32_t at = b->first; at < b->end; at++)
        has |= element_of(b, at).kind == VE_ELEMENT_COMPARE;
    return has;
}

static void write_address(FILE *out, const struct block *b, uint32_t at)
{
    const struct ve_instruction *i = instruction_of(b, at);
    struct ve_element element = element_of(b, at);
    struct ve_operand_text stride = ve_value_of(i->y_source, b->plan->values[at][0], false);
    struct ve_operand_text base = ve_value_of(i->z_source, b->plan->values[at][1], false);
    fprintf(out, "    y%u = %s;\n    a%u = %s;\n", at, stride.text, at, base.text);
    fprintf(out, "    if (RARELY(y%u != %u || a%u %% %u != 0)) goto slow_%u;\n", at, element.bytes,
            at, element.bytes, b->first);
    if (element.kind == VE_ELEMENT_LOAD)
        fprintf(out, "    TOUCH(%u, a%u, %u * n);\n", at, at, element.bytes);
}

static bool is_memory(struct ve_element element)
{
    return element.kind == VE_ELEMENT_LOAD || element.kind == VE_ELEMENT_STORE;
}

static void write_scalars(FILE *out, const struct block *b)
{
    for (uint32_t at = b->first; at < b->end; at++) {
        const struct ve_instruction *i = instruction_of(b, at);
        struct ve_element element = element_of(b, at);
        if (element.kind == VE_ELEMENT_NONE)
            ve_write_operation(out, b->plan, at);
        else if (is_memory(element))
            write_address(out, b, at);
        else if (element.scalars != 0)
            fprintf(out, "    y%u = %s;\n", at,
                    ve_value_of(i->y_source, b->plan->values[at][0], false).text);
        if (element.has_z)
            fprintf(out, "    a%u = %s;\n", at,
                    ve_value_of(i->z_source, b->plan->values[at][1], false).text);
    }

    for (uint32_t at = b->first; at < b->store && ends_with(b, VE_ELEMENT_STORE); at++)
        if (element_of(b, at).kind == VE_ELEMENT_LOAD)
            fprintf(out, "    if (RARELY(!are_apart(a%u, %u * n, a%u, %u * n))) goto slow_%u;\n",
                    at, element_of(b, at).bytes, b->store, element_of(b, b->store).bytes, b->first);
}

/* --- groups of elements --- */

/* True if groups pass together: a short block loads, and then stores or gathers. */
static bool go_together(const struct block *b)
{
    uint32_t vectors = 0;
    bool loads = false;
    for (uint32_t at = b->first; at < b->end; at++) {
        vectors += element_of(b, at).kind != VE_ELEMENT_NONE;
        loads |= element_of(b, at).kind == VE_ELEMENT_LOAD;
    }
    return loads && b->store < b->end && vectors <= TOGETHER_INSTRUCTIONS_MOST;
}

static void write_loops(FILE *out, struct block *b)
{
    if (go_together(b)) {
        fprintf(out, "    for (; i + %u * LANES <= n; i += %u * LANES) {\n", TOGETHER, TOGETHER);
        ve_block_write_groups(out, b, TOGETHER, false);
        fprintf(out, "    }\n");
    }
    fprintf(out, "    for (; i + LANES <= n; i += LANES) {\n");
    ve_block_write_groups(out, b, 1, false);
    fprintf(out, "    }\n    if (i < n) {\n    const group lanes = first_lanes(n - i);\n");
    ve_block_write_groups(out, b, 1, true);
    fprintf(out, "    }\n");
}

/* --- the whole --- */

/* With a NaN, executors do the rest: they have that one which the interpreter has. */
static void write_apart(FILE *out, const struct block *b)
{
    fprintf(out, "    if (0) {\n    apart_%u:;\n    const struct ve_element_step steps[] = {\n",
            b->first);
    uint32_t count = 0;
    for (uint32_t at = b->first; at < b->end; at++) {
        struct ve_element element = element_of(b, at);
        if (element.kind == VE_ELEMENT_NONE)
            continue;
        fprintf(out, "    {%u, y%u, a%u},\n", at, at, at);
        count++;
    }
    fprintf(out, "    };\n    services.do_elements(core, list, steps, %u, i);\n", count);
    fprintf(out,
            has_addresses(b) ? "    if (RARELY(core->stopped)) goto stop;\n    }\n" : "    }\n");
}

static uint64_t written_on(const struct block *b)
{
    uint64_t written = 0;
    for (uint32_t step = 0; step < b->path.count; step++) {
        const struct ve_instruction *i = instruction_of(b, b->path.places[step]);
        bool is_scalar = ve_flow_of(i) == VE_FLOW_ON && ve_element_of(i).kind == VE_ELEMENT_NONE;
        written |= is_scalar && i->operation != VE_OP_LVL ? ve_bit(i->x & 63) : 0;
    }
    return written;
}

static bool forgets_masks(const struct block *b)
{
    bool forgets = false;
    for (uint32_t mask = 0; mask < VE_MASKS; mask++)
        forgets |= b->last_mask[mask] != NOWHERE && (b->path.masks_written >> mask & 1) != 0;
    return forgets;
}

/* A step ahead: goes to where it ends if it does not lead to the next block without exceptions. */
static void write_ahead(FILE *out, const struct block *b, uint32_t at)
{
    const struct ve_instruction *i = instruction_of(b, at);
    struct ve_element element = ve_element_of(i);
    struct ve_operand_text y = ve_value_of(i->y_source, b->plan->values[at][0], false);
    struct ve_operand_text z = ve_value_of(i->z_source, b->plan->values[at][1], false);
    if (ve_flow_of(i) == VE_FLOW_BRANCH) {
        ve_write_condition(out, i, y.text, z.text);
        fprintf(out, ";\n    else goto looked_%u;\n", b->first);
    } else if (i->operation == VE_OP_LVL) {
        fprintf(out,
                "    length = %s;\n    if (RARELY(length > VE_VECTOR_LENGTH)) goto looked_%u;\n",
                y.text, b->first);
    } else if (element.kind == VE_ELEMENT_LOAD) {
        fprintf(out, "    if (RARELY((%s | %s) %% %u != 0)) goto looked_%u;\n", y.text, z.text,
                element.bytes, b->first);
    } else if (element.kind == VE_ELEMENT_NONE) {
        ve_write_operation(out, b->plan, at);
    }
}

/*
 * Looks ahead, with scalar registers of its own: whether registers of vectors are certainly written
 * anew, for as many elements. Flags of overflows that it sets will be set soon in any case.
 */
static void write_look(FILE *out, const struct block *b)
{
    uint64_t written = written_on(b);
    fprintf(out, "    bool forgets = false;\n    {\n");
    for (uint32_t r = 0; r < 64; r++)
        if ((written & ve_bit(r)) != 0)
            fprintf(out, "    const uint64_t now%u = s%u;\n", r, r);
    fprintf(out, "    uint64_t length = n;\n    {\n");
    for (uint32_t r = 0; r < 64; r++)
        if ((written & ve_bit(r)) != 0)
            fprintf(out, "    uint64_t s%u = now%u;\n", r, r);
    for (uint32_t step = 0; step < b->path.count; step++)
        write_ahead(out, b, b->path.places[step]);
    fprintf(out, "    forgets = length >= n;\n    }\n    }\nlooked_%u:;\n", b->first);
}

void ve_block_write(FILE *out, const struct ve_plan *plan, uint32_t first)
{
    struct block block;
    const struct block *b = &block;
    open_block(&block, plan, first);

    fprintf(out, "    {\n#if BLOCKS\n    const uint64_t n = core->vl;\n    uint64_t i = 0;\n");
    write_saved(out, b, "    const uint64_t old%u = s%u;\n");
    for (uint32_t at = first; at < b->end; at++)
        if (element_of(b, at).kind != VE_ELEMENT_NONE)
            fprintf(out, "    uint64_t y%u = 0, a%u = 0;\n", at, at);
    fprintf(out, "    if (RARELY(n == 0%s)) goto slow_%u;\n",
            compares(b) ? " || !rounds_to_nearest()" : "", first);
    write_scalars(out, b);
    if (b->forgotten != 0 || forgets_masks(b))
        write_look(out, b);
    if (b->store < b->end)
        fprintf(out, "    AT(list + %u);\n", b->store);

    write_loops(out, &block);
    write_apart(out, b);
    fprintf(out, "    goto done_%u;\nslow_%u:;\n", first, first);
    write_saved(out, b, "    s%u = old%u;\n");
    fprintf(out, "#endif\n");

    for (uint32_t at = first; at < b->end; at++)
        ve_write_operation(out, plan, at);
    fprintf(out, "    }\ndone_%u:;\n", first);
}
