/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translated MRAM: which pages a TLB has, and what transfers wait for others, in all engines.
 *
 * build: @dpu_machine
 */
#include "tests/dpu/support/program.h"

enum { PAGE = 4096, WALK = 500 };

/* 0: not translated. */
static struct dpu_machine_options translated(uint32_t entries)
{
    struct dpu_machine_options options;
    dpu_machine_default_options(&options);
    options.tlb_entries = entries;
    options.tlb_walk = WALK;
    options.round_cycles = 1;
    options.dram_refresh_cycles = 0;
    options.dma_page_crossing = 0;
    return options;
}

static uint64_t launch(const struct dpu_machine_options *options, const uint64_t *words,
                       size_t count)
{
    struct dpu_machine *machine = dpu_machine_create(options);
    CHECK(machine != NULL);
    CHECK(dpu_machine_write_iram(machine, 0, words, count));
    struct dpu_run_result first, second;
    CHECK(dpu_machine_launch(machine, &first) == DPU_RUN_DONE);
    CHECK(dpu_machine_launch(machine, &second) == DPU_RUN_DONE);
    CHECK(first.cycles == second.cycles); /* it is empty again */
    dpu_machine_destroy(machine);
    return first.cycles;
}

/* Walks of reads at these addresses, one after the other, of 8 * (UNITS + 1) bytes each. */
static uint64_t walks(uint32_t entries, uint32_t page, uint32_t banks, uint32_t units,
                      const uint32_t *places, size_t count)
{
    uint64_t words[64], cycles[2];
    CHECK(2 * count + 1 <= 64);
    for (size_t i = 0; i < count; i++) {
        words[2 * i] = MOVE(1, places[i]);
        words[2 * i + 1] = W("ldma", "rri", 0, 1, units);
    }
    words[2 * count] = STOP;
    for (uint32_t i = 0; i < 2; i++) {
        struct dpu_machine_options options = translated(i == 0 ? 0 : entries);
        options.tlb_page = page;
        options.dram_banks = banks;
        cycles[i] = launch(&options, words, 2 * count + 1);
    }
    CHECK((cycles[1] - cycles[0]) % WALK == 0);
    return (cycles[1] - cycles[0]) / WALK;
}

#define WALKS(entries, units, ...) \
    (walks(entries, PAGE, 0, units, (const uint32_t[]){__VA_ARGS__}, \
           sizeof((const uint32_t[]){__VA_ARGS__}) / 4))

static void test_pages_that_were_used_last_are_known(void)
{
    CHECK(WALKS(4, 0, 0) == 1);
    CHECK(WALKS(4, 0, 0, 8, PAGE - 8, PAGE, 0, PAGE) == 2);
    CHECK(WALKS(1, 0, 0, PAGE, 0, PAGE, PAGE) == 4);
    CHECK(WALKS(2, 0, 0, PAGE, 0, PAGE) == 2);
    /* The page of the longest ago gives way: not the one that came first, but was used again. */
    CHECK(WALKS(2, 0, 0, PAGE, 0, 2 * PAGE, 0) == 3);
    CHECK(WALKS(2, 0, 0, PAGE, 0, 2 * PAGE, PAGE) == 4);
    CHECK(WALKS(3, 0, 0, PAGE, 2 * PAGE, 3 * PAGE, 0) == 5);
    CHECK(WALKS(256, 0, 0, PAGE, 2 * PAGE, 3 * PAGE, 0) == 4);
}

static void test_a_transfer_may_need_several_pages(void)
{
    CHECK(WALKS(4, 1, PAGE - 8) == 2);
    CHECK(WALKS(4, 1, PAGE - 16, PAGE) == 2);
    CHECK(WALKS(4, 255, 0) == 1);
    const uint32_t places[] = {0, 0};
    CHECK(walks(64, 64, 0, 255, places, 2) == 32);
    CHECK(walks(31, 64, 0, 255, places, 2) == 64); /* each gives way before it is needed again */
}

static void test_transfers_of_banks_are_translated_too(void)
{
    const uint32_t places[] = {0, PAGE, 0, PAGE};
    CHECK(walks(1, PAGE, 1, 7, places, 4) == 4);
    CHECK(walks(2, PAGE, 2, 7, places, 4) == 2);
}

static void test_pages_are_a_power_of_two(void)
{
    struct dpu_machine_options options = translated(4);
    options.tlb_page = 3000;
    CHECK(dpu_machine_create(&options) == NULL);
    options.tlb_page = 2048;
    struct dpu_machine *machine = dpu_machine_create(&options);
    CHECK(machine != NULL);
    dpu_machine_destroy(machine);
}

/* A fault makes drift go back to its snapshot, with what the TLB had. */
static void test_all_engines_have_the_same_times(void)
{
    for (uint32_t i = 0; i < 16; i++) {
        uint64_t cycles[2];
        uint32_t times[2];
        for (uint32_t k = 0; k < 2; k++) {
            struct dpu_machine_options o = translated(1 + 7 * (i & 1));
            o.engine = k == 0 ? DPU_ENGINE_DRIFT : DPU_ENGINE_TURNS;
            o.dma_engines = 1 + (i >> 1 & 1);
            o.dram_banks = i >> 2 & 1;
            o.tlb_page = (i >> 3 & 1) != 0 ? 256 : PAGE;
            struct dpu_machine *machine = dpu_machine_create(&o);
            CHECK(machine != NULL);
            LOAD(machine, BOOT_CHAIN(16, 0), MOVE(1, 40), W("lsl", "rri", 3, ID, 11),
                 /* 4: */ W("lsl_add", "rrri", 3, 3, 1, 9), W("and", "rri", 5, 3, 0x3FFFF),
                 W("ldma", "rri", ZERO, 5, 3), W("sdma", "rri", ZERO, 5, 140), W("time", "r", 4),
                 W("add", "rrr", 6, 6, 4), W("add", "rrici", 1, 1, -1, CC_NZ, 4),
                 JUMP_IF(ID, 3, CC_NZ, 13), W("fault", "i", 3), /* 13: */ STOP);
            struct dpu_run_result result;
            CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_FAULT);
            cycles[k] = result.cycles;
            times[k] = dpu_register(machine, 5, 6);
            dpu_machine_destroy(machine);
        }
        CHECK(cycles[0] == cycles[1] && times[0] == times[1]);
    }
}

int main(void)
{
    test_pages_that_were_used_last_are_known();
    test_a_transfer_may_need_several_pages();
    test_transfers_of_banks_are_translated_too();
    test_pages_are_a_power_of_two();
    test_all_engines_have_the_same_times();
    return 0;
}
