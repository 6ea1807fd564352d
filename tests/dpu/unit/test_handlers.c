/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each fast handler of both interpreters does what the general function does, on random
 * instructions of every form.
 *
 * build: @dpu_machine
 */
#include "dpu/machine/machine_state.h"
#include "dpu/machine/prepare.h"
#include "dpu/machine/program.h"
#include "tests/dpu/support/program.h"

static const char *const code_names[DPU_CODE_COUNT] = {
#define BASIC(name) #name,
#define ALU(operation, source, tail, condition) #operation " " #source " " #tail " " #condition,
#include "dpu/isa/codes.def"
#undef BASIC
#undef ALU
};

enum { PC = 5, OTHER_PC = 50 };

/* Values at which flags and conditions change are as frequent as all others. */
static uint32_t random_register(uint64_t *state)
{
    static const uint32_t edges[] = {0, 1, 2, 31, 32, 255, 256, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    uint64_t bits = check_random(state);
    return bits % 3 == 0 ? edges[(bits >> 8) % 10] : (uint32_t)(bits >> 32) >> (bits >> 4) % 32;
}

/* Puts the same situation into a machine: tasklet 0 at the word, tasklet 1 at a nop. */
static void set_up(struct dpu_machine *machine, uint64_t word, uint64_t seed)
{
    struct dpu_thread_state thread = {.pc = PC, .running = 1};
    for (int i = 0; i < DPU_MACHINE_REGISTERS; i++)
        thread.registers[i] = random_register(&seed);
    thread.zero = check_random(&seed) & 1;
    thread.carry = check_random(&seed) & 1;
    /* Often an address: aligned, and in the part of WRAM that is compared. */
    if (check_random(&seed) % 2 == 0)
        for (int i = 0; i < DPU_MACHINE_REGISTERS; i++)
            thread.registers[i] = (uint32_t)check_random_below(&seed, 64) * 8;
    CHECK(dpu_machine_set_thread(machine, 0, &thread));
    LOAD_AT(machine, PC, word);
    LOAD_AT(machine, OTHER_PC, W("nop", "", 0));
    thread.pc = OTHER_PC;
    CHECK(dpu_machine_set_thread(machine, 1, &thread));
}

/* The general function for an operation that has a handler of its own; else what it has. */
static uint16_t general_code(const struct dpu_operation *op)
{
    switch ((enum dpu_code)op->code) {
    case DPU_CODE_LBS:
    case DPU_CODE_LBU:
    case DPU_CODE_LHS:
    case DPU_CODE_LHU:
    case DPU_CODE_LW:
    case DPU_CODE_LD:
    case DPU_CODE_SB_REG:
    case DPU_CODE_SH_REG:
    case DPU_CODE_SW_REG:
    case DPU_CODE_SD_REG:
    case DPU_CODE_SB_IMM:
    case DPU_CODE_SH_IMM:
    case DPU_CODE_SW_IMM: return DPU_CODE_MEMORY_ANY;
    default: return op->code > DPU_CODE_SW_IMM ? DPU_CODE_ALU_ANY : op->code;
    }
}

static void check_same(const struct dpu_machine *a, const struct dpu_machine *b, uint64_t word,
                       bool stores)
{
    bool same = (!stores || memcmp(a->wram, b->wram, sizeof(a->wram)) == 0) &&
                memcmp(&a->fault, &b->fault, sizeof(a->fault)) == 0;
    for (uint32_t id = 0; id < 2; id++) {
        struct dpu_thread_state left, right;
        CHECK(dpu_machine_get_thread(a, id, &left) && dpu_machine_get_thread(b, id, &right));
        same = same && memcmp(&left, &right, sizeof(left)) == 0;
    }
    if (!same) {
        char text[DPU_TEXT_MAX];
        dpu_disassemble(word, text, sizeof(text), NULL);
        fprintf(stderr, "0x%012" PRIx64 " %s\n", word, text);
        CHECK(!"the same result");
    }
}

static void compare(struct dpu_machine *fast, struct dpu_machine *general, uint64_t word,
                    uint32_t tasklets, uint64_t seed, bool *seen)
{
    struct dpu_machine *both[] = {fast, general};
    for (int i = 0; i < 2; i++) {
        dpu_machine_clear_fault(both[i]);
        both[i]->fault.address = 0;
        set_up(both[i], word, seed);
        dpu_machine_set_run_bits(both[i], (1u << tasklets) - 1);
        CHECK(dpu_program_join(both[i]));
        dpu_prepare_operation(both[i], PC);
        if (i == 0)
            seen[both[i]->operations[PC].code] = true;
        else
            both[i]->operations[PC].code = general_code(&both[i]->operations[PC]);
        struct dpu_run_result result;
        dpu_machine_step(both[i], 1, &result);
    }
    check_same(fast, general, word, general->operations[PC].destination == DPU_DEST_NONE);
}

/* A word of the form with operands at random: small immediates, so that addresses are hit. */
static uint64_t random_word(uint64_t *state, const struct dpu_form_info *info)
{
    uint64_t bits = check_random(state);
    if (bits % 2 == 0)
        bits &= ~UINT64_C(0xFFF) & check_random(state);
    return (bits & ~info->mask & DPU_WORD_MASK) | info->match;
}

int main(void)
{
    uint64_t state = check_seed(22);
    struct dpu_machine *fast = dpu_new(DPU_ACCOUNTING_VENDOR, 0);
    struct dpu_machine *general = dpu_new(DPU_ACCOUNTING_VENDOR, 0);
    static bool seen[DPU_CODE_COUNT];
    /* A word that is not executed, so that they do not share decoded programs. */
    LOAD_AT(general, OTHER_PC + 1, STOP);
    /* Both have the same memory at first, and so ever after. */
    for (uint32_t i = 0; i < DPU_MACHINE_WRAM; i++)
        fast->wram[i] = general->wram[i] = (uint8_t)check_random(&state);
    for (uint32_t i = 0; i < 8 * DPU_FORM_COUNT; i++) {
        struct dpu_form_info info;
        CHECK(dpu_form_info(i % DPU_FORM_COUNT, &info));
        /* Handlers for single conditions need many tries at their forms. */
        uint32_t tries = info.condition_class[0] != 0 && info.destination <= DPU_DEST_R32 ? 100 : 6;
        for (uint32_t j = 0; j < tries; j++) {
            uint64_t word = random_word(&state, &info);
            if (!dpu_form_matches(i % DPU_FORM_COUNT, word))
                continue;
            compare(fast, general, word, 1 + j % 2, state, seen);
        }
    }
    bool all = true;
    for (uint32_t code = DPU_CODE_NOP; code < DPU_CODE_COUNT; code++)
        if (!seen[code]) {
            fprintf(stderr, "%s was never executed\n", code_names[code]);
            all = false;
        }
    CHECK(all);
    dpu_machine_destroy(fast);
    dpu_machine_destroy(general);
    return 0;
}
