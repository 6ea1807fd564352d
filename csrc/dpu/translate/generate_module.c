/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_module.c: the function that has a program's blocks, and what is around it. */
#include "generate.h"

#include "prelude.h"

#include <stdlib.h>

/* Registers of the DPU that occur, and that are written. */
struct registers {
    uint32_t used, written;
};

/* Where code may be entered: AT is the prefix of labels, and LEAVE the label of the way out. */
static void write_table(FILE *out, const char *name, const bool places[DPU_MACHINE_IRAM],
                        const char *at, const char *leave)
{
    fprintf(out, "    static const int32_t %s[%d] = {\n", name, DPU_MACHINE_IRAM);
    for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM; pc++)
        if (places[pc])
            fprintf(out, "        [%u] = &&%s_%u - &&%s,\n", pc, at, pc, leave);
    fputs("    };\n", out);
}

static void write_function(FILE *out, const struct dpu_plan *plan, const char *blocks,
                           struct registers registers)
{
    fputs("\nstatic uint64_t run(uint32_t *s, uint8_t *wram, uint32_t pc, uint32_t budget)\n{\n",
          out);
    write_table(out, "entries", plan->entry, "at", "leave");
    fputs("    uint32_t z = s[34], carry = s[35];\n    const uint32_t id = s[28];\n", out);
    for (uint32_t i = 0; i < DPU_MACHINE_REGISTERS; i++)
        if ((registers.used >> i & 1) != 0)
            fprintf(out, "    uint32_t r%u = s[%u];\n", i, i);

    fputs("    (void)id;\n    (void)wram;\n    goto dispatch;\n", out);
    fputs(blocks, out);
    /* Instructions that are no entries have 0 in the table: the way to the interpreter. */
    fputs("dispatch:\n    goto *(&&leave + entries[pc]);\nleave:\n", out);
    for (uint32_t i = 0; i < DPU_MACHINE_REGISTERS; i++)
        if ((registers.written >> i & 1) != 0)
            fprintf(out, "    s[%u] = r%u;\n", i, i);
    fputs("    s[34] = z;\n    s[35] = carry;\n    return (uint64_t)budget << 32 | pc;\n}\n", out);
}

/* The same for several DPUs: see lanes_code.h. */
static void write_lanes_function(FILE *out, const struct dpu_plan *plan, const char *blocks,
                                 struct registers registers)
{
    fputs(
        "\nstatic void run_lanes(struct call *call, uint8_t *wram, uint32_t id, uint32_t entered)\n"
        "{\n",
        out);
    write_table(out, "entries", plan->entry, "at", "leave_active");
    write_table(out, "heads", plan->head, "in", "leave_active");
    fputs("    lanes rows[ROWS];\n"
          "    load_registers(call, entered, rows);\n"
          "    lanes z = rows[R_ZERO], carry = rows[R_CARRY];\n",
          out);
    for (uint32_t i = 0; i < DPU_MACHINE_REGISTERS; i++)
        if ((registers.used >> i & 1) != 0)
            fprintf(out, "    lanes r%u = rows[%u];\n", i, i);
    fputs("    BEGIN_RUN;\n", out);

    fputs("#define LABEL(pc) at_##pc\n"
          "#define SET(name, value) name = ALL(value)\n"
          "#define BLOCK(at, length) LABEL(at) : BEGIN(at, length)\n"
          "#define ENTRY BLOCK\n",
          out);
    fputs(blocks, out);
    fputs("#undef LABEL\n#undef SET\n#undef BLOCK\n#undef ENTRY\n"
          "#define LABEL(pc) in_##pc\n"
          "#define SET(name, value) name = MERGE(active, ALL(value), name)\n"
          "#define MEET(at) if (wait_pc <= (at)) { pc = (at); goto together; }\n"
          "#define BLOCK(at, length) LABEL(at) : MEET(at) BEGIN(at, length)\n"
          "#define ENTRY(at, length) LABEL(at) : if (active == entered) goto at_##at; "
          "MEET(at) BEGIN(at, length)\n",
          out);
    fputs(blocks, out);

    fputs("dispatch:\n"
          "    if (active == entered && entries[pc] != 0)\n"
          "        goto *(&&leave_active + entries[pc]);\n"
          "    goto *(&&leave_active + heads[pc]);\n"
          "together:\n"
          "    pcs = ALL(pc);\n"
          "split:\n"
          "    CHARGE;\n"
          "pick: {\n"
          "    PICK;\n"
          "    goto dispatch;\n"
          "}\n"
          "leave_active:\n"
          "    pcs = ALL(pc);\n"
          "    CHARGE;\n",
          out);
    for (uint32_t i = 0; i < DPU_MACHINE_REGISTERS; i++)
        if ((registers.written >> i & 1) != 0)
            fprintf(out, "    rows[%u] = r%u;\n", i, i);
    fputs("    rows[R_ZERO] = z;\n"
          "    rows[R_CARRY] = carry;\n"
          "    save_registers(call, active, rows);\n"
          "    entered &= ~active;\n"
          "    if (entered != 0)\n"
          "        goto pick;\n"
          "    END_RUN;\n}\n",
          out);
}

/* The functions of each operation and condition that occur. */
static void write_functions_of(FILE *out, const struct dpu_plan *plan)
{
    bool kinds[256] = {false}, conditions[256] = {false};
    for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM; pc++) {
        const struct dpu_operation *op = &plan->operations[pc];
        if (!plan->wanted[pc] || dpu_flow_of(op) == DPU_FLOW_LEAVE)
            continue;
        kinds[op->kind] |= dpu_is_alu(op);
        conditions[op->condition] = true;
    }

    for (uint32_t i = 0; i < 256; i++)
        if (kinds[i])
            fprintf(out, "ALU_OF(%s)\n", dpu_operation_name(i));
    for (uint32_t i = 0; i < 256; i++)
        if (conditions[i])
            fprintf(out, "HOLDS_OF(%s)\n", dpu_condition_word(i));
}

static void write_module(FILE *out, const struct dpu_plan *plan, uint32_t lanes)
{
    uint8_t spans[DPU_MACHINE_IRAM];
    dpu_plan_spans(plan, spans);
    fprintf(out, "\nstatic const uint8_t spans[%d] = {", DPU_MACHINE_IRAM);
    for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM; pc++)
        fprintf(out, "%s%u,", pc % 32 == 0 ? "\n    " : "", spans[pc]);
    fprintf(out, "\n};\nstatic const uint8_t wanted[%d] = {", DPU_MACHINE_IRAM);
    for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM; pc++)
        fprintf(out, "%s%u,", pc % 32 == 0 ? "\n    " : "", plan->wanted[pc]);
    fprintf(out,
            "\n};\n"
            "struct call;\n"
            "struct module {\n"
            "    uint64_t size;\n"
            "    uint64_t (*run)(uint32_t *, uint8_t *, uint32_t, uint32_t);\n"
            "    void (*run_lanes)(struct call *, uint8_t *, uint32_t, uint32_t);\n"
            "    uint64_t lanes;\n"
            "    void (*move_in)(uint8_t *, uint8_t *const *, uint32_t, uint32_t);\n"
            "    void (*move_out)(const uint8_t *, uint8_t *const *, uint32_t, uint32_t);\n"
            "    const uint8_t *spans, *wanted;\n"
            "};\n"
            "__attribute__((visibility(\"default\"))) const struct module dpu_module;\n"
            "const struct module dpu_module = {sizeof dpu_module, %s, spans, wanted};\n",
            lanes != 0 ? "0, run_lanes, LANES, move_in, move_out" : "run, 0, 0, 0, 0");
}

void dpu_generate(FILE *out, const struct dpu_plan *plan, uint32_t switches, uint32_t wram_size,
                  uint32_t lanes)
{
    dpu_write_prelude(out, switches, wram_size, lanes);
    write_functions_of(out, plan);

    struct registers registers = {0, 0};
    char *blocks = dpu_generate_blocks(plan, switches, &registers.used, &registers.written);
    if (blocks == NULL)
        return;

    if (lanes != 0)
        write_lanes_function(out, plan, blocks, registers);
    else
        write_function(out, plan, blocks, registers);
    write_module(out, plan, lanes);
    free(blocks);
}
