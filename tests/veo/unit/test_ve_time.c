/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The modelled time of Vector Engine code.
 *
 * build: @ve_machine csrc/veo/time/meter.c csrc/veo/time/kinds.c
 */
#include "tests/veo/support/ve_code.h"
#include "veo/time/kinds.h"
#include "veo/time/meter.h"

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
    ve_meter_start(&meter, model);
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
    ve_meter_start(&meter, ve_time_model("VE10B"));
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

int main(void)
{
    struct ve_core *core = ve_core_create();
    CHECK(core != NULL);
    test_kinds_follow_from_the_table();
    test_a_recurrence_takes_time_for_each_element(core);
    test_operations_that_depend_on_each_other_are_chained(core);
    ve_core_destroy(core);
    puts("ok");
    return 0;
}
