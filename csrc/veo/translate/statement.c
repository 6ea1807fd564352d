/* SPDX-License-Identifier: BSD-3-Clause */
/* statement.c: statements of instructions that go on to the next one. */
#include "veo/translate/statement.h"

#include <inttypes.h>
#include <string.h>

/* An absolute address differs from run to run: one so large is read from the instruction. */
#define SMALL_LEA 65536

uint64_t ve_registers_used(const struct ve_instruction *i)
{
    uint64_t used = ve_bit(i->x & 63);
    used |= i->y_source < 64 ? ve_bit(i->y_source) : 0;
    used |= i->z_source < 64 ? ve_bit(i->z_source) : 0;
    return ve_is_called(i->operation) ? used | ve_bit(i->sw & 63) : used;
}

struct ve_operand_text ve_value_of(uint16_t source, uint64_t immediate, bool is_upper)
{
    struct ve_operand_text operand;
    if (source < 64)
        snprintf(operand.text, sizeof operand.text, is_upper ? "u%u" : "s%u", source);
    else
        snprintf(operand.text, sizeof operand.text, "UINT64_C(0x%" PRIx64 ")", immediate);
    return operand;
}

void ve_write_condition(FILE *out, const struct ve_instruction *i, const char *y, const char *z)
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

void ve_write_spill(FILE *out, uint64_t registers)
{
    for (uint32_t r = 0; r < 64; r++)
        if ((registers & ve_bit(r)) != 0)
            fprintf(out, "    core->s[%u] = s%u;\n", r, r);
}

static void write_call(FILE *out, const struct ve_instruction *i, uint32_t at)
{
    ve_write_spill(out, ve_registers_used(i));
    fprintf(out, "    CALL(%s, %u);\n    SET(%u, core->s[%u]);\n",
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

/* Arguments of DO() behind the operation and its place. */
struct operands {
    const char *y, *z;
    bool is_number; /* x is a variable of another type */
    struct ve_halves upper;
};

static void write_do(FILE *out, const struct ve_instruction *i, uint32_t at,
                     const struct operands *operands)
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

    if (operands->is_number)
        fprintf(out, "    uint64_t bits = %c%u;\n    DO(%s, %u, bits, %s, %s, %u, %s)\n",
                operands->upper.x ? 'u' : 's', x, name, at, operands->y, operands->z, i->condition,
                displacement);
    else
        fprintf(out, "    DO(%s, %u, s%u, %s, %s, %u, %s)\n", name, at, x, operands->y, operands->z,
                i->condition, displacement);
    /* A store reads the upper half of it, and leaves both. */
    if (operands->is_number && i->operation != VE_OP_STU)
        fprintf(out, "    SET(%u, bits);\n", x);
}

static void write_inline(FILE *out, const struct ve_instruction *i, uint32_t at,
                         const struct operands *operands)
{
    uint32_t x = i->x & 63;
    bool redo = is_commutative(i->operation);
    fprintf(out, "    {\n");
    if (redo)
        fprintf(out, "    const uint64_t old = s%u;\n", x);
    write_do(out, i, at, operands);
    if (raises_flags(i->operation))
        fprintf(out, operands->is_number ? "    KEEP_NUMBER(f%u);\n" : "    KEEP(s%u);\n", x);
    if (redo) {
        bool of_doubles = i->operation == VE_OP_FADD_D || i->operation == VE_OP_FMUL_D;
        fprintf(out, "    if (IS_NAN_%c(%c%u)) {\n    SET(%u, old);\n", of_doubles ? 'D' : 'S',
                operands->upper.x ? 'u' : 's', x, x);
        write_call(out, i, at);
        fprintf(out, "    }\n");
    }
    fprintf(out, "    }\n");
    /* Reports of crashes follow these. */
    if (x == VE_S_FRAME || x == VE_S_LINK)
        fprintf(out, "    core->s[%u] = s%u;\n", x, x);
}

/* A move from one float to another. */
static bool moves_single(const struct ve_plan *plan, const struct ve_instruction *i, uint32_t at)
{
    return i->operation == VE_OP_OR && i->y_source >= 64 && plan->values[at][0] == 0 &&
           i->z_source < 64 && (plan->singles & ve_bit(i->x & 63)) != 0 &&
           (plan->singles & ve_bit(i->z_source)) != 0;
}

void ve_write_operation(FILE *out, const struct ve_plan *plan, uint32_t at)
{
    const struct ve_instruction *i = &plan->list[at].instruction;
    struct ve_halves upper = ve_upper_halves(plan, i);
    struct ve_operand_text y = ve_value_of(i->y_source, plan->values[at][0], upper.y);
    struct ve_operand_text z = ve_value_of(i->z_source, plan->values[at][1], upper.z);
    bool is_number = ((plan->doubles | plan->singles) & ve_bit(i->x & 63)) != 0;
    if (ve_is_called(i->operation))
        write_call(out, i, at);
    else if (moves_single(plan, i, at))
        fprintf(out, "    f%u = f%u, low%u = low%u;\n", i->x, i->z_source, i->x, i->z_source);
    else
        write_inline(out, i, at, &(struct operands){y.text, z.text, is_number, upper});
}
