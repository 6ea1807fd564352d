/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sequences of instructions that the Vector Engine's run loop does as one, and jumps that it
 * remembers, do what their instructions do one at a time.
 *
 * build: @ve_machine
 */
#include "tests/veo/support/ve_code.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#define PAGE 4096
#define PAGE_WORDS (PAGE / 8)
#define PAGES 3

enum { ENTER = 5, GROW = 8, ADDRESS = ENTER + GROW, LEAVE = ADDRESS + 4, WORDS = LEAVE + 4 };

static struct ve_core *core;
static uint64_t *code;  /* PAGES pages */
static uint64_t *stack; /* PAGES pages, of which the second cannot be accessed */

/* A function: it enters, sets a register if its stack is too small, makes an address, leaves. */
static void put_function(size_t at)
{
    const uint64_t words[WORDS] = {
        WORD(ST, SX(9) | SZ(11)),
        WORD(ST, SX(10) | SZ(11) | DISPLACEMENT(8)),
        WORD(OR, SX(9) | SZ(11)),
        WORD(LEA, SX(11) | SZ(11) | DISPLACEMENT(-240)),
        BRANCH(BR_L, VE_GREATER | VE_EQUAL, SY(11) | SZ(8), 72),
        SET(20, 1),
        SET(21, 2),
        SET(22, 3),
        SET(23, 4),
        SET(24, 5),
        SET(25, 6),
        SET(26, 7),
        SET(27, 8),
        WORD(LEA, SX(1) | DISPLACEMENT(0x80001234)),
        WORD(AND, SX(1) | SY(1) | IZ(0x60)),
        WORD(LEA_SL, SX(2) | SZ(1) | DISPLACEMENT(0x7F)),
        WORD(ADDS_L, SX(0) | SY(2) | SZ(1)),
        WORD(OR, SX(11) | SZ(9)),
        WORD(LD, SX(10) | SZ(11) | DISPLACEMENT(8)),
        WORD(LD, SX(9) | SZ(11)),
        WORD(B_L, SZ(10)) | (uint64_t)VE_ALWAYS << 48 | UINT64_C(3) << 52,
    };
    memcpy(&code[at], words, sizeof words);
}

static void observe(struct ve_core *caller, const struct ve_instruction *instruction,
                    uint64_t address)
{
    (void)caller, (void)instruction, (void)address;
}

/* Runs the function from its word FIRST on, with a stack that is large or not. */
static void run_function(size_t at, size_t first, bool large, bool stepping)
{
    for (size_t i = 0; i < 64; i++)
        core->s[i] = 1000 + i;
    memset(stack, 0, PAGE);
    /* Frames, for runs that begin behind the stores. */
    core->s[9] = (uint64_t)(uintptr_t)&stack[400];
    core->s[11] = (uint64_t)(uintptr_t)&stack[300];
    stack[400] = 77;
    stack[401] = stack[301] = VE_HALT_ADDRESS;
    core->s[8] = large ? (uint64_t)(uintptr_t)stack : core->s[11];
    core->observe = stepping ? observe : NULL;
    CHECK(ve_core_run(core, (uint64_t)(uintptr_t)&code[at + first]));
}

static void test_a_function_does_what_its_instructions_do(void)
{
    static const size_t places[] = {0, 1, PAGE_WORDS - WORDS, PAGE_WORDS - 1, PAGE_WORDS};
    uint64_t registers[64];
    uint64_t memory[PAGE_WORDS];
    for (size_t place = 0; place < PAGE_WORDS + WORDS; place++) {
        bool near_the_end = place >= PAGE_WORDS - WORDS && place <= PAGE_WORDS;
        if (!near_the_end && place != places[0] && place != places[1])
            continue;
        memset(code, 0, (size_t)PAGES * PAGE);
        put_function(place);
        for (size_t first = 0; first < WORDS; first++)
            for (int large = 0; large < 2; large++) {
                ve_code_changed();
                run_function(place, first, large != 0, true);
                memcpy(registers, core->s, sizeof registers);
                memcpy(memory, stack, sizeof memory);
                /* Once to decode, and once more with what is decoded. */
                for (int again = 0; again < 2; again++) {
                    run_function(place, first, large != 0, false);
                    CHECK(memcmp(registers, core->s, sizeof registers) == 0);
                    CHECK(memcmp(memory, stack, sizeof memory) == 0);
                }
            }
    }
}

static void test_an_address_has_both_halves(void)
{
    memset(code, 0, (size_t)PAGES * PAGE);
    put_function(0);
    ve_code_changed();
    run_function(0, 0, true, false);
    CHECK(core->s[1] == 0x80001234);
    CHECK(core->s[2] == UINT64_C(0x7F80001234));
    CHECK(core->s[20] == 1020);
    run_function(0, 0, false, false);
    CHECK(core->s[20] == 1);
}

/* --- memory that is not there --- */

static sigjmp_buf there;
static volatile uint64_t faulting;

static void note_fault(int signal)
{
    (void)signal;
    faulting = ve_core_address(core);
    siglongjmp(there, 1);
}

static void check_that_word_faults(size_t word, size_t first, uint64_t s9, uint64_t s11)
{
    faulting = 0;
    if (sigsetjmp(there, 1) == 0) {
        core->s[8] = 0;
        core->s[9] = s9;
        core->s[11] = s11;
        ve_core_run(core, (uint64_t)(uintptr_t)&code[first]);
        CHECK(!"it ran to its end");
    }
    ve_core_current = NULL;
    CHECK(faulting == (uint64_t)(uintptr_t)&code[word]);
}

static void test_the_instruction_of_a_fault_is_the_one_in_the_sequence(void)
{
    const struct sigaction action = {.sa_handler = note_fault};
    struct sigaction before;
    CHECK(sigaction(SIGSEGV, &action, &before) == 0);
    memset(code, 0, (size_t)PAGES * PAGE);
    put_function(0);
    ve_code_changed();
    core->observe = NULL;
    const uint64_t end = (uint64_t)(uintptr_t)stack + PAGE;
    check_that_word_faults(0, 0, 0, end);
    check_that_word_faults(1, 0, 0, end - 8);
    check_that_word_faults(LEAVE + 1, LEAVE, end - 8, 0);
    /* The second load of two: the first is from the page behind. */
    check_that_word_faults(LEAVE + 2, LEAVE, (uint64_t)(uintptr_t)stack + 2 * PAGE - 8, 0);
    CHECK(sigaction(SIGSEGV, &before, NULL) == 0);
}

/* --- jumps --- */

static void test_a_jump_goes_to_where_its_register_says(void)
{
    /* Calls s12, then s13, from the same place; each adds another number to s0. */
    memset(code, 0, (size_t)PAGES * PAGE);
    const uint64_t calls[] = {WORD(OR, SX(15) | SZ(10)),
                              WORD(BSIC, SX(10) | SZ(12)),
                              WORD(OR, SX(12) | SZ(13)),
                              WORD(ADDS_L, SX(3) | IY(-1) | SZ(3)),
                              BRANCH(BR_L, VE_GREATER, SY(3), -24),
                              WORD(OR, SX(10) | SZ(15)),
                              RETURN};
    const uint64_t first[] = {WORD(ADDS_L, SX(0) | IY(1) | SZ(0)), RETURN};
    const uint64_t second[] = {WORD(ADDS_L, SX(0) | IY(16) | SZ(0)), RETURN};
    const uint64_t changed[] = {WORD(ADDS_L, SX(0) | IY(32) | SZ(0)), RETURN};
    memcpy(code, calls, sizeof calls);
    memcpy(&code[PAGE_WORDS], first, sizeof first);
    memcpy(&code[2 * PAGE_WORDS], second, sizeof second);
    for (int round = 0; round < 3; round++) {
        if (round == 2)
            memcpy(&code[2 * PAGE_WORDS], changed, sizeof changed);
        if (round != 1)
            ve_code_changed();
        core->s[0] = 0;
        core->s[3] = 4;
        core->s[12] = (uint64_t)(uintptr_t)&code[PAGE_WORDS];
        core->s[13] = (uint64_t)(uintptr_t)&code[2 * PAGE_WORDS];
        CHECK(ve_core_run(core, (uint64_t)(uintptr_t)code));
        CHECK(core->s[0] == (round == 2 ? 1 + 3 * 32 : 1 + 3 * 16));
    }
}

int main(void)
{
    code = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(code != MAP_FAILED);
    CHECK(stack != MAP_FAILED);
    CHECK(mprotect(stack + PAGE_WORDS, PAGE, PROT_NONE) == 0);
    core = ve_core_create();
    CHECK(core != NULL);
    test_a_function_does_what_its_instructions_do();
    test_an_address_has_both_halves();
    test_a_jump_goes_to_where_its_register_says();
    test_the_instruction_of_a_fault_is_the_one_in_the_sequence();
    ve_core_destroy(core);
    CHECK(munmap(code, PAGES * PAGE) == 0);
    CHECK(munmap(stack, PAGES * PAGE) == 0);
    return 0;
}
