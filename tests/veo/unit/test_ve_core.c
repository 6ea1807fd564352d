/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A core of the Vector Engine: running code, calls of the host, exceptions.
 *
 * build: @ve_machine tsan
 */
#include "tests/veo/support/ve_code.h"

#include <fenv.h>
#include <pthread.h>
#include <sys/mman.h>

#define PAGE 4096
#define PAGES 3

/* --- what the tests share -----------------------------------------------------------------------
 */

static struct ve_core *core;
static uint64_t *code; /* PAGES pages */

static uint64_t address_of(size_t word)
{
    return (uint64_t)(uintptr_t)&code[word];
}

static void put(size_t at, size_t count, const uint64_t *words)
{
    memcpy(&code[at], words, count * sizeof *words);
    ve_code_changed();
}

#define PUT(at, ...) \
    put(at, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__})

static bool run_words(void)
{
    return ve_core_run(core, address_of(0));
}

static void check_fault(enum ve_fault_kind kind, size_t word)
{
    if (core->fault.kind != kind)
        fprintf(stderr, "exception %s, expected %s\n", ve_fault_name(core->fault.kind),
                ve_fault_name(kind));
    CHECK(core->fault.kind == kind);
    if (core->fault.ic != address_of(word))
        fprintf(stderr, "exception at word %zu, expected %zu\n",
                (size_t)(core->fault.ic - address_of(0)) / 8, word);
    CHECK(core->fault.ic == address_of(word));
}

/* --- running -------------------------------------------------------------------------------------
 */

static void test_run_ends_at_its_return(void)
{
    core->s[VE_S_LINK] = 77;
    PUT(0, SET(0, 5), WORD(ADDS_L, SX(0) | SY(0) | SZ(0)), RETURN);
    CHECK(run_words());
    CHECK(core->s[0] == 10);
    CHECK(core->s[VE_S_LINK] == 77);
    CHECK(core->fault.kind == VE_FAULT_NONE);
    CHECK(ve_core_current == NULL);
}

static void test_loops_and_branches_across_pages(void)
{
    const size_t far = PAGE / 8 - 1; /* the last word of the first page */
    /* s1 = 0 + 1 + ... + 10, with the loop's end in the next page. */
    PUT(0, SET(0, 10), SET(1, 0), BRANCH(BR_L, VE_ALWAYS, 0, (far - 2) * 8));
    PUT(far, WORD(ADDS_L, SX(1) | SY(1) | SZ(0)), WORD(ADDS_L, SX(0) | IY(-1) | SZ(0)),
        BRANCH(BR_L, VE_GREATER, SY(0) | WORD(BR_L, 0), -16), RETURN);
    CHECK(run_words());
    CHECK(core->s[1] == 55);
    CHECK(core->s[0] == 0);
}

static void test_every_condition_branches_as_it_says(void)
{
    const int64_t values[] = {INT64_MIN, -1, 0, 1, INT64_MAX, (int64_t)1 << 32};
    const uint64_t operations[] = {WORD(BR_L, 0), WORD(BR_W, 0)};
    for (size_t operation = 0; operation < 2; operation++)
        for (uint64_t condition = 0; condition < 16; condition++)
            for (size_t i = 0; i < 36; i++)
                for (size_t far = 0; far < 2; far++) {
                    int64_t a = values[i / 6];
                    int64_t b = values[i % 6];
                    size_t target = far != 0 ? PAGE / 8 + 4 : 4;
                    PUT(0, SET(0, 0),
                        operations[operation] | condition << 48 | SY(1) | SZ(2) |
                            DISPLACEMENT((target - 1) * 8),
                        SET(0, 1), RETURN);
                    PUT(target, SET(0, 2), RETURN);
                    core->s[1] = (uint64_t)a;
                    core->s[2] = (uint64_t)b;
                    CHECK(run_words());
                    if (operation == 1) {
                        a = (int32_t)a;
                        b = (int32_t)b;
                    }
                    uint64_t relation = a > b ? VE_GREATER : a < b ? VE_LESS : VE_EQUAL;
                    CHECK(core->s[0] == ((relation & condition) != 0 ? 2 : 1));
                }
}

static void test_a_call_saves_where_it_came_from(void)
{
    PUT(0, WORD(OR, SX(40) | SZ(VE_S_LINK)), WORD(BSIC, SX(VE_S_LINK) | SZ(VE_S_CALLEE)),
        WORD(SIC, SX(1)), WORD(B_L, SZ(40)) | (uint64_t)VE_ALWAYS << 48);
    PUT(100, SET(0, 9), RETURN);
    core->s[VE_S_CALLEE] = address_of(100);
    CHECK(run_words());
    CHECK(core->s[0] == 9);
    CHECK(core->s[1] == address_of(3));
}

/* --- the host
 * --------------------------------------------------------------------------------------- */

static bool doubling_gate(struct ve_core *caller, uint64_t address)
{
    CHECK(caller == core);
    CHECK(caller == ve_core_current);
    CHECK(address == caller->gate_low + 8);
    caller->s[0] *= 2;
    return true;
}

/* Runs the words at 200 on the same core. */
static bool nesting_gate(struct ve_core *caller, uint64_t address)
{
    (void)address;
    uint64_t link = caller->s[VE_S_LINK];
    CHECK(ve_core_run(caller, address_of(200)));
    CHECK(caller->s[VE_S_LINK] == link);
    return true;
}

static bool ending_gate(struct ve_core *caller, uint64_t address)
{
    (void)caller;
    (void)address;
    return false;
}

static void call_gate(bool (*gate)(struct ve_core *, uint64_t))
{
    core->gate_low = address_of(PAGE / 8 * 2);
    core->gate_high = core->gate_low + PAGE;
    core->gate = gate;
    core->s[VE_S_CALLEE] = core->gate_low + 8;
    PUT(0, WORD(OR, SX(40) | SZ(VE_S_LINK)), SET(0, 21),
        WORD(BSIC, SX(VE_S_LINK) | SZ(VE_S_CALLEE)), WORD(B_L, SZ(40)) | (uint64_t)VE_ALWAYS << 48);
}

static void test_a_gate_calls_the_host(void)
{
    call_gate(doubling_gate);
    CHECK(run_words());
    CHECK(core->s[0] == 42);
}

static void test_a_gate_may_run_code(void)
{
    PUT(200, SET(0, 33), RETURN);
    call_gate(nesting_gate);
    CHECK(run_words());
    CHECK(core->s[0] == 33);
}

static volatile double divisor = 3;
static volatile long double long_divisor = 3;

/* Rounds in another way from now on, and computes by both units of the host. */
static bool rounding_gate(struct ve_core *caller, uint64_t address)
{
    (void)address;
    CHECK(fetestexcept(FE_ALL_EXCEPT) == 0);
    CHECK(1 / divisor == 1.0 / 3 && 1 / long_divisor == 1.0L / 3);
    CHECK((ve_core_psw(caller) & VE_PSW_INEXACT) != 0);
    ve_core_set_psw(caller, (uint64_t)VE_IRM_UP << VE_PSW_ROUNDING_SHIFT);
    CHECK(fegetround() == FE_UPWARD && -1 / long_divisor > -1.0L / 3);
    return true;
}

static void raise_overflow(void)
{
    volatile double large = 1e300;
    large *= large;
}

/* Does nothing by the other unit. */
static bool dividing_gate(struct ve_core *caller, uint64_t address)
{
    (void)address;
    bool is_up = (caller->psw & VE_PSW_ROUNDING) >> VE_PSW_ROUNDING_SHIFT == VE_IRM_UP;
    CHECK(fetestexcept(FE_ALL_EXCEPT) == 0);
    CHECK(fegetround() == (is_up ? FE_UPWARD : FE_TONEAREST));
    CHECK((1 / divisor > 1.0 / 3) == is_up);
    uint64_t next = is_up ? VE_IRM_NEAREST : VE_IRM_UP;
    ve_core_set_psw(caller, next << VE_PSW_ROUNDING_SHIFT);
    return true;
}

static void test_the_host_keeps_the_environment_of_one_unit(void)
{
    call_gate(dividing_gate);
    for (int which = 0; which < 4; which++) {
        feclearexcept(FE_ALL_EXCEPT);
        if (which % 2 == 1)
            raise_overflow();
        int flags = fetestexcept(FE_ALL_EXCEPT);
        uint64_t rounding = which / 2 == 1 ? VE_IRM_UP : VE_IRM_NEAREST;
        ve_core_set_psw(core, rounding << VE_PSW_ROUNDING_SHIFT);
        CHECK(run_words());
        CHECK(fetestexcept(FE_ALL_EXCEPT) == flags && fegetround() == FE_TONEAREST);
        CHECK(1 / divisor == 1.0 / 3);
    }
    feclearexcept(FE_ALL_EXCEPT);
    ve_core_set_psw(core, (uint64_t)VE_IRM_NEAREST << VE_PSW_ROUNDING_SHIFT);
}

static void test_the_host_keeps_its_floating_point_environment(void)
{
    static const int roundings[] = {FE_TONEAREST, FE_DOWNWARD};
    call_gate(rounding_gate);
    for (int which = 0; which < 6; which++) {
        feclearexcept(FE_ALL_EXCEPT);
        fesetround(roundings[which / 3]);
        if (which % 3 == 1)
            feraiseexcept(FE_OVERFLOW);                                     /* of one unit */
        volatile long double noted = which % 3 == 2 ? 1 / long_divisor : 0; /* and of the other */
        (void)noted;
        int flags = fetestexcept(FE_ALL_EXCEPT);
        ve_core_set_psw(core, (uint64_t)VE_IRM_NEAREST << VE_PSW_ROUNDING_SHIFT);
        CHECK(run_words());
        CHECK((core->psw & VE_PSW_INEXACT) != 0 && (core->psw & VE_PSW_OVERFLOW) == 0);
        CHECK(fetestexcept(FE_ALL_EXCEPT) == flags && fegetround() == roundings[which / 3]);
        bool is_down = which / 3 == 1;
        CHECK((-1 / divisor < -1.0 / 3) == is_down);
        CHECK((1 / long_divisor < 1.0L / 3) == is_down);
    }
    fesetround(FE_TONEAREST);
    feclearexcept(FE_ALL_EXCEPT);
    ve_core_set_psw(core, (uint64_t)VE_IRM_NEAREST << VE_PSW_ROUNDING_SHIFT);
}

static void test_a_gate_may_end_the_program(void)
{
    call_gate(ending_gate);
    CHECK(!run_words());
    CHECK(core->fault.kind == VE_FAULT_NONE);
}

/* --- exceptions
 * -------------------------------------------------------------------------------------- */

static void test_illegal_instructions_stop(void)
{
    PUT(0, SET(0, 1), 0);
    CHECK(!run_words());
    check_fault(VE_FAULT_ILOP, 1);
    CHECK(core->fault.word == 0);

    PUT(0, UINT64_C(0x07170000ffffffc8));
    CHECK(!run_words());
    check_fault(VE_FAULT_VE3, 0);
    CHECK(strcmp(ve3_mnemonic(core->fault.word), "addi") == 0);
    CHECK(strcmp(ve_fault_name(VE_FAULT_DIVE), "DIVE") == 0);
}

static void test_a_jump_to_no_code_stops(void)
{
    CHECK(!ve_core_run(core, 0));
    CHECK(core->fault.kind == VE_FAULT_ILSP);
    CHECK(core->fault.ic == 0);
    CHECK(!ve_core_run(core, address_of(0) + 4));
    CHECK(core->fault.kind == VE_FAULT_ILSA);
}

static void test_loads_and_stores_need_no_alignment_but_atomics_do(void)
{
    uint8_t data[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    PUT(0, WORD(LD, SX(1) | SZ(0)), WORD(ST, SX(1) | SZ(0) | DISPLACEMENT(5)), RETURN);
    core->s[0] = (uint64_t)(uintptr_t)data + 1;
    CHECK(run_words());
    CHECK(core->s[1] == UINT64_C(0x0807060504030201));
    CHECK(memcmp(data + 6, data + 1, 5) == 0 && data[13] == 8);

    PUT(0, WORD(CAS_L, SX(1) | SY(2) | SZ(0)), RETURN);
    core->s[0] = ((uint64_t)(uintptr_t)data | 7) - 3;
    CHECK(!run_words());
    check_fault(VE_FAULT_ILSA, 0);
    CHECK(core->fault.address == core->s[0]);
}

static void test_a_vector_length_above_256_stops(void)
{
    PUT(0, WORD(LVL, SY(0)), RETURN);
    core->s[0] = 256;
    CHECK(run_words());
    CHECK(core->vl == 256);
    core->s[0] = 257;
    CHECK(!run_words());
    check_fault(VE_FAULT_ILDT, 0);
    CHECK(core->vl == 256);
}

/* Raises each exception, with s1 and s2 for operands. */
static void test_arithmetic_exceptions_stop_where_they_are_enabled(void)
{
    const double big = 1e308;
    const double small = 1e-308;
    const double zero = 0;
    const double one = 1;
    const double three = 3;
    const struct {
        uint64_t word, flag;
        uint64_t y, z;
        enum ve_fault_kind kind;
    } cases[] = {
        {WORD(DIVS_L, SX(0) | SY(1) | SZ(2)), VE_PSW_DIVIDE, 7, 0, VE_FAULT_DIVE},
        {WORD(DIVU_W, SX(0) | SY(1) | SZ(2)), VE_PSW_DIVIDE, 7, 0, VE_FAULT_DIVE},
        {WORD(ADDS_L, SX(0) | SY(1) | SZ(2)), VE_PSW_FIXED_OVERFLOW, INT64_MAX, 1, VE_FAULT_XOFE},
        {WORD(MULS_W_SX, SX(0) | SY(1) | SZ(2)), VE_PSW_FIXED_OVERFLOW, 65536, 65536,
         VE_FAULT_XOFE},
        {WORD(FDIV_D, SX(0) | SY(1) | SZ(2)), VE_PSW_DIVIDE, 0, 0, VE_FAULT_DIVE},
        {WORD(FMUL_D, SX(0) | SY(1) | SZ(2)), VE_PSW_OVERFLOW, 0, 0, VE_FAULT_FOFE},
        {WORD(FMUL_D, SX(0) | SY(1) | SZ(2)), VE_PSW_UNDERFLOW, 0, 0, VE_FAULT_FUFE},
        {WORD(FSUB_D, SX(0) | SY(1) | SZ(2)), VE_PSW_INVALID, UINT64_C(0x7ff0) << 48,
         UINT64_C(0x7ff0) << 48, VE_FAULT_INVE},
        {WORD(FDIV_D, SX(0) | SY(1) | SZ(2)), VE_PSW_INEXACT, 0, 0, VE_FAULT_INEE},
    };
    const double *operands[][2] = {
        {NULL, NULL}, {NULL, NULL},     {NULL, NULL}, {NULL, NULL},   {&one, &zero},
        {&big, &big}, {&small, &small}, {NULL, NULL}, {&one, &three},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (uint64_t enabled = 0; enabled < 2; enabled++) {
            PUT(0, WORD(LFR, IY(0)), cases[i].word, WORD(SFR, SX(3)), RETURN);
            core->s[1] = cases[i].y;
            core->s[2] = cases[i].z;
            if (operands[i][0] != NULL) {
                memcpy(&core->s[1], operands[i][0], sizeof core->s[1]);
                memcpy(&core->s[2], operands[i][1], sizeof core->s[2]);
            }
            ve_core_set_psw(core, (uint64_t)VE_IRM_NEAREST << VE_PSW_ROUNDING_SHIFT |
                                      (enabled * cases[i].flag) << VE_PSW_ENABLE_SHIFT);
            CHECK(run_words() == (enabled == 0));
            if (enabled != 0)
                check_fault(cases[i].kind, 1);
            else
                CHECK((core->s[3] & cases[i].flag) != 0);
        }
    ve_core_set_psw(core, (uint64_t)VE_IRM_NEAREST << VE_PSW_ROUNDING_SHIFT);
}

static void test_the_rounding_mode_is_that_of_the_psw(void)
{
    const double one = 1;
    const double three = 3;
    double results[4];
    PUT(0, WORD(LPM, SY(5)), WORD(FDIV_D, SX(0) | SY(1) | SZ(2)), WORD(SPM, SX(6)), RETURN);
    for (uint64_t mode = 0; mode < 4; mode++) {
        memcpy(&core->s[1], &one, sizeof one);
        memcpy(&core->s[2], &three, sizeof three);
        core->s[5] = mode << VE_PSW_ROUNDING_SHIFT;
        CHECK(run_words());
        CHECK(core->s[6] == core->s[5]);
        memcpy(&results[mode], &core->s[0], sizeof results[mode]);
    }
    CHECK(results[VE_IRM_ZERO] == results[VE_IRM_DOWN]);
    CHECK(results[VE_IRM_UP] > results[VE_IRM_DOWN]);
    CHECK(results[VE_IRM_NEAREST] == 1.0 / 3);
    CHECK(one / three == 1.0 / 3); /* the host's is untouched */
}

/* --- monitor calls
 * -------------------------------------------------------------------------------------- */

static bool monitor(struct ve_core *caller, uint64_t number)
{
    caller->s[0] = number + 1;
    return number != 99;
}

static void test_monitor_calls_grow_the_stack_or_reach_the_host(void)
{
    uint64_t area[3] = {315, 0, 0};
    uint64_t thread[4] = {0, 0, 0, (uint64_t)(uintptr_t)area};
    PUT(0, WORD(MONC, 0), RETURN);
    core->s[VE_S_THREAD] = (uint64_t)(uintptr_t)thread;
    core->s[VE_S_LIMIT] = 9000;
    core->s[VE_S_STACK] = 5000;
    core->stack_low = 4096;
    CHECK(run_words());
    CHECK(core->s[VE_S_LIMIT] == 5000);
    core->s[VE_S_STACK] = 4000;
    CHECK(!run_words());
    check_fault(VE_FAULT_STACK, 0);
    CHECK(core->fault.address == 4000);

    area[0] = 7;
    CHECK(!run_words());
    check_fault(VE_FAULT_MONC, 0);
    core->monitor_call = monitor;
    CHECK(run_words());
    CHECK(core->s[0] == 8);
    area[0] = 99;
    CHECK(!run_words());
    CHECK(core->fault.kind == VE_FAULT_NONE);

    PUT(0, WORD(MONC_HDB, 0));
    CHECK(!run_words());
    check_fault(VE_FAULT_MONT, 0);
}

/* --- code that changes, steps
 * ----------------------------------------------------------------------------- */

static void test_code_that_changes_itself_is_seen_after_fencei(void)
{
    /* Writes "or s0, 0, 2" over word 3, which was executed before. */
    PUT(0, BRANCH(BR_L, VE_ALWAYS, 0, 24), WORD(ST, SX(1) | SZ(2)), WORD(FENCEI, 0), SET(0, 1),
        WORD(ADDS_L, SX(3) | IY(1) | SZ(3)), BRANCH(BR_L, VE_GREATER, IY(2) | SZ(3), -32), RETURN);
    core->s[1] = SET(0, 2);
    core->s[2] = address_of(3);
    core->s[3] = 0;
    CHECK(run_words());
    CHECK(core->s[0] == 2);
    CHECK(core->s[3] == 2);
}

static uint32_t observed;

static void observe(struct ve_core *caller, const struct ve_instruction *instruction,
                    uint64_t address)
{
    CHECK(caller == core);
    CHECK(instruction->word == *(const uint64_t *)(uintptr_t)address);
    observed++;
}

static void test_steps_do_what_runs_do(void)
{
    PUT(0, SET(0, 10), SET(1, 0), WORD(ADDS_L, SX(1) | SY(1) | SZ(0)),
        WORD(ADDS_L, SX(0) | IY(-1) | SZ(0)), BRANCH(BR_L, VE_GREATER, SY(0), -16), RETURN);
    core->observe = observe;
    observed = 0;
    CHECK(run_words());
    CHECK(observed == 2 + 30 + 1);
    CHECK(core->s[1] == 55);
    core->observe = NULL;

    core->s[VE_S_LINK] = VE_HALT_ADDRESS;
    core->ic = address_of(0);
    uint32_t steps = 0;
    for (bool halted = false; !halted; steps++)
        CHECK(ve_core_step(core, &halted));
    CHECK(steps == 33);
    CHECK(core->s[1] == 55);

    PUT(0, 0);
    core->ic = address_of(0);
    bool halted;
    CHECK(!ve_core_step(core, &halted));
    CHECK(!halted);
    check_fault(VE_FAULT_ILOP, 0);
}

/* --- threads
 * ------------------------------------------------------------------------------------------------
 */

#define ROUNDS 2000

static void *add_in_a_loop(void *counter)
{
    struct ve_core *own = ve_core_create();
    CHECK(own != NULL);
    own->s[5] = (uint64_t)(uintptr_t)counter;
    own->s[6] = ROUNDS;
    CHECK(ve_core_run(own, address_of(0)));
    ve_core_destroy(own);
    return NULL;
}

static void test_cores_of_threads_meet_in_atomic_instructions(void)
{
    /* s0 = old, s1 = old + 1; cas until nobody came between; ROUNDS times. */
    static uint64_t counter;
    PUT(0, WORD(LD, SX(0) | SZ(5)), WORD(ADDS_L, SX(1) | IY(1) | SZ(0)),
        WORD(CAS_L, SX(1) | SY(0) | SZ(5)), BRANCH(BR_L, VE_GREATER | VE_LESS, SY(1) | SZ(0), -24),
        WORD(ADDS_L, SX(6) | IY(-1) | SZ(6)), BRANCH(BR_L, VE_GREATER, SY(6), -40), RETURN);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, add_in_a_loop, &counter) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 4 * ROUNDS);
}

int main(void)
{
    code = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(code != MAP_FAILED);
    core = ve_core_create();
    CHECK(core != NULL);
    test_run_ends_at_its_return();
    test_loops_and_branches_across_pages();
    test_every_condition_branches_as_it_says();
    test_a_call_saves_where_it_came_from();
    test_a_gate_calls_the_host();
    test_a_gate_may_run_code();
    test_a_gate_may_end_the_program();
    test_the_host_keeps_its_floating_point_environment();
    test_the_host_keeps_the_environment_of_one_unit();
    test_illegal_instructions_stop();
    test_a_jump_to_no_code_stops();
    test_loads_and_stores_need_no_alignment_but_atomics_do();
    test_a_vector_length_above_256_stops();
    test_arithmetic_exceptions_stop_where_they_are_enabled();
    test_the_rounding_mode_is_that_of_the_psw();
    test_monitor_calls_grow_the_stack_or_reach_the_host();
    test_code_that_changes_itself_is_seen_after_fencei();
    test_steps_do_what_runs_do();
    test_cores_of_threads_meet_in_atomic_instructions();
    ve_core_destroy(core);
    CHECK(munmap(code, PAGES * PAGE) == 0);
    return 0;
}
