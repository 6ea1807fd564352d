/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks: each finds its fault in a small program, with both instructions and the calls that led
 * there, once; and is silent about the same program without the fault.
 *
 * build: @dpu_machine @dpu_checks
 */
#include "tests/dpu/support/program.h"
#include "dpu/checks/checks.h"

#include <stdlib.h>

enum { LOCK = 9, OTHER_LOCK = 10, SHARED = 64, BUFFER = 1024, FOUND_MAX = 8, STACK = 512 };

#define ACQUIRE(bit, pc) W("acquire", "rici", ZERO, bit, CC_NZ, pc)
#define RELEASE(bit, pc) W("release", "rici", ZERO, bit, 0, (pc) + 1)
#define LOAD_WORD(r, address) W("lw", "erri", 0, r, ZERO, address)
#define STORE_WORD(address, r) W("sw", "erir", 0, ZERO, address, r)
#define STORE_PAIR(address, d) W("sd", "erir", 0, ZERO, address, d)
#define CALL(r, pc) W("call", "rri", r, ZERO, pc)
#define RETURN(r) W("call", "zri", 0, r, 0)
#define READ_MRAM(wram, mram, units) W("ldma", "rri", wram, mram, (units) - 1)
#define WRITE_MRAM(wram, mram, units) W("sdma", "rri", wram, mram, (units) - 1)

struct found {
    uint32_t count;
    struct dpu_finding findings[FOUND_MAX];
    uint32_t callers[FOUND_MAX]; /* of `here` */
};

static void note(void *context, const struct dpu_checks *checks, const struct dpu_finding *finding)
{
    struct found *found = context;
    uint32_t calls = finding->here.calls, pc = UINT32_MAX;
    CHECK(found->count < FOUND_MAX);
    dpu_checks_caller(checks, &calls, &pc);
    found->callers[found->count] = pc;
    found->findings[found->count++] = *finding;
}

struct fixture {
    struct dpu_machine *machine;
    struct dpu_checks *checks;
    struct found found;
};

static struct fixture *begin_with(uint32_t wanted, uint32_t tasklets, uint32_t cache_kib)
{
    struct dpu_machine_options options;
    struct fixture *fixture = calloc(1, sizeof *fixture);
    CHECK(fixture != NULL);
    dpu_machine_default_options(&options);
    options.tasklets = tasklets;
    options.cache_kib = cache_kib;
    fixture->machine = dpu_machine_create(&options);
    CHECK(fixture->machine != NULL);
    fixture->checks = dpu_checks_create(fixture->machine, wanted, note, &fixture->found);
    CHECK(fixture->checks != NULL);
    return fixture;
}

static struct fixture *begin(uint32_t wanted)
{
    return begin_with(wanted, 0, 0);
}

static void end(struct fixture *fixture)
{
    dpu_checks_destroy(fixture->checks);
    dpu_machine_destroy(fixture->machine);
    free(fixture);
}

static void run(struct fixture *fixture)
{
    CHECK(dpu_machine_launch(fixture->machine, NULL) == DPU_RUN_DONE);
}

static const struct dpu_finding *only(const struct fixture *fixture, enum dpu_finding_kind kind)
{
    CHECK(fixture->found.count == 1);
    CHECK(fixture->found.findings[0].kind == kind);
    return &fixture->found.findings[0];
}

/* --- races --- */

static void test_race(void)
{
    struct fixture *f = begin(DPU_CHECK_RACE);
    LOAD(f->machine, BOOT_CHAIN(3, 0), /* 2: */ CALL(5, 4), STOP,
         /* 4: */ LOAD_WORD(1, SHARED), W("add", "rri", 1, 1, 1), STORE_WORD(SHARED, 1), RETURN(5));
    run(f);
    CHECK(f->found.count == 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct dpu_finding *finding = &f->found.findings[i];
        CHECK(finding->kind == DPU_FINDING_RACE && finding->has_other && !finding->in_mram);
        CHECK(finding->address == SHARED && finding->size == 4);
        CHECK(finding->here.thread != finding->other.thread);
        CHECK(finding->here.writes || finding->other.writes);
        CHECK(f->found.callers[i] == 2 && finding->other.calls == finding->here.calls);
    }

    /* Each pair of instructions once. */
    run(f);
    CHECK(f->found.count == 2);
    end(f);
}

static void test_lock_orders(void)
{
    struct fixture *f = begin(DPU_CHECK_RACE | DPU_CHECK_DEADLOCK);
    LOAD(f->machine, BOOT_CHAIN(12, 0), MOVE(2, 20), /* 3: */ ACQUIRE(LOCK, 3),
         LOAD_WORD(1, SHARED), W("add", "rri", 1, 1, 1), STORE_WORD(SHARED, 1), RELEASE(LOCK, 7),
         W("add", "rrici", 2, 2, -1, CC_NZ, 3), STOP);
    run(f);
    CHECK(f->found.count == 0);
    end(f);
}

static void test_another_lock_does_not(void)
{
    struct fixture *f = begin(DPU_CHECK_RACE);
    LOAD(f->machine, BOOT_CHAIN(2, 0), /* 2: */ W("acquire", "rici", ID, LOCK, CC_NZ, 2),
         STORE_WORD(SHARED, 1), W("release", "rici", ID, LOCK, 0, 5), STOP);
    run(f);
    CHECK(only(f, DPU_FINDING_RACE)->here.pc == 3);
    end(f);
}

/* Boot, stop and resume order. Tasklet 1 reads, sleeps and reads again. */
static void test_boot_and_resume_order(void)
{
    struct fixture *f = begin(DPU_CHECK_RACE);
    LOAD(f->machine, JUMP_IF(ID, 0, CC_NZ, 6), STORE_WORD(SHARED, 1), BOOT(ZERO, 1),
         /* 3: */ W("read_run", "rici", ZERO, 1, CC_NZ, 3), STORE_WORD(SHARED, 1), JUMP(9),
         /* 6: */ LOAD_WORD(1, SHARED), W("stop", "ci", CC_FALSE, 0), JUMP(12),
         /* 9: */ W("resume", "rici", ZERO, 1, CC_FALSE, 0), STOP, STOP,
         /* 12: */ LOAD_WORD(1, SHARED), STOP);
    CHECK(dpu_machine_launch(f->machine, NULL) == DPU_RUN_DONE);
    CHECK(f->found.count == 0);
    end(f);
}

static void test_launches_order(void)
{
    struct fixture *f = begin(DPU_CHECK_RACE);
    LOAD(f->machine, BOOT_CHAIN(2, 0), JUMP_IF(ID, 0, CC_Z, 4), STORE_WORD(SHARED, 1), STOP);
    run(f);
    LOAD(f->machine, STORE_WORD(SHARED, 1), STOP);
    run(f);
    CHECK(f->found.count == 0);
    end(f);
}

/* Many read, and one writes after all of them: or without waiting for them. */
static void test_reads_of_many(void)
{
    struct fixture *f = begin(DPU_CHECK_RACE);
    LOAD(f->machine, BOOT_CHAIN(8, 0), LOAD_WORD(1, SHARED), JUMP_IF(ID, 7, CC_NZ, 6), MOVE(1, 9),
         STORE_WORD(SHARED + 2, 1), STOP);
    CHECK(dpu_machine_launch(f->machine, NULL) == DPU_RUN_FAULT);
    CHECK(only(f, DPU_FINDING_RACE)->address == SHARED + 2);
    end(f);
}

static void test_race_in_mram(void)
{
    struct fixture *f = begin(DPU_CHECK_RACE);
    LOAD(f->machine, BOOT_CHAIN(2, 0), W("lsl", "rri", 1, ID, 6), W("add", "rri", 1, 1, BUFFER),
         MOVE(2, 4096 - 8), W("lsl_add", "rrri", 2, 2, ID, 3), WRITE_MRAM(1, 2, 2), STOP);
    run(f);
    const struct dpu_finding *finding = only(f, DPU_FINDING_RACE);
    CHECK(finding->in_mram && finding->address == 4096 && finding->here.by_dma);
    CHECK(finding->other.by_dma && finding->here.writes && finding->other.writes);
    end(f);
}

/* All read, and tasklet 63 writes, almost at the end of IRAM. */
static void test_race_of_the_last_of_64(void)
{
    enum { LAST_PC = DPU_MACHINE_IRAM - 2 };
    struct fixture *f = begin_with(DPU_CHECK_RACE, 64, 0);
    LOAD(f->machine, BOOT_CHAIN(64, 0), LOAD_WORD(1, SHARED), JUMP_IF(ID, 63, CC_Z, LAST_PC), STOP);
    LOAD_AT(f->machine, LAST_PC, STORE_WORD(SHARED, 1), STOP);
    run(f);
    const struct dpu_finding *finding = only(f, DPU_FINDING_RACE);
    CHECK(finding->here.thread == 63 && finding->here.pc == LAST_PC && finding->here.writes);
    CHECK(finding->other.thread < 63 && finding->other.pc == 2 && !finding->other.writes);
    end(f);
}

/* Tasklet 0 stores a word at FAR and a byte at FAR + 13, and tasklet 1 a byte, or 8 by DMA. */
static void test_race_by_a_cache(void)
{
    enum { FAR = 4096 };
    static const struct {
        bool by_dma;
        int at;
        uint32_t found;
    } cases[] = {{false, FAR + 4, 0},
                 {false, FAR + 3, FAR + 3},
                 {false, FAR + 12, 0},
                 {true, FAR + 16, 0},
                 {true, FAR + 8, FAR + 13}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *f = begin_with(DPU_CHECK_RACE, 0, 1);
        LOAD(f->machine, BOOT_CHAIN(2, 0), MOVE(1, DPU_MRAM_WINDOW + FAR), MOVE(2, cases[i].at),
             JUMP_IF(ID, 0, CC_NZ, 8), W("sw", "erir", 0, 1, 0, 3), W("sb", "erir", 0, 1, 13, 3),
             STOP, /* 8: */ JUMP_IF(ZERO, 0, cases[i].by_dma ? CC_NZ : CC_Z, 11),
             W("sdma", "rri", ZERO, 2, 0), STOP,
             /* 11: */ W("sb", "erir", 0, 1, cases[i].at - FAR, 3), STOP);
        run(f);
        CHECK(f->found.count == (cases[i].found != 0));
        if (cases[i].found != 0) {
            const struct dpu_finding *finding = only(f, DPU_FINDING_RACE);
            CHECK(finding->in_mram && finding->address == cases[i].found);
            CHECK(finding->here.by_dma != finding->other.by_dma || !cases[i].by_dma);
        }
        end(f);
    }
}

/* --- transfers --- */

static void test_transfer_in_flight(void)
{
    struct fixture *f = begin(DPU_CHECK_DMA | DPU_CHECK_RACE);
    LOAD(f->machine, BOOT_CHAIN(2, 0), MOVE(1, BUFFER), JUMP_IF(ID, 0, CC_NZ, 6),
         READ_MRAM(1, 1, 256), STOP, /* 6: */ LOAD_WORD(2, BUFFER + 2044), STOP);
    run(f);
    const struct dpu_finding *finding = only(f, DPU_FINDING_DMA_IN_FLIGHT);
    CHECK(finding->here.pc == 6 && finding->other.pc == 4 && finding->other.writes);
    CHECK(finding->here.thread == 1 && finding->other.thread == 0);
    end(f);
}

static void test_transfer_addresses(void)
{
    struct fixture *f = begin(DPU_CHECK_DMA);
    LOAD(f->machine, MOVE(1, BUFFER + 4), MOVE(2, 16), READ_MRAM(1, 2, 1), MOVE(1, BUFFER),
         MOVE(2, 17), READ_MRAM(1, 2, 1), MOVE(2, DPU_MACHINE_MRAM - 8), READ_MRAM(1, 2, 2), STOP);
    CHECK(dpu_machine_launch(f->machine, NULL) == DPU_RUN_FAULT);
    CHECK(f->found.count == 3);
    const struct dpu_finding *found = f->found.findings;
    CHECK(found[0].kind == DPU_FINDING_DMA_MISALIGNED && found[0].address == BUFFER + 4);
    CHECK(found[1].kind == DPU_FINDING_DMA_MISALIGNED && found[1].address == 17);
    CHECK(!found[0].in_mram && found[1].in_mram);
    CHECK(found[2].kind == DPU_FINDING_DMA_OUT_OF_MEMORY && found[2].size == 16);
    end(f);
}

/* Code of UPMEM's compiler for `data[1] += 1`, of 4 bytes in MRAM, with a word of the tasklet. */
static void test_data_in_mram(void)
{
    const struct dpu_check_layout layout = {
        .heap = UINT32_MAX, .heap_pointer = UINT32_MAX, .data_words = BUFFER};
    struct fixture *f = begin(DPU_CHECK_DMA);
    CHECK(dpu_checks_load(f->checks, &layout));
    LOAD(f->machine, MOVE(1, BUFFER), MOVE(2, 20), READ_MRAM(1, 2, 1), MOVE(3, BUFFER + 4),
         W("lw", "erri", 0, 4, 3, 0), W("add", "rri", 4, 4, 1), W("sw", "erir", 0, 3, 0, 4),
         WRITE_MRAM(3, 2, 1), STOP);
    run(f);
    CHECK(f->found.count == 0);
    end(f);

    /* More than the word, and the word of another tasklet. */
    f = begin(DPU_CHECK_DMA);
    CHECK(dpu_checks_load(f->checks, &layout));
    LOAD(f->machine, MOVE(1, BUFFER), MOVE(2, 20), READ_MRAM(1, 2, 2), MOVE(1, BUFFER + 8),
         READ_MRAM(1, 2, 1), STOP);
    run(f);
    CHECK(f->found.count == 2);
    for (uint32_t i = 0; i < f->found.count; i++)
        CHECK(f->found.findings[i].kind == DPU_FINDING_DMA_MISALIGNED);
    end(f);
}

static void test_transfer_beyond_a_variable(void)
{
    static const struct dpu_check_area wram[] = {{BUFFER, 20}, {BUFFER + 24, 100}};
    struct dpu_check_layout layout = {
        .wram = wram, .wram_count = 2, .heap = UINT32_MAX, .heap_pointer = UINT32_MAX};
    struct fixture *f = begin(DPU_CHECK_DMA | DPU_CHECK_BOUNDS);
    CHECK(dpu_checks_load(f->checks, &layout));
    LOAD(f->machine, MOVE(1, BUFFER), MOVE(2, 16), READ_MRAM(1, 2, 3), READ_MRAM(1, 2, 4), STOP);
    run(f);
    const struct dpu_finding *finding = only(f, DPU_FINDING_DMA_BEYOND);
    CHECK(finding->address == BUFFER && finding->size == 32 && finding->end == BUFFER + 20);
    end(f);
}

/* --- stacks and bounds --- */

/* A stack from STACK to STACK + 64 that grows down. */
static void test_stack(void)
{
    struct dpu_check_layout layout = {
        .stacks = {{STACK, 64}}, .heap = UINT32_MAX, .heap_pointer = UINT32_MAX};
    struct fixture *f = begin(DPU_CHECK_STACK);
    CHECK(dpu_checks_load(f->checks, &layout));
    LOAD(f->machine, MOVE(22, STACK + 64), W("add", "rri", 22, 22, -64),
         W("add", "rri", 22, 22, 64), CALL(23, 5), STOP, W("add", "rri", 22, 22, -72),
         W("add", "rri", 22, 22, 72), RETURN(23));
    run(f);
    const struct dpu_finding *finding = only(f, DPU_FINDING_STACK_OVERFLOW);
    CHECK(finding->here.pc == 5 && finding->size == 8 && f->found.callers[0] == 3);
    end(f);
}

static void test_stack_that_grows_up(void)
{
    struct dpu_check_layout layout = {
        .stacks = {{STACK, 64}}, .heap = UINT32_MAX, .heap_pointer = UINT32_MAX};
    struct fixture *f = begin(DPU_CHECK_STACK);
    CHECK(dpu_checks_load(f->checks, &layout));
    LOAD(f->machine, MOVE(22, STACK), W("add", "rri", 22, 22, 64), W("add", "rri", 22, 22, 8),
         STOP);
    run(f);
    CHECK(only(f, DPU_FINDING_STACK_OVERFLOW)->here.pc == 2);
    end(f);
}

static void test_bounds(void)
{
    struct dpu_check_layout layout = {.heap = 2048, .heap_pointer = SHARED};
    struct fixture *f = begin(DPU_CHECK_BOUNDS);
    CHECK(dpu_checks_load(f->checks, &layout));
    LOAD(f->machine, MOVE(1, 2112), STORE_WORD(SHARED, 1), STORE_WORD(2108, 1), LOAD_WORD(2, 2112),
         LOAD_WORD(2, 0), STOP);
    run(f);
    CHECK(f->found.count == 2);
    CHECK(f->found.findings[0].kind == DPU_FINDING_NOTHING && f->found.findings[0].here.pc == 3);
    CHECK(f->found.findings[1].kind == DPU_FINDING_NULL && f->found.findings[1].here.pc == 4);
    end(f);
}

/* --- uninitialised memory --- */

static const struct dpu_check_layout heap_layout = {.heap = 2048, .heap_pointer = SHARED};

/* Copies are silent, conditions and addresses are told of, once. */
static void test_undefined(void)
{
    struct fixture *f = begin(DPU_CHECK_UNINITIALISED);
    CHECK(dpu_checks_load(f->checks, &heap_layout));
    LOAD(f->machine, MOVE(1, 3), STORE_WORD(2048, 1), LOAD_WORD(2, 2048), JUMP_IF(2, 0, CC_Z, 4),
         /* 4: */ LOAD_WORD(2, 2052), STORE_WORD(2056, 2), LOAD_WORD(3, 2056),
         /* 7: */ JUMP_IF(3, 0, CC_Z, 8), JUMP_IF(3, 0, CC_Z, 9),
         /* 9: */ LOAD_WORD(3, 2060), W("and", "rri", 3, 3, 12),
         /* 11: */ W("lw", "erri", 0, 4, 3, 1024), STOP);
    run(f);
    CHECK(f->found.count == 2);
    CHECK(f->found.findings[0].kind == DPU_FINDING_UNDEFINED_CONDITION);
    CHECK(f->found.findings[0].here.pc == 7);
    CHECK(f->found.findings[1].kind == DPU_FINDING_UNDEFINED_ADDRESS);
    CHECK(f->found.findings[1].here.pc == 11);
    end(f);
}

/* Bits that are masked away, and those that other bytes of the word have. */
static void test_defined_bits(void)
{
    struct fixture *f = begin(DPU_CHECK_UNINITIALISED);
    CHECK(dpu_checks_load(f->checks, &heap_layout));
    LOAD(f->machine, MOVE(1, 3), W("sb", "erir", 0, ZERO, 2049, 1), LOAD_WORD(2, 2048),
         W("and", "rri", 3, 2, 0xFF00), JUMP_IF(3, 0, CC_Z, 5),                    /* 5: */
         W("lsr", "rri", 3, 2, 8), W("extub", "rr", 3, 3), JUMP_IF(3, 0, CC_Z, 8), /* 8: */
         W("xor", "rrr", 5, 2, 2), JUMP_IF(5, 0, CC_Z, 10), /* 10: */ STOP);
    run(f);
    CHECK(f->found.count == 0);
    end(f);
}

/* Of a word of which one byte is defined, the highest or the lowest: conditions on the sign need
 * the highest alone, those on the lowest bit the lowest, others all. The codes are those of shifts.
 */
static void test_bits_that_decide(void)
{
    static const int z[] = {2, 3, 12, 13}, sign[] = {8, 9, 14, 15}, lowest[] = {24, 25, 30, 31};
    for (int i = 0; i < 12; i++)
        for (int highest = 0; highest < 2; highest++) {
            int code = i < 4 ? z[i] : i < 8 ? sign[i - 4] : lowest[i - 8];
            bool is_defined = highest ? i >= 4 && i < 8 : i >= 8;
            struct fixture *f = begin(DPU_CHECK_UNINITIALISED);
            CHECK(dpu_checks_load(f->checks, &heap_layout));
            LOAD(f->machine, MOVE(1, 3), W("sb", "erir", 0, ZERO, highest ? 2051 : 2048, 1),
                 LOAD_WORD(2, 2048), W("lsl", "zrici", 0, 2, 0, code, 4), STOP);
            run(f);
            CHECK(f->found.count == !is_defined);
            end(f);
        }
}

/* The host has written, a transfer has; what the heap takes again is not defined again. */
static void test_who_defines(void)
{
    struct fixture *f = begin(DPU_CHECK_UNINITIALISED);
    uint32_t one = 1;
    CHECK(dpu_checks_load(f->checks, &heap_layout));
    CHECK(dpu_machine_write_wram(f->machine, 2048, &one, sizeof one));
    LOAD(f->machine, LOAD_WORD(1, 2048), JUMP_IF(1, 0, CC_Z, 2), /* 2: */ MOVE(1, 2056), MOVE(2, 0),
         READ_MRAM(1, 2, 1), LOAD_WORD(1, 2056), JUMP_IF(1, 0, CC_Z, 7),
         /* 7: */ MOVE(1, 2048), STORE_WORD(SHARED, 1), MOVE(1, 2064), STORE_WORD(SHARED, 1),
         LOAD_WORD(1, 2048), JUMP_IF(1, 0, CC_Z, 13), /* 13: */ STOP);
    run(f);
    CHECK(only(f, DPU_FINDING_UNDEFINED_CONDITION)->here.pc == 12);
    end(f);
}

/* --- deadlocks --- */

/* Tasklet 0 takes LOCK and then the other one, tasklet 1 the other way round. */
static void test_deadlock(void)
{
    struct fixture *f = begin(DPU_CHECK_DEADLOCK);
    LOAD(f->machine, BOOT_CHAIN(2, 0), JUMP_IF(ID, 0, CC_NZ, 8), ACQUIRE(LOCK, 3), MOVE(1, 30),
         /* 5: */ W("add", "rrici", 1, 1, -1, CC_NZ, 5), ACQUIRE(OTHER_LOCK, 6), STOP,
         /* 8: */ ACQUIRE(OTHER_LOCK, 8), ACQUIRE(LOCK, 9), STOP);
    dpu_machine_boot(f->machine);
    CHECK(dpu_machine_slice(f->machine, 1000, NULL) == DPU_RUN_STEPPED);
    CHECK(dpu_checks_is_stuck(f->checks));
    const struct dpu_finding *finding = only(f, DPU_FINDING_DEADLOCK);
    CHECK(finding->wait_count == 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct dpu_check_wait *wait = &finding->waits[i];
        CHECK(wait->holder == 1 - wait->point.thread);
        CHECK(wait->bit == (wait->point.thread == 0 ? OTHER_LOCK : LOCK));
        CHECK(wait->taken.pc == (wait->point.thread == 0 ? 8 : 3));
    }
    end(f);
}

static void test_lock_that_is_never_released(void)
{
    struct fixture *f = begin(DPU_CHECK_DEADLOCK);
    LOAD(f->machine, BOOT_CHAIN(3, 0), ACQUIRE(LOCK, 2), STOP);
    dpu_machine_boot(f->machine);
    CHECK(dpu_machine_slice(f->machine, 1000, NULL) == DPU_RUN_STEPPED);
    const struct dpu_finding *finding = only(f, DPU_FINDING_DEADLOCK);
    CHECK(finding->wait_count == 2 && finding->waits[0].holder == 0);
    end(f);
}

int main(void)
{
    test_race();
    test_lock_orders();
    test_another_lock_does_not();
    test_boot_and_resume_order();
    test_launches_order();
    test_reads_of_many();
    test_race_in_mram();
    test_race_of_the_last_of_64();
    test_race_by_a_cache();
    test_transfer_in_flight();
    test_transfer_addresses();
    test_data_in_mram();
    test_transfer_beyond_a_variable();
    test_stack();
    test_stack_that_grows_up();
    test_bounds();
    test_undefined();
    test_defined_bits();
    test_bits_that_decide();
    test_who_defines();
    test_deadlock();
    test_lock_that_is_never_released();
    return 0;
}
