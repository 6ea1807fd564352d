/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of vector instructions, which translated code does in one loop, do what the interpreter
 * does.
 *
 * build: @ve_translate @ve_machine
 */
#include "tests/veo/support/ve_engines.h"
#include "veo/translate/block.h"

/* Registers that have what vector instructions take: lengths, and addresses in two halves. */
enum {
    LENGTH = 20,
    ADDRESSES = 21,
    ADDRESSES_END = 29,
    NUMBER = 30,
    SOME = 34, /* 63 */
    VECTORS_USED = 6,
    MASKS_USED = 6
};

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
        uint64_t masks = random_word() % 3 == 0 ? random_word() % MASKS_USED << 48 : 0;
        uint64_t word = info->match | ((fields | scalars | choice | masks) & ~info->mask);
        struct ve_instruction i;
        if (!ve_decode(word, &i))
            continue;
        struct ve_element element = ve_element_of(&i);
        bool is_number = element.kind >= VE_ELEMENT_DOUBLE && element.kind <= VE_ELEMENT_COMPARE;
        bool is_whole = element.kind == VE_ELEMENT_WHOLE;
        if (element.kind == VE_ELEMENT_MASK || (is_number && mix != MIX_WHOLE) ||
            (is_whole && mix != MIX_NUMBERS))
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
           random_word() % VECTORS_USED << 24 |
           (is_store ? random_word() % 2 * (random_word() % MASKS_USED) << 48 : 0);
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

/* An access of up to 64 elements from an address on, which a vector chooses. */
static size_t put_access_by_addresses(enum mix mix, size_t at)
{
    static const uint32_t operations[2][4] = {
        {VE_OP_VGT, VE_OP_VGTU, VE_OP_VGTL_SX, VE_OP_VGTL_ZX},
        {VE_OP_VSC, VE_OP_VSCU, VE_OP_VSCL, VE_OP_VSC},
    };
    enum { CHOICE = VECTORS_USED, PLACES };
    bool is_store = random_word() % 2 == 0;
    uint32_t operation = operations[is_store][mix == MIX_NUMBERS ? 0 : random_word() % 4];
    uint64_t middle = (ADDRESSES + ADDRESSES_END) / 2;
    uint64_t address =
        mix != MIX_NUMBERS || is_store ? among(ADDRESSES, middle) : among(middle, ADDRESSES_END);
    uint64_t mask = random_word() % 2 * (random_word() % MASKS_USED) << 48;
    code[at++] = WORD(VAND, SY(SOME) | UINT64_C(1) << 53 | (uint64_t)CHOICE << 24 |
                                random_word() % VECTORS_USED << 8);
    code[at++] = WORD(VSFA, IY(3) | SZ(address) | (uint64_t)PLACES << 24 | CHOICE << 8);
    if (random_word() % 2 == 0)
        code[at++] = any_vector_access(mix, false);
    code[at++] = ve_operation_info(operation)->match | mask | random_word() % VECTORS_USED << 24 |
                 PLACES << 16;
    return at;
}

static size_t put_any_of_block(enum mix mix, size_t at)
{
    if (random_word() % 8 == 0)
        return put_access_by_addresses(mix, at);
    code[at] = any_of_block(mix);
    return at + 1;
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
    while (at <= body / 2)
        at = put_any_of_block(mix, at);
    code[at++] = WORD(BSIC, SX(VE_S_LINK) | SZ(CALLEE));
    while (at <= body)
        at = put_any_of_block(mix, at);
    at = stops ? put_stop(at) : at;
    code[at++] = WORD(LEA, SX(COUNTER) | SZ(COUNTER) | DISPLACEMENT(-1));
    code[at] = BRANCH(BR_L, VE_GREATER, SY(COUNTER), -8 * (int)(at - 1));
    code[at + 1] = WORD(B_L, SZ(BACK)) | (uint64_t)VE_ALWAYS << 48;
}

static struct ve_core *make_block_core(uint64_t seed, enum mix mix)
{
    static const uint32_t lengths[] = {0, 1, 3, 8, 100, 254, 255, 256};
    struct ve_core *core = make_gate_core(seed, switching_gate);
    core->s[COUNTER] = 2 * TIMES;
    core->s[LENGTH] = lengths[7 - seed % 8];
    core->s[LENGTH + 11] = lengths[(seed + seed / 8) % 8];
    core->vl = lengths[7];
    core->s[SOME] = 63;
    for (uint32_t i = 0; i < (MASKS_USED - 1) * VE_MASK_WORDS; i++)
        core->vm[1 + i / VE_MASK_WORDS][i % VE_MASK_WORDS] =
            (seed + i) * UINT64_C(0x94D049BB133111EB);
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

#define DOUBLE_OF(x, y) WORD(VADDS_L, VECTORS(x, y, y))
#define SUM_OF(x, y) WORD(VADDS_L, VECTORS(x, 0, y) | SY(COUNTER) | UINT64_C(1) << 53)
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

static void test_masks_go_on_behind_a_nan(void)
{
    /* Elements 40 (signaling) and 77 (quiet) of the first operand are no numbers. */
    enum { A = 21, B = 22, C = 23, SIGNALING = 40 * 8, QUIET = 77 * 8 };
    const uint64_t masked = UINT64_C(1) << 48;
    const uint64_t words[] = {
        WORD(LEA, SX(1) | DISPLACEMENT(100)),
        WORD(LVL, SY(1)),
        WORD(LEA, SX(A) | SZ(BUFFER)),
        WORD(LEA, SX(B) | SZ(BUFFER) | DISPLACEMENT(1024)),
        WORD(LEA, SX(C) | SZ(BUFFER) | DISPLACEMENT(2048)),
        WORD(LEA_SL, SX(2) | DISPLACEMENT(0x7FF00001)),
        WORD(LEA_SL, SX(3) | DISPLACEMENT(0x7FF80002)),
        WORD(ST, SX(2) | SZ(A) | DISPLACEMENT(SIGNALING)),
        WORD(ST, SX(3) | SZ(A) | DISPLACEMENT(QUIET)),
        LOAD(1, A),
        LOAD(2, B),
        WORD(VFMK_L, VECTORS(1, VE_GREATER, 2)), /* of the integers; other elements are kept */
        WORD(VFADD_D, VECTORS(3, 1, 1)) | masked,
        WORD(VMRG, VECTORS(4, 1, 2)) | masked,
        WORD(VFMK_D, VECTORS(3, VE_LESS, 1)) | masked,
        KEEP(4, C) | UINT64_C(3) << 48,
        COUNT_DOWN,
        UP_TO_0(16),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    ve_core_destroy(run_both(46, NEAREST));
}

/* Each operation on the same three vectors, in loops of as many as there are registers. */
static void test_every_operation_of_blocks_has_all_its_operands(void)
{
    enum { Y = 1, Z, W, FIRST };
    uint32_t operation = 0, done = 0;
    while (operation < VE_OPERATION_COUNT) {
        size_t at = 0;
        for (uint64_t vector = Y; vector <= W; vector++) {
            code[at++] = WORD(LEA, SX(ADDRESSES) | SZ(BUFFER) | DISPLACEMENT(24 * (int)vector));
            code[at++] = LOAD(vector, ADDRESSES);
        }
        for (uint64_t x = FIRST; x < VE_VECTORS && operation < VE_OPERATION_COUNT; operation++) {
            const struct ve_operation_info *info = ve_operation_info(operation);
            bool has_scalars = operation == VE_OP_VSFA || operation == VE_OP_VSHF;
            uint64_t scalars = has_scalars ? SY(COUNTER) | SZ(COUNTER) : 0;
            uint64_t word = info->match | ((VECTORS(x, Y, Z) | W | scalars) & ~info->mask);
            struct ve_instruction i;
            if (!ve_decode(word, &i) || ve_element_of(&i).kind < VE_ELEMENT_WHOLE ||
                ve_element_of(&i).kind > VE_ELEMENT_COMPARE)
                continue;
            code[at++] = word;
            x++, done++;
        }
        code[at++] = COUNT_DOWN;
        code[at] = BRANCH(BR_L, VE_GREATER, SY(COUNTER), -8 * (int)at);
        code[at + 1] = RETURN;
        check_blocks(7, MIX_NUMBERS, NEAREST);
    }
    CHECK(done > 60);
}

/* Of numbers that fit, and of others. */
static void test_conversions_in_blocks_round_and_raise(void)
{
    enum { BITS = 1, WORDS, NUMBERS, FIRST, THIRD = 21 };
    static const uint32_t operations[] = {VE_OP_VCVT_W_D_SX, VE_OP_VCVT_W_D_ZX, VE_OP_VCVT_W_S_SX,
                                          VE_OP_VCVT_W_S_ZX, VE_OP_VCVT_L_D};
    static const uint64_t roundings[] = {VE_ROUND_PSW, VE_ROUND_ZERO, VE_ROUND_DOWN, VE_ROUND_AWAY};
    for (uint32_t mode = 0; mode < 3; mode++) {
        size_t at = 0;
        code[at++] = LOAD(BITS, BUFFER);
        code[at++] = WORD(LEA_SL, SX(THIRD) | DISPLACEMENT(0x3FD55555));
        code[at++] = WORD(VCVT_D_W, VECTORS(WORDS, BITS, 0));
        code[at++] = WORD(VFMUL_D, VECTORS(NUMBERS, 0, WORDS) | SY(THIRD) | UINT64_C(1) << 53);
        for (uint32_t which = 0; which < 20; which++)
            code[at++] = ve_operation_info(operations[which / 4])->match |
                         roundings[which % 4] << 8 |
                         VECTORS(FIRST + which, mode != 0 ? NUMBERS : BITS, 0);
        code[at++] = WORD(LEA, SX(1) | DISPLACEMENT(mode)); /* a unit of its own */
        code[at++] = COUNT_DOWN;
        code[at] = BRANCH(BR_L, VE_GREATER, SY(COUNTER), -8 * (int)at);
        code[at + 1] = RETURN;
        ve_core_destroy(run_both(60, (uint64_t)(mode + 1) << VE_PSW_ROUNDING_SHIFT));
    }
}

static void test_exceptions_are_noted_without_their_results(void)
{
    enum { LATE = 21 };
    const uint64_t words[] = {
        WORD(LEA, SX(LATE) | SZ(COUNTER) | DISPLACEMENT(-20)),
        WORD(SRL, SX(LATE) | IY(63) | SZ(LATE)),
        WORD(SLL, SX(LATE) | IY(61) | SZ(LATE)), /* a small number in the last iterations, or 0 */
        WORD(VBRD, VECTORS(1, 0, 0) | SY(LATE)),
        WORD(VCVT_W_D_SX, VECTORS(2, 1, 0) | VE_ROUND_ZERO << 8),
        WORD(VBRD, VECTORS(2, 0, 0) | IY(0)),
        COUNT_DOWN,
        UP_TO_0(7),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    struct ve_core *core = run_both(70, NEAREST);
    CHECK((core->psw & VE_PSW_INEXACT) != 0);
    ve_core_destroy(core);
}

static void test_an_address_of_many_may_be_misaligned(void)
{
    /* Element 77 of vector 2 is 4 in the last iterations, and else 0. */
    enum { A = 21, LATE = 22, ZEROS = 23, PLACE = 77 * 8 };
    uint64_t words[] = {
        WORD(LEA, SX(SOME) | DISPLACEMENT(63)),
        WORD(LEA, SX(1) | DISPLACEMENT(100)),
        WORD(LVL, SY(1)),
        WORD(LEA, SX(A) | SZ(BUFFER) | DISPLACEMENT(1024)),
        WORD(LEA, SX(LATE) | SZ(COUNTER) | DISPLACEMENT(-20)),
        WORD(SRL, SX(LATE) | IY(63) | SZ(LATE)),
        WORD(SLL, SX(LATE) | IY(2) | SZ(LATE)),
        WORD(VBRD, VECTORS(9, 0, 0) | IY(0)),
        KEEP(9, A),
        WORD(ST, SX(LATE) | SZ(A) | DISPLACEMENT(PLACE)),
        LOAD(1, BUFFER),
        LOAD(2, A),
        WORD(VAND, VECTORS(3, 0, 1) | SY(SOME) | UINT64_C(1) << 53),
        WORD(VSFA, VECTORS(3, 0, 3) | IY(3) | SZ(BUFFER)),
        WORD(VADDS_L, VECTORS(3, 3, 2)),
        WORD(VGT, VECTORS(4, 3, 0)),
        WORD(LEA, SX(5) | SZ(5) | DISPLACEMENT(1)),
        DOUBLE_OF(5, 4),
        COUNT_DOWN,
        UP_TO_0(18),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    struct ve_core *core = run_both(50, NEAREST);
    CHECK(core->fault.kind == VE_FAULT_ILSA);
    ve_core_destroy(core);

    words[15] = WORD(VSC, VECTORS(1, 3, 0));
    memcpy(code, words, sizeof words);
    core = run_both(51, NEAREST);
    CHECK(core->fault.kind == VE_FAULT_ILSA);
    ve_core_destroy(core);
}

static void test_what_is_scattered_into_what_is_loaded(void)
{
    enum { A = 21 };
    const uint64_t words[] = {
        WORD(LEA, SX(1) | DISPLACEMENT(100)),
        WORD(LVL, SY(1)),
        WORD(LEA, SX(SOME) | DISPLACEMENT(63)),
        WORD(LEA, SX(A) | SZ(BUFFER) | DISPLACEMENT(504)),
        LOAD(1, A), /* the first one is what may be written */
        WORD(VAND, VECTORS(3, 0, 1) | SY(SOME) | UINT64_C(1) << 53),
        WORD(VSFA, VECTORS(3, 0, 3) | IY(3) | SZ(BUFFER)),
        SUM_OF(2, 1),
        WORD(VSC, VECTORS(2, 3, 0)),
        WORD(LEA, SX(A) | SZ(BUFFER) | DISPLACEMENT(200)),
        WORD(VLDL_SX, VECTORS(1, 0, 0) | IY(4) | SZ(A)),
        SUM_OF(2, 1),
        WORD(VSCL, VECTORS(2, 3, 0)),
        COUNT_DOWN,
        UP_TO_0(14),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    ve_core_destroy(run_both(52, NEAREST));
}

static void test_masks_in_blocks(void)
{
    enum { A = 21, B = 22, C = 23, MINUS_0 = 24, ONE = 25, TO_Y = 53 };
    const uint64_t words[] = {
        WORD(LEA, SX(1) | DISPLACEMENT(100)),
        WORD(LVL, SY(1)),
        WORD(LEA, SX(A) | SZ(BUFFER)),
        WORD(LEA, SX(B) | SZ(BUFFER) | DISPLACEMENT(1024)),
        WORD(LEA, SX(C) | SZ(BUFFER) | DISPLACEMENT(2048)),
        WORD(LEA_SL, SX(MINUS_0) | DISPLACEMENT(INT32_MIN)),
        WORD(LEA_SL, SX(ONE) | DISPLACEMENT(0x3FF00000)),
        LOAD(1, A),
        SUM_OF(4, 1), /* the next block makes mask 4, not vector 4 */
        KEEP(1, C),
        LOAD(2, B),
        WORD(VFMK_L, VECTORS(2, VE_GREATER, 2)),
        WORD(VBRD, VECTORS(6, 0, 0) | SY(MINUS_0)),
        WORD(VFMK_D, VECTORS(4, VE_LESS, 6)),
        WORD(VFMK_D, VECTORS(5, VE_EQUAL, 6)),
        WORD(VBRD, VECTORS(7, 0, 0) | SY(ONE)),
        WORD(VMRG, VECTORS(8, 0, 7) | IY(0) | UINT64_C(1) << TO_Y) | UINT64_C(2) << 48,
        WORD(VFDIV_D, VECTORS(9, 7, 8)) | UINT64_C(2) << 48, /* never by 0 */
        WORD(VCMPS_L, VECTORS(11, 0, 1) | SY(MINUS_0) | UINT64_C(1) << TO_Y),
        WORD(VCMPS_W_SX, VECTORS(12, 1, 2)),
        WORD(VFMK_D, VECTORS(6, VE_GREATER | VE_LESS, 2)),
        WORD(VFMK_D, VECTORS(7, VE_LESS | VE_EQUAL, 2)),
        WORD(VFMK_D, VECTORS(8, VE_GREATER | VE_LESS | VE_EQUAL, 2)),
        WORD(VFMK_D, VECTORS(9, VE_NEVER, 2)),
        WORD(VCVT_S_W, VECTORS(13, 1, 0)),
        WORD(PVFADD_UP, VECTORS(13, 13, 13)) | UINT64_C(2) << 48,
        WORD(PVFADD_UP, VECTORS(14, 13, 13)),
        WORD(VFMK_L, VECTORS(0, VE_GREATER, 2)),             /* which stays all ones */
        WORD(PVADDS, VECTORS(10, 1, 2)) | UINT64_C(2) << 48, /* of which halves have masks */
        COUNT_DOWN,
        UP_TO_0(29),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    struct ve_core *core = run_both(49, NEAREST);
    CHECK((core->psw & (VE_PSW_INVALID | VE_PSW_DIVIDE)) == 0);
    CHECK(core->vm[2][0] != 0 && core->vm[2][0] != UINT64_MAX);
    CHECK(core->vm[4][0] == 0 && core->vm[5][0] == UINT64_MAX);
    ve_core_destroy(core);
}

/* Mask 2 is taken as the block before left it, mask 3 is made anew each time. */
static void test_a_block_takes_masks_of_the_block_before(void)
{
    enum { A = 21, C = 23 };
    const uint64_t words[] = {
        WORD(LEA, SX(1) | DISPLACEMENT(100)),
        WORD(LVL, SY(1)),
        WORD(LEA, SX(A) | SZ(BUFFER)),
        WORD(LEA, SX(C) | SZ(BUFFER) | DISPLACEMENT(3200)),
        LOAD(1, A),
        WORD(VMRG, VECTORS(2, 0, 1) | IY(0) | UINT64_C(1) << 53) | UINT64_C(2) << 48,
        SUM_OF(3, 1),
        WORD(VFMK_L, VECTORS(2, VE_LESS, 3)),
        WORD(VFMK_L, VECTORS(3, VE_GREATER, 3)),
        WORD(VMRG, VECTORS(2, 2, 3)) | UINT64_C(3) << 48,
        KEEP(2, C),
        WORD(LEA, SX(A) | SZ(A) | DISPLACEMENT(8)),
        COUNT_DOWN,
        UP_TO_0(9),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    ve_core_destroy(run_both(71, NEAREST));
}

static void test_comparisons_in_blocks_raise_nothing_inexact(void)
{
    enum { ONE = 21, SMALL = 22, LATE = 23, INFINITE = 24, TO_Y = 53 };
    const uint64_t words[] = {
        WORD(LEA, SX(1) | DISPLACEMENT(100)),
        WORD(LVL, SY(1)),
        WORD(LEA_SL, SX(ONE) | DISPLACEMENT(0x3FF00000)),
        WORD(LEA_SL, SX(SMALL) | DISPLACEMENT(0x30F00000)),
        WORD(SRL, SX(LATE) | IY(2) | SZ(COUNTER)),
        WORD(LEA, SX(LATE) | SZ(LATE) | DISPLACEMENT(970)),
        WORD(SLL, SX(LATE) | IY(52) | SZ(LATE)),
        WORD(VBRD, VECTORS(1, 0, 0) | SY(SMALL)),
        WORD(VFCMP_D, VECTORS(2, 0, 1) | SY(ONE) | UINT64_C(1) << TO_Y),
        WORD(VFMK_D, VECTORS(2, VE_GREATER, 2)),
        WORD(VMRG, VECTORS(3, 2, 1)) | UINT64_C(2) << 48,
        WORD(NOP, 0),
        WORD(LEA_SL, SX(INFINITE) | DISPLACEMENT(0x7FF00000)),
        WORD(VBRD, VECTORS(5, 0, 0) | SY(INFINITE)),
        WORD(VFCMP_D, VECTORS(6, 0, 5) | SY(INFINITE) | UINT64_C(1) << TO_Y), /* 0 */
        COUNT_DOWN,
        UP_TO_0(15),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    struct ve_core *core = run_both(48, NEAREST);
    CHECK((core->psw & (VE_PSW_INEXACT | VE_PSW_INVALID)) == 0);
    CHECK(core->v[6][99] == 0 && core->v[3][99] == core->v[1][99]);
    ve_core_destroy(core);

    code[11] = WORD(LEA, SX(40) | DISPLACEMENT(1)); /* a unit of its own, which rounds to 0 */
    core = run_both(48, VE_IRM_ZERO << VE_PSW_ROUNDING_SHIFT);
    CHECK(core->v[2][99] == UINT64_C(0x3FEFFFFFFFFFFFFF));
    ve_core_destroy(core);

    /* 1 and a number that is too small for an exact sum in the last iterations. */
    code[7] = WORD(VBRD, VECTORS(1, 0, 0) | SY(ONE));
    code[11] = WORD(VFADD_D, VECTORS(4, 0, 1) | SY(LATE) | UINT64_C(1) << TO_Y);
    core = run_both(48, NEAREST);
    CHECK((core->psw & VE_PSW_INEXACT) != 0);
    ve_core_destroy(core);
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

int main(void)
{
    set_up_engines();

    test_blocks_do_what_their_instructions_do();
    test_stores_and_loads_of_blocks_overlap();
    test_of_two_nans_blocks_have_the_same();
    test_masks_go_on_behind_a_nan();
    test_every_operation_of_blocks_has_all_its_operands();
    test_conversions_in_blocks_round_and_raise();
    test_exceptions_are_noted_without_their_results();
    test_an_address_of_many_may_be_misaligned();
    test_what_is_scattered_into_what_is_loaded();
    test_masks_in_blocks();
    test_a_block_takes_masks_of_the_block_before();
    test_comparisons_in_blocks_raise_nothing_inexact();
    test_blocks_raise_what_elements_and_scalars_raise();
    test_vectors_that_become_shorter_keep_their_elements();
    test_a_block_is_entered_in_its_middle();
    return 0;
}
