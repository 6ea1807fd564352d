/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of Vector Engine code: what they follow of bits that were never written, for all
 * instructions; what they know of memory; and threads.
 *
 * build: @ve_machine @ve_checks tsan
 */
#include "tests/veo/support/ve_code.h"
#include "veo/checks/shadow.h"
#include "veo/checks/state.h"
#include "veo/machine/executors.h"

#include <pthread.h>
#include <sys/mman.h>

enum { ROUNDS = 8, STACK = 1 << 16, BYTES = 3 << 16, CHANGES = 4000, BLOCKS = 200, THREADS = 4 };

static uint32_t found;

static void tell(struct ve_checks *checks, const struct ve_finding *finding)
{
    (void)checks;
    (void)finding;
    __atomic_fetch_add(&found, 1, __ATOMIC_RELAXED);
}

static const struct ve_checks_services services = {.wanted = VE_CHECK_ALL, .tell = tell};

static uint8_t *pages_of(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    return pages;
}

static struct ve_core *core_with_stack(uint8_t *stack)
{
    struct ve_core *core = ve_core_create();
    CHECK(core != NULL);
    core->stack_low = (uint64_t)(uintptr_t)stack;
    core->s[VE_S_STACK] = core->stack_low + STACK;
    CHECK(ve_checks_attach(core, &services) != NULL);
    return core;
}

/* --- bits that were never written --- */

/* Sums and maxima are told, and those that read clocks and flags depend on nothing that is here. */
static bool is_followed(uint32_t operation)
{
    switch ((enum ve_fact_kind)ve_fact_of(operation)->kind) {
    case VE_FACT_SCALAR:
        return operation != VE_OP_SMIR && operation != VE_OP_SFR && operation != VE_OP_SPM &&
               operation != VE_OP_LCR && operation != VE_OP_SCR && operation != VE_OP_TSCR &&
               operation != VE_OP_FIDCR;
    case VE_FACT_VECTOR:
    case VE_FACT_MOVE:
    case VE_FACT_RECUR:
    case VE_FACT_MASK_MADE:
    case VE_FACT_MASK_COMBINED:
    case VE_FACT_MASK_COUNTED:
    case VE_FACT_ELEMENT_SET:
    case VE_FACT_ELEMENT_GOT:
    case VE_FACT_MASK_SET:
    case VE_FACT_MASK_GOT: return true;
    default: return false;
    }
}

/* Values as programs have them: small ones and any bits. */
static uint64_t any_value(uint64_t *seed)
{
    uint64_t value = check_random(seed);
    switch (check_random_below(seed, 4)) {
    case 0: return value & 127;
    case 1: return value & UINT32_MAX;
    case 2: return (uint64_t)(int64_t)(int32_t)value;
    default: return value;
    }
}

/* Few bits, a half, or most often none. */
static uint64_t any_undefined(uint64_t *seed)
{
    switch (check_random_below(seed, 6)) {
    case 0: return UINT64_C(1) << check_random_below(seed, 64);
    case 1: return UINT32_MAX;
    case 2: return (uint64_t)UINT32_MAX << 32;
    case 3: return check_random(seed) & check_random(seed);
    default: return 0;
    }
}

/* Gives registers values, some of whose bits are not the same in the other core. */
static void fill(struct ve_core *core, struct ve_core *other, bool defined, uint64_t *seed)
{
    struct ve_checks *checks = core->checks;
    for (unsigned i = 0; i < 64; i++) {
        bool kept = i >= VE_S_LIMIT && i <= VE_S_THREAD;
        checks->s[i] = defined || kept ? 0 : any_undefined(seed);
        core->s[i] = kept ? core->s[i] : any_value(seed);
        other->s[i] = core->s[i] ^ (check_random(seed) & checks->s[i]);
    }
    for (unsigned v = 0; v < VE_VECTORS; v++)
        for (unsigned i = 0; i < VE_VECTOR_LENGTH; i++) {
            checks->shade->v[v][i] = defined ? 0 : any_undefined(seed);
            core->v[v][i] = any_value(seed);
            other->v[v][i] = core->v[v][i] ^ (check_random(seed) & checks->shade->v[v][i]);
        }
    for (unsigned m = 1; m < VE_MASKS; m++)
        for (unsigned w = 0; w < VE_MASK_WORDS; w++) {
            checks->vm[m][w] = defined ? 0 : any_undefined(seed);
            core->vm[m][w] = check_random(seed);
            other->vm[m][w] = core->vm[m][w] ^ (check_random(seed) & checks->vm[m][w]);
        }
    core->vl = other->vl = (uint32_t)check_random_below(seed, VE_VECTOR_LENGTH + 1);
    core->vix = other->vix = (uint32_t)check_random_below(seed, VE_VECTORS);
    memset(checks->read_to, 0, sizeof checks->read_to);
}

static void check_difference(uint32_t operation, uint64_t a, uint64_t b, uint64_t undefined)
{
    if (((a ^ b) & ~undefined) == 0)
        return;
    fprintf(stderr, "%s: 0x%" PRIx64 " or 0x%" PRIx64 ", undefined 0x%" PRIx64 "\n",
            ve_operation_info(operation)->mnemonic, a, b, undefined);
    CHECK(!"bits that differ count as written");
}

/* Bits that were never written may have any value: results that depend on them are known. */
static void compare(uint32_t operation, const struct ve_core *core, const struct ve_core *other,
                    bool defined)
{
    const struct ve_checks *checks = core->checks;
    uint64_t all = 0;
    for (unsigned i = 0; i < 64; i++) {
        all |= checks->s[i];
        check_difference(operation, core->s[i], other->s[i], checks->s[i]);
    }
    for (unsigned v = 0; v < VE_VECTORS; v++)
        for (unsigned i = 0; i < VE_VECTOR_LENGTH; i++) {
            all |= checks->shade->v[v][i];
            check_difference(operation, core->v[v][i], other->v[v][i], checks->shade->v[v][i]);
        }
    for (unsigned m = 0; m < VE_MASKS; m++)
        for (unsigned w = 0; w < VE_MASK_WORDS; w++) {
            all |= checks->vm[m][w];
            check_difference(operation, core->vm[m][w], other->vm[m][w], checks->vm[m][w]);
        }
    CHECK(!defined || all == 0);
}

/* Any operands, but for results in registers of the calling convention. False if none was met. */
static bool make(uint32_t operation, uint64_t *seed, struct ve_instruction *instruction)
{
    const struct ve_operation_info *info = ve_operation_info(operation);
    for (int i = 0; i < 400; i++) {
        uint64_t word = info->match | (check_random(seed) & ~info->mask);
        bool decodes = ve_decode(word, instruction) && instruction->operation == operation;
        if (decodes && (instruction->x < VE_S_LIMIT - 1 || instruction->x > VE_S_THREAD) &&
            instruction->x < 63)
            return true;
    }
    return false;
}

static void test_undefined_bits_are_followed(void)
{
    uint64_t seed = check_seed(11);
    uint8_t *stack = pages_of(STACK);
    struct ve_core *core = core_with_stack(stack), *other = ve_core_create();
    uint32_t tried = 0;
    CHECK(other != NULL);
    for (uint32_t operation = 0; operation < VE_OPERATION_COUNT; operation++) {
        for (int round = 0; is_followed(operation) && round < ROUNDS; round++) {
            struct ve_instruction instruction;
            bool defined = round == 0;
            if (!make(operation, &seed, &instruction))
                continue;
            fill(core, other, defined, &seed);
            core->stopped = other->stopped = false;
            core->check(core, &instruction, 0x1000);
            ve_executors[operation](core, &instruction);
            ve_executors[operation](other, &instruction);
            if (!core->stopped && !other->stopped)
                compare(operation, core, other, defined);
            tried++;
        }
    }
    printf("%u instructions\n", tried);
    CHECK(tried > 1000);
    ve_checks_detach(core->checks);
    ve_core_destroy(core);
    ve_core_destroy(other);
    munmap(stack, STACK);
}

/* --- memory --- */

enum state { OPEN, HIDDEN, FRESH };

static void change(uint64_t address, uint64_t size, enum state state)
{
    if (state == OPEN)
        ve_shadow_open(address, size);
    else if (state == HIDDEN)
        ve_shadow_hide(address, size);
    else
        ve_shadow_fresh(address, size);
}

static void test_shadows_are_those_of_bytes(void)
{
    static uint8_t states[BYTES];
    uint64_t seed = check_seed(12), base = UINT64_C(1) << 40, at;
    for (int i = 0; i < CHANGES; i++) {
        uint64_t from = check_random_below(&seed, BYTES);
        uint64_t most = check_random_below(&seed, 20) == 0 ? BYTES - from : 40;
        uint64_t size = check_random_below(&seed, (most < BYTES - from ? most : BYTES - from) + 1);
        enum state state = (enum state)check_random_below(&seed, 3);
        change(base + from, size, state);
        memset(states + from, (int)state, size);

        uint64_t hidden = from, fresh = from;
        while (hidden < from + size + 9 && hidden < BYTES && states[hidden] != HIDDEN)
            hidden++;
        while (fresh < from + size + 9 && fresh < BYTES && states[fresh] != FRESH)
            fresh++;
        uint64_t end = from + size + 9 < BYTES ? from + size + 9 : BYTES;
        CHECK(ve_shadow_find_hidden(base + from, end - from, &at) == (hidden < end));
        CHECK(hidden >= end || at == base + hidden);
        CHECK(ve_shadow_find_undefined(base + from, end - from, &at) == (fresh < end));
        CHECK(fresh >= end || at == base + fresh);
    }

    /* Words over the edge of a page, and copies. */
    uint64_t edge = base + (1 << 16) - 3;
    ve_shadow_fresh(base, BYTES);
    ve_shadow_store(edge, 8, UINT64_C(0x1122334455667788));
    CHECK(ve_shadow_load(edge, 8) == UINT64_C(0x1122334455667788));
    CHECK(ve_shadow_load(edge + 4, 2) == 0x3344);
    ve_shadow_copy(edge + 2, edge, 8);
    CHECK(ve_shadow_load(edge + 2, 8) == UINT64_C(0x1122334455667788));
    CHECK(ve_shadow_load(edge, 2) == 0x7788);
    ve_shadow_define(edge, 4);
    CHECK(ve_shadow_load(edge, 8) == UINT64_C(0x3344556600000000));
    ve_shadow_open(base, BYTES);
    CHECK(!ve_shadow_find_undefined(base, BYTES, &at));
}

static void test_blocks_have_bounds_and_are_kept_when_they_are_freed(void)
{
    const struct ve_block_place place = {{1}};
    uint64_t seed = check_seed(13), addresses[BLOCKS], sizes[BLOCKS], at;
    struct ve_block block;
    for (int i = 0; i < BLOCKS; i++) {
        uint64_t align = UINT64_C(1) << check_random_below(&seed, 13);
        sizes[i] = check_random_below(&seed, 5000);
        addresses[i] = ve_blocks_take(sizes[i], align, &place);
        CHECK(addresses[i] != 0 && addresses[i] % align == 0);
        memset((void *)(uintptr_t)addresses[i], i, sizes[i]);
    }
    for (int i = 0; i < BLOCKS; i++) {
        CHECK(!ve_shadow_find_hidden(addresses[i], sizes[i], &at));
        CHECK(ve_shadow_find_hidden(addresses[i] - 1, 1, &at));
        CHECK(ve_shadow_find_hidden(addresses[i] + sizes[i], 1, &at));
        CHECK(ve_blocks_nearest(addresses[i] + sizes[i] + 8, &block));
        CHECK(block.address == addresses[i] && block.size == sizes[i] && !block.is_freed);
        CHECK(ve_blocks_size(addresses[i], &at) && at == sizes[i]);
    }
    ve_blocks_define();
    for (int i = 0; i < BLOCKS; i++) {
        CHECK(!ve_shadow_find_undefined(addresses[i], sizes[i], &at));
        CHECK(ve_blocks_free(addresses[i], &place) == VE_BLOCKS_FREED);
        CHECK(ve_blocks_free(addresses[i], &place) == VE_BLOCKS_TWICE);
        CHECK(ve_blocks_free(addresses[i] + 1, &place) == VE_BLOCKS_NO_START);
        CHECK(sizes[i] == 0 || ve_shadow_find_hidden(addresses[i], 1, &at));
        CHECK(ve_blocks_nearest(addresses[i], &block) && block.is_freed);
    }
    CHECK(ve_blocks_free(4096, &place) == VE_BLOCKS_OTHER && !ve_blocks_contain(4096));
    CHECK(ve_blocks_take(UINT64_MAX, 16, &place) == 0);

    /* Of freed blocks the oldest are given out again at some time. */
    for (int i = 0; i < 3 * 4096; i++) {
        uint64_t address = ve_blocks_take(64, 16, &place);
        CHECK(address != 0 && ve_blocks_free(address, &place) == VE_BLOCKS_FREED);
    }
    CHECK(ve_blocks_free(addresses[0], &place) != VE_BLOCKS_FREED);
}

/* --- threads --- */

static void *run_thread(void *argument)
{
    /* Takes room on the stack, writes and reads it, and gives it back. */
    const uint64_t code[] = {
        SET(0, 0),
        WORD(ADDS_L, SX(11) | IY(-64) | SZ(11)),
        WORD(ST, SX(0) | SZ(11) | DISPLACEMENT(8)),
        WORD(LD, SX(1) | SZ(11) | DISPLACEMENT(8)),
        BRANCH(BR_L, VE_LESS, SY(1) | SZ(2), 8),
        WORD(ADDS_L, SX(0) | IY(1) | SZ(0)),
        WORD(ADDS_L, SX(11) | IY(0) | SZ(3)),
        BRANCH(BR_L, VE_LESS, SY(0) | SZ(2), -48),
        RETURN,
    };
    struct ve_core *core = core_with_stack(argument);
    const struct ve_block_place place = {{1}};
    core->s[2] = 200;
    core->s[3] = core->s[VE_S_STACK];
    ve_checks_enter(core->checks, 4, 0, 0, true);
    core->s[VE_S_LIMIT] = core->stack_low;
    CHECK(ve_core_run(core, (uint64_t)(uintptr_t)code));
    CHECK(core->s[0] == 200);
    for (int i = 0; i < BLOCKS; i++) {
        uint64_t address = ve_blocks_take(100, 16, &place);
        CHECK(address != 0 && ve_blocks_free(address, &place) == VE_BLOCKS_FREED);
    }
    ve_checks_detach(core->checks);
    ve_core_destroy(core);
    return NULL;
}

static void test_threads_have_their_own_stacks(void)
{
    pthread_t threads[THREADS];
    uint8_t *stacks = pages_of((size_t)THREADS * STACK);
    found = 0;
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run_thread, stacks + (size_t)i * STACK) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(found == 0);
    munmap(stacks, (size_t)THREADS * STACK);
}

int main(void)
{
    test_undefined_bits_are_followed();
    test_shadows_are_those_of_bytes();
    test_blocks_have_bounds_and_are_kept_when_they_are_freed();
    test_threads_have_their_own_stacks();
    return 0;
}
