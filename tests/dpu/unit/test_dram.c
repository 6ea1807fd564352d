/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transfers of a DRAM of banks: what rows, columns and refreshes take, how close UPMEM's values
 * come to the fitted constants, and that all engines agree.
 *
 * build: @dpu_machine
 */
#include "tests/dpu/support/program.h"

enum { ROW = 1024, TURNS = 60 };

/* A clock of both, and times that are easy to tell apart. */
static struct dpu_machine_options simple(void)
{
    struct dpu_machine_options options;
    dpu_machine_default_options(&options);
    options.dram_banks = 1;
    options.clock_mhz = options.dram_mhz = 400;
    options.dram_rcd = 1000;
    options.dram_ras = 1000;
    options.dram_rp = 10000;
    options.dram_cl = 300;
    options.dram_ccd = 7;
    options.dram_setup = 50;
    options.dram_read_return = 60;
    options.dram_write_return = 90;
    options.dram_refresh_interval = 1000000000;
    options.dram_refresh_cycles = 0;
    options.round_cycles = 1;
    return options;
}

static struct dpu_machine *make(const struct dpu_machine_options *options)
{
    struct dpu_machine *machine = dpu_machine_create(options);
    CHECK(machine != NULL);
    return machine;
}

static uint64_t cycles_of(struct dpu_machine *machine)
{
    struct dpu_run_result result;
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    return result.cycles;
}

/* Cycles of transfers of 8 * (UNITS + 1) bytes one after the other, without the instructions. */
#define AT(far, units) MOVE(1, far), W("ldma", "rri", 0, 1, units)
#define TIME(options, count, ...) \
    (load_and_run(options, (const uint64_t[]){__VA_ARGS__, STOP}, 2 * (count) + 1) - 2 * (count) - \
     1)

static uint64_t load_and_run(const struct dpu_machine_options *options, const uint64_t *words,
                             size_t count)
{
    struct dpu_machine *machine = make(options);
    CHECK(dpu_machine_write_iram(machine, 0, words, count));
    uint64_t cycles = cycles_of(machine);
    CHECK(cycles_of(machine) == cycles); /* the next launch finds closed rows too */
    dpu_machine_destroy(machine);
    return cycles;
}

/* An instruction that waits is issued in its cycle, and the next one in the cycle at which it is
 * ready: each transfer takes one cycle less of the tasklet's. */
#define WAIT (UINT64_C(50) + 300 + 60 - 1)

static void test_a_row_is_opened_accessed_and_closed(void)
{
    struct dpu_machine_options o = simple();
    CHECK(TIME(&o, 1, AT(0, 0)) == WAIT + 1000 + 7);
    CHECK(TIME(&o, 1, AT(0, 127)) == WAIT + 1000 + 128 * 7);
    CHECK(TIME(&o, 1, MOVE(1, 0), W("sdma", "rri", 0, 1, 1)) == WAIT + 30 + 1000 + 2 * 7);
    /* The next row of the bank: closed, and opened. */
    CHECK(TIME(&o, 1, AT(ROW - 8, 1)) == WAIT + 2 * (1000 + 7) + 10000);
    /* Rows are closed while the tasklet sees the end of its transfer, and begins another one. */
    CHECK(TIME(&o, 2, AT(0, 0), AT(0, 0)) == 1 + 50 + 2 * (1000 + 7) + 10000 + 300 + 60 - 4);

    o.dram_row_bytes = 2 * ROW;
    CHECK(TIME(&o, 1, AT(ROW - 8, 1)) == WAIT + 1000 + 2 * 7);
    o.dram_row_bytes = 8;
    CHECK(TIME(&o, 1, AT(ROW - 8, 1)) == WAIT + 2 * (1000 + 7) + 10000);
    o.dram_banks = 2;
    CHECK(TIME(&o, 1, AT(ROW - 8, 1)) == WAIT + 2 * (1000 + 7));
}

static void test_a_row_stays_open(bool open_row_first)
{
    struct dpu_machine_options o = simple();
    o.dram_open_rows = 1;
    o.dram_open_row_first = open_row_first;
    const uint64_t first = WAIT + 1000 + 7, hit = WAIT + 7, miss = WAIT + 10000 + 1000 + 7;
    CHECK(TIME(&o, 2, AT(0, 0), AT(ROW - 8, 0)) == first + hit);
    CHECK(TIME(&o, 2, AT(0, 0), AT(ROW, 0)) == first + miss);
    CHECK(TIME(&o, 3, AT(0, 0), AT(ROW, 0), AT(0, 0)) == first + 2 * miss);
    CHECK(TIME(&o, 2, AT(ROW - 8, 1), AT(ROW, 0)) == first + 11000 + 7 + hit);
    o.dram_banks = 2;
    CHECK(TIME(&o, 4, AT(0, 0), AT(ROW, 0), AT(0, 0), AT(ROW, 0)) == 2 * first + 2 * hit);
    CHECK(TIME(&o, 2, AT(0, 0), AT(2 * ROW, 0)) == first + miss);

    /* No row is closed before tRAS, from its opening at cycle 1 + 50 on. */
    o = simple();
    o.dram_open_rows = 1;
    o.dram_ras = 20000;
    uint64_t closed = 1 + 50 + 20000;
    CHECK(TIME(&o, 2, AT(0, 0), AT(ROW, 0)) == closed + 10000 + 1000 + 7 + 300 + 60 - 4);
}

/* The DRAM keeps its speed if the DPU gets another clock; a cycle is not over before its end. */
static void test_clocks(void)
{
    struct dpu_machine_options o = simple();
    o.clock_mhz = 800;
    CHECK(TIME(&o, 1, AT(0, 0)) == WAIT + 300 + 2 * (1000 + 7));
    o.clock_mhz = 400;
    o.dram_mhz = 4000;
    CHECK(TIME(&o, 1, AT(0, 0)) == WAIT - 300 + 131); /* of 130.7 */
    o.clock_mhz = 0;
    CHECK(dpu_machine_create(&o) == NULL);
}

static void test_refreshes_close_rows_and_stand_in_the_way(void)
{
    struct dpu_machine_options o = simple();
    o.dram_open_rows = 1;
    o.dram_refresh_interval = 2000;
    o.dram_refresh_cycles = 400;
    /* From cycle 51 to 1600 there is time to open the row, and for 78 columns. */
    CHECK(TIME(&o, 1, AT(0, 77)) == WAIT + 1000 + 78 * 7);
    CHECK(TIME(&o, 1, AT(0, 78)) == WAIT + (2000 - 51) + 1000 + 1 * 7);
    /* Another 85 in each interval that follows. */
    CHECK(TIME(&o, 1, AT(0, 127)) == WAIT + (2000 - 51) + 1000 + 50 * 7);
    /* The refresh closes the first row before the bank would have: 85, and 43, of the second. */
    CHECK(TIME(&o, 1, AT(0, 255)) == WAIT + (6000 - 51) + 1000 + 43 * 7);
    o.dram_row_bytes = 2 * ROW;
    CHECK(TIME(&o, 1, AT(0, 255)) == WAIT + (6000 - 51) + 1000 + 8 * 7);
    /* One that would begin during a refresh begins after it, and finds its row closed. */
    o.dram_setup = 1700;
    CHECK(TIME(&o, 1, AT(0, 0)) == 2000 - 1 + 1000 + 7 + 300 + 60 - 1);

    o.dram_refresh_cycles = 2000 - 1000 - 7;
    CHECK(dpu_machine_dram_is_possible(&o));
    o.dram_refresh_cycles++;
    CHECK(!dpu_machine_dram_is_possible(&o));
    CHECK(dpu_machine_create(&o) == NULL);
    o.dram_banks = 0;
    CHECK(dpu_machine_dram_is_possible(&o));
}

static void test_what_makes_no_sense(void)
{
    struct dpu_machine_options o = simple();
    CHECK(dpu_machine_dram_is_possible(&o));
    o.dram_row_bytes = 1000;
    CHECK(!dpu_machine_dram_is_possible(&o));
    o = simple();
    o.dram_ras = o.dram_rcd - 1;
    CHECK(!dpu_machine_dram_is_possible(&o));
    o = simple();
    o.dram_open_row_first = 1;
    CHECK(!dpu_machine_dram_is_possible(&o));
    o.dram_open_rows = 1;
    CHECK(dpu_machine_dram_is_possible(&o));
    o.dma_engines = 2;
    CHECK(!dpu_machine_dram_is_possible(&o));
}

/* --- several tasklets --- */

/* Cycles at which transfers of three tasklets are over, which are issued nearly at once: one of 8 *
 * (UNITS + 1) bytes, one of another row, and one of the first row. */
static void three(const struct dpu_machine_options *options, uint32_t units, uint64_t *ends)
{
    struct dpu_machine *machine = make(options);
    const uint64_t words[] = {
        BOOT_CHAIN(3, 0),
        /* 2: */ JUMP_IF(ID, 0, CC_NZ, 6),
        MOVE(1, 0),
        W("ldma", "rri", 0, 1, units),
        JUMP(12),
        /* 6: */ JUMP_IF(ID, 1, CC_NZ, 10),
        MOVE(1, 4 * ROW),
        W("ldma", "rri", 0, 1, 0),
        JUMP(12),
        /* 10: */ MOVE(1, 512),
        W("ldma", "rri", 0, 1, 0),
        /* 12: */ W("time", "r", 4),
        STOP,
    };
    CHECK(dpu_machine_write_iram(machine, 0, words, sizeof words / sizeof *words));
    struct dpu_counter_state counter = {.mode = 1};
    CHECK(dpu_machine_set_counter(machine, &counter));
    cycles_of(machine);
    for (uint32_t id = 0; id < 3; id++)
        ends[id] = 16 * (uint64_t)dpu_register(machine, id, 4);
    dpu_machine_destroy(machine);
}

static void test_open_rows_come_first(void)
{
    struct dpu_machine_options o = simple();
    uint64_t in_order[3], reordered[3];
    o.dram_open_rows = 1;
    three(&o, 0, in_order);
    o.dram_open_row_first = 1;
    three(&o, 0, reordered);
    CHECK(in_order[0] < in_order[1] && in_order[1] < in_order[2]);
    CHECK(reordered[0] == in_order[0]);
    CHECK(reordered[0] < reordered[2] && reordered[2] < reordered[1]);
    /* Rows are opened twice and not three times. */
    CHECK(in_order[2] - reordered[1] >= 10000 && in_order[2] - reordered[1] < 10000 + 1100);
}

/* A transfer of two rows lets one pass that needs its first row, but not one of another row. */
static void test_open_rows_come_between_the_rows_of_a_transfer(void)
{
    struct dpu_machine_options o = simple();
    uint64_t in_order[3], reordered[3];
    o.dram_open_rows = 1;
    three(&o, 255, in_order);
    o.dram_open_row_first = 1;
    three(&o, 255, reordered);
    CHECK(in_order[0] < in_order[1] && in_order[1] < in_order[2]);
    CHECK(reordered[2] < reordered[0] && reordered[0] < reordered[1]);
    CHECK(reordered[0] > in_order[0] && reordered[0] < in_order[0] + 500);
    CHECK(reordered[1] < in_order[2] - 10000 + 500);
}

/* --- with UPMEM's values --- */

/* Cycles of TURNS transfers of each tasklet, all of one row, or each of another one. */
static double transfers(bool banks, bool open, uint32_t tasklets, bool writes, uint32_t units,
                        bool same_row)
{
    struct dpu_machine_options options;
    dpu_machine_default_options(&options);
    options.dram_banks = banks;
    options.dram_open_rows = open;
    options.round_cycles = 1; /* cycles are not those of whole rounds */
    struct dpu_machine *machine = make(&options);
    LOAD(machine, BOOT_CHAIN(tasklets, 0), W("lsl", "rri", 0, ID, 11),
         W("lsl", "rri", 1, same_row ? ZERO : ID, 13), MOVE(2, TURNS),
         /* 5: */ W(writes ? "sdma" : "ldma", "rri", 0, 1, units),
         W("xor", "rri", 1, 1, same_row ? 0 : 4 * ROW), W("add", "rrici", 2, 2, -1, CC_NZ, 5),
         STOP);
    double cycles = (double)cycles_of(machine);
    dpu_machine_destroy(machine);
    return cycles;
}

static void test_upmems_values_give_the_fitted_times(void)
{
    for (uint32_t units = 1; units <= 256; units *= 2)
        for (int i = 0; i < 8; i++) {
            uint32_t tasklets = (i & 1) != 0 ? 16 : 1;
            bool writes = (i & 2) != 0, same = (i & 4) != 0;
            double fitted = transfers(false, false, tasklets, writes, units - 1, same);
            double closed = transfers(true, false, tasklets, writes, units - 1, same) / fitted;
            double open = transfers(true, true, tasklets, writes, units - 1, same) / fitted;
            CHECK(closed > 0.98 && closed < 1.02);
            CHECK(open > (same ? 0.84 : 0.99) && open < (same ? 1.02 : 1.16));
        }
}

/* --- engines --- */

static void expect_the_same(struct dpu_machine *drift, struct dpu_machine *turns)
{
    struct dpu_run_result a, b;
    dpu_machine_get_result(drift, &a);
    dpu_machine_get_result(turns, &b);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    for (uint32_t id = 0; id < 24; id++)
        for (uint32_t r = 0; r < 24; r++)
            CHECK(dpu_register(drift, id, r) == dpu_register(turns, id, r));
}

/* Tasklets read the clock after transfers here and there; one faults in the end, so that drift goes
 * back to its snapshot. */
static void test_all_engines_have_the_same_times(void)
{
    for (uint32_t i = 0; i < 64; i++) {
        struct dpu_machine_options o;
        dpu_machine_default_options(&o);
        o.dram_banks = 1 + (i & 3);
        o.dram_open_rows = i >> 2 & 1;
        o.dma_engines = 1 + (i >> 3 & 1);
        o.dram_open_row_first = i >> 4 & o.dram_open_rows & (o.dma_engines == 1);
        o.dram_refresh_interval = (i >> 5 & 1) != 0 ? 10920 : 1500;
        uint64_t first = 0;
        struct dpu_machine *both[2];
        for (uint32_t k = 0; k < 2; k++) {
            o.engine = k == 0 ? DPU_ENGINE_DRIFT : DPU_ENGINE_TURNS;
            both[k] = make(&o);
            LOAD(both[k], BOOT_CHAIN(16, 0), MOVE(1, 60), W("lsl", "rri", 3, ID, 12),
                 /* 4: */ W("lsl_add", "rrri", 3, 3, 1, 9), W("and", "rri", 5, 3, 0x3FFFF),
                 W("ldma", "rri", ZERO, 5, 3), W("sdma", "rri", ZERO, 5, 140), W("time", "r", 4),
                 W("add", "rrr", 6, 6, 4), W("add", "rrici", 1, 1, -1, CC_NZ, 4),
                 JUMP_IF(ID, 3, CC_NZ, 13), W("fault", "i", 3), /* 13: */ STOP);
            for (uint32_t launch = 0; launch < 2; launch++) {
                CHECK(dpu_machine_launch(both[k], NULL) == DPU_RUN_FAULT);
                dpu_machine_clear_fault(both[k]);
                struct dpu_run_result result;
                dpu_machine_get_result(both[k], &result);
                CHECK(first == 0 || launch == 1 || result.cycles == first);
                first = launch == 0 ? result.cycles : first;
            }
        }
        const char *name = o.dram_open_row_first != 0 ? "turns" : "drift";
        CHECK(strcmp(dpu_machine_engine_name(both[0]), name) == 0);
        expect_the_same(both[0], both[1]);
        dpu_machine_destroy(both[0]);
        dpu_machine_destroy(both[1]);
    }
}

/* A debugger sets a tasklet that waits for its transfer: it may begin another one. */
static void test_a_tasklet_that_was_set_anew(void)
{
    struct dpu_machine_options o = simple();
    o.dram_open_rows = o.dram_open_row_first = 1;
    struct dpu_machine *machine = make(&o);
    LOAD(machine, W("ldma", "rri", 0, 0, 255), STOP);
    dpu_machine_boot(machine);
    for (uint32_t i = 0; i < 200; i++) {
        CHECK(dpu_machine_step(machine, 1, NULL) == DPU_RUN_STEPPED);
        struct dpu_thread_state state;
        CHECK(dpu_machine_get_thread(machine, 0, &state));
        state.pc = 0;
        CHECK(dpu_machine_set_thread(machine, 0, &state));
    }
    CHECK(dpu_machine_run(machine, NULL) == DPU_RUN_DONE);
    dpu_machine_destroy(machine);
}

int main(void)
{
    test_a_row_is_opened_accessed_and_closed();
    /* Transfers of one tasklet have no others to pass. */
    test_a_row_stays_open(false);
    test_a_row_stays_open(true);
    test_clocks();
    test_refreshes_close_rows_and_stand_in_the_way();
    test_what_makes_no_sense();
    test_open_rows_come_first();
    test_open_rows_come_between_the_rows_of_a_transfer();
    test_upmems_values_give_the_fitted_times();
    test_all_engines_have_the_same_times();
    test_a_tasklet_that_was_set_anew();
    return 0;
}
