/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translation of Vector Engine code: what belongs to a unit, what is translated anew, where
 * translated code stops, and the cache.
 *
 * build: @ve_translate @ve_machine
 */
#include "tests/veo/support/ve_engines.h"

#include "common/clock.h"
#include "hostcode/background.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Registers: the count at which code changes, and an address. */
enum { CHANGE = 57, ADDRESS = 21 };

/* --- plans -------------------------------------------------------------------------------------
 */

/* A call by what is in a register, set elsewhere or just before, with the function in the unit. */
static void check_callee(bool is_set_before)
{
    enum { CALL = 4, FUNCTION = 20 };
    uint64_t function = (uint64_t)(uintptr_t)&code[FUNCTION];
    memset(code, 0, PAGE);
    code[0] = WORD(LEA, SX(1) | DISPLACEMENT(function));
    code[1] = WORD(AND, SX(1) | SY(1) | IZ(96)); /* (32)0 */
    code[2] = WORD(LEA_SL, SX(CALLEE) | SZ(1) | DISPLACEMENT(function >> 32));
    code[3] = WORD(NOP, 0);
    code[CALL] = WORD(BSIC, SX(BACK) | SZ(CALLEE));
    code[CALL + 1] = RETURN;
    code[FUNCTION] = WORD(B_L, SZ(BACK)) | (uint64_t)VE_ALWAYS << 48;
    ve_code_changed();

    struct ve_core *core = make_core(1);
    struct ve_plan *plan = malloc(sizeof *plan);
    CHECK(plan != NULL && ve_core_run(core, (uint64_t)(uintptr_t)code));
    CHECK(core->s[CALLEE] == function);
    if (is_set_before)
        core->s[CALLEE] = 0;
    else
        code[1] = WORD(NOP, 0);
    ve_plan_make(plan, core, (uint64_t)(uintptr_t)code);
    uint32_t at = ve_plan_find(plan, function);
    CHECK(plan->count == CALL + 3 && at == plan->count - 1);
    CHECK(plan->entry[at] && plan->callee[CALL] == function);
    CHECK(plan->entry[0] && plan->entry[CALL + 1] && !plan->entry[CALL]);
    free(plan);
    ve_core_destroy(core);
}

static void test_a_unit_has_the_functions_that_it_calls(void)
{
    check_callee(false);
    check_callee(true);
}

/* --- code that changes -------------------------------------------------------------------------
 */

/* A loop that adds to s0, and one of two numbers of times; what is added is changed by the gate. */
static bool changing_gate(struct ve_core *core, uint64_t address)
{
    (void)address;
    if (core->s[COUNTER] == TIMES) {
        code[1] = WORD(ADDS_L, SX(0) | IY(2) | SZ(0));
        if (core->owner == NULL)
            ve_code_changed(); /* else the code does so itself */
    }
    return true;
}

static void check_changing_code(bool by_itself)
{
    const uint64_t words[] = {
        WORD(OR, SX(BACK) | IY(0) | SZ(VE_S_LINK)),
        WORD(ADDS_L, SX(0) | IY(1) | SZ(0)),
        WORD(BSIC, SX(VE_S_LINK) | SZ(CALLEE)),
        BRANCH(BR_L, VE_GREATER | VE_LESS, SY(COUNTER) | SZ(CHANGE), 16),
        by_itself ? WORD(FENCEI, 0) : WORD(NOP, 0),
        WORD(LEA, SX(COUNTER) | SZ(COUNTER) | DISPLACEMENT(-1)),
        BRANCH(BR_L, VE_GREATER, SY(COUNTER), -40),
        WORD(B_L, SZ(BACK)) | (uint64_t)VE_ALWAYS << 48,
    };
    memcpy(code, words, sizeof words);
    ve_code_changed();
    struct ve_core *core = make_gate_core(0, changing_gate);
    core->owner = by_itself ? core : NULL;
    core->s[COUNTER] = 2 * TIMES;
    core->s[CHANGE] = TIMES;
    ve_translate_use(VE_ENGINE_TRANSLATED);
    uint64_t before = compiled();
    CHECK(ve_core_run(core, (uint64_t)(uintptr_t)code));
    CHECK(core->s[0] == TIMES + 1 + 2 * (TIMES - 1));
    CHECK(compiled() > before);
    ve_core_destroy(core);
}

static void test_changed_code_is_translated_anew(void)
{
    check_changing_code(false);
    check_changing_code(true);
}

/* Other code that comes and goes, as libraries do, leaves units as they are. */
static void test_code_that_stayed_is_not_translated_again(void)
{
    put_loop(BODY);
    ve_core_destroy(run_both(30, (uint64_t)VE_IRM_NEAREST << VE_PSW_ROUNDING_SHIFT));
    uint64_t before = compiled();
    for (uint32_t i = 0; i < 300; i++) {
        struct ve_core *core = make_core(30);
        ve_code_changed();
        CHECK(ve_core_run(core, (uint64_t)(uintptr_t)code) && runs_translated(core));
        ve_core_destroy(core);
    }
    CHECK(compiled() == before);
}

/* --- stopping ----------------------------------------------------------------------------------
 */

static void test_code_that_is_none_has_its_address(void)
{
    /* The last iteration falls into a word that is no instruction. */
    const uint64_t words[] = {
        WORD(LEA, SX(COUNTER) | SZ(COUNTER) | DISPLACEMENT(-1)),
        BRANCH(BR_L, VE_GREATER, SY(COUNTER), -8),
        0,
    };
    memcpy(code, words, sizeof words);
    struct ve_core *core = run_both(4, (uint64_t)VE_IRM_NEAREST << VE_PSW_ROUNDING_SHIFT);
    CHECK(core->fault.kind == VE_FAULT_ILOP);
    CHECK(core->fault.ic == (uint64_t)(uintptr_t)&code[2]);
    ve_core_destroy(core);
}

static sigjmp_buf after_fault;
static void *volatile fault_address;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    fault_address = info->si_addr;
    siglongjmp(after_fault, 1);
}

/* Runs the code up to the page that cannot be accessed. */
static void run_to_fault(struct ve_core *core)
{
    struct sigaction handler = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    fault_address = NULL;
    sigaction(SIGSEGV, &handler, &before);
    if (sigsetjmp(after_fault, 1) == 0)
        ve_core_run(core, (uint64_t)(uintptr_t)code);
    sigaction(SIGSEGV, &before, NULL);
    ve_core_current = NULL;
}

/* Both engines stop at one instruction, for the first byte behind the page, with the same memory.
 */
static void check_fault(const uint64_t *words, size_t size, size_t place)
{
    static uint8_t interpreted_memory[PAGE];
    memcpy(code, words, size);
    for (enum ve_engine engine = VE_ENGINE_INTERPRETER; engine <= VE_ENGINE_TRANSLATED; engine++) {
        uint64_t count = compiled();
        ve_code_changed();
        ve_translate_use(engine);
        struct ve_core *core = make_core(3);
        core->s[ADDRESS] = core->s[BUFFER];
        run_to_fault(core);
        CHECK(fault_address == memory + PAGE);
        CHECK(ve_core_address(core) == (uint64_t)(uintptr_t)&code[place]);
        CHECK(compiled() == count + (engine == VE_ENGINE_TRANSLATED));
        if (engine == VE_ENGINE_INTERPRETER)
            memcpy(interpreted_memory, memory, PAGE);
        CHECK(memcmp(memory, interpreted_memory, PAGE) == 0);
        ve_core_destroy(core);
    }
}

static void test_a_bad_address_has_its_instruction(void)
{
    /* A load walks into the page that cannot be accessed; a store behind it does not happen. */
    const uint64_t words[] = {
        WORD(ADDS_L, SX(BUFFER) | IY(8) | SZ(BUFFER)),
        WORD(LD, SX(1) | SZ(BUFFER)),
        WORD(ST, SX(1) | SZ(BUFFER) | DISPLACEMENT(-8)),
        BRANCH(BR_L, VE_ALWAYS, SY(COUNTER), -24),
    };
    check_fault(words, sizeof words, 1);
}

static void test_a_bad_address_in_a_block_has_its_instruction(void)
{
    enum { V1 = 1 << 24, V2 = 2 << 24, V3 = 3 << 24 };
    const uint64_t first = WORD(VLD, IY(8) | SZ(ADDRESS) | V1);
    const uint64_t sum = WORD(VADDS_L, V2 | 1 << 16 | 1 << 8);
    const uint64_t other_sum = WORD(VADDS_L, V3 | 2 << 16 | 3 << 8);
    const uint64_t loads[] = {
        WORD(LVL, IY(2)),
        WORD(ADDS_L, SX(BUFFER) | IY(16) | SZ(BUFFER)),
        first,
        sum,
        WORD(VLD, IY(8) | SZ(BUFFER) | V3), /* walks */
        other_sum,
        WORD(VST, IY(8) | SZ(ADDRESS) | V3),
        BRANCH(BR_L, VE_ALWAYS, SY(COUNTER), -48),
    };
    check_fault(loads, sizeof loads, 4);

    /* A scalar load stands behind a load of a vector that is at fault. */
    const uint64_t scalar[] = {
        WORD(LVL, IY(2)),
        WORD(ADDS_L, SX(BUFFER) | IY(16) | SZ(BUFFER)),
        first,
        WORD(VLD, IY(8) | SZ(BUFFER) | V3), /* walks */
        WORD(LD, SX(1) | SZ(BUFFER)),
        other_sum,
        WORD(VST, IY(8) | SZ(ADDRESS) | V3),
        BRANCH(BR_L, VE_ALWAYS, SY(COUNTER), -48),
    };
    check_fault(scalar, sizeof scalar, 3);

    const uint64_t stores[] = {
        WORD(LVL, IY(1)),
        WORD(ADDS_L, SX(BUFFER) | IY(8) | SZ(BUFFER)),
        first,
        sum,
        WORD(VST, IY(8) | SZ(BUFFER) | V2), /* walks */
        first,
        other_sum,
        BRANCH(BR_L, VE_ALWAYS, SY(COUNTER), -48),
    };
    check_fault(stores, sizeof stores, 4);
}

static void test_the_cache_has_code_of_another_address(void)
{
    struct ve_translate_totals before, after;
    put_loop(BODY);
    ve_core_destroy(run_both(9, (uint64_t)VE_IRM_NEAREST << VE_PSW_ROUNDING_SHIFT));
    ve_translate_get_totals(&before);
    uint64_t *other = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(other, code, PAGE);
    code = other;
    ve_core_destroy(run_both(9, (uint64_t)VE_IRM_NEAREST << VE_PSW_ROUNDING_SHIFT));
    ve_translate_get_totals(&after);
    CHECK(after.compiled == before.compiled && after.loaded == before.loaded + 1);
}

/* --- the cache ---------------------------------------------------------------------------------
 */

/* Writes over the last byte of each file in the cache. */
static void damage_cache(void)
{
    DIR *folder = opendir("offchip/translations");
    CHECK(folder != NULL);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        int file = openat(dirfd(folder), entry->d_name, O_RDWR);
        if (file < 0)
            continue;
        char last;
        off_t end = lseek(file, -1, SEEK_END);
        CHECK(pread(file, &last, 1, end) == 1);
        last ^= 1;
        CHECK(pwrite(file, &last, 1, end) == 1 && close(file) == 0);
    }
    closedir(folder);
}

static void test_what_is_damaged_in_the_cache_is_compiled_again(void)
{
    struct ve_translate_totals before, after;
    damage_cache();
    uint64_t *other = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(other != MAP_FAILED);
    memcpy(other, code, PAGE);
    code = other;
    ve_translate_get_totals(&before);
    ve_core_destroy(run_both(9, (uint64_t)VE_IRM_NEAREST << VE_PSW_ROUNDING_SHIFT));
    ve_translate_get_totals(&after);
    CHECK(after.compiled == before.compiled + 1 && after.loaded == before.loaded);
}

static void test_without_a_compiler_code_is_interpreted(void)
{
    CHECK(setenv("VEO_SOFT_CC", "", 1) == 0);
    uint64_t before = compiled();
    put_loop(BODY);
    ve_code_changed();
    ve_translate_use(VE_ENGINE_TRANSLATED);
    struct ve_core *core = make_core(5);
    CHECK(ve_core_run(core, (uint64_t)(uintptr_t)code));
    CHECK(core->s[COUNTER] == 0 && compiled() == before && !runs_translated(core));
    ve_core_destroy(core);
}

/* Runs a loop whose vectors take long: another one with each number of divisions. */
static void run_vector_loop(enum ve_engine engine, size_t divisions)
{
    enum { BRANCHES = 60000 };
    size_t at = 0;
    while (at < divisions)
        code[at++] = WORD(VFDIV_D, UINT64_C(1) << 24 | 2 << 16 | 3 << 8);
    code[at++] = WORD(LEA, SX(COUNTER) | SZ(COUNTER) | DISPLACEMENT(-1));
    code[at] = BRANCH(BR_L, VE_GREATER, SY(COUNTER), -8 * (int)at);
    code[at + 1] = RETURN;
    ve_code_changed();
    ve_translate_use(engine);
    struct ve_core *core = make_core(6);
    core->s[COUNTER] = BRANCHES;
    core->vl = VE_VECTOR_LENGTH;
    CHECK(ve_core_run(core, (uint64_t)(uintptr_t)code));
    ve_core_destroy(core);
}

static uint64_t failed(void)
{
    struct ve_translate_totals totals;
    ve_translate_get_totals(&totals);
    return totals.failed;
}

/* How far the process of a compiler, which fails, is behind this one. */
static int niceness(enum ve_engine engine, size_t divisions)
{
    char text[16] = "";
    uint64_t before = failed();
    run_vector_loop(engine, divisions);

    int64_t deadline = clock_deadline(60 * CLOCK_SECOND);
    while (failed() == before && clock_now() < deadline) {
        host_background_lock();
        host_background_wait(clock_deadline(100 * CLOCK_MILLISECOND));
        host_background_unlock();
    }
    CHECK(failed() == before + 1);

    FILE *file = fopen("niceness", "r");
    CHECK(file != NULL && fgets(text, sizeof text, file) != NULL && fclose(file) == 0);
    unlink("niceness");
    return atoi(text) - getpriority(PRIO_PROCESS, 0);
}

static void test_a_compiler_is_behind_others_unless_it_is_waited_for(void)
{
    FILE *file = fopen("noting", "w");
    char here[4096], command[5000];
    CHECK(getcwd(here, sizeof here) != NULL);
    CHECK(file != NULL &&
          fprintf(file, "#!/bin/sh\nsleep 0.2; nice >'%s/niceness'; exit 1\n", here) > 0 &&
          fclose(file) == 0 && chmod("noting", 0755) == 0);
    snprintf(command, sizeof command, "%s/noting", here);
    CHECK(setenv(VE_COMPILER_VARIABLE, command, 1) == 0);
    CHECK(niceness(VE_ENGINE_TRANSLATED, 16) == 0);
    /* Vectors take long between branches: time counts, not how many branches there were. */
    CHECK(niceness(VE_ENGINE_AUTO, 17) > 0);
}

int main(void)
{
    set_up_engines();

    test_a_unit_has_the_functions_that_it_calls();
    test_changed_code_is_translated_anew();
    test_code_that_stayed_is_not_translated_again();
    test_code_that_is_none_has_its_address();
    test_a_bad_address_has_its_instruction();
    test_a_bad_address_in_a_block_has_its_instruction();
    test_the_cache_has_code_of_another_address();
    test_what_is_damaged_in_the_cache_is_compiled_again();
    test_a_compiler_is_behind_others_unless_it_is_waited_for();
    test_without_a_compiler_code_is_interpreted();
    return 0;
}
