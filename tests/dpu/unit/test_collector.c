/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles of a machine: sums over instructions, tasklets and reasons are those of the launch.
 *
 * build: @dpu_machine csrc/dpu/profile/arcs.c csrc/dpu/profile/calls.c csrc/dpu/profile/profile.c
 */
#include "tests/dpu/support/program.h"
#include "dpu/profile/profile.h"

enum { TASKLETS = 12, LOCK = 9, SHARED = 64, TIMES = 50, BYTES = 128 };

#define REPEAT(pc) W("add", "rrici", 1, 1, -1, CC_NZ, pc)

struct sums {
    uint64_t instructions, issue, spin, dma, sleep, sites;
    uint64_t tasklet_issue[DPU_MACHINE_THREADS];
};

static void add(void *context, const struct dpu_profile_site *site)
{
    struct sums *sums = context;
    CHECK(site->thread < DPU_MACHINE_THREADS && site->pc < DPU_MACHINE_IRAM);
    sums->instructions += site->instructions;
    sums->issue += site->issue;
    sums->spin += site->spin;
    sums->dma += site->dma;
    sums->sleep += site->sleep;
    sums->sites++;
    sums->tasklet_issue[site->thread] += site->issue;
}

static struct dpu_machine *make_busy(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, BOOT_CHAIN(TASKLETS, 0), MOVE(1, TIMES),
         /* 3: */ W("acquire", "rici", ZERO, LOCK, CC_NZ, 3), W("lw", "erri", 0, 2, ZERO, SHARED),
         W("add", "rri", 2, 2, 1), W("sw", "erir", 0, ZERO, SHARED, 2),
         W("release", "rici", ZERO, LOCK, 0, 8), W("lsl", "rri", 3, ID, 8),
         W("ldma", "rri", 3, 3, BYTES / 8 - 1), REPEAT(3), STOP);
    return machine;
}

static void test_sums(void)
{
    struct dpu_machine *machine = make_busy();
    struct dpu_profile *profile = dpu_profile_create(machine, 0);
    struct dpu_profile_launch launch;
    struct dpu_run_result result;
    struct sums sums = {0};
    CHECK(profile != NULL && !dpu_profile_get_launch(profile, &launch));
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    CHECK(dpu_profile_get_launch(profile, &launch));

    CHECK(launch.cycles == result.cycles && launch.instructions == result.instructions);
    CHECK(launch.reads == TIMES * TASKLETS && launch.writes == 0);
    CHECK(launch.read_bytes == result.dma_read_bytes && launch.dma_busy <= launch.cycles);
    CHECK(launch.cycles ==
          launch.instructions + launch.lost_dma + launch.lost_stopped + launch.lost_few);

    dpu_profile_take_sites(profile, add, &sums);
    uint64_t dma = 0, spin = 0;
    for (uint32_t id = 0; id < DPU_MACHINE_THREADS; id++) {
        const struct dpu_profile_tasklet *tasklet = &launch.tasklets[id];
        CHECK(tasklet->instructions == result.thread_instructions[id]);
        CHECK((tasklet->end != 0) == (id < TASKLETS) && tasklet->end <= launch.cycles);
        uint64_t time = tasklet->end - tasklet->begin;
        uint64_t known = sums.tasklet_issue[id] + tasklet->dma + tasklet->sleep;
        /* To the beginning and the end of a round. */
        CHECK(time + 24 >= known && known + 24 >= time);
        dma += tasklet->dma;
        spin += tasklet->spin;
    }
    CHECK(sums.instructions == result.instructions && sums.sleep == 0);
    CHECK(sums.dma == dma && dma > 0 && sums.spin == spin && spin > 0);

    /* They were taken. */
    memset(&sums, 0, sizeof sums);
    dpu_profile_take_sites(profile, add, &sums);
    CHECK(sums.sites == 0);
    dpu_profile_destroy(profile);
    CHECK(dpu_machine_launch(machine, NULL) == DPU_RUN_DONE);
    CHECK(strcmp(dpu_machine_engine_name(machine), "drift") == 0);
    dpu_machine_destroy(machine);
}

static void test_events(void)
{
    for (uint32_t limit = 0; limit <= 100000; limit = limit == 0   ? 7
                                                      : limit == 7 ? 100000
                                                                   : 100001) {
        struct dpu_machine *machine = make_busy();
        struct dpu_profile *profile = dpu_profile_create(machine, limit);
        uint32_t count, kinds[8] = {0};
        uint64_t dropped, bytes = 0;
        CHECK(profile != NULL && dpu_machine_launch(machine, NULL) == DPU_RUN_DONE);
        const struct dpu_profile_event *events = dpu_profile_events(profile, &count, &dropped);
        CHECK(count <= limit && (dropped != 0) == (limit == 7));
        for (uint32_t i = 0; i < count; i++) {
            CHECK(events[i].begin <= events[i].end && events[i].kind < 8);
            kinds[events[i].kind]++;
            bytes += events[i].kind == DPU_PROFILE_READ ? events[i].value : 0;
        }
        if (limit > 7) {
            CHECK(kinds[DPU_PROFILE_READ] == TIMES * TASKLETS && bytes == TIMES * TASKLETS * BYTES);
            CHECK(kinds[DPU_PROFILE_ENGINE] == TIMES * TASKLETS);
            CHECK(kinds[DPU_PROFILE_HELD] == TIMES * TASKLETS && kinds[DPU_PROFILE_SPIN] > 0);
            CHECK(kinds[DPU_PROFILE_RUN] == TASKLETS && kinds[DPU_PROFILE_WRITE] == 0);
        }
        dpu_profile_destroy(profile);
        dpu_machine_destroy(machine);
    }
}

/* One tasklet issues in each eleventh cycle. */
static void test_lost_cycles_of_one_tasklet(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    struct dpu_profile *profile = dpu_profile_create(machine, 0);
    struct dpu_profile_launch launch;
    LOAD(machine, MOVE(1, 1000), REPEAT(1), STOP);
    CHECK(dpu_machine_launch(machine, NULL) == DPU_RUN_DONE);
    CHECK(dpu_profile_get_launch(profile, &launch));
    CHECK(launch.lost_few == 10 * launch.instructions && launch.lost_dma == 0);
    dpu_profile_destroy(profile);
    dpu_machine_destroy(machine);
}

static void test_a_launch_in_fault(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    struct dpu_profile *profile = dpu_profile_create(machine, 10);
    struct dpu_profile_launch launch;
    LOAD(machine, MOVE(1, 7), W("fault", "i", 1));
    CHECK(dpu_machine_launch(machine, NULL) == DPU_RUN_FAULT);
    CHECK(dpu_profile_get_launch(profile, &launch) && launch.status == DPU_RUN_FAULT);
    CHECK(launch.tasklets[0].end == launch.cycles && launch.instructions == 2);
    dpu_profile_destroy(profile);
    dpu_machine_destroy(machine);
}

int main(void)
{
    test_sums();
    test_events();
    test_lost_cycles_of_one_tasklet();
    test_a_launch_in_fault();
    return 0;
}
