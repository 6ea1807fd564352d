/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generate.c: writes the C of a plan. An instruction is a statement made of the macros of
 * generated_code.h; registers that no instruction of the plan uses do not appear.
 */
#include "veo/translate/plan.h"

#include <inttypes.h>
#include <string.h>

/* An absolute address differs from run to run: one so large is read from the instruction. */
#define SMALL_LEA 65536

struct operand {
    char text[32];
};

static uint64_t bit(uint32_t index)
{
    return UINT64_C(1) << index;
}

/* Scalar registers that an instruction reads or writes, and those that it may write. */
static uint64_t used_by(const struct ve_instruction *i)
{
    uint64_t used = bit(i->x & 63);
    used |= i->y_source < 64 ? bit(i->y_source) : 0;
    used |= i->z_source < 64 ? bit(i->z_source) : 0;
    return ve_is_called(i->operation) ? used | bit(i->sw & 63) : used;
}

static struct operand value_of(uint16_t source, uint64_t immediate)
{
    struct operand operand;
    if (source < 64)
        snprintf(operand.text, sizeof operand.text, "s%u", source);
    else
        snprintf(operand.text, sizeof operand.text, "UINT64_C(0x%" PRIx64 ")", immediate);
    return operand;
}

static struct operand place_of(const struct ve_plan *plan, uint64_t address)
{
    struct operand operand;
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

static void write_condition(FILE *out, const struct ve_instruction *i, const char *y, const char *z)
{
    static const char *const forms[][2] = {
        {"integer", "(int64_t)(%s)"},
        {"integer", "(int32_t)(%s)"},
        {"float", "ve_double(%s)"},
        {"float", "(double)ve_upper_float(%s)"},
    };
    uint32_t form = 0;
    switch (i->operation) {
    case VE_OP_BR_W:
    case VE_OP_B_W: form = 1; break;
    case VE_OP_BR_D:
    case VE_OP_B_D: form = 2; break;
    case VE_OP_BR_S:
    case VE_OP_B_S: form = 3; break;
    default: break;
    }
    fprintf(out, "    if (ve_holds_%s(%u, ", forms[form][0], i->condition);
    const char *open = forms[form][1];
    int length = (int)(strchr(open, '%') - open);
    fprintf(out, "%.*s%s), %.*s%s))) ", length, open, y, length, open, z);
}

/* The values of an instruction's registers into the core, for its executor. */
static void write_spill(FILE *out, uint64_t registers)
{
    for (uint32_t r = 0; r < 64; r++)
        if ((registers & bit(r)) != 0)
            fprintf(out, "    core->s[%u] = s%u;\n", r, r);
}

static void write_call(FILE *out, const struct ve_instruction *i, uint32_t at)
{
    write_spill(out, used_by(i));
    fprintf(out, "    CALL(%s, %u);\n    s%u = core->s[%u];\n",
            ve_operation_info(i->operation)->name, at, i->x & 63, i->x & 63);
}

/*
 * Of two NaNs the host takes one, and which one depends on how the compiler has put them: the
 * executor then says which.
 */
static bool is_commutative(uint32_t operation)
{
    return operation == VE_OP_FADD_D || operation == VE_OP_FMUL_D || operation == VE_OP_FADD_S ||
           operation == VE_OP_FMUL_S;
}

static bool raises_flags(uint32_t operation)
{
    enum ve_causes causes = ve_operation_info(operation)->causes;
    return causes >= VE_CAUSES_FLOAT && causes <= VE_CAUSES_APPROXIMATE;
}

static void write_inline(FILE *out, const struct ve_instruction *i, uint32_t at, const char *y,
                         const char *z)
{
    const char *name = ve_operation_info(i->operation)->name;
    uint32_t x = i->x & 63;
    char displacement[64];
    bool is_address = i->operation == VE_OP_LEA && i->y_source >= 64 && i->z_source >= 64 &&
                      (i->displacement >= SMALL_LEA || i->displacement < -SMALL_LEA);
    if (is_address || i->operation == VE_OP_LEA_SL)
        snprintf(displacement, sizeof displacement, "list[%u].instruction.displacement", at);
    else
        snprintf(displacement, sizeof displacement, "(int32_t)0x%" PRIx32,
                 (uint32_t)i->displacement);

    bool redo = is_commutative(i->operation);
    fprintf(out, "    {\n");
    if (redo)
        fprintf(out, "    const uint64_t old = s%u;\n", x);
    fprintf(out, "    DO(%s, %u, s%u, %s, %s, %u, %s)\n", name, at, x, y, z, i->condition,
            displacement);
    if (raises_flags(i->operation))
        fprintf(out, "    KEEP(s%u);\n", x);
    if (redo) {
        bool is_double = i->operation == VE_OP_FADD_D || i->operation == VE_OP_FMUL_D;
        fprintf(out, "    if (IS_NAN_%s(s%u)) {\n    s%u = old;\n", is_double ? "D" : "S", x, x);
        write_call(out, i, at);
        fprintf(out, "    }\n");
    }
    fprintf(out, "    }\n");
    /* Reports of crashes follow these. */
    if (x == VE_S_FRAME || x == VE_S_LINK)
        fprintf(out, "    core->s[%u] = s%u;\n", x, x);
}

static void write_instruction(FILE *out, const struct ve_plan *plan, uint32_t at)
{
    const struct ve_instruction *i = &plan->list[at].instruction;
    uint64_t address = plan->list[at].address;
    struct operand y = value_of(i->y_source, plan->values[at][0]);
    struct operand z = value_of(i->z_source, plan->values[at][1]);
    switch (ve_flow_of(i)) {
    case VE_FLOW_BRANCH:
        write_condition(out, i, y.text, z.text);
        write_goto(out, plan, address + (uint64_t)(int64_t)i->displacement);
        break;
    case VE_FLOW_COMPUTED:
        write_condition(out, i, y.text, "0");
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
        fprintf(out, "    goto dispatch;\n");
        return;
    }
    case VE_FLOW_LEAVE: fprintf(out, "    LEAVE(%s);\n", place_of(plan, address).text); return;
    default:
        if (i->operation == VE_OP_SIC)
            fprintf(out, "    core->s[%u] = s%u = %s;\n", i->x & 63, i->x & 63,
                    place_of(plan, address + 8).text);
        else if (ve_is_called(i->operation))
            write_call(out, i, at);
        else
            write_inline(out, i, at, y.text, z.text);
        break;
    }

    bool goes_on = at + 1 < plan->count && plan->list[at + 1].address == address + 8;
    if (!goes_on)
        fprintf(out, "    LEAVE(%s);\n", place_of(plan, address + 8).text);
}

void ve_generate(FILE *out, const struct ve_plan *plan)
{
    uint64_t used = 0;
    for (uint32_t at = 0; at < plan->count; at++)
        used |= used_by(&plan->list[at].instruction);

    ve_write_prelude(out);
    fprintf(out, "\nstatic uint64_t run(struct ve_core *core, const struct ve_decoded *list, "
                 "uint64_t target)\n{\n    const uint64_t base = list[0].address;\n");
    for (uint32_t r = 0; r < 64; r++)
        if ((used & bit(r)) != 0)
            fprintf(out, "    uint64_t s%u = core->s[%u];\n", r, r);
    fprintf(out, "dispatch:\n    switch (WORDS(target - base)) {\n");
    for (uint32_t at = 0; at < plan->count; at++)
        if (plan->entry[at])
            fprintf(out, "    case 0x%" PRIx64 ": goto at_%u;\n",
                    (plan->list[at].address - plan->list[0].address) / 8, at);
    fprintf(out, "    default: goto leave;\n    }\n");

    for (uint32_t at = 0; at < plan->count; at++) {
        if (plan->head[at])
            fprintf(out, "at_%u:;\n", at);
        write_instruction(out, plan, at);
    }

    fprintf(out, "stop:\n    target = 0;\nleave:\n");
    write_spill(out, used);
    fprintf(out, "    return target;\n}\n\n"
                 "__attribute__((visibility(\"default\"))) const struct ve_module ve_module = {\n"
                 "    sizeof ve_module, run, &services};\n");
}
