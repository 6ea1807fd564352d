/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocating, freeing, counting, walking. */
#include "cases.h"

#include <dpu_runner.h>
#include <dpu_target_macros.h>

static uint32_t count_dpus(struct dpu_set_t set)
{
    uint32_t told, counted = 0;
    struct dpu_set_t dpu;
    CHECK_OK(dpu_get_nr_dpus(set, &told));
    DPU_FOREACH(set, dpu)
    {
        counted += dpu.kind == DPU_SET_DPU;
    }
    CHECK_EQUAL(counted, told);
    return told;
}

static uint32_t count_ranks(struct dpu_set_t set)
{
    uint32_t told, counted = 0;
    struct dpu_set_t rank;
    CHECK_OK(dpu_get_nr_ranks(set, &told));
    DPU_RANK_FOREACH(set, rank)
    {
        counted += rank.kind == DPU_SET_RANKS;
    }
    CHECK_EQUAL(counted, told);
    return told;
}

CASE(surplus_dpus_of_the_last_rank_are_disabled)
{
    struct dpu_set_t set = allocate(70, NULL), rank, dpu;
    uint32_t number, index, seen = 0;
    CHECK_EQUAL(count_ranks(set), 2);
    CHECK_EQUAL(count_dpus(set), 70);
    DPU_RANK_FOREACH(set, rank, number)
    {
        struct dpu_rank_t *whole = dpu_rank_from_set(rank);
        CHECK_EQUAL(count_dpus(rank), number == 0 ? 64 : 6);
        CHECK_EQUAL(count_ranks(rank), 1);
        CHECK_EQUAL(dpu_get_rank_id(whole) & DPU_TARGET_MASK, number);
        CHECK_EQUAL(dpu_get_rank_id(whole) >> DPU_TARGET_SHIFT, FUNCTIONAL_SIMULATOR);
        for (uint32_t i = 0; i < 64; i++) {
            struct dpu_t *one = dpu_get(whole, (dpu_slice_id_t)(i / 8), (dpu_member_id_t)(i % 8));
            CHECK_EQUAL(dpu_is_enabled(one), number == 0 || (i % 8 == 0 && i / 8 < 6));
            CHECK_EQUAL(dpu_get_id(one), number << 16 | (i / 8) << 8 | i % 8);
        }
        DPU_FOREACH(rank, dpu, index)
        {
            CHECK_EQUAL(dpu.kind, DPU_SET_DPU);
            CHECK_TRUE(dpu_get_rank(dpu.dpu) == whole);
            CHECK_EQUAL(dpu_get_slice_id(dpu.dpu), number == 0 ? index / 8 : index);
            CHECK_EQUAL(dpu_get_member_id(dpu.dpu), number == 0 ? index % 8 : 0);
            seen++;
        }
    }
    CHECK_EQUAL(seen, 70);
    DPU_FOREACH(set, dpu, index)
    {
        seen--;
    }
    CHECK_EQUAL(index, 70);
    CHECK_EQUAL(seen, 0);
    struct dpu_t *disabled = dpu_get(set.list.ranks[1], 7, 7);
    load_command(set, COUNT);
    CHECK_EQUAL(dpu_launch(dpu_set_from_dpu(disabled), DPU_SYNCHRONOUS), DPU_ERR_DPU_DISABLED);
    CHECK_OK(dpu_free(set));
}

CASE(a_dpu_is_a_set_of_one_rank)
{
    struct dpu_set_t set = allocate(3, NULL), rank, dpu;
    struct dpu_set_t one = first_dpu(set);
    uint32_t index;
    CHECK_EQUAL(count_dpus(one), 1);
    CHECK_EQUAL(count_ranks(one), 1);
    DPU_FOREACH(one, dpu, index)
    {
        CHECK_TRUE(dpu.dpu == one.dpu && index == 0);
    }
    DPU_RANK_FOREACH(one, rank, index)
    {
        CHECK_TRUE(dpu_rank_from_set(rank) == set.list.ranks[0] && index == 0);
    }
    CHECK_TRUE(dpu_from_set(one) == one.dpu);
    CHECK_TRUE(dpu_from_set(set) == NULL);
    CHECK_TRUE(dpu_rank_from_set(one) == NULL);
    CHECK_TRUE(dpu_from_set(dpu_set_from_dpu(one.dpu)) == one.dpu);
    struct dpu_t *member;
    uint32_t count = 0;
    STRUCT_DPU_FOREACH(set.list.ranks[0], member, index)
    {
        CHECK_EQUAL(index, count);
        CHECK_EQUAL(dpu_get_slice_id(member), count++);
    }
    CHECK_EQUAL(count, 3);
    STRUCT_DPU_FOREACH(set.list.ranks[0], member)
    {
        count--;
    }
    CHECK_EQUAL(count, 0);
    CHECK_OK(dpu_free(set));
}

CASE(only_what_was_allocated_can_be_freed)
{
    struct dpu_set_t set = allocate(130, NULL), small = allocate(1, NULL), part;
    DPU_RANK_FOREACH(set, part)
    {
        CHECK_EQUAL(dpu_free(part), DPU_ERR_INVALID_DPU_SET);
    }
    DPU_FOREACH(set, part)
    {
        CHECK_EQUAL(dpu_free(part), DPU_ERR_INVALID_DPU_SET);
    }
    DPU_RANK_FOREACH(small, part)
    {
        CHECK_EQUAL(dpu_free(part), DPU_ERR_INVALID_DPU_SET);
    }
    CHECK_DETAIL("not a part of it");
    part = set;
    part.list.nr_ranks--;
    CHECK_EQUAL(dpu_free(part), DPU_ERR_INVALID_DPU_SET);
    CHECK_EQUAL(dpu_free_rank(set.list.ranks[0]), DPU_ERR_INVALID_DPU_SET);
    CHECK_OK(dpu_free(set));
    CHECK_EQUAL(dpu_free(set), DPU_ERR_INVALID_DPU_SET);
    CHECK_DETAIL("freed");
    CHECK_OK(dpu_free(small));
}

/* Nothing beyond the array of ranks is read. */
CASE(a_set_with_a_wrong_number_of_ranks_is_refused)
{
    struct dpu_set_t set = allocate(130, NULL), other = allocate(1, NULL), part;
    static const uint32_t wrong[] = {4, 100, 0x10000000, UINT32_MAX};
    uint32_t count;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        part = set;
        part.list.nr_ranks = wrong[i];
        CHECK_EQUAL(dpu_get_nr_dpus(part, &count), DPU_ERR_INVALID_DPU_SET);
        CHECK_EQUAL(dpu_launch(part, DPU_SYNCHRONOUS), DPU_ERR_INVALID_DPU_SET);
        CHECK_EQUAL(dpu_free(part), DPU_ERR_INVALID_DPU_SET);
        part.list.ranks = set.list.ranks + 1;
        CHECK_EQUAL(dpu_get_nr_dpus(part, &count), DPU_ERR_INVALID_DPU_SET);
    }

    /* A program may make arrays of its own. */
    struct dpu_rank_t *ranks[] = {other.list.ranks[0], set.list.ranks[2]};
    part = (struct dpu_set_t){.kind = DPU_SET_RANKS, .list = {2, ranks}};
    CHECK_OK(dpu_get_nr_dpus(part, &count));
    CHECK_EQUAL(count, 3);
    part.list.nr_ranks = 0x10000000;
    CHECK_EQUAL(dpu_get_nr_dpus(part, &count), DPU_ERR_INVALID_DPU_SET);
    CHECK_DETAIL("does not have 268435456 ranks");
    CHECK_OK(dpu_free(other));
    CHECK_OK(dpu_free(set));
}

CASE(a_set_is_dead_after_it_was_freed)
{
    struct dpu_set_t set = allocate(2, NULL), dpu = first_dpu(set), part;
    struct dpu_rank_t *rank = set.list.ranks[0];
    bool done, fault;
    uint32_t number;
    struct dpusoft_report report = {.size = sizeof report};
    CHECK_OK(dpu_free(set));
    const struct dpu_set_t sets[] = {set, dpu, dpu_set_from_rank(&rank)};
    for (int i = 0; i < 3; i++) {
        part = sets[i];
        CHECK_EQUAL(dpu_load(part, "nothing", NULL), DPU_ERR_INVALID_DPU_SET);
        CHECK_EQUAL(dpu_launch(part, DPU_SYNCHRONOUS), DPU_ERR_INVALID_DPU_SET);
        CHECK_EQUAL(dpu_launch(part, DPU_ASYNCHRONOUS), DPU_ERR_INVALID_DPU_SET);
        CHECK_EQUAL(dpu_status(part, &done, &fault), DPU_ERR_INVALID_DPU_SET);
        CHECK_EQUAL(dpu_sync(part), DPU_ERR_INVALID_DPU_SET);
        CHECK_EQUAL(dpu_get_nr_dpus(part, &number), DPU_ERR_INVALID_DPU_SET);
        CHECK_EQUAL(dpu_get_nr_ranks(part, &number), DPU_ERR_INVALID_DPU_SET);
        CHECK_EQUAL(dpusoft_get_report(part, &report), DPU_ERR_INVALID_DPU_SET);
        CHECK_EQUAL(dpusoft_interrupt(part), DPU_ERR_INVALID_DPU_SET);
        CHECK_EQUAL(dpu_free(part), DPU_ERR_INVALID_DPU_SET);
        struct dpu_set_t none;
        DPU_FOREACH(part, none)
        {
            CHECK_EQUAL(none.kind, -1);
        }
    }
    CHECK_TRUE(dpu_get(rank, 0, 0) == NULL);
    CHECK_TRUE(dpu_get_description(rank) == NULL);
    CHECK_TRUE(dpu_get_run_context(rank) == NULL);
}

CASE(what_is_no_set_is_refused)
{
    struct dpu_set_t set = {.kind = DPU_SET_RANKS}, dpu = {.kind = DPU_SET_DPU};
    struct dpu_set_t other = {.kind = (dpu_set_kind_t)7};
    uint32_t number;
    CHECK_EQUAL(dpu_get_nr_dpus(set, &number), DPU_ERR_INVALID_DPU_SET);
    CHECK_EQUAL(dpu_launch(dpu, DPU_SYNCHRONOUS), DPU_ERR_INVALID_DPU_SET);
    CHECK_EQUAL(dpu_sync(other), DPU_ERR_INVALID_DPU_SET);
    CHECK_EQUAL(dpu_free(set), DPU_ERR_INVALID_DPU_SET);
    CHECK_EQUAL(dpu_free(dpu), DPU_ERR_INVALID_DPU_SET);
    CHECK_EQUAL(dpu_free(other), DPU_ERR_INVALID_DPU_SET);
    CHECK_EQUAL(dpu_free_rank(NULL), DPU_ERR_INVALID_DPU_SET);
    CHECK_EQUAL(dpu_boot_rank(NULL), DPU_ERR_INVALID_DPU_SET);
    CHECK_EQUAL(dpu_boot_dpu(NULL), DPU_ERR_INVALID_DPU_SET);
    CHECK_EQUAL(dpu_poll_rank(NULL), DPU_ERR_INVALID_DPU_SET);
    CHECK_TRUE(dpu_alloc(1, NULL, NULL) != DPU_OK);
    CHECK_TRUE(dpu_get(NULL, 0, 0) == NULL);
    CHECK_TRUE(dpu_get_rank(NULL) == NULL && dpu_get_program(NULL) == NULL);
    struct dpu_set_t none = {.kind = DPU_SET_RANKS};
    DPU_RANK_FOREACH(none, dpu)
    {
        CHECK_TRUE(false);
    }
}

CASE(allocate_all_takes_one_rank_unless_told)
{
    struct dpu_set_t set = allocate(DPU_ALLOCATE_ALL, NULL);
    CHECK_EQUAL(count_dpus(set), 64);
    CHECK_OK(dpu_free(set));
    set = allocate(DPU_ALLOCATE_ALL, "softNrRanks=3");
    CHECK_EQUAL(count_dpus(set), 192);
    CHECK_EQUAL(dpu_alloc(DPU_ALLOCATE_ALL, "softNrRanks=3", &(struct dpu_set_t){0}),
                DPU_ERR_ALLOCATION);
    CHECK_OK(dpu_free(set));
    setenv("DPU_SOFT_RANKS", "2", 1);
    struct dpu_set_t one = allocate(1, NULL);
    CHECK_OK(dpu_alloc_ranks(DPU_ALLOCATE_ALL, NULL, &set));
    CHECK_EQUAL(count_ranks(set), 1);
    CHECK_EQUAL(dpu_get_rank_id(set.list.ranks[0]), 1);
    CHECK_EQUAL(dpu_alloc(1, NULL, &(struct dpu_set_t){0}), DPU_ERR_ALLOCATION);
    CHECK_DETAIL("DPU_SOFT_RANKS");
    CHECK_OK(dpu_free(set));
    CHECK_OK(dpu_free(one));
}

CASE(ranks_run_out_and_come_back)
{
    struct dpu_set_t set, more;
    CHECK_OK(dpu_alloc_ranks(40, NULL, &set));
    CHECK_EQUAL(count_dpus(set), 2560);
    CHECK_EQUAL(dpu_alloc(1, NULL, &more), DPU_ERR_ALLOCATION);
    CHECK_OK(dpu_free(set));
    CHECK_EQUAL(dpu_alloc(2561, NULL, &more), DPU_ERR_ALLOCATION);
    CHECK_DETAIL("40 ranks");
    CHECK_EQUAL(dpu_alloc(0, NULL, &more), DPU_ERR_ALLOCATION);
    CHECK_EQUAL(dpu_alloc_ranks(0, NULL, &more), DPU_ERR_ALLOCATION);
    more = allocate(2560, NULL);
    CHECK_OK(dpu_free(more));
}

CASE(a_rank_can_be_taken_alone)
{
    struct dpu_rank_t *rank;
    CHECK_OK(dpu_get_rank_of_type("backend=simulator", &rank));
    struct dpu_set_t set = dpu_set_from_rank(&rank);
    CHECK_EQUAL(count_dpus(set), 64);
    load_command(set, COUNT);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    CHECK_EQUAL(read_counter(dpu_set_from_dpu(dpu_get(rank, 7, 7))), 1);
    CHECK_TRUE(dpu_get(rank, 8, 0) == NULL && dpu_get(rank, 0, 8) == NULL);
    dpu_lock_rank(rank);
    CHECK_EQUAL(dpu_trylock_rank(rank), 0);
    dpu_unlock_rank(rank);
    dpu_unlock_rank(rank);
    CHECK_EQUAL(dpu_get_rank_numa_node(rank), -1);
    CHECK_EQUAL(dpu_free(set), DPU_ERR_INVALID_DPU_SET);
    CHECK_OK(dpu_free_rank(rank));
    CHECK_EQUAL(dpu_free_rank(rank), DPU_ERR_INVALID_DPU_SET);
}

CASE(descriptions_tell_the_chip)
{
    dpu_description_t description;
    CHECK_OK(dpu_get_profile_description("chipId=9,nrDpusPerCi=2,fckFrequency=300", &description));
    CHECK_EQUAL(description->hw.signature.chip_id, 9);
    CHECK_EQUAL(description->hw.dpu.nr_of_threads, 16);
    CHECK_EQUAL(description->hw.topology.nr_of_control_interfaces, 8);
    CHECK_EQUAL(description->hw.topology.nr_of_dpus_per_control_interface, 2);
    CHECK_EQUAL(description->hw.timings.fck_frequency_in_mhz, 300);
    CHECK_EQUAL(description->hw.memories.iram_size, 3968);
    dpu_free_description(description);
    struct dpu_set_t set = allocate(1, NULL);
    description = dpu_get_description(set.list.ranks[0]);
    dpu_acquire_description(description);
    CHECK_OK(dpu_free(set));
    CHECK_EQUAL(description->hw.dpu.nr_of_threads, 24);
    CHECK_EQUAL(description->hw.memories.mram_size, 64 << 20);
    CHECK_EQUAL(description->hw.memories.wram_size, 16384);
    CHECK_EQUAL(description->type, FUNCTIONAL_SIMULATOR);
    dpu_free_description(description);
}

CASE(profiles_are_read)
{
    static const struct {
        const char *text;
        dpu_error_t wanted;
    } profiles[] = {
        {"", DPU_OK},
        {"=", DPU_OK},
        {"backend=simulator,foo=bar", DPU_OK},
        {"backend=cas,sgXferEnable=true,nrJobsPerRank=256", DPU_OK},
        {"cycleAccurate=true,regionMode=safe,rankPath=/dev/dpu_rank0", DPU_OK},
        {"softSwitches=0x1ff,softMaxCycles=1000,softThreads=1", DPU_OK},
        {"softPipelineCycles=1,softDmaReadLatency=0,softDmaAlignmentFaults=true", DPU_OK},
        {"softPipelineCycles=0", DPU_ERR_INVALID_PROFILE},
        {"softDmaAlignmentFaults=yes", DPU_ERR_INVALID_PROFILE},
        {"softAlignment=true", DPU_ERR_INVALID_PROFILE},
        {"foo", DPU_ERR_INVALID_PROFILE},
        {"backend=nope", DPU_ERR_INVALID_PROFILE},
        {"backend=", DPU_ERR_INVALID_PROFILE},
        {"backend=simulator,,", DPU_ERR_INVALID_PROFILE},
        {"backend=simulator,", DPU_ERR_INVALID_PROFILE},
        {"chipId=x", DPU_ERR_INVALID_PROFILE},
        {"chipId=-1", DPU_ERR_INVALID_PROFILE},
        {"nrDpusPerCi=9", DPU_ERR_INVALID_PROFILE},
        {"nrJobsPerRank=0", DPU_ERR_INVALID_PROFILE},
        {"sgXferEnable=maybe", DPU_ERR_INVALID_PROFILE},
        {"softNrRanks=99999999999999999999", DPU_ERR_INVALID_PROFILE},
        {"backend=hw", DPU_ERR_ALLOCATION},
        {"backend=scenario", DPU_ERR_ALLOCATION},
    };
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        struct dpu_set_t set;
        dpu_error_t status = dpu_alloc(1, profiles[i].text, &set);
        if (status != profiles[i].wanted)
            fprintf(stderr, "'%s'\n", profiles[i].text);
        CHECK_EQUAL(status, profiles[i].wanted);
        if (status == DPU_OK)
            CHECK_OK(dpu_free(set));
        else
            CHECK_TRUE(dpusoft_last_error_detail()[0] != 0);
    }
}

CASE(later_profiles_win)
{
    struct dpu_set_t set;
    setenv("UPMEM_PROFILE_BASE", "nrDpusPerCi=1,chipId=9", 1);
    set = allocate(DPU_ALLOCATE_ALL, NULL);
    CHECK_EQUAL(count_dpus(set), 8);
    CHECK_OK(dpu_free(set));
    set = allocate(DPU_ALLOCATE_ALL, "nrDpusPerCi=2");
    CHECK_EQUAL(count_dpus(set), 16);
    CHECK_EQUAL(dpu_get_description(set.list.ranks[0])->hw.signature.chip_id, 9);
    CHECK_OK(dpu_free(set));
    setenv("UPMEM_PROFILE", "nrDpusPerCi=3", 1);
    set = allocate(DPU_ALLOCATE_ALL, "nrDpusPerCi=2");
    CHECK_EQUAL(count_dpus(set), 24);
    CHECK_OK(dpu_free(set));
    setenv("UPMEM_PROFILE", "nonsense", 1);
    CHECK_EQUAL(dpu_alloc(1, NULL, &set), DPU_ERR_INVALID_PROFILE);
    CHECK_DETAIL("nonsense");
}

static long peak_kib(void)
{
    char line[256];
    long peak = -1;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK_TRUE(file != NULL);
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmHWM: %ld", &peak) == 1)
            break;
    fclose(file);
    CHECK_TRUE(peak > 0);
    return peak;
}

CASE(idle_dpus_take_little_memory)
{
    long before = peak_kib();
    struct dpu_set_t set = allocate(64, NULL);
    CHECK_TRUE(peak_kib() - before < 100 * 1024);
    CHECK_OK(dpu_free(set));
}

CASE(a_full_server_fits)
{
    double start = seconds_now();
    struct dpu_set_t set = allocate(2560, NULL);
    load_command(set, COUNT);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    CHECK_EQUAL(read_counter(dpu_set_from_dpu(dpu_get(set.list.ranks[39], 7, 7))), 1);
    CHECK_OK(dpu_free(set));
    CHECK_TRUE(seconds_now() - start < 10);
    CHECK_TRUE(peak_kib() < 2048 * 1024);
}
