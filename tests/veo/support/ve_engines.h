/* SPDX-License-Identifier: BSD-3-Clause */
/* Random Vector Engine code, and its runs by the interpreter and by translated code. */
#ifndef TESTS_VE_ENGINES_H
#define TESTS_VE_ENGINES_H

#include "tests/veo/support/ve_code.h"
#include "veo/translate/plan.h"
#include "veo/translate/translate.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
/* Times that a loop runs: some in the interpreter, the rest in translated code. */
#define TIMES 200
#define BODY 100

enum { COUNTER = 60, BUFFER = 58, FREE = 48 };

static uint64_t *code;
static uint8_t *memory; /* a page, and one that cannot be accessed */

static inline uint64_t random_word(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Any instruction that is translated, but for loads and stores; results are below FREE, and not
 * where the code returns to.
 */
static inline uint64_t any_instruction(void)
{
    for (;;) {
        const struct ve_operation_info *info =
            ve_operation_info((uint32_t)(random_word() % VE_OPERATION_COUNT));
        uint64_t word = info->match | (random_word() & ~info->mask);
        struct ve_instruction i;
        if (info->causes != VE_CAUSES_MEMORY && info->causes != VE_CAUSES_DATA &&
            ve_decode(word, &i) && ve_flow_of(&i) == VE_FLOW_ON && i.x < FREE && i.x != VE_S_LINK)
            return word;
    }
}

static inline uint64_t any_access(void)
{
    static const uint32_t operations[] = {
        VE_OP_LD,      VE_OP_LDU, VE_OP_LDL_SX, VE_OP_LDL_ZX, VE_OP_LD2B_SX,
        VE_OP_LD1B_ZX, VE_OP_ST,  VE_OP_STU,    VE_OP_STL,    VE_OP_ST1B,
    };
    uint64_t match = ve_operation_info(operations[random_word() % 10])->match;
    return match | SX(VE_S_LINK + 1 + random_word() % (FREE - VE_S_LINK - 1)) | SZ(BUFFER) |
           DISPLACEMENT(random_word() % 4000);
}

static inline size_t put_loop(size_t body)
{
    size_t at = 0;
    for (; at < body; at++)
        code[at] = random_word() % 4 == 0 ? any_access() : any_instruction();
    code[at++] = WORD(LEA, SX(COUNTER) | SZ(COUNTER) | DISPLACEMENT(-1));
    code[at] = BRANCH(BR_L, VE_GREATER, SY(COUNTER), -8 * (int)at);
    code[++at] = RETURN;
    return at;
}

/* A core whose state depends on the seed alone. */
static inline struct ve_core *make_core(uint64_t seed)
{
    struct ve_core *core = ve_core_create();
    CHECK(core != NULL);
    for (uint32_t i = 0; i < 64; i++)
        core->s[i] = seed * (i + 1) * UINT64_C(0x9E3779B97F4A7C15) >> (i % 3 * 21);
    for (uint32_t i = 0; i < VE_VECTORS * VE_VECTOR_LENGTH; i++)
        core->v[i / VE_VECTOR_LENGTH][i % VE_VECTOR_LENGTH] =
            (seed + i) * UINT64_C(0xBF58476D1CE4E5B9);
    core->s[COUNTER] = TIMES;
    core->s[BUFFER] = (uint64_t)(uintptr_t)memory;
    core->vl = 100;
    for (uint32_t i = 0; i < PAGE; i++)
        memory[i] = (uint8_t)(seed + i * 7);
    return core;
}

static inline uint64_t compiled(void)
{
    struct ve_translate_totals totals;
    ve_translate_get_totals(&totals);
    return totals.compiled + totals.loaded;
}

static inline void check_equal(const struct ve_core *a, const struct ve_core *b)
{
    for (uint32_t i = 0; i < 64; i++)
        CHECK(a->s[i] == b->s[i]);
    CHECK(memcmp(a->v, b->v, sizeof a->v) == 0 && memcmp(a->vm, b->vm, sizeof a->vm) == 0);
    CHECK(a->psw == b->psw && a->vl == b->vl && a->vix == b->vix);
    CHECK(a->fault.kind == b->fault.kind && a->fault.ic == b->fault.ic);
    CHECK(a->fault.word == b->fault.word && a->ic == b->ic);
}

/* True if translated code does a part of what a core runs. */
static inline bool runs_translated(const struct ve_core *core)
{
    const struct ve_page *page = ve_code_page(core->code, (uint64_t)(uintptr_t)code);
    bool found = false;
    for (uint32_t i = 0; page != NULL && i < VE_PAGE_WORDS; i++)
        found |= page->list[i].label == core->code->translated;
    return found;
}

/*
 * Runs the code by both; cores of one seed, which must end in one state. Returns the one that may
 * use translated code, and does so unless an exception is enabled.
 */
static inline struct ve_core *run_both(uint64_t seed, uint64_t psw)
{
    static uint8_t interpreted_memory[PAGE];
    uint64_t entry = (uint64_t)(uintptr_t)code;
    ve_code_changed();
    struct ve_core *interpreted = make_core(seed);
    ve_core_set_psw(interpreted, psw);
    ve_translate_use(VE_ENGINE_INTERPRETER);
    bool halted = ve_core_run(interpreted, entry);
    memcpy(interpreted_memory, memory, PAGE);

    uint64_t before = compiled();
    struct ve_core *translated = make_core(seed);
    ve_core_set_psw(translated, psw);
    ve_translate_use(VE_ENGINE_TRANSLATED);
    CHECK(ve_core_run(translated, entry) == halted);
    bool is_translated = (psw & VE_PSW_ENABLES) == 0;
    CHECK(compiled() > before || !is_translated);
    CHECK(runs_translated(translated) == is_translated && !runs_translated(interpreted));
    CHECK(memcmp(memory, interpreted_memory, PAGE) == 0);
    check_equal(interpreted, translated);
    ve_core_destroy(interpreted);
    return translated;
}

/* --- cores with a gate: a call of the host by register CALLEE, in code that returns by BACK --- */

enum { CALLEE = 59, BACK = 61, GATE = 0x7000000 };

static inline struct ve_core *make_gate_core(uint64_t seed,
                                             bool (*gate)(struct ve_core *core, uint64_t address))
{
    struct ve_core *core = make_core(seed);
    core->gate = gate;
    core->gate_low = GATE;
    core->gate_high = GATE + PAGE;
    core->s[CALLEE] = GATE;
    return core;
}

/* Makes the pages of code and memory, and a cache in the working directory. */
static inline void set_up_engines(void)
{
    char here[4096];
    CHECK(getcwd(here, sizeof here) != NULL && setenv("XDG_CACHE_HOME", here, 1) == 0);
    code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(code != MAP_FAILED && memory != MAP_FAILED);
    CHECK(mprotect(memory + PAGE, PAGE, PROT_NONE) == 0);
}

/* --- switches between engines --- */

static bool switches; /* for the core whose engine changes */

/* A call of the host in each iteration; at times the engine is another one afterwards. */
static inline bool switching_gate(struct ve_core *core, uint64_t address)
{
    CHECK(address == core->gate_low && core->code != NULL);
    if (!switches)
        return true;

    if (random_word() % 8 == 0) {
        ve_translate_use((enum ve_engine)(random_word() % 3));
        ve_code_period = 8;
    }
    if (random_word() % 32 == 0)
        ve_code_changed();
    if (random_word() % 32 == 0) { /* code is decoded anew, and no exception happens */
        uint64_t psw = ve_core_psw(core);
        ve_core_set_psw(core, psw | (uint64_t)VE_PSW_DIVIDE << VE_PSW_ENABLE_SHIFT);
        ve_core_set_psw(core, psw);
    }
    return true;
}

/* The end of a loop of so many instructions before it. */
#define COUNT_DOWN WORD(LEA, SX(COUNTER) | SZ(COUNTER) | DISPLACEMENT(-1))
#define UP_TO_0(words) BRANCH(BR_L, VE_GREATER, SY(COUNTER), -8 * (words))

/* A PSW that rounds to the nearest. */
#define NEAREST ((uint64_t)VE_IRM_NEAREST << VE_PSW_ROUNDING_SHIFT)

/* The operands of a vector instruction, which are registers: x = y, z. */
#define VECTORS(x, y, z) ((uint64_t)(x) << 24 | (uint64_t)(y) << 16 | (uint64_t)(z) << 8)
#define LOAD(x, address) WORD(VLD, VECTORS(x, 0, 0) | IY(8) | SZ(address))
#define KEEP(x, address) WORD(VST, VECTORS(x, 0, 0) | IY(8) | SZ(address))

#endif
