/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generate.c: writes the C of a plan: statements, where they go on, and blocks. Registers that no
 * instruction of the plan uses do not appear.
 */
#include "veo/translate/block.h"
#include "veo/translate/statement.h"

#include <inttypes.h>
#include <string.h>

static struct ve_operand_text place_of(const struct ve_plan *plan, uint64_t address)
{
    struct ve_operand_text operand;
    snprintf(operand.text, sizeof operand.text, "base + UINT64_C(0x%" PRIx64 ")",
             address - plan->list[0].address);
    return operand;
}

/* Goes to an address: to its label, or out of the unit. */
static void write_goto(FILE *out, const struct ve_plan *plan, uint64_t address)
{
    uint32_t at = ve_plan_find(plan, address);
    if (at < plan->count)
        fprintf(out, "goto at_%u;\n", at);
    else
        fprintf(out, "LEAVE(%s);\n", place_of(plan, address).text);
}

static void write_going_on(FILE *out, const struct ve_plan *plan, uint32_t at)
{
    uint64_t next = plan->list[at].address + 8;
    bool goes_on = at + 1 < plan->count && plan->list[at + 1].address == next;
    if (!goes_on)
        fprintf(out, "    LEAVE(%s);\n", place_of(plan, next).text);
}

static void write_instruction(FILE *out, const struct ve_plan *plan, uint32_t at)
{
    const struct ve_instruction *i = &plan->list[at].instruction;
    uint64_t address = plan->list[at].address;
    struct ve_halves upper = ve_upper_halves(plan, i);
    struct ve_operand_text y = ve_value_of(i->y_source, plan->values[at][0], upper.y);
    struct ve_operand_text z = ve_value_of(i->z_source, plan->values[at][1], upper.z);
    switch (ve_flow_of(i)) {
    case VE_FLOW_BRANCH:
        ve_write_condition(out, i, y.text, z.text);
        write_goto(out, plan, address + (uint64_t)(int64_t)i->displacement);
        break;
    case VE_FLOW_COMPUTED:
        ve_write_condition(out, i, y.text, "0");
        fprintf(out, "GO(%s + (uint64_t)(int64_t)%" PRId32 ");\n", z.text, i->displacement);
        break;
    case VE_FLOW_CALL: {
        uint32_t x = i->x & 63;
        uint32_t callee = ve_plan_find(plan, plan->callee[at]);
        fprintf(out, "    target = %s + %s + (uint64_t)(int64_t)%" PRId32 ";\n", y.text, z.text,
                i->displacement);
        fprintf(out, "    core->s[%u] = s%u = %s;\n", x, x, place_of(plan, address + 8).text);
        if (plan->callee[at] != 0 && callee < plan->count)
            fprintf(out, "    if (target == %s) goto at_%u;\n",
                    place_of(plan, plan->callee[at]).text, callee);
        if (x == VE_S_LINK && ve_plan_find(plan, address + 8) < plan->count)
            fprintf(out, "    CALL_HOST(at_%u)\n", at + 1);
        fprintf(out, "    goto call;\n");
        return;
    }
    case VE_FLOW_LEAVE: fprintf(out, "    LEAVE(%s);\n", place_of(plan, address).text); return;
    default:
        if (i->operation == VE_OP_SIC)
            fprintf(out, "    core->s[%u] = s%u = %s;\n", i->x & 63, i->x & 63,
                    place_of(plan, address + 8).text);
        else
            ve_write_operation(out, plan, at);
        break;
    }

    write_going_on(out, plan, at);
}

/* Registers that a function of the host reads: s0 to s7. */
#define ARGUMENTS UINT64_C(0xFF)
/* Words from the first instruction to the last one, in which a place is found by a table. */
#define TABLE_MOST 16384

/* Goes to the entry at `target`, or leaves. */
static void write_dispatch(FILE *out, const struct ve_plan *plan)
{
    uint64_t base = plan->list[0].address;
    uint64_t words = (plan->list[plan->count - 1].address - base) / 8 + 1;
    bool has_table = words <= TABLE_MOST;
    fprintf(out, "dispatch:\n    {\n");
    if (has_table)
        fprintf(out, "    static const int32_t places[%" PRIu64 "] = {\n", words);
    else
        fprintf(out, "    switch (WORDS(target - base)) {\n");
    for (uint32_t at = 0; at < plan->count; at++)
        if (plan->entry[at])
            fprintf(out,
                    has_table ? "    [%" PRIu64 "] = &&enter_%u - &&leave,\n"
                              : "    case %" PRIu64 ": goto at_%u;\n",
                    (plan->list[at].address - base) / 8, at);
    if (has_table)
        fprintf(out,
                "    };\n    const uint64_t word = WORDS(target - base);\n"
                "    if (word >= %" PRIu64 ")\n        goto leave;\n"
                "    goto *(&&leave + places[word]);\n    }\n",
                words);
    for (uint32_t at = 0; at < plan->count; at++)
        if (has_table && plan->entry[at])
            fprintf(out, "enter_%u:\n    goto at_%u;\n", at, at);
    if (!has_table)
        fprintf(out, "    default: goto leave;\n    }\n    }\n");
}

/* Puts what the code has in variables into the core. */
static void write_leaving(FILE *out, uint64_t used)
{
    ve_write_spill(out, used);
    fprintf(out, "    core->psw |= overflow ? VE_PSW_FIXED_OVERFLOW : 0;\n");
}

/* A register: a variable, what is read of it, and what is written to it. */
static void write_variable(FILE *out, const struct ve_plan *plan, uint32_t r)
{
    if ((plan->singles & ve_bit(r)) != 0)
        fprintf(out,
                "    float f%u = ve_upper_float(core->s[%u]);\n"
                "    uint32_t low%u = (uint32_t)core->s[%u];\n"
                "#define u%u ve_upper_float_bits(f%u)\n#define s%u (u%u | low%u)\n"
                "#define SET_%u(value) SET_HALVES(f%u, low%u, value)\n",
                r, r, r, r, r, r, r, r, r, r, r, r);
    else if ((plan->doubles & ve_bit(r)) != 0)
        fprintf(out,
                "    double f%u = ve_double(core->s[%u]);\n#define s%u ve_double_bits(f%u)\n"
                "#define SET_%u(value) f%u = ve_double(value)\n",
                r, r, r, r, r, r);
    else
        fprintf(out, "    uint64_t s%u = core->s[%u];\n#define SET_%u(value) s%u = (value)\n", r, r,
                r, r);
}

void ve_generate(FILE *out, const struct ve_plan *plan)
{
    uint64_t used = 0;
    for (uint32_t at = 0; at < plan->count; at++) {
        used |= ve_registers_used(&plan->list[at].instruction);
        if (ve_flow_of(&plan->list[at].instruction) == VE_FLOW_CALL)
            used |= ARGUMENTS | ve_bit(VE_S_LINK);
    }

    /* Calls are rare: numbers stay in registers of the host, though none of them survives one. */
    if ((plan->doubles | plan->singles) != 0)
        fprintf(out, "#if defined(__GNUC__) && !defined(__clang__)\n"
                     "#pragma GCC optimize(\"caller-saves\")\n#endif\n");
    ve_write_prelude(out);
    fprintf(out, "\nstatic uint64_t run(struct ve_core *core, const struct ve_decoded *list, "
                 "uint64_t target)\n{\n    const uint64_t base = list[0].address;\n");
    for (uint32_t r = 0; r < 64; r++)
        if ((used & ve_bit(r)) != 0)
            write_variable(out, plan, r);
    fprintf(out, "    bool overflow = false;\n");
    write_dispatch(out, plan);

    for (uint32_t at = 0; at < plan->count; at++) {
        if (plan->head[at])
            fprintf(out, "at_%u:;\n", at);
        if (plan->block_end[at] == 0) {
            write_instruction(out, plan, at);
            continue;
        }
        ve_block_write(out, plan, at);
        at = plan->block_end[at] - 1;
        write_going_on(out, plan, at);
    }

    /* A call of the host, if it is one, goes on where it says. */
    fprintf(out, "call:\n    if (!IS_GATE(target))\n        goto dispatch;\n");
    write_leaving(out, used);
    fprintf(out, "    if (!services.gate(core, target))\n        return core->s[%d];\n", VE_S_LINK);
    for (uint32_t r = 0; r < 64; r++)
        if ((used & ve_bit(r)) != 0)
            fprintf(out, "    SET(%u, core->s[%u]);\n", r, r);
    fprintf(out, "    target = core->s[%d];\n    goto dispatch;\n", VE_S_LINK);
    fprintf(out, "stop:\n    target = 0;\nleave:\n");
    write_leaving(out, used);
    fprintf(out, "    return target;\n}\n\n"
                 "__attribute__((visibility(\"default\"))) const struct ve_module ve_module = {\n"
                 "    sizeof ve_module, run, &services};\n");
}
