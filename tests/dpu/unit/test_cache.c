/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MRAM behind a cache: which lines it has, what accesses wait for, and what DMA and the end of a
 * launch write back.
 *
 * build: @dpu_machine
 */
#include "cache_program.h"

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

/* Both stay as often as not: by LRU and FIFO, each of these would miss. And none stays for good, as
 * the one of a place does that is stored to: it is written whenever it gives way. */
static void test_at_random_the_victim_is_any(void)
{
    struct dpu_machine_options random = cached(1, 2, 2);
    for (int32_t stored = 0; stored < 3; stored++) {
        int32_t places[MOST];
        for (int32_t i = 0; i < MOST; i++)
            places[i] = i % 3 == stored ? -(i % 3 * 512) - 1 : i % 3 * 512;
        struct dpu_cache_totals found = touch(&random, places, MOST).cache;
        CHECK(found.misses > MOST / 4 && found.misses < MOST * 3 / 4);
        CHECK(found.write_backs > MOST / 12 && found.write_backs < MOST / 3);
    }
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

/* Tasklet 0 misses, tasklet 1 hits the same line some cycles later, and both go on together: then
 * each instruction takes two cycles. */
static void test_a_fill_is_waited_for_by_all_who_need_it(void)
{
    struct dpu_machine_options o = cached(1, 4, 0);
    struct dpu_machine *machine = make(&o);
    LOAD(machine, BOOT_CHAIN(2, 0), MOVE(1, WINDOW), MOVE(2, 500), LOAD_WORD(3, 1, 0),
         /* 5: */ W("add", "rrici", 2, 2, -1, CC_NZ, 5), STOP);
    struct dpu_run_result result = launch(machine);
    CHECK(result.cache.misses == 1 && result.cache.hits == 1);
    CHECK(result.cycles > READ + 2 * 500 && result.cycles < READ + 2 * 500 + 20);
    dpu_machine_destroy(machine);
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
    test_fills_are_translated_and_take_what_banks_do();
    test_the_vendors_accounting_has_counts_and_no_times();
    return 0;
}
