/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * translated_forms.h: programs of random instructions of each form, for tests of translated code.
 *
 * Programs are made of pairs: an instruction, and a stop that translated code leaves to the
 * interpreter. So each is entered, executed and left by itself.
 */
#ifndef OFFCHIP_TESTS_DPU_TRANSLATED_FORMS_H
#define OFFCHIP_TESTS_DPU_TRANSLATED_FORMS_H

#include "dpu/machine/interpreters.h"
#include "dpu/machine/machine_state.h"
#include "dpu/machine/program.h"
#include "dpu/translate/generate.h"
#include "dpu/translate/runner.h"
#include "hostcode/compiler.h"
#include "tests/dpu/support/program.h"

#include <string.h>
#include <sys/stat.h>

/* Few at once: each can be entered, and all registers are alive there. */
enum { PAIRS = 98, PROGRAMS = 10, TRIES = 12, LOOKED_AT = 512 };

/* Every other program has the switches that change what is computed. */
#define OTHER_SWITCHES \
    (DPU_SWITCH_SMALL_IS_PRODUCT | DPU_SWITCH_STEP_COPIES_PAIR | DPU_SWITCH_CLS_COUNTS_SIGN | \
     DPU_SWITCH_WRAM_32_BITS)

/* Values at which flags and conditions change are as frequent as all others. */
static inline uint32_t random_register(uint64_t *state)
{
    static const uint32_t edges[] = {0, 1, 2, 31, 32, 255, 256, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    uint64_t bits = check_random(state);
    return bits % 3 == 0 ? edges[(bits >> 8) % 10] : (uint32_t)(bits >> 32) >> (bits >> 4) % 32;
}

/* Operands at random: small immediates, so that addresses are hit. */
static inline uint64_t random_word(uint64_t *state, const struct dpu_form_info *info)
{
    uint64_t bits = check_random(state);
    if (bits % 2 == 0)
        bits &= ~UINT64_C(0xFFF) & check_random(state);
    return (bits & ~info->mask & DPU_WORD_MASK) | info->match;
}

/* Each STEPth form from FIRST on. */
static inline void choose_forms(uint32_t forms[PAIRS], uint32_t first, uint32_t step)
{
    for (uint32_t i = 0; i < PAIRS; i++)
        forms[i] = (first + i * step) % DPU_FORM_COUNT;
}

/* All loads and stores, which are the forms that name an order of bytes. */
static inline void choose_accesses(uint32_t forms[PAIRS])
{
    struct dpu_form_info info;
    uint32_t found = 0;
    for (uint32_t form = 0; form < DPU_FORM_COUNT; form++)
        if (dpu_form_info(form, &info) && info.form[0] == 'e') {
            CHECK(found < PAIRS);
            forms[found++] = form;
        }
    CHECK(found > 10);
    for (uint32_t i = found; i < PAIRS; i++)
        forms[i] = forms[i - found];
}

static inline void fill_with_forms(uint64_t *iram, const uint32_t forms[PAIRS], uint64_t *state)
{
    for (uint32_t i = 0; i < PAIRS; i++) {
        struct dpu_form_info info;
        CHECK(dpu_form_info(forms[i], &info));
        do
            iram[2 * i] = random_word(state, &info);
        while (!dpu_form_matches(forms[i], iram[2 * i]));
        iram[2 * i + 1] = W("stop", "ci", 0, 0);
    }
}

static inline void compile_forms(const uint64_t *iram, uint32_t switches, uint32_t lanes,
                                 const struct host_compiler *compiler, struct dpu_loaded *loaded)
{
    static struct dpu_plan plan;
    static uint8_t missed[DPU_MACHINE_IRAM], data[16 << 20];
    memset(missed, 1, sizeof missed);
    dpu_plan_decode(&plan, iram, switches);
    if (lanes != 0)
        dpu_plan_for_lanes(&plan);
    memset(plan.wanted, 1, 2 * PAIRS);
    dpu_plan_find_blocks(&plan, missed);

    FILE *source = fopen("translated.c", "w");
    CHECK(source != NULL);
    dpu_generate(source, &plan, switches, DPU_MACHINE_WRAM, lanes);
    CHECK(fclose(source) == 0);
    CHECK(host_compiler_run(compiler, "translated.c", "translated.so", INT64_C(300000000000)));

    FILE *result = fopen("translated.so", "rb");
    CHECK(result != NULL);
    size_t size = fread(data, 1, sizeof data, result);
    CHECK(fclose(result) == 0);
    CHECK(dpu_module_load(loaded, data, size));
}

/* ADDRESSES: aligned, and in the part of WRAM that is compared. */
static inline void set_registers(struct dpu_thread *t, bool addresses, uint64_t seed)
{
    for (uint32_t i = 0; i < DPU_MACHINE_REGISTERS; i++)
        t->r[i] = addresses ? (uint32_t)check_random_below(&seed, LOOKED_AT / 16) * 8
                            : random_register(&seed);
    t->zero = check_random(&seed) & 1;
    t->carry = check_random(&seed) & 1;
}

/* The program for all machines of a test. */
static inline void load_forms(struct dpu_machine *m, const uint64_t *iram)
{
    CHECK(dpu_machine_write_iram(m, 0, iram, DPU_MACHINE_IRAM));
    CHECK(dpu_program_join(m));
}

/* False, and said, where nothing can be translated. */
static inline bool find_compiler(struct host_compiler *compiler)
{
    bool found = host_compiler_find(compiler, "DPU_SOFT_CC");
    if (!found)
        printf("no C compiler: nothing is translated here\n");
    compiler->nice = 0;
    return found;
}

#endif
