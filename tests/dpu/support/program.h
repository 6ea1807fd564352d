/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of the DPU machine: words by form and operands, loading and running them. */
#ifndef OFFCHIP_TESTS_DPU_PROGRAM_H
#define OFFCHIP_TESTS_DPU_PROGRAM_H

#include "tests/support/check.h"
#include "dpu/isa/instructions.h"
#include "dpu/machine/machine.h"

#include <string.h>

enum { ZERO = 24, ONE, LNEG, MNEG, ID, ID2, ID4, ID8 };
/* Codes of conditions; these are the same in every class that has them, but set classes. */
enum { CC_FALSE = 0, CC_TRUE = 1, CC_Z = 2, CC_NZ = 3, CC_LTU = 20, CC_GEU = 21 };

static inline uint64_t dpu_word(const char *mnemonic, const char *form, const int64_t *values)
{
    struct dpu_instruction instruction = {.form = dpu_form_find(mnemonic, form)};
    struct dpu_form_info info;
    uint64_t word;
    CHECK(dpu_form_info(instruction.form, &info));
    instruction.operand_count = info.operand_count;
    memcpy(instruction.values, values, info.operand_count * sizeof *values);
    CHECK(dpu_encode(&instruction, &word));
    return word;
}

/* The word of a form; operands in the assembler's order, 0 in place of `zero`. */
#define W(mnemonic, form, ...) dpu_word(mnemonic, form, (const int64_t[6]){__VA_ARGS__})
#define MOVE(r, value) W("or", "rri", r, ZERO, value)
#define STOP W("stop", "ci", CC_FALSE, 0)
/* An unconditional jump, and one if register and immediate differ. */
#define JUMP(pc) W("call", "zri", 0, ZERO, pc)
#define JUMP_IF(r, value, cc, pc) W("sub", "zrici", 0, r, value, cc, pc)
#define BOOT(r, offset) W("boot", "rici", r, offset, CC_FALSE, 0)
/* Two words that boot tasklet id + 1 until COUNT run; PC is that of the first. */
#define BOOT_CHAIN(count, pc) JUMP_IF(ID, (count) - 1, CC_GEU, (pc) + 2), BOOT(ID, 1)

#define LOAD_AT(machine, index, ...) \
    do { \
        const uint64_t words_[] = {__VA_ARGS__}; \
        CHECK(dpu_machine_write_iram(machine, index, words_, sizeof(words_) / sizeof *words_)); \
    } while (0)
#define LOAD(machine, ...) LOAD_AT(machine, 0, __VA_ARGS__)

static inline struct dpu_machine *dpu_new(uint32_t accounting, uint32_t switches)
{
    struct dpu_machine_options options;
    dpu_machine_default_options(&options);
    options.accounting = accounting;
    options.switches = switches;
    struct dpu_machine *machine = dpu_machine_create(&options);
    CHECK(machine != NULL);
    return machine;
}

/* For programs with races on WRAM, which have another result in each engine. */
static inline struct dpu_machine *dpu_new_in_turns(uint32_t accounting)
{
    struct dpu_machine *machine = dpu_new(accounting, 0);
    struct dpu_machine_options options;
    dpu_machine_get_options(machine, &options);
    options.engine = DPU_ENGINE_TURNS;
    CHECK(dpu_machine_set_options(machine, &options));
    return machine;
}

static inline uint32_t dpu_register(const struct dpu_machine *machine, uint32_t thread, uint32_t r)
{
    struct dpu_thread_state state;
    CHECK(dpu_machine_get_thread(machine, thread, &state));
    return state.registers[r];
}

static inline uint32_t dpu_wram_word(const struct dpu_machine *machine, uint32_t address)
{
    uint32_t value;
    CHECK(dpu_machine_read_wram(machine, address, &value, sizeof(value)));
    return value;
}

#endif
