/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machines in lockstep leave what each leaves alone in turns: where all go the same way, where
 * their data differ, at faults, limits and interrupts, and when groups of the same program run at
 * once.
 *
 * build: @dpu_machine @dpu_translate -Wl,--wrap=aligned_alloc tsan
 */
#include "common/clock.h"
#include "dpu/machine/lockstep.h"
#include "dpu/translate/translate.h"
#include "hostcode/compiler.h"
#include "tests/dpu/support/program.h"

#include <pthread.h>
#include <stdlib.h>

enum { TASKLETS = 16, MOST = 8, FIRST = 64, SLICE = 2 * 4096, SHARED_WORD = 64, DATA = 16384 };

#define READ(r, base, offset) W("lw", "erri", 0, r, base, offset)
#define WRITE(base, offset, r) W("sw", "erir", 0, base, offset, r)
#define REPEAT(pc) W("add", "rrici", 1, 1, -1, CC_NZ, pc)

static bool no_memory;
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return no_memory ? NULL : __real_aligned_alloc(alignment, size);
}

/* --- machines, each beside one in turns --- */

struct group {
    uint32_t count;
    struct dpu_machine *machines[MOST], *turns[MOST];
    struct dpu_run_result results[MOST];
};

static struct dpu_machine *make(uint32_t engine, uint64_t limit, const uint64_t *words,
                                uint32_t count)
{
    struct dpu_machine_options options;
    dpu_machine_default_options(&options);
    options.engine = engine;
    options.max_cycles = limit;
    struct dpu_machine *machine = dpu_machine_create(&options);
    CHECK(machine != NULL && dpu_machine_write_iram(machine, 0, words, count));
    return machine;
}

static void put(struct dpu_machine *machine, uint32_t address, uint32_t value)
{
    CHECK(dpu_machine_write_wram(machine, address, &value, sizeof value));
}

/* Machine i has DATA + i * apart in the words from DATA on. */
static void begin(struct group *group, uint32_t count, uint64_t limit, uint32_t apart,
                  const uint64_t *words, uint32_t length)
{
    group->count = count;
    for (uint32_t i = 0; i < count; i++) {
        group->machines[i] = make(DPU_ENGINE_AUTO, limit, words, length);
        group->turns[i] = make(DPU_ENGINE_TURNS, limit, words, length);
        for (uint32_t at = DATA; at < DATA + 256; at += 4) {
            put(group->machines[i], at, at + i * apart);
            put(group->turns[i], at, at + i * apart);
        }
        dpu_machine_boot(group->machines[i]);
        dpu_machine_launch(group->turns[i], NULL);
    }
}

static bool goes_on(const struct dpu_run_result *result)
{
    return result->status == DPU_RUN_STEPPED || result->status == DPU_RUN_INTERRUPTED;
}

/* Slices of those that have not ended, up to the end of all: the first one alone, which makes their
 * programs known. True if code ran them together. */
static bool run(struct group *group, uint32_t interrupts)
{
    struct dpu_machine *left[MOST];
    struct dpu_run_result *results[MOST];
    bool together = false;
    for (uint32_t i = 0; i < group->count; i++)
        dpu_machine_slice(group->machines[i], FIRST, &group->results[i]);
    for (uint32_t slice = 0;; slice++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < group->count; i++)
            if (goes_on(&group->results[i])) {
                left[count] = group->machines[i];
                results[count++] = &group->results[i];
            }
        if (count == 0)
            return together;

        if (slice < interrupts)
            dpu_machine_interrupt(left[slice % count]);
        const struct dpu_lanes_code *code =
            dpu_translate_lanes(left[0], clock_deadline(60 * CLOCK_SECOND));
        CHECK(code != NULL && dpu_lockstep_can(left[0]) && code->lanes >= MOST);
        for (uint32_t i = 0; i < count; i++)
            CHECK(dpu_lockstep_match(left[0], left[i]));
        dpu_lockstep_slice(left, count, SLICE, code, results);
        together |= strcmp(dpu_machine_engine_name(left[0]), "lockstep") == 0;
    }
}

static void expect_the_same(struct group *group)
{
    static uint8_t memory[2][DPU_MACHINE_WRAM];
    for (uint32_t i = 0; i < group->count; i++) {
        struct dpu_machine *a = group->machines[i], *b = group->turns[i];
        struct dpu_run_result left, right;
        dpu_machine_get_result(a, &left);
        dpu_machine_get_result(b, &right);
        CHECK(memcmp(&left, &right, sizeof left) == 0);
        for (uint32_t id = 0; id < TASKLETS; id++) {
            struct dpu_thread_state x, y;
            CHECK(dpu_machine_get_thread(a, id, &x) && dpu_machine_get_thread(b, id, &y));
            CHECK(memcmp(&x, &y, sizeof x) == 0);
        }
        CHECK(dpu_machine_read_wram(a, 0, memory[0], DPU_MACHINE_WRAM));
        CHECK(dpu_machine_read_wram(b, 0, memory[1], DPU_MACHINE_WRAM));
        CHECK(memcmp(memory[0], memory[1], DPU_MACHINE_WRAM) == 0);
        CHECK(dpu_machine_read_mram(a, 0, memory[0], DPU_MACHINE_WRAM));
        CHECK(dpu_machine_read_mram(b, 0, memory[1], DPU_MACHINE_WRAM));
        CHECK(memcmp(memory[0], memory[1], DPU_MACHINE_WRAM) == 0);
        dpu_machine_destroy(a);
        dpu_machine_destroy(b);
    }
}

#define EXPECT_THE_SAME(count, limit, apart, interrupts, ...) \
    do { \
        const uint64_t words_[] = {BOOT_CHAIN(TASKLETS, 0), __VA_ARGS__}; \
        struct group group_; \
        begin(&group_, count, limit, apart, words_, sizeof words_ / sizeof *words_); \
        bool together_ = run(&group_, interrupts); \
        CHECK(together_ || (limit) != 0); /* the last rounds before a limit are in turns */ \
        expect_the_same(&group_); \
    } while (0)

/* Sums of what is read of MRAM and from DATA on, a lock around a shared word, the time. */
#define WORK(rounds) \
    MOVE(1, rounds), W("lsl", "rri", 3, ID, 8), READ(6, ID4, DATA), \
        /* 5: */ W("sdma", "rri", 3, 3, 3), W("ldma", "rri", 3, 3, 7), READ(4, 3, 8), \
        W("add", "rrr", 2, 2, 4), W("add", "rrr", 2, 2, 6), \
        /* 10: */ W("acquire", "rici", ZERO, 9, CC_NZ, 10), READ(5, ZERO, SHARED_WORD), \
        W("add", "rrr", 5, 5, 2), WRITE(ZERO, SHARED_WORD, 5), \
        W("release", "rici", ZERO, 9, 0, 15), /* 15: */ W("time", "r", 7), WRITE(ID4, 256, 7), \
        WRITE(3, 12, 2), REPEAT(5)

static void test_equal_machines(void)
{
    EXPECT_THE_SAME(MOST, 0, 0, 0, WORK(300), STOP);
}

static void test_other_data(void)
{
    EXPECT_THE_SAME(MOST, 0, 3, 0, WORK(300), STOP);
    EXPECT_THE_SAME(3, 0, 1, 0, WORK(300), STOP);
}

/* A loop whose length is data: machines part, and those that have ended leave. */
static void test_other_ways(void)
{
    EXPECT_THE_SAME(MOST, 0, 1000, 0, WORK(20), READ(8, ID4, DATA), MOVE(1, 1),
                    /* 22: */ W("add", "rrr", 2, 2, 8), W("add", "rri", 8, 8, -7),
                    W("lsr", "rri", 9, 8, 15), JUMP_IF(9, 0, CC_Z, 22), WRITE(ID4, 512, 2), STOP);
}

/* Machine 5 alone reads a word that does not exist; in the other program all of them do. */
static void test_faults(void)
{
    EXPECT_THE_SAME(MOST, 0, 1 << 20, 0, WORK(200), READ(8, ZERO, DATA), MOVE(9, -(5 << 20)),
                    JUMP_IF(ID, 3, CC_NZ, 25), W("add", "rrr", 8, 8, 9),
                    W("add", "rri", 8, 8, -DATA), /* 25: */ W("sub", "zrici", 0, 8, 0, CC_NZ, 27),
                    READ(2, LNEG, 0), STOP);
    EXPECT_THE_SAME(MOST, 0, 0, 0, WORK(200), JUMP_IF(ID, 7, CC_NZ, 22), W("fault", "i", 3),
                    /* 22: */ STOP);
    /* A transfer to where there is no MRAM. */
    EXPECT_THE_SAME(MOST, 0, 0, 0, WORK(200), JUMP_IF(ID, 7, CC_NZ, 23), MOVE(8, -8),
                    W("sdma", "rri", 3, 8, 0), /* 23: */ STOP);
}

static void test_the_limit_of_cycles(void)
{
    for (uint64_t limit = 1; limit < 200000; limit = limit * 5 + 1)
        EXPECT_THE_SAME(MOST, limit, 1, 0, WORK(100), JUMP(3));
}

static void test_interrupts(void)
{
    EXPECT_THE_SAME(MOST, 0, 1, 6, WORK(900), STOP);
}

static void test_no_memory_for_lanes(void)
{
    const uint64_t words[] = {BOOT_CHAIN(TASKLETS, 0), WORK(100), STOP};
    struct group group;
    begin(&group, MOST, 0, 1, words, sizeof words / sizeof *words);
    no_memory = true;
    CHECK(!run(&group, 0));
    no_memory = false;
    expect_the_same(&group);
}

/* --- who may be in a group --- */

static void test_who_can(void)
{
    const uint64_t words[] = {MOVE(1, 3), REPEAT(1), STOP};
    const uint64_t other[] = {MOVE(1, 4), REPEAT(1), STOP};
    struct dpu_machine *first = make(DPU_ENGINE_AUTO, 0, words, 3);
    struct dpu_machine *second = make(DPU_ENGINE_LOCKSTEP, 0, words, 3);
    struct dpu_machine *third = make(DPU_ENGINE_AUTO, 0, other, 3);
    struct dpu_machine *turns = make(DPU_ENGINE_TURNS, 0, words, 3);
    struct dpu_machine *drift = make(DPU_ENGINE_DRIFT, 0, words, 3);
    CHECK(!dpu_lockstep_can(first)); /* its program is not known yet */
    struct dpu_machine *all[] = {first, second, third, turns, drift};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CHECK(dpu_machine_launch(all[i], NULL) == DPU_RUN_DONE);
    CHECK(dpu_lockstep_can(first) && dpu_lockstep_can(second) && dpu_lockstep_can(third));
    CHECK(!dpu_lockstep_can(turns) && !dpu_lockstep_can(drift));
    CHECK(dpu_lockstep_match(first, second) && !dpu_lockstep_match(first, third));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        dpu_machine_destroy(all[i]);
}

/* --- several groups --- */

static void *run_group(void *group)
{
    CHECK(run(group, 2));
    return NULL;
}

static void test_groups_of_one_program(void)
{
    enum { GROUPS = 3 };
    static struct group groups[GROUPS];
    const uint64_t words[] = {BOOT_CHAIN(TASKLETS, 0), WORK(200), STOP};
    pthread_t threads[GROUPS];
    for (uint32_t i = 0; i < GROUPS; i++)
        begin(&groups[i], MOST, 0, i, words, sizeof words / sizeof *words);
    for (uint32_t i = 0; i < GROUPS; i++)
        CHECK(pthread_create(&threads[i], NULL, run_group, &groups[i]) == 0);
    for (uint32_t i = 0; i < GROUPS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (uint32_t i = 0; i < GROUPS; i++)
        expect_the_same(&groups[i]);
}

int main(void)
{
    struct host_compiler compiler;
    test_who_can();
    if (dpu_translate_lanes_of_host() == 0 || !host_compiler_find(&compiler, "DPU_SOFT_CC")) {
        printf("no AVX2, or no C compiler: nothing runs in lockstep here\n");
        return 0;
    }

    test_no_memory_for_lanes(); /* later ones have that of those before */
    test_equal_machines();
    test_other_data();
    test_other_ways();
    test_faults();
    test_the_limit_of_cycles();
    test_interrupts();
    test_groups_of_one_program();
    return 0;
}
