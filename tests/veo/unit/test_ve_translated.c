/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translated Vector Engine code does what the interpreter does: registers, memory, flags,
 * exceptions. test_ve_translation.c has what is translated, when, and where faults are.
 *
 * build: @ve_translate @ve_machine
 */
#include "tests/veo/support/ve_engines.h"

static void test_random_loops(void)
{
    static const uint64_t roundings[] = {VE_IRM_NEAREST, VE_IRM_ZERO, VE_IRM_UP, VE_IRM_DOWN};
    for (uint64_t seed = 1; seed <= 4; seed++) {
        put_loop(BODY);
        ve_core_destroy(run_both(seed, roundings[seed % 4] << VE_PSW_ROUNDING_SHIFT));
    }
}

static void test_an_exception_has_its_instruction(void)
{
    const uint64_t psw = (uint64_t)VE_IRM_NEAREST << VE_PSW_ROUNDING_SHIFT |
                         (uint64_t)VE_PSW_FIXED_OVERFLOW << VE_PSW_ENABLE_SHIFT;
    const uint64_t words[] = {
        WORD(LEA, SX(2) | DISPLACEMENT(INT32_MAX - 150)),
        WORD(ADDS_W_SX, SX(1) | IY(1) | SZ(1)),
        WORD(ADDS_W_SX, SX(3) | SY(1) | SZ(2)),
        WORD(LEA, SX(COUNTER) | SZ(COUNTER) | DISPLACEMENT(-1)),
        BRANCH(BR_L, VE_ALWAYS, SY(COUNTER), -24),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    struct ve_core *core = run_both(0, psw);
    CHECK(core->fault.kind == VE_FAULT_XOFE);
    CHECK(core->fault.ic == (uint64_t)(uintptr_t)&code[2]);
    ve_core_destroy(core);
}

/* --- switches ----------------------------------------------------------------------------------
 */

/* A loop with a call in its middle. */
static void put_calling_loop(void)
{
    enum { HALF = 20 };
    size_t at = 0;
    code[at++] = WORD(OR, SX(BACK) | IY(0) | SZ(VE_S_LINK));
    for (; at <= HALF; at++)
        code[at] = random_word() % 4 == 0 ? any_access() : any_instruction();
    code[at++] = WORD(BSIC, SX(VE_S_LINK) | SZ(CALLEE));
    for (; at <= 2 * HALF; at++)
        code[at] = random_word() % 4 == 0 ? any_access() : any_instruction();
    code[at++] = WORD(LEA, SX(COUNTER) | SZ(COUNTER) | DISPLACEMENT(-1));
    code[at] = BRANCH(BR_L, VE_GREATER, SY(COUNTER), -8 * (int)(at - 1));
    code[at + 1] = WORD(B_L, SZ(BACK)) | (uint64_t)VE_ALWAYS << 48;
}

static void test_switches_between_engines_change_nothing(void)
{
    static uint8_t interpreted_memory[PAGE];
    uint64_t before = compiled();
    for (uint64_t seed = 20; seed < 23; seed++) {
        put_calling_loop();
        ve_code_changed();
        struct ve_core *plain = make_gate_core(seed, switching_gate);
        plain->s[COUNTER] = 10 * TIMES;
        switches = false;
        ve_translate_use(VE_ENGINE_INTERPRETER);
        CHECK(ve_core_run(plain, (uint64_t)(uintptr_t)code));
        memcpy(interpreted_memory, memory, PAGE);

        struct ve_core *switched = make_gate_core(seed, switching_gate);
        switched->s[COUNTER] = 10 * TIMES;
        switches = true;
        ve_translate_use(VE_ENGINE_TRANSLATED);
        CHECK(ve_core_run(switched, (uint64_t)(uintptr_t)code));
        CHECK(memcmp(memory, interpreted_memory, PAGE) == 0);
        check_equal(plain, switched);
        ve_core_destroy(plain);
        ve_core_destroy(switched);
    }
    CHECK(compiled() >= before + 3);
}

static void test_a_computed_branch_depends_on_its_condition(void)
{
    const uint64_t words[] = {
        WORD(SIC, SX(1)),
        WORD(LEA, SX(2) | SZ(1) | DISPLACEMENT(40)), /* where the counter is */
        WORD(AND, SX(3) | IY(1) | SZ(COUNTER)),
        WORD(B_L, SY(3) | SZ(2)) | (uint64_t)VE_GREATER << 48,
        WORD(LEA, SX(4) | SZ(4) | DISPLACEMENT(1)),
        WORD(LEA, SX(5) | SZ(5) | DISPLACEMENT(3)),
        COUNT_DOWN,
        UP_TO_0(7),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    ve_core_destroy(run_both(45, NEAREST));
}

/* Of -1 to 2, which as numbers are a NaN, 0 and what is above it; r30 to r33 count who goes on. */
static void test_each_condition_holds_for_the_same_operands(void)
{
    for (uint64_t condition = VE_GREATER; condition < VE_ALWAYS; condition++) {
        const uint64_t words[] = {
            WORD(AND, SX(1) | IY(3) | SZ(COUNTER)),
            WORD(SRL, SX(2) | IY(2) | SZ(COUNTER)),
            WORD(AND, SX(2) | IY(3) | SZ(2)),
            WORD(LEA, SX(1) | SZ(1) | DISPLACEMENT(-1)),
            WORD(LEA, SX(2) | SZ(2) | DISPLACEMENT(-1)),
            WORD(SLL, SX(3) | IY(32) | SZ(1)),
            WORD(SLL, SX(4) | IY(32) | SZ(2)),
            BRANCH(BR_L, condition, SY(1) | SZ(2), 16),
            WORD(LEA, SX(30) | SZ(30) | DISPLACEMENT(1)),
            BRANCH(BR_W, condition, SY(1) | SZ(2), 16),
            WORD(LEA, SX(31) | SZ(31) | DISPLACEMENT(1)),
            BRANCH(BR_D, condition, SY(1) | SZ(2), 16),
            WORD(LEA, SX(32) | SZ(32) | DISPLACEMENT(1)),
            BRANCH(BR_S, condition, SY(3) | SZ(4), 16),
            WORD(LEA, SX(33) | SZ(33) | DISPLACEMENT(1)),
            COUNT_DOWN,
            UP_TO_0(16),
            RETURN,
        };
        memcpy(code, words, sizeof words);
        ve_core_destroy(run_both(46, NEAREST));
    }
}

/* Sums that are too large set the flag, and no others do. */
static void test_an_overflow_sets_its_flag(void)
{
    for (uint64_t last = 0; last < 2; last++) {
        const uint64_t words[] = {
            WORD(LEA, SX(2) | DISPLACEMENT(INT32_MAX - TIMES + (int)last)),
            WORD(ADDS_W_SX, SX(3) | SY(COUNTER) | SZ(2)),
            COUNT_DOWN,
            UP_TO_0(3),
            RETURN,
        };
        memcpy(code, words, sizeof words);
        struct ve_core *core = run_both(47 + last, NEAREST);
        CHECK((core->psw & VE_PSW_FIXED_OVERFLOW) == 0 || last > 0);
        ve_core_destroy(core);
    }
    /* One that only translated code has. */
    const uint64_t words[] = {
        WORD(LEA, SX(2) | DISPLACEMENT(INT32_MAX)),
        WORD(SUBU_L, SX(3) | SY(2) | SZ(COUNTER)),
        WORD(ADDS_W_SX, SX(3) | IY(2) | SZ(3)),
        COUNT_DOWN,
        UP_TO_0(4),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    struct ve_core *core = run_both(49, NEAREST);
    CHECK((core->psw & VE_PSW_FIXED_OVERFLOW) != 0);
    ve_core_destroy(core);
}

int main(void)
{
    set_up_engines();

    test_random_loops();
    test_switches_between_engines_change_nothing();
    test_a_computed_branch_depends_on_its_condition();
    test_an_exception_has_its_instruction();
    test_each_condition_holds_for_the_same_operands();
    test_an_overflow_sets_its_flag();
    return 0;
}
