/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MRAM behind a cache: accesses that are faults, caches that make no sense, and all ways to run a
 * machine with one, observed and not.
 *
 * build: @dpu_machine
 */
#include "cache_program.h"
#include "dpu/machine/observe.h"

/* MRAM_MIB of MRAM; what faults leaves MRAM and registers as they are. */
static void check_fault(uint32_t mib, uint64_t access, uint32_t base, bool faults)
{
    struct dpu_machine_options o = cached(1, 4, 0);
    o.mram_mib = mib;
    struct dpu_machine *machine = make(&o);
    struct dpu_run_result result;
    LOAD(machine, MOVE(1, base), MOVE(2, 9), access, STOP);
    CHECK(dpu_machine_launch(machine, &result) == (faults ? DPU_RUN_FAULT : DPU_RUN_DONE));
    CHECK(result.cache.misses == !faults);
    if (faults) {
        CHECK(result.fault == DPU_FAULT_MEMORY && result.fault_address == base);
        CHECK(result.fault_thread == 0 && result.fault_pc == 2);
        CHECK(dpu_register(machine, 0, 2) == 9);
    }
    dpu_machine_destroy(machine);
}

static void test_accesses_that_are_misaligned_or_beyond_mram_are_faults(void)
{
    const uint32_t end = WINDOW + (2 << 20);
    check_fault(2, LOAD_WORD(2, 1, 0), end - 4, false);
    check_fault(2, LOAD_WORD(2, 1, 0), end, true);
    check_fault(0, LOAD_WORD(2, 1, 0), WINDOW + (64 << 20), true);
    check_fault(0, STORE_WORD(1, 0, 2), 0xFFFFFFFC, true);
    check_fault(0, LOAD_WORD(2, 1, 0), WINDOW + 2, true);
    check_fault(0, W("lhu", "erri", 0, 2, 1, 0), WINDOW + 2, false);
    check_fault(0, W("sh", "erir", 0, 1, 0, 2), WINDOW + 1, true);
    /* It would end in another line. */
    check_fault(0, W("ld", "erri", 0, 4, 1, 0), WINDOW + LINE - 4, true);
    check_fault(0, W("sb", "erir", 0, 1, 0, 2), WINDOW + 1, false);
}

static void test_without_a_cache_the_upper_byte_of_an_address_is_ignored(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, MOVE(1, WINDOW), MOVE(2, 9), STORE_WORD(1, 8, 2), STOP);
    struct dpu_run_result result;
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    CHECK(dpu_wram_word(machine, 8) == 9 && result.cache.hits + result.cache.misses == 0);
    dpu_machine_destroy(machine);
}

static void test_sets_are_a_power_of_two(void)
{
    const struct dpu_machine_options good = cached(24, 6, 0);
    struct dpu_machine_options o = good;
    dpu_machine_destroy(make(&o));
    o.cache_ways = 8;
    CHECK(!dpu_machine_cache_is_possible(&o) && dpu_machine_create(&o) == NULL);
    o.cache_kib = 0;
    CHECK(dpu_machine_cache_is_possible(&o));
    o = good;
    o.cache_line = 48;
    CHECK(!dpu_machine_cache_is_possible(&o));
    o = cached(1, 32, 0);
    CHECK(!dpu_machine_cache_is_possible(&o)); /* 16 lines */
    o = cached(1, 16, 0);
    CHECK(dpu_machine_cache_is_possible(&o));
    o.dram_banks = o.dram_open_rows = o.dram_open_row_first = 1;
    CHECK(!dpu_machine_cache_is_possible(&o) && dpu_machine_create(&o) == NULL);
    o.dram_open_row_first = 0;
    dpu_machine_destroy(make(&o));
}

/* A cache may come and go between launches. */
static void test_options_may_change_between_launches(void)
{
    struct dpu_machine_options o = cached(1, 1, 0);
    struct dpu_machine *machine = make(&o);
    LOAD(machine, MOVE(1, WINDOW), STORE_WORD(1, 8, 1), LOAD_WORD(2, 1, 1032), LOAD_WORD(2, 1, 8),
         STOP);
    CHECK(launch(machine).cache.misses == 3);
    o.cache_kib = 64;
    o.cache_ways = 8;
    CHECK(dpu_machine_set_options(machine, &o));
    CHECK(launch(machine).cache.misses == 2);
    o.cache_kib = 0;
    CHECK(dpu_machine_set_options(machine, &o));
    struct dpu_run_result result;
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    CHECK(result.cache.misses == 0 && dpu_wram_word(machine, 8) == WINDOW);
    dpu_machine_destroy(machine);
}

/* Sixteen tasklets add words of MRAM to words of others, in other lines, and by DMA. */
static void load_mixed(struct dpu_machine *machine)
{
    LOAD(machine, BOOT_CHAIN(16, 0), MOVE(1, 40), W("lsl", "rri", 3, ID, 11),
         /* 4: */ W("lsl_add", "rrri", 3, 3, 1, 7), W("and", "rri", 5, 3, 0x7FFC),
         W("add", "rri", 6, 5, WINDOW), LOAD_WORD(7, 6, 0), W("add", "rrr", 7, ID, 7),
         STORE_WORD(6, 0, 7), W("and", "rri", 5, 5, 0x7FF8), W("ldma", "rri", ID8, 5, 0),
         W("time", "r", 4), W("add", "rrr", 8, 8, 4), W("add", "rrici", 1, 1, -1, CC_NZ, 4), STOP);
}

/* Step by step, in slices, observed or not. */
static void test_all_ways_to_run_have_the_same_times(void)
{
    for (uint32_t i = 0; i < 24; i++) {
        struct dpu_machine_options o = cached(1 + (i & 1), 2, i % 3);
        o.dma_engine_per_kib = 521;
        o.dma_setup = 34;
        o.round_cycles = 11;
        o.dram_banks = i >> 1 & 1;
        o.dma_engines = 1 + (i >> 2 & 1);
        o.tlb_entries = i >> 3 & 1;
        o.forwarding = (i >> 4 & 1) * 4;
        struct dpu_run_result results[4];
        uint32_t times[4];
        static struct dpu_count counts[DPU_MACHINE_THREADS][DPU_COUNTS];
        for (uint32_t k = 0; k < 4; k++) {
            o.engine = k == 0 ? DPU_ENGINE_DRIFT : DPU_ENGINE_TURNS;
            struct dpu_machine *machine = make(&o);
            load_mixed(machine);
            if (k == 1)
                dpu_machine_count(machine, &counts[0][0]);
            if (k < 2) {
                CHECK(dpu_machine_launch(machine, &results[k]) == DPU_RUN_DONE);
            } else {
                dpu_machine_boot(machine);
                while (k == 2 ? dpu_machine_slice(machine, 7, &results[k]) == DPU_RUN_STEPPED
                              : dpu_machine_step(machine, 1, &results[k]) == DPU_RUN_STEPPED)
                    ;
            }
            times[k] = dpu_register(machine, 5, 8);
            dpu_machine_destroy(machine);
            CHECK(results[k].status == DPU_RUN_DONE && results[k].cache.write_backs > 0);
            CHECK(memcmp(&results[k], results, sizeof *results) == 0 && times[k] == times[0]);
        }
    }
}

/* Of what an observer is told: bytes that were read and written, busy cycles, and all that passed.
 */
struct seen {
    uint64_t filled, written, busy, passed, waited, places;
    uint32_t last_pc, first_pc; /* where tasklets may wait: that of tasklet 0, if it has another */
};

static void on_line(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                    const struct dpu_transfer *transfer)
{
    struct seen *seen = context;
    CHECK(thread == 0 && dpu_machine_now(m) >= transfer->issued);
    CHECK(transfer->start >= transfer->issued && transfer->tasklet_end > transfer->start);
    CHECK(transfer->tasklet_end <= dpu_machine_now(m) + 500 + WRITE);
    *(transfer->writes_mram ? &seen->written : &seen->filled) += transfer->bytes;
    seen->busy += transfer->engine_end - transfer->start;
    seen->places += transfer->mram;
    seen->last_pc = pc;
}

static void on_span(void *context, struct dpu_machine *m, const struct dpu_span *span)
{
    (void)m;
    ((struct seen *)context)->passed += span->cycles;
}

static void on_wait(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                    enum dpu_wait wait, uint64_t since, uint64_t until)
{
    struct seen *seen = context;
    (void)m;
    CHECK(wait == DPU_WAIT_DMA);
    CHECK(pc == (thread == 0 && seen->first_pc != 0 ? seen->first_pc : seen->last_pc));
    seen->waited += until - since;
}

static void on_dma(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                   const struct dpu_transfer *transfer)
{
    struct seen *seen = context;
    (void)m, (void)thread;
    /* After the write-back that it makes necessary. */
    CHECK(transfer->start == transfer->issued + 500);
    seen->busy += transfer->engine_end - transfer->start;
    seen->last_pc = pc;
}

static void test_observers_are_told_of_lines(void)
{
    struct dpu_machine_options o = cached(1, 4, 0);
    o.dma_engine_per_kib = 16 * 500;
    struct dpu_machine *machine = make(&o);
    struct seen seen = {0};
    struct dpu_observer observer = {
        .context = &seen,
        .line_moved = on_line,
        .transferred = on_dma,
        .passed = on_span,
        .waited = on_wait,
    };
    dpu_machine_observe(machine, &observer);
    LOAD(machine, MOVE(1, WINDOW), STORE_WORD(1, 0, 1), STORE_WORD(1, LINE, 1),
         W("ldma", "rri", ZERO, 1, 7), STORE_WORD(1, LINE, 1), STOP);
    for (uint32_t i = 0; i < 2; i++) {
        struct dpu_run_result result;
        memset(&seen, 0, sizeof seen);
        CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
        CHECK(seen.filled == 2 * LINE && seen.written == 2 * LINE && seen.busy == 5 * 500);
        CHECK(seen.places == 2 * LINE); /* each of both lines twice, of which one is at 0 */
        CHECK(seen.passed == result.cycles && result.cycles == 2 * READ + 500 + READ + 3 + WRITE);
        /* Of a wait of READ, its instruction's own cycle is none. */
        CHECK(seen.waited == 2 * READ + 500 + READ - 3);
    }
    dpu_machine_unobserve(machine, &observer);
    dpu_machine_destroy(machine);
}

/* A hit that waits for another tasklet's miss waits at its own instruction. */
static void test_observers_are_told_where_a_hit_waits(void)
{
    struct dpu_machine_options o = cached(1, 4, 0);
    struct dpu_machine *machine = make(&o);
    struct seen seen = {.last_pc = 6};
    struct dpu_observer observer = {.context = &seen, .waited = on_wait};
    dpu_machine_observe(machine, &observer);
    LOAD(machine, BOOT_CHAIN(2, 0), MOVE(1, WINDOW), JUMP_IF(ID, 1, CC_Z, 6), LOAD_WORD(3, 1, 0),
         STOP, /* 6: */ LOAD_WORD(3, 1, 0), JUMP(5));
    struct dpu_run_result result;
    seen.first_pc = 4;
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    CHECK(seen.waited > READ && result.cache.hits == 1);
    dpu_machine_unobserve(machine, &observer);
    dpu_machine_destroy(machine);
}

int main(void)
{
    test_accesses_that_are_misaligned_or_beyond_mram_are_faults();
    test_without_a_cache_the_upper_byte_of_an_address_is_ignored();
    test_sets_are_a_power_of_two();
    test_options_may_change_between_launches();
    test_all_ways_to_run_have_the_same_times();
    test_observers_are_told_of_lines();
    test_observers_are_told_where_a_hit_waits();
    return 0;
}
