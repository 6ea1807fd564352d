/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_code.c: the C of a block, of what strips.h has. First the scalar instructions, which keep
 * what vector instructions need of them, and touch what is loaded, in their order. Then groups of
 * elements pass through all vector instructions; the last group may be a part of one. Where that
 * cannot be done, instructions are done one by one, as if there were no block.
 */
#include "veo/translate/block.h"
#include "veo/translate/statement.h"

#include <string.h>

#define NOWHERE UINT32_MAX

struct block {
    const struct ve_plan *plan;
    uint32_t first, end;
    uint32_t store; /* the end without one */
    struct ve_element elements[VE_BLOCK_MOST];
    uint32_t last[VE_VECTORS]; /* where that is made which registers have at the end, or NOWHERE */
    bool is_read[VE_VECTORS];  /* as it was before the block */
    uint32_t last_mask[VE_MASKS];
    bool mask_is_read[VE_MASKS];
    struct ve_block_path path;
    uint64_t forgotten; /* what it writes, and what follows may write anew before it is read */
};

static const struct ve_instruction *instruction_of(const struct block *b, uint32_t at)
{
    return &b->plan->list[at].instruction;
}

static struct ve_element element_of(const struct block *b, uint32_t at)
{
    return b->elements[at - b->first];
}

static bool is_memory(struct ve_element element)
{
    return element.kind == VE_ELEMENT_LOAD || element.kind == VE_ELEMENT_STORE;
}

static const char *name_of(const struct block *b, uint32_t at)
{
    return ve_operation_info(instruction_of(b, at)->operation)->name;
}

static uint32_t mask_made(const struct block *b, uint32_t at)
{
    return instruction_of(b, at)->vx & (VE_MASKS - 1);
}

/* --- what it reads and leaves ---
 */

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
        if (element.kind == VE_ELEMENT_STORE)
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

/* --- scalars, addresses and what they must be ---
 */

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

static bool may_overflow(const struct block *b)
{
    bool may = false;
    for (uint32_t at = b->first; at < b->end; at++)
        may |= element_of(b, at).kind == VE_ELEMENT_NONE &&
               ve_operation_info(instruction_of(b, at)->operation)->causes == VE_CAUSES_FIXED;
    return may;
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
    struct ve_operand_text stride = ve_value_of(i->y_source, b->plan->values[at][0]);
    struct ve_operand_text base = ve_value_of(i->z_source, b->plan->values[at][1]);
    fprintf(out, "    y%u = %s;\n    a%u = %s;\n", at, stride.text, at, base.text);
    fprintf(out, "    if (RARELY(y%u != %u || a%u %% %u != 0)) goto slow_%u;\n", at, element.bytes,
            at, element.bytes, b->first);
    if (element.kind == VE_ELEMENT_LOAD)
        fprintf(out, "    TOUCH(%u, a%u, %u * n);\n", at, at, element.bytes);
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
                    ve_value_of(i->y_source, b->plan->values[at][0]).text);
    }

    for (uint32_t at = b->first; at < b->store && b->store < b->end; at++)
        if (element_of(b, at).kind == VE_ELEMENT_LOAD)
            fprintf(out, "    if (RARELY(!are_apart(a%u, %u * n, a%u, %u * n))) goto slow_%u;\n",
                    at, element_of(b, at).bytes, b->store, element_of(b, b->store).bytes, b->first);
}

/* --- a group of elements ---
 */

/* Where in a group the registers have been made, or NOWHERE: it has them as they were before. */
struct made {
    uint32_t vectors[VE_VECTORS], masks[VE_MASKS];
};

/* A register as it is now: e with its place, or r with its number. */
static struct ve_operand_text vector_now(const struct made *made, uint8_t vector)
{
    struct ve_operand_text now;
    bool is_old = made->vectors[vector] == NOWHERE;
    snprintf(now.text, sizeof now.text, "%c%u", is_old ? 'r' : 'e',
             is_old ? vector : made->vectors[vector]);
    return now;
}

/* The lanes that an instruction is done to. */
static struct ve_operand_text lanes_now(const struct block *b, uint32_t at, bool is_part,
                                        const struct made *made)
{
    struct ve_operand_text now;
    uint8_t mask = instruction_of(b, at)->mask;
    if (!element_of(b, at).is_masked)
        snprintf(now.text, sizeof now.text, is_part ? "lanes" : "ALL_LANES");
    else if (made->masks[mask] == NOWHERE)
        snprintf(now.text, sizeof now.text, "k%u", mask);
    else
        snprintf(now.text, sizeof now.text, "e%u", made->masks[mask]);
    return now;
}

static void write_operand(FILE *out, const struct block *b, uint32_t at, uint32_t operand,
                          const struct made *made, const char *lanes)
{
    struct ve_element element = element_of(b, at);
    uint8_t vector = ve_element_register(instruction_of(b, at), operand);
    if ((element.operands & operand) == 0)
        fprintf(out, "NO_OPERAND, ");
    else if ((element.scalars & operand) != 0)
        fprintf(out, "ALL(y%u)%s, ", at, lanes);
    else
        fprintf(out, "%s%s, ", vector_now(made, vector).text, element.keeps ? lanes : "");
}

static void write_step(FILE *out, const struct block *b, uint32_t at, bool is_part,
                       const struct made *made)
{
    const struct ve_instruction *i = instruction_of(b, at);
    struct ve_element element = element_of(b, at);
    struct ve_operand_text lanes = lanes_now(b, at, is_part, made);
    if (element.kind == VE_ELEMENT_LOAD) {
        fprintf(out, "    const group e%u = %s%s(a%u + %u * i%s);\n", at,
                is_part ? "part_of_" : "of_", name_of(b, at), at, element.bytes,
                is_part ? ", n - i" : "");
    } else if (element.kind == VE_ELEMENT_MASK) {
        fprintf(out, "    const group x%u = of_%s(%s);\n", at, name_of(b, at),
                vector_now(made, i->vz).text);
        fprintf(out, "    const group e%u = %s(%u, x%u) & %s;\n", at,
                element.numbers == VE_ELEMENT_NONE ? "HOLDS" : "NUMBERS_HOLD", i->condition, at,
                lanes.text);
    } else if (element.operands != 0) {
        char cut[40] = "";
        if (element.keeps || is_part)
            snprintf(cut, sizeof cut, " & %s", element.keeps ? lanes.text : "lanes");
        fprintf(out, "    const group x%u = of_%s(", at, name_of(b, at));
        for (uint32_t operand = 1; operand <= 4; operand *= 2)
            write_operand(out, b, at, operand, made, cut);
        fprintf(out, "%s);\n    const group e%u = ", lanes.text, at);
        if (element.keeps)
            fprintf(out, "CHOSEN(%s, x%u, %s);\n", lanes.text, at, vector_now(made, i->vx).text);
        else
            fprintf(out, "x%u;\n", at);
    }
}

static void write_steps(FILE *out, const struct block *b, bool is_part, struct made *made)
{
    for (uint32_t at = b->first; at < b->end; at++) {
        enum ve_element_kind kind = element_of(b, at).kind;
        if (kind == VE_ELEMENT_NONE || kind == VE_ELEMENT_STORE)
            continue;
        write_step(out, b, at, is_part, made);
        if (kind == VE_ELEMENT_MASK)
            made->masks[mask_made(b, at)] = at;
        else
            made->vectors[instruction_of(b, at)->vx] = at;
    }
}

/* True if a NaN in a result makes one in that of a later instruction, of the same precision. */
static bool is_seen_later(const struct block *b, uint32_t at)
{
    uint8_t vector = instruction_of(b, at)->vx;
    for (uint32_t later = at + 1; later < b->end; later++) {
        struct ve_element element = element_of(b, later);
        const struct ve_instruction *i = instruction_of(b, later);
        for (uint32_t operand = 1; operand <= 4; operand *= 2)
            if (element.kind == VE_ELEMENT_DOUBLE && element_of(b, at).kind == element.kind &&
                !element.is_masked && !element_of(b, at).is_masked &&
                (element.operands & ~element.scalars & operand) != 0 &&
                ve_element_register(i, operand) == vector)
                return true;
        bool is_made = element.kind == VE_ELEMENT_LOAD ||
                       (element.operands != 0 && element.kind != VE_ELEMENT_MASK);
        if (is_made && i->vx == vector)
            return false;
    }
    return false;
}

static void write_check(FILE *out, const struct block *b)
{
    bool is_first = true;
    for (uint32_t at = b->first; at < b->end; at++) {
        struct ve_element element = element_of(b, at);
        if (element.numbers == VE_ELEMENT_NONE || is_seen_later(b, at))
            continue;
        fprintf(out, "%sUNORDERED_%c(x%u, x%u)", is_first ? "    if (RARELY(IS_ANY(" : " | ",
                element.numbers == VE_ELEMENT_DOUBLE ? 'D' : 'S', at, at);
        is_first = false;
    }
    if (!is_first)
        fprintf(out, "))) goto apart_%u;\n", b->first);
}

static void write_store(FILE *out, const struct block *b, bool is_part, const struct made *made)
{
    struct ve_element element = element_of(b, b->store);
    const char *prefix = element.is_masked ? "some_of_" : is_part ? "part_of_" : "of_";
    fprintf(out, "    %s%s(a%u + %u * i, %s", prefix, name_of(b, b->store), b->store, element.bytes,
            vector_now(made, instruction_of(b, b->store)->vx).text);
    if (element.is_masked)
        fprintf(out, ", %s", lanes_now(b, b->store, is_part, made).text);
    else if (is_part)
        fprintf(out, ", n - i");
    fprintf(out, ");\n");
}

static void write_group(FILE *out, const struct block *b, bool is_part)
{
    struct made made;
    memset(&made, 0xFF, sizeof made);
    for (uint32_t mask = 0; mask < VE_MASKS; mask++)
        if (b->mask_is_read[mask])
            fprintf(out, "    const group k%u = LANES_OF(%u)%s;\n", mask, mask,
                    is_part ? " & lanes" : "");
    for (uint32_t vector = 0; vector < VE_VECTORS; vector++)
        if (b->is_read[vector])
            fprintf(out, "    const group r%u = ROW(%u)%s;\n", vector, vector,
                    is_part ? " & lanes" : "");
    write_steps(out, b, is_part, &made);
    write_check(out, b);

    for (uint32_t vector = 0; vector < VE_VECTORS; vector++)
        if (b->last[vector] != NOWHERE)
            fprintf(out, "    %sPUT%s(%u, e%u);\n",
                    (b->forgotten & ve_bit(vector)) != 0 ? "if (!forgets) " : "",
                    is_part ? "_PART" : "", vector, b->last[vector]);
    for (uint32_t mask = 0; mask < VE_MASKS; mask++)
        if (b->last_mask[mask] != NOWHERE)
            fprintf(out, "    PUT_MASK(%u, e%u, %s);\n", mask, b->last_mask[mask],
                    is_part ? "n - i" : "LANES");
    if (b->store < b->end)
        write_store(out, b, is_part, &made);
}

/* --- the whole ---
 */

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
    fprintf(out, "    };\n    services.do_elements(core, list, steps, %u, i);\n    }\n", count);
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

/* A step ahead: goes to where it ends if it does not lead to the next block without exceptions. */
static void write_ahead(FILE *out, const struct block *b, uint32_t at)
{
    const struct ve_instruction *i = instruction_of(b, at);
    struct ve_element element = ve_element_of(i);
    struct ve_operand_text y = ve_value_of(i->y_source, b->plan->values[at][0]);
    struct ve_operand_text z = ve_value_of(i->z_source, b->plan->values[at][1]);
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
    fprintf(out, "    if (FIXED_OVERFLOW_STOPS) goto looked_%u;\n", b->first);
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
            may_overflow(b) ? " || FIXED_OVERFLOW_STOPS" : "", first);
    write_scalars(out, b);
    if (b->forgotten != 0)
        write_look(out, b);
    if (b->store < b->end)
        fprintf(out, "    AT(list + %u);\n", b->store);

    if (compares(b))
        fprintf(out, "    const uint32_t before = host_flags();\n");
    fprintf(out, "    for (; i + LANES <= n; i += LANES) {\n");
    write_group(out, b, false);
    fprintf(out, "    }\n    if (i < n) {\n    const group lanes = first_lanes(n - i);\n");
    write_group(out, b, true);
    fprintf(out, "    }\n");
    write_apart(out, b);
    if (compares(b))
        fprintf(out, "    keep_invalid(before);\n");
    fprintf(out, "    goto done_%u;\nslow_%u:;\n", first, first);
    write_saved(out, b, "    s%u = old%u;\n");
    fprintf(out, "#endif\n");

    for (uint32_t at = first; at < b->end; at++)
        ve_write_operation(out, plan, at);
    fprintf(out, "    }\ndone_%u:;\n", first);
}
