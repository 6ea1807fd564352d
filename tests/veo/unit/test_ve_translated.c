/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translated Vector Engine code does what the interpreter does: registers, memory, flags, and where
 * and why it stops.
 *
 * build: @ve_translate @ve_machine
 */
#include "tests/veo/support/ve_code.h"
#include "veo/translate/block.h"
#include "veo/translate/plan.h"
#include "veo/translate/translate.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
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

static uint64_t random_word(void)
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
static uint64_t any_instruction(void)
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

static uint64_t any_access(void)
{
    static const uint32_t operations[] = {
        VE_OP_LD,      VE_OP_LDU, VE_OP_LDL_SX, VE_OP_LDL_ZX, VE_OP_LD2B_SX,
        VE_OP_LD1B_ZX, VE_OP_ST,  VE_OP_STU,    VE_OP_STL,    VE_OP_ST1B,
    };
    uint64_t match = ve_operation_info(operations[random_word() % 10])->match;
    return match | SX(VE_S_LINK + 1 + random_word() % (FREE - VE_S_LINK - 1)) | SZ(BUFFER) |
           DISPLACEMENT(random_word() % 4000);
}

static size_t put_loop(size_t body)
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
static struct ve_core *make_core(uint64_t seed)
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

static uint64_t compiled(void)
{
    struct ve_translate_totals totals;
    ve_translate_get_totals(&totals);
    return totals.compiled + totals.loaded;
}

static void check_equal(const struct ve_core *a, const struct ve_core *b)
{
    for (uint32_t i = 0; i < 64; i++)
        CHECK(a->s[i] == b->s[i]);
    CHECK(memcmp(a->v, b->v, sizeof a->v) == 0 && memcmp(a->vm, b->vm, sizeof a->vm) == 0);
    CHECK(a->psw == b->psw && a->vl == b->vl && a->vix == b->vix);
    CHECK(a->fault.kind == b->fault.kind && a->fault.ic == b->fault.ic);
    CHECK(a->fault.word == b->fault.word && a->ic == b->ic);
}

/* True if translated code does a part of what a core runs. */
static bool runs_translated(const struct ve_core *core)
{
    const struct ve_page *page = ve_code_page(core->code, (uint64_t)(uintptr_t)code);
    bool found = false;
    for (uint32_t i = 0; page != NULL && i < VE_PAGE_WORDS; i++)
        found |= page->list[i].label == core->code->translated;
    return found;
}

/* Runs the code by both; cores of one seed, which must end in one state. Returns the translated. */
static struct ve_core *run_both(uint64_t seed, uint64_t psw)
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
    CHECK(compiled() > before);
    CHECK(runs_translated(translated) && !runs_translated(interpreted));
    CHECK(memcmp(memory, interpreted_memory, PAGE) == 0);
    check_equal(interpreted, translated);
    ve_core_destroy(interpreted);
    return translated;
}

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

enum { CALLEE = 59, BACK = 61, CHANGE = 57, GATE = 0x7000000 };

static bool switches; /* for the core whose engine changes */

/* A call of the host in each iteration; at times the engine is another one afterwards. */
static bool switching_gate(struct ve_core *core, uint64_t address)
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

static struct ve_core *make_switching_core(uint64_t seed)
{
    struct ve_core *core = make_core(seed);
    core->gate = switching_gate;
    core->gate_low = GATE;
    core->gate_high = GATE + PAGE;
    core->s[CALLEE] = GATE;
    return core;
}

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
        struct ve_core *plain = make_switching_core(seed);
        plain->s[COUNTER] = 10 * TIMES;
        switches = false;
        ve_translate_use(VE_ENGINE_INTERPRETER);
        CHECK(ve_core_run(plain, (uint64_t)(uintptr_t)code));
        memcpy(interpreted_memory, memory, PAGE);

        struct ve_core *switched = make_switching_core(seed);
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

/* --- blocks of vector instructions -------------------------------------------------------------
 */

/* Registers that have what vector instructions take: lengths, and addresses in two halves. */
enum { LENGTH = 20, ADDRESSES = 21, ADDRESSES_END = 29, NUMBER = 30, VECTORS_USED = 6 };

/* Instructions of random blocks. */
enum mix { MIX_ALL, MIX_WHOLE, MIX_NUMBERS, MIX_COUNT };

static uint64_t among(uint64_t low, uint64_t high)
{
    return low + random_word() % (high - low);
}

/* An instruction of a block, without an access, whose vector registers are the first few. */
static uint64_t any_element(enum mix mix)
{
    for (;;) {
        const struct ve_operation_info *info =
            ve_operation_info((uint32_t)(random_word() % VE_OPERATION_COUNT));
        uint64_t fields = 0;
        for (uint32_t field = 0; field < 4; field++)
            fields |= random_word() % VECTORS_USED << 8 * field;
        uint64_t scalars = random_word() % 2 == 0 ? SY(NUMBER) : IY(random_word());
        uint64_t choice = (random_word() & 3) << 52; /* Y instead of a vector */
        uint64_t word = info->match | ((fields | scalars | choice) & ~info->mask);
        struct ve_instruction i;
        if (!ve_decode(word, &i))
            continue;
        struct ve_element element = ve_element_of(&i);
        bool is_number = element.kind == VE_ELEMENT_DOUBLE || element.kind == VE_ELEMENT_SINGLE;
        if (element.bytes == 0 && (is_number || element.kind == VE_ELEMENT_WHOLE) &&
            (mix == MIX_ALL || is_number == (mix == MIX_NUMBERS)))
            return word;
    }
}

/* A load or a store of 8 or, rarely, 4 bytes; in a mix of numbers, loads are of what no store
 * changes. */
static uint64_t any_vector_access(enum mix mix, bool is_store)
{
    static const uint32_t operations[2][4] = {
        {VE_OP_VLD, VE_OP_VLDU, VE_OP_VLDL_SX, VE_OP_VLDL_ZX},
        {VE_OP_VST, VE_OP_VSTU, VE_OP_VSTL, VE_OP_VST},
    };
    bool is_narrow = random_word() % 8 == 0 && mix != MIX_NUMBERS;
    uint32_t operation = operations[is_store][is_narrow ? random_word() % 4 : 0];
    uint64_t stride = operation == VE_OP_VLD || operation == VE_OP_VST ? 8 : 4;
    uint64_t middle = (ADDRESSES + ADDRESSES_END) / 2;
    uint64_t address = mix != MIX_NUMBERS ? among(ADDRESSES, ADDRESSES_END)
                       : is_store         ? among(ADDRESSES, middle)
                                          : among(middle, ADDRESSES_END);
    return ve_operation_info(operation)->match | IY(stride) | SZ(address) |
           random_word() % VECTORS_USED << 24;
}

/* lvl, or a scalar instruction that changes what the next ones take. */
static uint64_t any_setting(enum mix mix)
{
    static const uint16_t offsets[] = {0, 8, 16, 24, 64, 256, 1000, 2048 - 8};
    uint64_t which = among(ADDRESSES, ADDRESSES_END);
    uint64_t half = mix == MIX_NUMBERS && which >= (ADDRESSES + ADDRESSES_END) / 2 ? 2048 : 0;
    uint64_t offset = half != 0 || mix == MIX_NUMBERS ? half : offsets[random_word() % 8];
    switch (random_word() % 4) {
    case 0: return WORD(LVL, SY(LENGTH + random_word() % 2 * 11)); /* or 31 */
    case 1: return WORD(LD, SX(NUMBER) | SZ(BUFFER) | DISPLACEMENT(2048 + random_word() % 8 * 8));
    case 2: return WORD(ADDS_W_SX, SX(32) | IY(1) | SZ(32));
    default: return WORD(LEA, SX(which) | SZ(BUFFER) | DISPLACEMENT(offset));
    }
}

static uint64_t any_of_block(enum mix mix)
{
    uint64_t choice = random_word() % 16;
    return choice < 3   ? any_vector_access(mix, false)
           : choice < 4 ? any_vector_access(mix, true)
           : choice < 7 ? any_setting(mix)
                        : any_element(mix);
}

/* A block with a load and a store, which is misaligned in the last iterations. */
static size_t put_stop(size_t at)
{
    code[at++] = WORD(VLD, IY(8) | SZ(ADDRESSES) | (uint64_t)1 << 24);
    code[at++] = WORD(LEA, SX(33) | SZ(COUNTER) | DISPLACEMENT(-TIMES));
    code[at++] = WORD(SRL, SX(33) | IY(63) | SZ(33));
    code[at++] = WORD(SLL, SX(33) | IY(2) | SZ(33));
    code[at++] = WORD(ADDS_L, SX(33) | SY(33) | SZ(BUFFER));
    code[at++] = WORD(VADDS_L, (uint64_t)1 << 24 | 1 << 16 | 2 << 8);
    code[at++] = random_word() % 2 == 0 ? WORD(VST, IY(8) | SZ(33) | (uint64_t)1 << 24)
                                        : WORD(VLD, IY(8) | SZ(33) | (uint64_t)2 << 24);
    code[at++] = WORD(VADDS_L, (uint64_t)3 << 24 | 2 << 16 | 2 << 8);
    return at;
}

static void put_block_loop(enum mix mix, size_t body, bool stops)
{
    size_t at = 0;
    code[at++] = WORD(OR, SX(BACK) | IY(0) | SZ(VE_S_LINK));
    for (; at <= VECTORS_USED; at++) /* what is made of numbers begins with what is in memory */
        code[at] = any_vector_access(mix, false);
    for (; at <= body / 2; at++)
        code[at] = any_of_block(mix);
    code[at++] = WORD(BSIC, SX(VE_S_LINK) | SZ(CALLEE));
    for (; at <= body; at++)
        code[at] = any_of_block(mix);
    at = stops ? put_stop(at) : at;
    code[at++] = WORD(LEA, SX(COUNTER) | SZ(COUNTER) | DISPLACEMENT(-1));
    code[at] = BRANCH(BR_L, VE_GREATER, SY(COUNTER), -8 * (int)(at - 1));
    code[at + 1] = WORD(B_L, SZ(BACK)) | (uint64_t)VE_ALWAYS << 48;
}

static struct ve_core *make_block_core(uint64_t seed, enum mix mix)
{
    static const uint32_t lengths[] = {0, 1, 3, 8, 100, 254, 255, 256};
    struct ve_core *core = make_switching_core(seed);
    core->s[COUNTER] = 2 * TIMES;
    core->s[LENGTH] = lengths[7 - seed % 8];
    core->s[LENGTH + 11] = lengths[(seed + seed / 8) % 8];
    core->vl = lengths[7];
    for (uint64_t r = ADDRESSES; r < ADDRESSES_END; r++)
        core->s[r] = core->s[BUFFER] + (r < (ADDRESSES + ADDRESSES_END) / 2 ? 0 : 2048);
    if (mix != MIX_NUMBERS)
        return core;

    core->s[NUMBER] = UINT64_C(0x3F8000003F800000);
    for (uint32_t i = 0; i < PAGE / 8; i++)
        ((double *)memory)[i] = 1 + (double)((i + seed) % 37) / 7;
    return core;
}

/* Runs a loop of blocks by the interpreter alone, and with switches. */
static void check_blocks(uint64_t seed, enum mix mix, uint64_t psw)
{
    static uint8_t interpreted_memory[PAGE];
    ve_code_changed();
    struct ve_core *plain = make_block_core(seed, mix);
    ve_core_set_psw(plain, psw);
    switches = false;
    ve_translate_use(VE_ENGINE_INTERPRETER);
    bool halted = ve_core_run(plain, (uint64_t)(uintptr_t)code);
    memcpy(interpreted_memory, memory, PAGE);

    struct ve_core *switched = make_block_core(seed, mix);
    ve_core_set_psw(switched, psw);
    switches = true;
    ve_translate_use(VE_ENGINE_TRANSLATED);
    CHECK(ve_core_run(switched, (uint64_t)(uintptr_t)code) == halted);
    CHECK(memcmp(memory, interpreted_memory, PAGE) == 0);
    check_equal(plain, switched);
    ve_core_destroy(plain);
    ve_core_destroy(switched);
}

static void test_blocks_do_what_their_instructions_do(void)
{
    static const uint64_t roundings[] = {VE_IRM_NEAREST, VE_IRM_ZERO, VE_IRM_UP, VE_IRM_DOWN};
    const char *full = getenv("OFFCHIP_FULL");
    bool is_full = full != NULL && *full == '1';
    uint64_t seeds = is_full ? 100 : 4, before = compiled();
    for (uint64_t seed = 0; seed < seeds; seed++) {
        enum mix mix = (enum mix)(seed % MIX_COUNT);
        put_block_loop(mix, is_full ? 40 : 24, seed % 4 == 3);
        check_blocks(seed, mix, roundings[seed / 3 % 4] << VE_PSW_ROUNDING_SHIFT);
    }
    CHECK(compiled() >= before + seeds);
}

/* The operands of a vector instruction, which are registers: x = y, z. */
#define VECTORS(x, y, z) ((uint64_t)(x) << 24 | (uint64_t)(y) << 16 | (uint64_t)(z) << 8)
#define LOAD(x, address) WORD(VLD, VECTORS(x, 0, 0) | IY(8) | SZ(address))
#define KEEP(x, address) WORD(VST, VECTORS(x, 0, 0) | IY(8) | SZ(address))
#define DOUBLE_OF(x, y) WORD(VADDS_L, VECTORS(x, y, y))
#define SUM_OF(x, y) WORD(VADDS_L, VECTORS(x, 0, y) | SY(COUNTER) | UINT64_C(1) << 53)
#define COUNT_DOWN WORD(LEA, SX(COUNTER) | SZ(COUNTER) | DISPLACEMENT(-1))
#define UP_TO_0(words) BRANCH(BR_L, VE_GREATER, SY(COUNTER), -8 * (words))

static const uint64_t NEAREST = (uint64_t)VE_IRM_NEAREST << VE_PSW_ROUNDING_SHIFT;

static void test_stores_and_loads_of_blocks_overlap(void)
{
    enum { A = 21, B = 22, C = 23, D = 24 };
    const uint64_t words[] = {
        WORD(LVL, IY(60)),
        WORD(LEA, SX(A) | SZ(BUFFER) | DISPLACEMENT(8)),
        LOAD(1, BUFFER),
        WORD(LEA, SX(25) | SZ(25) | DISPLACEMENT(1)), /* once */
        SUM_OF(2, 1),
        KEEP(2, A), /* into what is loaded next */
        WORD(LEA, SX(B) | SZ(BUFFER) | DISPLACEMENT(1024)),
        WORD(LEA, SX(C) | SZ(BUFFER) | DISPLACEMENT(1032)),
        LOAD(1, C),
        SUM_OF(2, 1),
        KEEP(2, B),
        LOAD(3, C), /* what was not stored just now, but for the first */
        SUM_OF(4, 3),
        KEEP(4, C),
        WORD(LVL, IY(60)),
        WORD(LEA, SX(C) | SZ(BUFFER) | DISPLACEMENT(2048)),
        WORD(LEA, SX(D) | SZ(BUFFER) | DISPLACEMENT(2112)),
        WORD(VLDL_SX, VECTORS(1, 0, 0) | IY(4) | SZ(D)),
        SUM_OF(2, 1),
        KEEP(2, C), /* of larger elements, which overtake those that are loaded */
        COUNT_DOWN,
        UP_TO_0(21),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    ve_core_destroy(run_both(40, NEAREST));
}

static void test_of_two_nans_blocks_have_the_same(void)
{
    enum { A = 21, B = 22, C = 23, PLACE = 77 * 8 };
    const uint64_t words[] = {
        WORD(LEA, SX(1) | DISPLACEMENT(100)),
        WORD(LVL, SY(1)),
        WORD(LEA, SX(A) | SZ(BUFFER)),
        WORD(LEA, SX(B) | SZ(BUFFER) | DISPLACEMENT(1024)),
        WORD(LEA, SX(C) | SZ(BUFFER) | DISPLACEMENT(2048)),
        WORD(LEA_SL, SX(2) | DISPLACEMENT(0x7FF80001)),
        WORD(LEA_SL, SX(3) | DISPLACEMENT(0x7FF80002)),
        WORD(ST, SX(2) | SZ(A) | DISPLACEMENT(PLACE)),
        WORD(ST, SX(3) | SZ(B) | DISPLACEMENT(PLACE)),
        LOAD(1, A),
        LOAD(2, B),
        WORD(VFADD_D, VECTORS(3, 1, 2)),
        WORD(VFMUL_D, VECTORS(4, 2, 1)),
        LOAD(5, C), /* none of them is in it */
        WORD(VFADD_D, VECTORS(6, 5, 5)),
        COUNT_DOWN,
        UP_TO_0(16),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    ve_core_destroy(run_both(41, NEAREST));
}

static void test_blocks_raise_what_elements_and_scalars_raise(void)
{
    /* Infinity is multiplied by ones; and in the end a sum is too large, in the middle of a block.
     */
    enum { INFINITE = 21, ONE = 22, SUM = 23 };
    const uint64_t words[] = {
        WORD(SMVL, SX(1)),
        WORD(LVL, SY(1)),
        WORD(VBRD, VECTORS(1, 0, 0) | SY(INFINITE)), /* behind the length of what follows */
        WORD(LEA, SX(1) | DISPLACEMENT(100)),
        WORD(LVL, SY(1)),
        WORD(LEA_SL, SX(INFINITE) | DISPLACEMENT(0x7FF00000)),
        WORD(LEA_SL, SX(ONE) | DISPLACEMENT(0x3FF00000)),
        WORD(LEA, SX(SUM) | SY(COUNTER) | DISPLACEMENT(0)),
        WORD(XOR, SX(SUM) | SY(SUM) | IZ(96 | 33)), /* of 31 ones */
        WORD(VBRD, VECTORS(1, 0, 0) | SY(ONE)),
        WORD(LVL, SY(1)),
        WORD(VFMUL_D, VECTORS(2, 0, 1) | SY(INFINITE) | UINT64_C(1) << 53),
        SUM_OF(3, 3),
        WORD(ADDS_W_SX, SX(SUM) | IY(10) | SZ(SUM)),
        DOUBLE_OF(4, 4),
        COUNT_DOWN,
        UP_TO_0(16),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    struct ve_core *core = run_both(42, NEAREST);
    CHECK(core->fault.kind == VE_FAULT_NONE && (core->psw & VE_PSW_INVALID) == 0);
    ve_core_destroy(core);

    code[3] = WORD(LEA, SX(1) | DISPLACEMENT(101)); /* a unit of its own */
    core = run_both(42, NEAREST | (uint64_t)VE_PSW_FIXED_OVERFLOW << VE_PSW_ENABLE_SHIFT);
    CHECK(core->fault.kind == VE_FAULT_XOFE);
    ve_core_destroy(core);
}

static void test_vectors_that_become_shorter_keep_their_elements(void)
{
    enum { A = 21, B = 22 };
    const uint64_t words[] = {
        WORD(LEA, SX(A) | SZ(BUFFER)),
        WORD(LEA, SX(B) | SZ(BUFFER) | DISPLACEMENT(2048)),
        WORD(LVL, SY(COUNTER)),
        LOAD(1, A),
        DOUBLE_OF(2, 1),
        KEEP(2, B),
        WORD(LEA, SX(A) | SZ(A) | DISPLACEMENT(8)),
        COUNT_DOWN,
        UP_TO_0(6),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    ve_core_destroy(run_both(43, NEAREST));
}

static void test_a_block_is_entered_in_its_middle(void)
{
    const uint64_t words[] = {
        WORD(LEA, SX(1) | DISPLACEMENT(100)),
        WORD(LVL, SY(1)),
        LOAD(1, BUFFER),
        DOUBLE_OF(1, 1),
        DOUBLE_OF(1, 1), /* twice */
        WORD(VADDS_L, VECTORS(2, 1, 2)),
        WORD(LEA, SX(2) | SZ(2) | DISPLACEMENT(1)),
        WORD(AND, SX(3) | IY(1) | SZ(2)),
        BRANCH(BR_L, VE_EQUAL, IY(1) | SZ(3), -32),
        COUNT_DOWN,
        UP_TO_0(10),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    ve_core_destroy(run_both(44, NEAREST));
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
    struct ve_core *core = make_switching_core(0);
    core->gate = changing_gate;
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
        core->s[ADDRESSES] = core->s[BUFFER];
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
    const uint64_t first = WORD(VLD, IY(8) | SZ(ADDRESSES) | V1);
    const uint64_t sum = WORD(VADDS_L, V2 | 1 << 16 | 1 << 8);
    const uint64_t other_sum = WORD(VADDS_L, V3 | 2 << 16 | 3 << 8);
    const uint64_t loads[] = {
        WORD(LVL, IY(2)),
        WORD(ADDS_L, SX(BUFFER) | IY(16) | SZ(BUFFER)),
        first,
        sum,
        WORD(VLD, IY(8) | SZ(BUFFER) | V3), /* walks */
        other_sum,
        WORD(VST, IY(8) | SZ(ADDRESSES) | V3),
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
        WORD(VST, IY(8) | SZ(ADDRESSES) | V3),
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

int main(void)
{
    char here[4096];
    CHECK(getcwd(here, sizeof here) != NULL && setenv("XDG_CACHE_HOME", here, 1) == 0);
    code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(code != MAP_FAILED && memory != MAP_FAILED);
    CHECK(mprotect(memory + PAGE, PAGE, PROT_NONE) == 0);

    test_random_loops();
    test_switches_between_engines_change_nothing();
    test_blocks_do_what_their_instructions_do();
    test_stores_and_loads_of_blocks_overlap();
    test_of_two_nans_blocks_have_the_same();
    test_blocks_raise_what_elements_and_scalars_raise();
    test_vectors_that_become_shorter_keep_their_elements();
    test_a_block_is_entered_in_its_middle();
    test_a_computed_branch_depends_on_its_condition();
    test_a_unit_has_the_functions_that_it_calls();
    test_changed_code_is_translated_anew();
    test_code_that_stayed_is_not_translated_again();
    test_code_that_is_none_has_its_address();
    test_an_exception_has_its_instruction();
    test_a_bad_address_has_its_instruction();
    test_a_bad_address_in_a_block_has_its_instruction();
    test_the_cache_has_code_of_another_address();
    test_what_is_damaged_in_the_cache_is_compiled_again();
    test_without_a_compiler_code_is_interpreted();
    return 0;
}
