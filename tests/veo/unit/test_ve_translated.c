/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translated Vector Engine code does what the interpreter does: registers, memory, flags,
 * exceptions. test_ve_translation.c has what is translated, when, and where faults are.
 *
 * build: @ve_translate @ve_machine
 */
#include "tests/veo/support/ve_engines.h"

#include "veo/translate/block.h"

#include <math.h>

static void test_random_loops(void)
{
    static const uint64_t roundings[] = {VE_IRM_NEAREST, VE_IRM_ZERO, VE_IRM_UP, VE_IRM_DOWN};
    for (uint64_t seed = 1; seed <= 4; seed++) {
        put_loop(BODY);
        ve_core_destroy(run_both(seed, roundings[seed % 4] << VE_PSW_ROUNDING_SHIFT));
    }
}

/* Computes with numbers: doubles are in registers from D on, floats from S on; few have others. */
static uint64_t any_computation(void)
{
    enum { D = 20, S = 32, COUNT = 12, NONE = 0 };
    static const struct {
        uint32_t operation;
        uint8_t x, y, z;
    } rows[] = {
        {VE_OP_FADD_D, D, D, D},     {VE_OP_FSUB_D, D, D, D},     {VE_OP_FMUL_D, D, D, D},
        {VE_OP_FDIV_D, D, D, D},     {VE_OP_FMAX_D, D, D, D},     {VE_OP_FMIN_D, D, D, D},
        {VE_OP_FCMP_D, D, D, D},     {VE_OP_CMOV_D, D, D, D},     {VE_OP_CVT_D_L, D, D, NONE},
        {VE_OP_CVT_D_W, D, S, NONE}, {VE_OP_CVT_D_S, D, S, NONE}, {VE_OP_OR, D, NONE, D},
        {VE_OP_LD, D, NONE, NONE},   {VE_OP_ST, D, NONE, NONE},   {VE_OP_FADD_S, S, S, S},
        {VE_OP_FSUB_S, S, S, S},     {VE_OP_FMUL_S, S, S, S},     {VE_OP_FDIV_S, S, S, S},
        {VE_OP_FMAX_S, S, S, S},     {VE_OP_FMIN_S, S, S, S},     {VE_OP_FCMP_S, S, S, S},
        {VE_OP_CMOV_S, S, S, S},     {VE_OP_CVT_S_W, S, D, NONE}, {VE_OP_CVT_S_D, S, D, NONE},
        {VE_OP_OR, S, NONE, S},      {VE_OP_LDU, S, NONE, NONE},  {VE_OP_STU, S, NONE, NONE},
        {VE_OP_LD, S, NONE, NONE},   {VE_OP_ST, S, NONE, NONE},   {VE_OP_ADDU_L, S, S, D},
        {VE_OP_CVT_L_D, D, D, NONE}, {VE_OP_OR, D, NONE, S},      {VE_OP_FADD_D, D, D, D},
        {VE_OP_FMUL_S, S, S, S},     {VE_OP_FMUL_D, D, D, D},     {VE_OP_FADD_S, S, S, S},
    };
    size_t row = random_word() % (sizeof rows / sizeof *rows);
    uint32_t operation = rows[row].operation;
    uint64_t word = ve_operation_info(operation)->match | SX(rows[row].x + random_word() % COUNT);
    bool is_access = operation == VE_OP_LD || operation == VE_OP_ST || operation == VE_OP_LDU ||
                     operation == VE_OP_STU;
    if (is_access)
        return word | SZ(BUFFER) | DISPLACEMENT(random_word() % 500 * 8);
    if (operation == VE_OP_CMOV_D || operation == VE_OP_CMOV_S)
        word |= random_word() % 16;
    if (rows[row].y != NONE)
        word |= SY(rows[row].y + random_word() % COUNT);
    return rows[row].z != NONE ? word | SZ(rows[row].z + random_word() % COUNT) : word;
}

static void test_random_computations_with_numbers(void)
{
    static const double starts[] = {1.5, -0.0, 1e300, 1e-310, -3, INFINITY, 7, 0.1};
    for (uint64_t seed = 60; seed < 64; seed++) {
        size_t at = 0;
        for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
            uint64_t bits;
            memcpy(&bits, &starts[i], sizeof bits);
            code[at++] = WORD(LEA_SL, SX(20 + i) | DISPLACEMENT(bits >> 32));
            code[at++] = WORD(CVT_S_D, SX(32 + i) | SY(20 + i));
        }
        size_t first = at;
        while (at < first + BODY)
            code[at++] = any_computation();
        code[at++] = COUNT_DOWN;
        size_t back = seed % 2 == 0 ? at : at - first; /* all again, or with what came out */
        code[at] = UP_TO_0((int)back);
        code[++at] = RETURN;

        ve_code_changed();
        struct ve_core *core = run_both(seed, NEAREST);
        struct ve_plan *plan = malloc(sizeof *plan);
        CHECK(plan != NULL);
        ve_plan_make(plan, core, (uint64_t)(uintptr_t)&code[first]);
        ve_blocks_find(plan);
        ve_numbers_find(plan);
        CHECK(plan->doubles != 0 && plan->singles != 0);
        free(plan);
        ve_core_destroy(core);
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

/* A plain gate: it reads registers of arguments, and writes that of the result. */
static bool plain_gate(struct ve_core *core, uint64_t address)
{
    for (uint32_t i = 1; i < 8; i++)
        core->s[0] = core->s[0] * 31 + core->s[i];
    return switching_gate(core, address);
}

static void check_switches(bool (*gate)(struct ve_core *core, uint64_t address),
                           const uint8_t *plain_gates)
{
    static uint8_t interpreted_memory[PAGE];
    uint64_t before = compiled();
    for (uint64_t seed = 20; seed < 23; seed++) {
        put_calling_loop();
        ve_code_changed();
        struct ve_core *plain = make_gate_core(seed, gate);
        plain->s[COUNTER] = 10 * TIMES;
        switches = false;
        ve_translate_use(VE_ENGINE_INTERPRETER);
        CHECK(ve_core_run(plain, (uint64_t)(uintptr_t)code));
        memcpy(interpreted_memory, memory, PAGE);

        struct ve_core *switched = make_gate_core(seed, gate);
        switched->plain_gates = plain_gates;
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

static void test_switches_between_engines_change_nothing(void)
{
    static const uint8_t marks[PAGE / 8] = {1};
    check_switches(switching_gate, NULL);
    check_switches(plain_gate, marks);
}

/* A gate that wants no registers to be kept, and stops at last. */
static bool stopping_gate(struct ve_core *core, uint64_t address)
{
    CHECK(address == GATE);
    for (uint32_t i = 20; i < 30; i++)
        core->s[i] += core->s[COUNTER] * i;
    return core->s[COUNTER] != 5;
}

/* Runs a loop that calls the host by both, until it ends or stops. */
static void check_calls(const uint64_t *words, size_t size,
                        bool (*gate)(struct ve_core *core, uint64_t address),
                        const uint8_t *plain_gates, enum ve_fault_kind kind)
{
    struct ve_core *cores[2];
    memcpy(code, words, size);
    ve_code_changed();
    for (int i = 0; i < 2; i++) {
        cores[i] = make_gate_core(52, gate);
        cores[i]->plain_gates = plain_gates;
        ve_translate_use(i == 0 ? VE_ENGINE_INTERPRETER : VE_ENGINE_TRANSLATED);
        CHECK(ve_core_run(cores[i], (uint64_t)(uintptr_t)code) == (kind == VE_FAULT_NONE));
        CHECK(cores[i]->fault.kind == kind);
    }
    check_equal(cores[0], cores[1]);
    ve_core_destroy(cores[0]);
    ve_core_destroy(cores[1]);
}

static bool mixing_gate(struct ve_core *core, uint64_t address)
{
    CHECK(address == GATE);
    for (uint32_t i = 1; i < 8; i++)
        core->s[0] = core->s[0] * 31 + core->s[i];
    return true;
}

static void test_a_plain_call_has_the_registers_of_arguments(void)
{
    static const uint8_t marks[PAGE / 8] = {1};
    uint64_t words[13] = {WORD(OR, SX(BACK) | IY(0) | SZ(VE_S_LINK))};
    for (uint64_t r = 0; r < 8; r++)
        words[1 + r] = WORD(ADDU_L, SX(r) | SY(r) | SZ(COUNTER));
    words[9] = WORD(BSIC, SX(VE_S_LINK) | SZ(CALLEE));
    words[10] = COUNT_DOWN;
    words[11] = UP_TO_0(10);
    words[12] = WORD(B_L, SZ(BACK)) | (uint64_t)VE_ALWAYS << 48;
    check_calls(words, sizeof words, mixing_gate, marks, VE_FAULT_NONE);
}

static void test_a_call_of_the_host_may_change_registers_and_stop(void)
{
    const uint64_t words[] = {
        WORD(BSIC, SX(VE_S_LINK) | SZ(CALLEE)),
        WORD(ADDU_L, SX(20) | SY(20) | SZ(21)),
        WORD(ADDU_L, SX(22) | SY(COUNTER) | SZ(23)),
        COUNT_DOWN,
        UP_TO_0(4),
        RETURN,
    };
    struct ve_core *cores[2];
    memcpy(code, words, sizeof words);
    ve_code_changed();
    for (int i = 0; i < 2; i++) {
        cores[i] = make_gate_core(50, stopping_gate);
        ve_translate_use(i == 0 ? VE_ENGINE_INTERPRETER : VE_ENGINE_TRANSLATED);
        CHECK(!ve_core_run(cores[i], (uint64_t)(uintptr_t)code));
    }
    CHECK(runs_translated(cores[1]) && cores[1]->s[COUNTER] == 5);
    check_equal(cores[0], cores[1]);
    ve_core_destroy(cores[0]);
    ve_core_destroy(cores[1]);
}

/* Four cases, to which a table leads; one unit has them all. */
static void test_a_table_of_jumps_is_in_one_unit(void)
{
    enum { CASES = 11, TABLE = 21, TARGET = 22 };
    const uint64_t words[] = {
        WORD(SIC, SX(TABLE)),
        /* the loop: case i is 16 i bytes behind the first one */
        WORD(AND, SX(TARGET) | IY(3) | SZ(COUNTER)),
        WORD(SLL, SX(TARGET) | IY(4) | SZ(TARGET)),
        WORD(LEA, SX(TARGET) | SY(TARGET) | SZ(TABLE) | DISPLACEMENT(8 * (CASES - 1))),
        WORD(B_L, SZ(TARGET)) | (uint64_t)VE_ALWAYS << 48,
        WORD(LEA, SX(1) | SZ(1) | DISPLACEMENT(1)), /* not reached */
        /* the end of it, to which cases jump */
        COUNT_DOWN,
        UP_TO_0(6),
        RETURN,
        WORD(NOP, 0),
        WORD(NOP, 0),
        WORD(LEA, SX(1) | SZ(1) | DISPLACEMENT(3)),
        BRANCH(BR_L, VE_ALWAYS, 0, -48),
        WORD(LEA, SX(1) | SZ(1) | DISPLACEMENT(5)),
        BRANCH(BR_L, VE_ALWAYS, 0, -64),
        WORD(LEA, SX(1) | SZ(1) | DISPLACEMENT(7)),
        BRANCH(BR_L, VE_ALWAYS, 0, -80),
        WORD(LEA, SX(1) | SZ(1) | DISPLACEMENT(9)),
        BRANCH(BR_L, VE_ALWAYS, 0, -96),
    };
    memcpy(code, words, sizeof words);
    uint64_t before = compiled();
    struct ve_core *core = run_both(51, NEAREST);
    CHECK(compiled() == before + 1);
    const struct ve_page *page = ve_code_page(core->code, (uint64_t)(uintptr_t)code);
    for (uint32_t i = 0; i < 4; i++)
        CHECK(page->list[CASES + 2 * i].label == core->code->translated);
    ve_core_destroy(core);
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
    test_random_computations_with_numbers();
    test_switches_between_engines_change_nothing();
    test_a_computed_branch_depends_on_its_condition();
    test_a_call_of_the_host_may_change_registers_and_stop();
    test_a_plain_call_has_the_registers_of_arguments();
    test_a_table_of_jumps_is_in_one_unit();
    test_an_exception_has_its_instruction();
    test_each_condition_holds_for_the_same_operands();
    test_an_overflow_sets_its_flag();
    return 0;
}
