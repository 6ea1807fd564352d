/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translated code of each form does what the interpreter does, on random instructions and
 * registers.
 *
 * build: @dpu_machine @dpu_translate
 */
#include "tests/dpu/unit/translated_forms.h"

static void fail(const struct dpu_machine *m, uint32_t pc)
{
    char text[DPU_TEXT_MAX];
    dpu_disassemble(m->iram[pc], text, sizeof text, NULL);
    fprintf(stderr, "%u: 0x%012" PRIx64 " %s\n", pc, m->iram[pc], text);
    CHECK(!"the same result");
}

/* One instruction, both ways. Returns whether translated code has executed it. */
static bool compare(struct dpu_machine *m, const struct dpu_module *module, uint32_t pc,
                    uint32_t id, uint64_t seed)
{
    static uint8_t before[DPU_MACHINE_WRAM], after[DPU_MACHINE_WRAM];
    struct dpu_thread *t = &m->threads[id], first = *t, second;
    memcpy(before, m->wram, LOOKED_AT);
    set_registers(&first, seed % 2 == 0, seed);
    first.op = &m->operations[pc];
    second = first;

    uint32_t done = dpu_run_alone(m, &first, 1);
    memcpy(after, m->wram, LOOKED_AT);
    memcpy(m->wram, before, LOOKED_AT);
    uint64_t end = module->run(second.r, m->wram, pc, 1);

    /* State is untouched if it leaves the instruction; the interpreter may have executed it. */
    if (end >> 32 == 1) {
        bool same = (uint32_t)end == pc && memcmp(before, m->wram, LOOKED_AT) == 0;
        set_registers(&first, seed % 2 == 0, seed);
        if (!same || memcmp(first.r, second.r, sizeof(uint32_t[DPU_SINK])) != 0)
            fail(m, pc);
        return false;
    }

    bool same = done == 1 && end >> 32 == 0 && dpu_pc(m, first.op) == (uint32_t)end &&
                memcmp(after, m->wram, LOOKED_AT) == 0 &&
                memcmp(first.r, second.r, sizeof(uint32_t[DPU_SINK])) == 0 &&
                (first.zero == 0) == (second.zero == 0) && first.carry == second.carry;
    if (!same)
        fail(m, pc);
    return true;
}

static void check_program(const struct host_compiler *compiler, uint32_t switches,
                          const uint32_t *forms, uint64_t *state)
{
    struct dpu_machine *m = dpu_new(DPU_ACCOUNTING_PIPELINE, switches);
    struct dpu_loaded loaded;
    static uint64_t iram[DPU_MACHINE_IRAM];
    uint32_t executed = 0;
    fill_with_forms(iram, forms, state);
    load_forms(m, iram);
    for (uint32_t i = 0; i < DPU_MACHINE_WRAM; i++)
        m->wram[i] = (uint8_t)check_random(state);

    compile_forms(iram, switches, 0, compiler, &loaded);
    for (uint32_t pc = 0; pc < 2 * PAIRS; pc += 2)
        for (uint32_t i = 0; i < TRIES; i++)
            executed += compare(m, loaded.module, pc, i % DPU_MACHINE_THREADS, check_random(state));

    printf("%u of %u executed\n", executed, PAIRS * TRIES);
    CHECK(executed > PAIRS * TRIES / 2);
    dpu_module_unload(&loaded);
    dpu_machine_destroy(m);
}

int main(void)
{
    static struct host_compiler compiler;
    uint64_t state = check_seed(16);
    uint32_t forms[PAIRS];
    if (!find_compiler(&compiler))
        return 0;

    for (uint32_t i = 0; i < PROGRAMS; i++) {
        choose_forms(forms, i * PAIRS, 1);
        check_program(&compiler, i % 2 == 0 ? 0 : OTHER_SWITCHES, forms, &state);
    }
    return 0;
}
