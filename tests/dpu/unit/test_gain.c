/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPUs run together where that takes less time: neither way is chosen before the other was timed,
 * and no refusal is forever.
 *
 * build: @dpu_machine @dpu_translate
 */
#include "dpu/translate/gain.h"

#include "common/clock.h"
#include "dpu/translate/translate.h"
#include "hostcode/compiler.h"
#include "tests/dpu/support/program.h"

enum { LANES = 16, MANY = 1000000, FEW = 100 };

static struct dpu_machine *m;

static bool worth(uint32_t count)
{
    return dpu_gain_is_worth(m, count, LANES);
}

static void together(uint64_t ns)
{
    dpu_gain_note_together(m, LANES, LANES, MANY, ns);
}

int main(void)
{
    struct host_compiler compiler;
    m = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    CHECK(!worth(LANES) && !dpu_gain_is_known(m) && !dpu_gain_is_sure(m)); /* no program */
    if (!host_compiler_find(&compiler, "DPU_SOFT_CC")) {
        printf("no C compiler: nothing is translated here\n");
        dpu_machine_destroy(m);
        return 0;
    }

    LOAD(m, MOVE(1, 3), STOP);
    CHECK(dpu_machine_launch(m, NULL) == DPU_RUN_DONE);
    dpu_gain_note_alone(m, MANY, 1000); /* not translated yet: that time says nothing */
    CHECK(!dpu_gain_is_known(m));
    CHECK(dpu_translate_wait(m, clock_deadline(60 * CLOCK_SECOND)));
    dpu_gain_note_alone(m, FEW, 1000);
    CHECK(!dpu_gain_is_known(m) && !worth(LANES));

    /* The first trial, of at least half of the lanes, is cold, and there are four. */
    dpu_gain_note_alone(m, MANY, 400000);
    CHECK(dpu_gain_is_known(m) && !dpu_gain_is_sure(m));
    CHECK(!worth(1) && !worth(LANES / 2 - 1) && worth(LANES / 2) && !worth(LANES));
    together(500000);
    CHECK(!dpu_gain_is_sure(m) && worth(LANES) && worth(LANES) && worth(LANES) && !worth(LANES));

    /* The best one counts: half of the time with all lanes, so more with few of them. */
    together(200000);
    together(450000);
    together(200000);
    CHECK(dpu_gain_is_sure(m) && worth(LANES) && worth(LANES / 2 + 2) && !worth(LANES / 2));
    dpu_gain_note_together(m, LANES / 2, LANES, MANY / 2, 200000);
    CHECK(worth(LANES) && !worth(LANES / 2));

    /* Later times count for a quarter: it becomes slower, and is tried again after many refusals.
     */
    together(1000000);
    CHECK(!dpu_gain_is_sure(m));
    uint32_t refusals = 0;
    while (!worth(LANES))
        CHECK(refusals++ < 2000);
    CHECK(refusals > 900);
    together(200000);
    CHECK(dpu_gain_is_sure(m));

    /* After one that takes twice the time there are no more trials. */
    for (int i = 0; i < 20; i++)
        together(1000000);
    for (refusals = 0; !worth(LANES);)
        CHECK(refusals++ < 2000);
    CHECK(!worth(LANES));

    /* A gain below a sixteenth is none. */
    together(200000);
    for (int i = 0; i < 60; i++)
        together(385000);
    CHECK(!dpu_gain_is_sure(m));
    for (int i = 0; i < 60; i++)
        together(370000);
    CHECK(dpu_gain_is_sure(m));
    dpu_machine_destroy(m);
    return 0;
}
