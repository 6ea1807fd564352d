/* SPDX-License-Identifier: BSD-3-Clause */
/* block_group.c: the C of groups of elements, as they pass through the instructions of a block. */
#include "veo/translate/block_state.h"

#include <string.h>

static const char *name_of(const struct block *b, uint32_t at)
{
    return ve_operation_info(instruction_of(b, at)->operation)->name;
}

/* The number of a value in its name: of a register, or a place in the plan; groups have their own.
 */
static uint32_t named(const struct block *b, uint32_t number)
{
    return number + b->group * VE_UNIT_MOST;
}

/* The first element of a group. */
static struct ve_operand_text first_of(const struct block *b)
{
    struct ve_operand_text first = {"i"};
    if (b->group > 0)
        snprintf(first.text, sizeof first.text, "(i + %u * LANES)", b->group);
    return first;
}

/* Where in a group the registers have been made, or NOWHERE: it has them as they were before. */
struct made {
    uint32_t vectors[VE_VECTORS], masks[VE_MASKS];
};

/* A register as it is now: e with its place, or r with its number; of halves, h with its place. */
static struct ve_operand_text vector_now(const struct block *b, const struct made *made,
                                         uint8_t vector, enum ve_part part)
{
    struct ve_operand_text now;
    uint32_t at = made->vectors[vector];
    char name[16];
    bool is_old = at == NOWHERE;
    snprintf(name, sizeof name, "%c%u", is_old ? 'r' : 'e', named(b, is_old ? vector : at));

    enum ve_part is = is_old || element_of(b, at).keeps ? VE_PART_WHOLE : element_of(b, at).to;
    if (part == VE_PART_WHOLE)
        snprintf(now.text, sizeof now.text, "%s", name);
    else if (is == part || (part == VE_PART_LOWER && is > part))
        snprintf(now.text, sizeof now.text, "h%u", named(b, at));
    else
        snprintf(now.text, sizeof now.text, "%s_OF(%s)", part == VE_PART_UPPER ? "UPPER" : "LOWER",
                 name);
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
        snprintf(now.text, sizeof now.text, "k%u", named(b, mask));
    else
        snprintf(now.text, sizeof now.text, "e%u", named(b, made->masks[mask]));
    return now;
}

/* An operand; LANES are those in which it is wanted, NULL for all. */
static void write_operand(FILE *out, const struct block *b, uint32_t at, uint32_t operand,
                          const struct made *made, const char *lanes)
{
    struct ve_element element = element_of(b, at);
    uint8_t vector = ve_element_register(instruction_of(b, at), operand);
    bool is_half = element.from != VE_PART_WHOLE;
    bool is_scalar = (element.scalars & operand) != 0;
    if ((element.operands & operand) == 0)
        fprintf(out, is_half ? "NO_HALVES" : "NO_OPERAND");
    else if (is_scalar && is_half)
        fprintf(out, "ALL_HALVES(y%u%s)", at, element.from == VE_PART_UPPER ? " >> 32" : "");
    else if (is_scalar)
        fprintf(out, "ALL(%c%u)", element.has_z && operand == 4 ? 'a' : 'y', at);
    else
        fprintf(out, "%s", vector_now(b, made, vector, element.from).text);

    if (lanes != NULL && (is_scalar || element.keeps))
        fprintf(out, is_half ? " & LOWER_OF(%s)" : " & %s", lanes);
    fprintf(out, ", ");
}

/* The function of an instruction. */
static void write_function(FILE *out, const struct block *b, uint32_t at)
{
    bool rounds = ve_operation_info(instruction_of(b, at)->operation)->causes == VE_CAUSES_TO_FIXED;
    bool to_0 = rounds && instruction_of(b, at)->rounding == VE_ROUND_ZERO;
    fprintf(out, "of_%s%s(", name_of(b, at), to_0 ? "_RZ" : "");
}

/* Begins the statement of a value: x is whole, and h, of which x is made, a half. */
static void write_value(FILE *out, const struct block *b, uint32_t at)
{
    bool is_half = element_of(b, at).to != VE_PART_WHOLE;
    fprintf(out, "    const %s %c%u = ", is_half ? "half_group" : "group", is_half ? 'h' : 'x',
            named(b, at));
}

/* The element that a value of an instruction is, which is made of a half. */
static struct ve_operand_text whole_of(const struct block *b, uint32_t at)
{
    static const char *const from[] = {
        [VE_PART_UPPER] = "UPPER", [VE_PART_SIGNED] = "SIGNED", [VE_PART_UNSIGNED] = "UNSIGNED"};
    struct ve_operand_text whole;
    enum ve_part to = element_of(b, at).to;
    if (to == VE_PART_WHOLE)
        snprintf(whole.text, sizeof whole.text, "x%u", named(b, at));
    else
        snprintf(whole.text, sizeof whole.text, "FROM_%s(h%u)", from[to], named(b, at));
    return whole;
}

/* The same where it is put into its register: nothing is made of halves that are not. */
static struct ve_operand_text put_of(const struct block *b, uint32_t at)
{
    struct ve_operand_text put;
    if (!element_of(b, at).keeps)
        return whole_of(b, at);
    snprintf(put.text, sizeof put.text, "e%u", named(b, at));
    return put;
}

/* True if an operation raises something that no check for a NaN shows to be wanted. */
static bool raises_only(const struct block *b, uint32_t at)
{
    enum ve_causes causes = ve_operation_info(instruction_of(b, at)->operation)->causes;
    return element_of(b, at).kind == VE_ELEMENT_WHOLE && causes >= VE_CAUSES_FLOAT &&
           causes <= VE_CAUSES_APPROXIMATE;
}

/* The host's comparison for a condition of numbers that are no NaNs, which are left to executors.
 */
static uint32_t predicate_of(uint32_t condition)
{
    enum { GREATER = 30, LESS = 17, DIFFERENT = 12, EQUAL = 0, AT_LEAST = 29, AT_MOST = 18 };
    static const uint32_t predicates[] = {
        [VE_NEVER] = 11,
        [VE_GREATER] = GREATER,
        [VE_LESS] = LESS,
        [VE_GREATER | VE_LESS] = DIFFERENT,
        [VE_EQUAL] = EQUAL,
        [VE_GREATER | VE_EQUAL] = AT_LEAST,
        [VE_LESS | VE_EQUAL] = AT_MOST,
        [VE_GREATER | VE_LESS | VE_EQUAL] = 7,
    };
    return predicates[condition & ~(uint32_t)VE_UNORDERED];
}

static void write_mask(FILE *out, const struct block *b, uint32_t at, const char *lanes,
                       const struct made *made)
{
    const struct ve_instruction *i = instruction_of(b, at);
    struct ve_element element = element_of(b, at);
    const struct ve_operand_text z = vector_now(b, made, i->vz, element.from);
    const uint32_t name = named(b, at);
    if (element.numbers == VE_ELEMENT_NONE)
        fprintf(out, "    const group e%u = HOLDS(%u, of_%s(%s)) & %s;\n", name, i->condition,
                name_of(b, at), z.text, lanes);
    else if (element.numbers == VE_ELEMENT_DOUBLE)
        fprintf(out,
                "    const group x%u = %s;\n    const group e%u = HOLDS_D(\"%u\", x%u) & %s;\n",
                name, z.text, name, predicate_of(i->condition), name, lanes);
    else
        fprintf(
            out,
            "    const half_group h%u = %s;\n    const group e%u = HOLDS_S(\"%u\", h%u) & %s;\n",
            name, z.text, name, predicate_of(i->condition), name, lanes);
}

static void write_step(FILE *out, const struct block *b, uint32_t at, bool is_part,
                       const struct made *made)
{
    const struct ve_instruction *i = instruction_of(b, at);
    struct ve_element element = element_of(b, at);
    struct ve_operand_text lanes = lanes_now(b, at, is_part, made);
    if (element.kind == VE_ELEMENT_MASK) {
        write_mask(out, b, at, lanes.text, made);
        return;
    }

    write_value(out, b, at);
    if (element.kind == VE_ELEMENT_LOAD) {
        fprintf(out, "%sof_%s(a%u + %u * %s%s);\n", is_part ? "some_" : "", name_of(b, at), at,
                element.bytes, first_of(b).text, is_part ? ", lanes" : "");
    } else {
        write_function(out, b, at);
        const char *wanted = element.keeps ? lanes.text : is_part ? "lanes" : NULL;
        for (uint32_t operand = 1; operand <= 4; operand *= 2)
            write_operand(out, b, at, operand, made, wanted);
        fprintf(out, element.from == VE_PART_WHOLE ? "%s);\n" : "LOWER_OF(%s));\n", lanes.text);
    }
    if (raises_only(b, at))
        fprintf(out, "    KEEP_RAISED(%c%u);\n", element.to == VE_PART_WHOLE ? 'x' : 'h',
                named(b, at));
    fprintf(out, "    const group e%u = ", named(b, at));
    if (element.keeps)
        fprintf(out, "CHOSEN(%s, %s, %s);\n", lanes.text, whole_of(b, at).text,
                vector_now(b, made, i->vx, VE_PART_WHOLE).text);
    else
        fprintf(out, "%s;\n", whole_of(b, at).text);
}

static void write_steps(FILE *out, const struct block *b, bool is_part, struct made *made)
{
    for (uint32_t at = b->first; at < b->end; at++) {
        enum ve_element_kind kind = element_of(b, at).kind;
        if (kind == VE_ELEMENT_NONE || at == b->store)
            continue;
        write_step(out, b, at, is_part, made);
        if (kind == VE_ELEMENT_MASK)
            made->masks[mask_made(b, at)] = at;
        else
            made->vectors[instruction_of(b, at)->vx] = at;
    }
}

/* True if a NaN in a result makes one in that of an instruction that takes it, or is seen there. */
static bool shows_nan(struct ve_element element, struct ve_element made)
{
    bool is_seen = element.kind == VE_ELEMENT_MASK && made.kind == VE_ELEMENT_COMPARE;
    bool are_numbers = element.numbers != VE_ELEMENT_NONE && element.kind == element.numbers &&
                       made.kind == element.kind;
    bool is_of_same =
        made.to == element.from || (made.to == VE_PART_UNSIGNED && element.from == VE_PART_LOWER);
    bool narrows = element.from == VE_PART_WHOLE && element.to != VE_PART_WHOLE;
    bool makes_one = are_numbers && is_of_same && !narrows && !element.is_masked && !made.is_masked;
    return makes_one ||
           (is_seen && element.numbers == VE_ELEMENT_DOUBLE && made.numbers == element.numbers);
}

static bool is_seen_later(const struct block *b, uint32_t at)
{
    uint8_t vector = instruction_of(b, at)->vx;
    for (uint32_t later = at + 1; later < b->end; later++) {
        struct ve_element element = element_of(b, later);
        const struct ve_instruction *i = instruction_of(b, later);
        for (uint32_t operand = 1; operand <= 4; operand *= 2)
            if (shows_nan(element, element_of(b, at)) &&
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
        bool is_double = element.numbers == VE_ELEMENT_DOUBLE;
        bool is_half =
            !is_double && (element.to != VE_PART_WHOLE || element.kind == VE_ELEMENT_MASK);
        fprintf(out, "%sUNORDERED_%s(%c%u)", is_first ? "    if (RARELY(IS_ANY(" : " | ",
                is_double ? "D"
                : is_half ? "HALF"
                          : "S",
                is_half ? 'h' : 'x', named(b, at));
        is_first = false;
    }
    if (!is_first)
        fprintf(out, "))) goto apart_%u;\n", b->first);
}

/*
 * Executors have what addresses do that are misaligned, and of a scatter those that something is
 * still to be loaded from.
 */
static void write_address_check(FILE *out, const struct block *b, bool is_part,
                                const struct made *made)
{
    const uint32_t store = b->store, bytes = element_of(b, store).bytes, name = named(b, store);
    struct ve_operand_text address =
        vector_now(b, made, instruction_of(b, store)->vy, VE_PART_WHOLE);
    fprintf(out, "    const group t%u = %s;\n    if (RARELY(is_any(((t%u & %u)", name, address.text,
            name, bytes - 1);
    for (uint32_t at = b->first; at < store && ends_with(b, VE_ELEMENT_SCATTER); at++)
        if (element_of(b, at).kind == VE_ELEMENT_LOAD)
            fprintf(out, " | (group)(t%u - (a%u - %u) < ALL(%u * n + %u))", name, at, bytes - 1,
                    element_of(b, at).bytes, bytes - 1);
    fprintf(out, ") & %s))) goto apart_%u;\n", lanes_now(b, store, is_part, made).text, b->first);
}

/* The access that ends the block. */
static void write_end(FILE *out, const struct block *b, bool is_part, const struct made *made)
{
    const uint32_t at = b->store;
    const struct ve_instruction *i = instruction_of(b, at);
    struct ve_element element = element_of(b, at);
    bool is_some = element.is_masked || is_part;
    fprintf(out, "    %sof_%s(", is_some ? "some_" : "", name_of(b, at));
    if (element.kind == VE_ELEMENT_GATHER)
        fprintf(out, "&core->v[%u][%s], t%u", i->vx, first_of(b).text, named(b, at));
    else if (element.kind == VE_ELEMENT_SCATTER)
        fprintf(out, "t%u, %s", named(b, at), vector_now(b, made, i->vx, element.from).text);
    else
        fprintf(out, "a%u + %u * %s, %s", at, element.bytes, first_of(b).text,
                vector_now(b, made, i->vx, element.from).text);
    if (is_some)
        fprintf(out, ", %s", lanes_now(b, at, is_part, made).text);
    fprintf(out, ");\n");
}

/* Values of a group. */
static void write_values(FILE *out, const struct block *b, bool is_part, struct made *made)
{
    const struct ve_operand_text first = first_of(b);
    memset(made, 0xFF, sizeof *made);
    for (uint32_t mask = 0; mask < VE_MASKS; mask++)
        if (b->mask_is_read[mask])
            fprintf(out, "    const group k%u = LANES_OF(%u, %s)%s;\n", named(b, mask), mask,
                    first.text, is_part ? " & lanes" : "");
    for (uint32_t vector = 0; vector < VE_VECTORS; vector++)
        if (b->is_read[vector])
            fprintf(out, "    const group r%u = ROW(%u, %s)%s;\n", named(b, vector), vector,
                    first.text, is_part ? " & lanes" : "");
    write_steps(out, b, is_part, made);
}

/* Checks that it can be left here, where nothing is written yet. */
static void write_checks(FILE *out, const struct block *b, bool is_part, const struct made *made)
{
    write_check(out, b);
    if (has_addresses(b))
        write_address_check(out, b, is_part, made);
}

/* Registers of a group. */
static void write_puts(FILE *out, const struct block *b, bool is_part)
{
    const struct ve_operand_text first = first_of(b);
    for (uint32_t vector = 0; vector < VE_VECTORS; vector++)
        if (b->last[vector] != NOWHERE)
            fprintf(out, "    %sPUT%s(%u, %s, %s);\n",
                    (b->forgotten & ve_bit(vector)) != 0 ? "if (!forgets) " : "",
                    is_part ? "_PART" : "", vector, first.text, put_of(b, b->last[vector]).text);
    for (uint32_t mask = 0; mask < VE_MASKS; mask++)
        if (b->last_mask[mask] != NOWHERE)
            fprintf(out, "    %sPUT_MASK(%u, %s, e%u, %s);\n",
                    (b->path.masks_written >> mask & 1) != 0 ? "if (!forgets) " : "", mask,
                    first.text, named(b, b->last_mask[mask]), is_part ? "n - i" : "LANES");
}

/*
 * Groups of which all load before one stores: a load waits for a store just before whose address is
 * the same but for the page, and is a whole group late then.
 */
void ve_block_write_groups(FILE *out, struct block *b, uint32_t count, bool is_part)
{
    struct made made; /* the same of each */
    for (b->group = 0; b->group < count; b->group++)
        write_values(out, b, is_part, &made);
    for (b->group = 0; b->group < count; b->group++)
        write_checks(out, b, is_part, &made);
    for (b->group = 0; b->group < count; b->group++)
        write_puts(out, b, is_part);
    for (b->group = 0; b->group < count && b->store < b->end; b->group++)
        write_end(out, b, is_part, &made);
    b->group = 0;
}
