/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The modelled time of Vector Engine code.
 *
 * build: @ve_machine csrc/veo/time/meter.c csrc/veo/time/kinds.c csrc/veo/time/phase.c
 */
#include "tests/veo/support/ve_code.h"
#include "veo/time/kinds.h"
#include "veo/time/meter.h"
#include "veo/time/phase.h"

#include <string.h>

static uint32_t named(const char *mnemonic)
{
    for (uint32_t i = 0; i < VE_OPERATION_COUNT; i++)
        if (strcmp(ve_operation_info(i)->mnemonic, mnemonic) == 0)
            return i;
    fprintf(stderr, "no operation %s\n", mnemonic);
    abort();
}

static void test_kinds_follow_from_the_table(void)
{
    static const struct {
        const char *mnemonic;
        enum ve_time_pipe pipe;
        unsigned reads, writes, flops;
    } rows[] = {
        {"vfadd.d", VE_TIME_FMA, VE_TIME_VY | VE_TIME_VZ | VE_TIME_Y_MAY_BE_SCALAR, VE_TIME_VX, 1},
        {"vfmad.d", VE_TIME_FMA,
         VE_TIME_VY | VE_TIME_VZ | VE_TIME_VW | VE_TIME_Y_MAY_BE_SCALAR | VE_TIME_Z_MAY_BE_SCALAR,
         VE_TIME_VX, 2},
        {"pvfmad", VE_TIME_FMA,
         VE_TIME_VY | VE_TIME_VZ | VE_TIME_VW | VE_TIME_Y_MAY_BE_SCALAR | VE_TIME_Z_MAY_BE_SCALAR,
         VE_TIME_VX, 4},
        {"vld", VE_TIME_LOAD, VE_TIME_SY | VE_TIME_SZ, VE_TIME_VX, 0},
        {"vst", VE_TIME_STORE, VE_TIME_VX | VE_TIME_SY | VE_TIME_SZ, 0, 0},
        {"vldz", VE_TIME_ALU, VE_TIME_VZ, VE_TIME_VX, 0},
        {"vfia.d", VE_TIME_RECURRENCE, VE_TIME_VY | VE_TIME_SY, VE_TIME_VX, 1},
        {"vfdiv.d", VE_TIME_DIVIDE,
         VE_TIME_VY | VE_TIME_VZ | VE_TIME_Y_MAY_BE_SCALAR | VE_TIME_Z_MAY_BE_SCALAR, VE_TIME_VX,
         1},
        {"andm", VE_TIME_ALU, VE_TIME_MY | VE_TIME_MZ, VE_TIME_MX, 0},
        {"ld", VE_TIME_SCALAR_LOAD, VE_TIME_SY | VE_TIME_SZ, VE_TIME_SX, 0},
        {"st", VE_TIME_SCALAR, VE_TIME_SX | VE_TIME_SY | VE_TIME_SZ, 0, 0},
        {"ldz", VE_TIME_SCALAR, VE_TIME_SZ, VE_TIME_SX, 0},
        {"fmul.d", VE_TIME_SCALAR_FLOAT, VE_TIME_SY | VE_TIME_SZ, VE_TIME_SX, 1},
        {"divs.l", VE_TIME_SCALAR_DIVIDE, VE_TIME_SY | VE_TIME_SZ, VE_TIME_SX, 0},
        {"lvs", VE_TIME_SCALAR, VE_TIME_VX | VE_TIME_SY, VE_TIME_SX, 0},
        {"lvl", VE_TIME_SCALAR, VE_TIME_SY, 0, 0},
        {"br?.l", VE_TIME_SCALAR, VE_TIME_SY | VE_TIME_SZ, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ve_time_kind kind = ve_time_kind(named(rows[i].mnemonic));
        if (kind.pipe != rows[i].pipe || kind.reads != rows[i].reads ||
            kind.writes != rows[i].writes || kind.flops != rows[i].flops) {
            fprintf(stderr, "%s: pipe %d, reads %#x, writes %#x, flops %d\n", rows[i].mnemonic,
                    kind.pipe, kind.reads, kind.writes, kind.flops);
            CHECK(!"kind");
        }
    }
}

static void test_a_recurrence_takes_time_for_each_element(struct ve_core *core)
{
    struct ve_meter meter;
    const struct ve_time_model *model = ve_time_model("VE10B");
    struct ve_instruction in = {.operation = (uint16_t)named("vfia.d"), .vy = 1, .y_source = 64};
    CHECK(model != NULL && ve_time_model("VE1") == NULL);
    core->vl = 250;
    ve_meter_start(&meter, model, 0);
    ve_meter_add(&meter, core, &in);
    double cycles = ve_meter_read(&meter).cycles;
    CHECK(cycles >= 250 * model->recurrence && cycles <= 250 * model->recurrence + 20);
    CHECK(ve_meter_read(&meter).elements == 250 && ve_meter_read(&meter).flops == 250);
}

/* Cycles of two additions, the second of what the first gives, or of something else. */
static double two_additions(struct ve_core *core, bool dependent, unsigned length)
{
    struct ve_meter meter;
    struct ve_instruction in = {.operation = (uint16_t)named("vfadd.d"), .vy = 1, .vz = 2};
    core->vl = length;
    ve_meter_start(&meter, ve_time_model("VE10B"), 0);
    ve_meter_add(&meter, core, &in);
    in.vx = 3;
    in.vy = dependent ? 0 : 1;
    ve_meter_add(&meter, core, &in);
    return ve_meter_read(&meter).cycles;
}

static void test_operations_that_depend_on_each_other_are_chained(struct ve_core *core)
{
    double apart = two_additions(core, false, 256);
    double chained = two_additions(core, true, 256);
    CHECK(chained > apart);
    /* The second begins long before the first has ended. */
    CHECK(chained < 2 * apart);
    CHECK(two_additions(core, false, 11) == apart);
}

static void test_a_core_waits_for_others(struct ve_core *core)
{
    struct ve_meter meter, other;
    const struct ve_time_model *model = ve_time_model("VE10B");
    struct ve_instruction in = {.operation = (uint16_t)named("vfia.d"), .vy = 1, .y_source = 64};
    core->vl = VE_VECTOR_LENGTH;
    ve_meter_start(&meter, model, 0);
    ve_meter_add(&meter, core, &in);
    const double alone = ve_meter_read(&meter).cycles;
    ve_meter_wait(&meter, alone / 2);
    CHECK(ve_meter_now(&meter) == alone && ve_meter_read(&meter).core_cycles == alone);
    ve_meter_wait(&meter, 2 * alone);
    CHECK(ve_meter_read(&meter).cycles == 2 * alone);
    CHECK(ve_meter_read(&meter).core_cycles == alone);

    /* Another begins later: its cycles are from then on. */
    ve_meter_start(&other, model, 3 * alone);
    ve_meter_add(&other, core, &in);
    struct ve_counters counters = ve_meter_read(&other);
    CHECK(ve_meter_now(&other) > 3.9 * alone && counters.cycles < 1.1 * alone);
    ve_meter_take(&meter, &counters);
    counters = ve_meter_read(&meter);
    CHECK(counters.cycles == 2 * alone && counters.elements == 2 * VE_VECTOR_LENGTH);
    CHECK(counters.core_cycles > 1.9 * alone && counters.core_cycles < 2.1 * alone);
    CHECK(counters.lengths[VE_VECTOR_LENGTH] == 2 &&
          counters.vector_cycles <= counters.core_cycles);
    CHECK(ve_progress(&meter).core_cycles == counters.core_cycles);
}

/* The end of a phase from 100 on, in which COUNT cores take CYCLES, and move BYTES each. */
static double end_of_phase(unsigned count, double cycles, uint64_t bytes)
{
    struct ve_phase phase;
    const struct ve_time_model *model = ve_time_model("VE10B");
    ve_phase_start(&phase, 100);
    for (unsigned i = 0; i < count; i++) {
        struct ve_meter meter;
        ve_meter_start(&meter, model, 90);
        ve_meter_wait(&meter, 100);
        struct ve_progress since = ve_progress(&meter);
        CHECK(since.core_cycles == 0);
        meter.now += cycles;
        meter.counters.bytes = bytes;
        ve_phase_arrive(&phase, &meter, &since);
        CHECK(since.core_cycles == cycles && since.bytes == bytes);
    }
    double end = ve_phase_end(&phase, model);
    CHECK(phase.start == end && ve_phase_end(&phase, model) == end);
    return end;
}

static void test_a_phase_ends_with_its_slowest_core(void)
{
    CHECK(end_of_phase(1, 50, 0) == 150 && end_of_phase(8, 50, 0) == 150);
    CHECK(end_of_phase(12, 50, 0) == 175); /* on eight cores */
    const double bytes_per_cycle = 3000e9 / 1400e6;
    CHECK(end_of_phase(8, 50, (uint64_t)(5 * bytes_per_cycle)) == 150);
    double limited = end_of_phase(8, 50, 100000);
    CHECK(limited > 99.9 + 800000 / bytes_per_cycle && limited < 100.1 + 800000 / bytes_per_cycle);
}

static void test_a_lock_is_held_by_one_at_a_time(void)
{
    struct ve_queue queue = {.count = 0};
    CHECK(ve_queue_hold(&queue, 10, 5) == 10);
    CHECK(ve_queue_hold(&queue, 30, 5) == 30);
    CHECK(ve_queue_hold(&queue, 12, 5) == 15);  /* when the first has it no more */
    CHECK(ve_queue_hold(&queue, 0, 10) == 0);   /* who came first, and is told last */
    CHECK(ve_queue_hold(&queue, 9, 11) == 35);  /* no gap is long enough */
    CHECK(ve_queue_hold(&queue, 19, 10) == 20); /* one that just is */
    CHECK(ve_queue_hold(&queue, 0, 1) == 46);

    /* The oldest are forgotten when there are many. */
    queue.count = 0;
    for (int i = 0; i < 2 * VE_QUEUE_HOLDS; i++)
        CHECK(ve_queue_hold(&queue, 10.0 * i, 1) == 10.0 * i);
    CHECK(queue.count == VE_QUEUE_HOLDS && queue.holds[0].begin == 10.0 * VE_QUEUE_HOLDS);
    CHECK(ve_queue_hold(&queue, 0, 1) == 0);
    CHECK(ve_queue_hold(&queue, 20.0 * VE_QUEUE_HOLDS - 10, 1) == 20.0 * VE_QUEUE_HOLDS - 9);
}

int main(void)
{
    struct ve_core *core = ve_core_create();
    CHECK(core != NULL);
    test_kinds_follow_from_the_table();
    test_a_recurrence_takes_time_for_each_element(core);
    test_operations_that_depend_on_each_other_are_chained(core);
    test_a_core_waits_for_others(core);
    test_a_phase_ends_with_its_slowest_core();
    test_a_lock_is_held_by_one_at_a_time();
    ve_core_destroy(core);
    puts("ok");
    return 0;
}
