/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MRAM behind a cache: which lines it has, what accesses wait for, what DMA and the end of a launch
 * write back, and which accesses are faults.
 *
 * build: @dpu_machine
 */
#include "tests/dpu/support/program.h"
#include "dpu/machine/observe.h"

#define LOAD_WORD(r, base, offset) W("lw", "erri", 0, r, base, offset)
#define STORE_WORD(base, offset, r) W("sw", "erir", 0, base, offset, r)

enum { WINDOW = 0x08000000, LINE = 64, READ = 1000, WRITE = 3000, MOST = 128 };

/* Fills take READ cycles, and write-backs WRITE; each engine is busy as long. */
static struct dpu_machine_options cached(uint32_t kib, uint32_t ways, uint32_t policy)
{
    struct dpu_machine_options options;
    dpu_machine_default_options(&options);
    options.cache_kib = kib;
    options.cache_ways = ways;
    options.cache_policy = policy;
    options.round_cycles = 1;
    options.dram_refresh_cycles = 0;
    options.dma_page_crossing = 0;
    options.dma_setup = 0;
    options.dma_engine_per_kib = 0;
    options.dma_latency_per_kib = 0;
    options.dma_read_latency = READ;
    options.dma_write_latency = WRITE;
    return options;
}

static struct dpu_machine *make(const struct dpu_machine_options *options)
{
    struct dpu_machine *machine = dpu_machine_create(options);
    CHECK(machine != NULL);
    return machine;
}

static struct dpu_run_result launch(struct dpu_machine *machine)
{
    struct dpu_run_result result;
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    CHECK(strcmp(dpu_machine_engine_name(machine), "turns") == 0);
    return result;
}

/* Loads, and of negative places, less 1, stores, one after the other. The cache is empty again at
 * the second launch. */
static struct dpu_run_result touch(const struct dpu_machine_options *options, const int32_t *places,
                                   size_t count)
{
    uint64_t words[2 * MOST + 1];
    CHECK(count <= MOST);
    for (size_t i = 0; i < count; i++) {
        bool stores = places[i] < 0;
        words[2 * i] = MOVE(1, WINDOW + (stores ? -places[i] - 1 : places[i]));
        words[2 * i + 1] = stores ? STORE_WORD(1, 0, 1) : LOAD_WORD(2, 1, 0);
    }
    words[2 * count] = STOP;
    struct dpu_machine *machine = make(options);
    CHECK(dpu_machine_write_iram(machine, 0, words, 2 * count + 1));
    struct dpu_run_result first = launch(machine), second = launch(machine);
    CHECK(first.cycles == second.cycles);
    CHECK(memcmp(&first.cache, &second.cache, sizeof first.cache) == 0);
    CHECK(first.cache.hits + first.cache.misses == count);
    CHECK(first.cache.fill_bytes == first.cache.misses * options->cache_line);
    dpu_machine_destroy(machine);
    return first;
}

#define TOUCH(options, ...) \
    touch(options, (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / 4)
#define MISSES(options, ...) ((uint32_t)TOUCH(options, __VA_ARGS__).cache.misses)

/* Without a cache each instruction takes a cycle; here a fill takes its instruction's place. */
static void test_misses_wait_and_hits_do_not(void)
{
    struct dpu_machine_options o = cached(1, 8, 0);
    CHECK(TOUCH(&o, 0).cycles == READ + 2);
    CHECK(TOUCH(&o, 0, 4, 60, 0).cycles == READ + 8);
    CHECK(TOUCH(&o, 0, 64).cycles == 2 * READ + 3);
    CHECK(TOUCH(&o, 60, 64, 124, 63 * 4).cache.misses == 3);
    o.cache_line = 8;
    CHECK(MISSES(&o, 0, 4, 8, 12, 16) == 3);
    o.cache_line = 1024;
    o.cache_ways = 1;
    CHECK(MISSES(&o, 0, 1020, 1024, 0) == 3);
}

/* 1 KiB of two ways: 8 sets, which places 512 bytes apart share. */
static void test_the_line_that_gives_way_follows_the_policy(void)
{
    struct dpu_machine_options lru = cached(1, 2, 0), fifo = cached(1, 2, 1);
    CHECK(MISSES(&lru, 0, 512, 0, 512) == 2);
    CHECK(MISSES(&lru, 0, 512, 1024, 0) == 4);
    CHECK(MISSES(&lru, 0, 64, 128, 0) == 3);
    /* 0 was used again: 512 gives way by LRU, and 0 by FIFO. */
    CHECK(MISSES(&lru, 0, 512, 0, 1024, 0) == 3);
    CHECK(MISSES(&lru, 0, 512, 0, 1024, 512) == 4);
    CHECK(MISSES(&fifo, 0, 512, 0, 1024, 0) == 4);
    CHECK(MISSES(&fifo, 0, 512, 0, 1024, 512) == 3);
    CHECK(MISSES(&fifo, 0, 512, 0, 1024, 1024) == 3);

    struct dpu_machine_options direct = cached(1, 1, 0);
    CHECK(MISSES(&direct, 0, 1024, 0, 512) == 4);
    struct dpu_machine_options whole = cached(1, 16, 0);
    CHECK(MISSES(&whole, 0, 512, 1024, 1536, 0, 512) == 4);
}

/* Both stay as often as not: by LRU and FIFO, each of these would miss. */
static void test_at_random_the_victim_is_any(void)
{
    struct dpu_machine_options random = cached(1, 2, 2);
    int32_t places[MOST];
    for (uint32_t i = 0; i < MOST; i++)
        places[i] = (int32_t)(i % 3 * 512);
    uint64_t misses = touch(&random, places, MOST).cache.misses;
    CHECK(misses > MOST / 4 && misses < MOST * 3 / 4);
}

static void test_dirty_lines_are_written_before_others_are_filled(void)
{
    struct dpu_machine_options o = cached(1, 1, 0);
    /* At the end what is dirty is written, one after the other as engines are at once free here. */
    struct dpu_run_result result = TOUCH(&o, -1);
    CHECK(result.cycles == READ + 2 + WRITE && result.cache.write_backs == 1);
    result = TOUCH(&o, -1, 0, -5, 8);
    CHECK(result.cycles == READ + 8 + WRITE && result.cache.write_backs == 1);
    result = TOUCH(&o, -1, 1024, 64);
    CHECK(result.cycles == 3 * READ + 4 && result.cache.write_backs == 1);
    result = TOUCH(&o, 0, 1024, 0);
    CHECK(result.cache.write_backs == 0);

    /* The fill waits for the write-back if there is one engine, and not for two. */
    o.dma_engine_per_kib = 16 * 500;
    uint64_t one = TOUCH(&o, -1, 1024, 64).cycles;
    o.dma_engines = 2;
    CHECK(one == 3 * READ + 500 + 4 && TOUCH(&o, -1, 1024, 64).cycles == 3 * READ + 4);
}

/* Loads and stores of each size and sign. */
static void test_values_are_those_of_mram(void)
{
    struct dpu_machine_options o = cached(8, 4, 0);
    struct dpu_machine *machine = make(&o);
    uint8_t bytes[64], expected[64];
    for (uint32_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(0xF0 + 3 * i);
    CHECK(dpu_machine_write_mram(machine, 1 << 20, bytes, sizeof bytes));
    LOAD(machine, MOVE(1, WINDOW + (1 << 20)), W("lbs", "erri", 0, 2, 1, 0),
         W("lbu", "erri", 0, 3, 1, 1), W("lhs", "erri", 0, 4, 1, 2), W("lhu", "erri", 0, 5, 1, 6),
         LOAD_WORD(6, 1, 8), W("ld", "erri", 0, 8, 1, 16), W("sb", "erir", 0, 1, 32, 2),
         W("sh", "erir", 0, 1, 34, 4), STORE_WORD(1, 36, 6), W("sd", "erir", 0, 1, 40, 8),
         W("sw", "erii", 0, 1, 48, -2), W("lw", "erri", 1, 10, 1, 8), STOP);
    struct dpu_run_result result = launch(machine);
    CHECK(result.cache.misses == 1 && result.cache.hits == 11);
    CHECK(result.dma_read_bytes == 0 && result.dma_write_bytes == 0);
    CHECK(dpu_register(machine, 0, 2) == 0xFFFFFFF0 && dpu_register(machine, 0, 3) == 0xF3);
    CHECK(dpu_register(machine, 0, 4) == 0xFFFFF9F6 && dpu_register(machine, 0, 5) == 0x0502);
    CHECK(dpu_register(machine, 0, 6) == 0x110E0B08 && dpu_register(machine, 0, 10) == 0x080B0E11);
    CHECK(dpu_register(machine, 0, 8) == 0x35322F2C && dpu_register(machine, 0, 9) == 0x29262320);

    memcpy(expected, bytes, sizeof bytes);
    expected[32] = bytes[0];
    memcpy(expected + 34, bytes + 2, 2);
    memcpy(expected + 36, bytes + 8, 4);
    memcpy(expected + 40, bytes + 16, 8);
    memcpy(expected + 48, "\xFE\xFF\xFF\xFF", 4);
    CHECK(dpu_machine_read_mram(machine, 1 << 20, bytes, sizeof bytes));
    CHECK(memcmp(bytes, expected, sizeof bytes) == 0);
    dpu_machine_destroy(machine);
}

/* A transfer names MRAM by offset or by window; it finds what was stored, and what it writes is
 * loaded again. */
static void test_dma_and_the_cache_see_the_same_mram(void)
{
    struct dpu_machine_options o = cached(1, 2, 0);
    for (uint32_t far = 0; far <= WINDOW; far += WINDOW) {
        struct dpu_machine *machine = make(&o);
        LOAD(machine, MOVE(1, WINDOW), MOVE(2, 77), MOVE(3, far), STORE_WORD(1, 4, 2),
             W("ldma", "rri", ZERO, 3, 7), LOAD_WORD(4, ZERO, 4), STORE_WORD(ZERO, 0, 4),
             W("sdma", "rri", ZERO, 3, 7), LOAD_WORD(5, 1, 0), STOP);
        struct dpu_run_result result = launch(machine);
        CHECK(dpu_register(machine, 0, 4) == 77 && dpu_register(machine, 0, 5) == 77);
        /* Written back for the read; the write leaves nothing of the line, which is clean. */
        CHECK(result.cache.write_backs == 1 && result.cache.misses == 2 && result.cache.hits == 0);
        dpu_machine_destroy(machine);
    }
}

/* Of a store to each of the first three lines, and transfer number UNITS at FAR. */
static struct dpu_run_result store_and_transfer(const char *transfer, uint32_t far, uint32_t units)
{
    struct dpu_machine_options o = cached(1, 4, 0);
    struct dpu_machine *machine = make(&o);
    LOAD(machine, MOVE(1, WINDOW), MOVE(2, far), STORE_WORD(1, 0, 1), STORE_WORD(1, LINE, 1),
         STORE_WORD(1, 2 * LINE, 1), W(transfer, "rri", ZERO, 2, units), LOAD_WORD(3, 1, 0),
         LOAD_WORD(3, 1, LINE), LOAD_WORD(3, 1, 2 * LINE), STOP);
    struct dpu_run_result result = launch(machine);
    dpu_machine_destroy(machine);
    return result;
}

static void test_dma_writes_back_what_it_needs(void)
{
    /* Reads clean the lines that they touch; the others are written at the end. */
    struct dpu_run_result result = store_and_transfer("ldma", LINE, 7);
    CHECK(result.cache.write_backs == 3 && result.cache.misses == 3);
    /* The first store, two more, the write-back takes nothing of an engine, and the transfer. */
    CHECK(result.cycles == 2 + 3 * READ + READ + 4 + WRITE);

    /* A whole line that is overwritten need not be written before, but filled again. */
    result = store_and_transfer("sdma", LINE, 7);
    CHECK(result.cache.write_backs == 2 && result.cache.misses == 4);
    /* Parts of two: both are written before. */
    result = store_and_transfer("sdma", LINE - 8, 1);
    CHECK(result.cache.write_backs == 3 && result.cache.misses == 5);
    result = store_and_transfer("sdma", 4 * LINE, 1);
    CHECK(result.cache.write_backs == 3 && result.cache.misses == 3);
}

/* Tasklet 0 misses, tasklet 1 hits the same line a cycle later, and both go on together. */
static void test_a_fill_is_waited_for_by_all_who_need_it(void)
{
    struct dpu_machine_options o = cached(1, 4, 0);
    struct dpu_machine *machine = make(&o);
    LOAD(machine, BOOT_CHAIN(2, 0), MOVE(1, WINDOW), LOAD_WORD(3, 1, 0), STOP);
    struct dpu_run_result result = launch(machine);
    CHECK(result.cache.misses == 1 && result.cache.hits == 1);
    CHECK(result.cycles < READ + 20 && result.cycles > READ);
    dpu_machine_destroy(machine);
}

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

/* Lines are transfers of the DRAM, whose pages are translated. */
static void test_fills_are_translated_and_take_what_banks_do(void)
{
    const int32_t places[] = {0, 64, 4096, 128};
    struct dpu_machine_options o = cached(8, 4, 0);
    uint64_t plain = touch(&o, places, 4).cycles;
    o.tlb_entries = 1;
    o.tlb_walk = 700;
    CHECK(touch(&o, places, 4).cycles == plain + 3 * 700);
    o.tlb_entries = 0;
    o.dram_banks = 1;
    uint64_t closed = TOUCH(&o, 0, 64, 128, 192).cycles;
    o.dram_open_rows = 1;
    CHECK(TOUCH(&o, 0, 64, 128, 192).cycles < closed && closed < plain);
}

/* An instruction is a cycle then, and the counts are the same. */
static void test_the_vendors_accounting_has_counts_and_no_times(void)
{
    struct dpu_machine_options o = cached(1, 1, 0);
    o.accounting = DPU_ACCOUNTING_VENDOR;
    struct dpu_run_result result = TOUCH(&o, -1, 1024, 0, 4);
    CHECK(result.cycles == 9 && result.cache.misses == 3 && result.cache.write_backs == 1);
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
    uint64_t filled, written, busy, passed, waited;
    uint32_t last_pc;
};

static void on_line(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                    const struct dpu_transfer *transfer)
{
    struct seen *seen = context;
    CHECK(thread == 0 && dpu_machine_now(m) >= transfer->issued);
    CHECK(transfer->start >= transfer->issued && transfer->tasklet_end > transfer->start);
    *(transfer->writes_mram ? &seen->written : &seen->filled) += transfer->bytes;
    seen->busy += transfer->engine_end - transfer->start;
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
    (void)m, (void)thread;
    CHECK(wait == DPU_WAIT_DMA && pc == seen->last_pc);
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
    struct dpu_run_result result;
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    CHECK(seen.filled == 2 * LINE && seen.written == 2 * LINE && seen.busy == 5 * 500);
    CHECK(seen.passed == result.cycles && result.cycles == 2 * READ + 500 + READ + 3 + WRITE);
    /* Of a wait of READ, its instruction's own cycle is none. */
    CHECK(seen.waited == 2 * READ + 500 + READ - 3);
    dpu_machine_unobserve(machine, &observer);
    dpu_machine_destroy(machine);
}

int main(void)
{
    test_misses_wait_and_hits_do_not();
    test_the_line_that_gives_way_follows_the_policy();
    test_at_random_the_victim_is_any();
    test_dirty_lines_are_written_before_others_are_filled();
    test_values_are_those_of_mram();
    test_dma_and_the_cache_see_the_same_mram();
    test_dma_writes_back_what_it_needs();
    test_a_fill_is_waited_for_by_all_who_need_it();
    test_accesses_that_are_misaligned_or_beyond_mram_are_faults();
    test_without_a_cache_the_upper_byte_of_an_address_is_ignored();
    test_sets_are_a_power_of_two();
    test_fills_are_translated_and_take_what_banks_do();
    test_the_vendors_accounting_has_counts_and_no_times();
    test_options_may_change_between_launches();
    test_all_ways_to_run_have_the_same_times();
    test_observers_are_told_of_lines();
    return 0;
}
