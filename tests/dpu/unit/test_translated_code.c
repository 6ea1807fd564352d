/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translated code of each form does what the interpreter does, on random instructions and
 * registers.
 *
 * Programs are made of pairs: an instruction, and a stop that translated code leaves to the
 * interpreter. So each is entered, executed and left by itself.
 *
 * build: @dpu_machine @dpu_translate
 */
#include "dpu/machine/interpreters.h"
#include "dpu/machine/machine_state.h"
#include "dpu/machine/program.h"
#include "hostcode/compiler.h"
#include "dpu/translate/generate.h"
#include "dpu/translate/runner.h"
#include "tests/dpu/support/program.h"

#include <string.h>
#include <sys/stat.h>

/* Few at once: each can be entered, and all registers are alive there. */
enum { PAIRS = 98, PROGRAMS = 10, TRIES = 12, LOOKED_AT = 512 };

/* Values at which flags and conditions change are as frequent as all others. */
static uint32_t random_register(uint64_t *state)
{
    static const uint32_t edges[] = {0, 1, 2, 31, 32, 255, 256, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    uint64_t bits = check_random(state);
    return bits % 3 == 0 ? edges[(bits >> 8) % 10] : (uint32_t)(bits >> 32) >> (bits >> 4) % 32;
}

/* Operands at random: small immediates, so that addresses are hit. */
static uint64_t random_word(uint64_t *state, const struct dpu_form_info *info)
{
    uint64_t bits = check_random(state);
    if (bits % 2 == 0)
        bits &= ~UINT64_C(0xFFF) & check_random(state);
    return (bits & ~info->mask & DPU_WORD_MASK) | info->match;
}

/* An instruction of each form in turn, from *FORM on. */
static void fill(uint64_t *iram, uint32_t *form, uint64_t *state)
{
    for (uint32_t pc = 0; pc < 2 * PAIRS; pc += 2) {
        struct dpu_form_info info;
        uint32_t index = (*form)++ % DPU_FORM_COUNT;
        CHECK(dpu_form_info(index, &info));
        do
            iram[pc] = random_word(state, &info);
        while (!dpu_form_matches(index, iram[pc]));
        iram[pc + 1] = W("stop", "ci", 0, 0);
    }
}

static void compile(const uint64_t *iram, uint32_t switches, const struct host_compiler *compiler,
                    struct dpu_loaded *loaded)
{
    static struct dpu_plan plan;
    static uint8_t missed[DPU_MACHINE_IRAM], data[16 << 20];
    memset(missed, 1, sizeof missed);
    dpu_plan_decode(&plan, iram, switches);
    memset(plan.wanted, 1, 2 * PAIRS);
    dpu_plan_find_blocks(&plan, missed);

    FILE *source = fopen("translated.c", "w");
    CHECK(source != NULL);
    dpu_generate(source, &plan, switches, DPU_MACHINE_WRAM);
    CHECK(fclose(source) == 0);
    CHECK(host_compiler_run(compiler, "translated.c", "translated.so", INT64_C(300000000000)));

    FILE *result = fopen("translated.so", "rb");
    CHECK(result != NULL);
    size_t size = fread(data, 1, sizeof data, result);
    CHECK(fclose(result) == 0);
    CHECK(dpu_module_load(loaded, data, size));
}

static void set_registers(struct dpu_thread *t, uint64_t seed)
{
    /* Often an address: aligned, and in the part of WRAM that is compared. */
    bool addresses = check_random(&seed) % 2 == 0;
    for (uint32_t i = 0; i < DPU_MACHINE_REGISTERS; i++)
        t->r[i] = addresses ? (uint32_t)check_random_below(&seed, LOOKED_AT / 16) * 8
                            : random_register(&seed);
    t->zero = check_random(&seed) & 1;
    t->carry = check_random(&seed) & 1;
}

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
    set_registers(&first, seed);
    first.op = &m->operations[pc];
    second = first;

    uint32_t done = dpu_run_alone(m, &first, 1);
    memcpy(after, m->wram, LOOKED_AT);
    memcpy(m->wram, before, LOOKED_AT);
    uint64_t end = module->run(second.r, m->wram, pc, 1);

    /* State is untouched if it leaves the instruction; the interpreter may have executed it. */
    if (end >> 32 == 1) {
        bool same = (uint32_t)end == pc && memcmp(before, m->wram, LOOKED_AT) == 0;
        set_registers(&first, seed);
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

static void check_program(const struct host_compiler *compiler, uint32_t switches, uint32_t *form,
                          uint64_t *state)
{
    struct dpu_machine *m = dpu_new(DPU_ACCOUNTING_PIPELINE, switches);
    struct dpu_loaded loaded;
    static uint64_t iram[DPU_MACHINE_IRAM];
    uint32_t executed = 0;
    fill(iram, form, state);
    CHECK(dpu_machine_write_iram(m, 0, iram, DPU_MACHINE_IRAM));
    CHECK(dpu_program_join(m));
    for (uint32_t i = 0; i < DPU_MACHINE_WRAM; i++)
        m->wram[i] = (uint8_t)check_random(state);

    compile(iram, switches, compiler, &loaded);
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
    uint32_t form = 0;
    if (!host_compiler_find(&compiler, "DPU_SOFT_CC")) {
        printf("no C compiler: nothing is translated here\n");
        return 0;
    }

    compiler.nice = 0;
    /* All forms, every other program with the switches that change what is computed. */
    const uint32_t others = DPU_SWITCH_SMALL_IS_PRODUCT | DPU_SWITCH_STEP_COPIES_PAIR |
                            DPU_SWITCH_CLS_COUNTS_SIGN | DPU_SWITCH_WRAM_32_BITS;
    for (uint32_t i = 0; i < PROGRAMS; i++)
        check_program(&compiler, i % 2 == 0 ? 0 : others, &form, &state);
    return 0;
}
