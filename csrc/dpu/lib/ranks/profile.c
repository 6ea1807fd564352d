/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.c: what kind of DPUs is asked for, as key=value pairs with commas between them.
 *
 * Keys with "soft" are ours; the others are the vendor's. Of these some are for real chips, or for
 * parts of the vendor's library that ours does not have: they are known, and have no effect. Others
 * are logged as the vendor does it, and the first is told; one that begins with "soft" is a
 * mistake.
 */
#include "dpu/lib/ranks/profile.h"

#include "dpu/lib/core/error.h"
#include "dpu/lib/core/settings.h"
#include "dpu/lib/core/text.h"
#include "dpu/lib/core/verbose.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu_chip_id.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_BY_DEFAULT 40

/* X(key): known, without effect. */
#define IGNORED_KEYS(X) \
    X("enableProfiling") \
    X("profilingDpuId") \
    X("profilingSliceId") \
    X("mcountAddress") \
    X("retMcountAddress") \
    X("threadProfilingAddress") \
    X("mramAccessByDpuOnly") \
    X("disabledMask") \
    X("disableSafeChecks") \
    X("disableMuxSwitch") \
    X("cmdsBufferSize") \
    X("mramSize") \
    X("wramSize") \
    X("iramSize") \
    X("immDma") \
    X("doProfiling") \
    X("profileInstruction") \
    X("profileDma") \
    X("profileMemory") \
    X("profileIla") \
    X("threadPcMaskRegIndex") \
    X("rankPath") \
    X("regionMode") \
    X("ignoreVersion") \
    X("ignoreVpd") \
    X("tryRepairIram") \
    X("tryRepairWram") \
    X("cycleAccurate") \
    X("nrThreadPerPool")

/* Numbers. X(key, type of the field, field, smallest, largest) */
#define SOFT_NUMBERS(X) \
    X("softNrRanks", uint32_t, ranks, 1, DPULIB_RANKS_MAX) \
    X("softThreads", uint32_t, host_threads, 0, 1024) \
    X("softMaxCycles", uint64_t, machine.max_cycles, 0, UINT64_MAX) \
    X("softPipelineCycles", uint32_t, machine.round_cycles, 1, 1000) \
    X("softDmaReadLatency", uint32_t, machine.dma_read_latency, 0, 1000000) \
    X("softDmaWriteLatency", uint32_t, machine.dma_write_latency, 0, 1000000) \
    X("softDmaLatencyPerKiB", uint32_t, machine.dma_latency_per_kib, 0, 1000000) \
    X("softDmaSetup", uint32_t, machine.dma_setup, 0, 1000000) \
    X("softDmaEnginePerKiB", uint32_t, machine.dma_engine_per_kib, 0, 1000000) \
    X("softDmaPageCrossing", uint32_t, machine.dma_page_crossing, 0, 1000000) \
    X("softDramRefreshInterval", uint32_t, machine.dram_refresh_interval, 1, 1000000000) \
    X("softDramRefreshCycles", uint32_t, machine.dram_refresh_cycles, 0, 1000000000) \
    X("softLaunchMicroseconds", uint32_t, launch_microseconds, 0, 1000000000) \
    X("softSwitches", uint32_t, machine.switches, 0, UINT32_MAX)

/* Switches by name: true or false. X(key, bit) */
#define SOFT_SWITCHES(X) \
    X("softSmallIsProduct", DPU_SWITCH_SMALL_IS_PRODUCT) \
    X("softFaultStopsAccess", DPU_SWITCH_FAULT_STOPS_ACCESS) \
    X("softWram32Bits", DPU_SWITCH_WRAM_32_BITS) \
    X("softStepCopiesPair", DPU_SWITCH_STEP_COPIES_PAIR) \
    X("softUndecodableFaults", DPU_SWITCH_UNDECODABLE_FAULTS) \
    X("softMram26Bits", DPU_SWITCH_MRAM_26_BITS) \
    X("softDmaAlignmentFaults", DPU_SWITCH_DMA_ALIGNMENT_FAULTS) \
    X("softClrRunKeepsRunning", DPU_SWITCH_CLR_RUN_KEEPS_RUNNING) \
    X("softClsCountsSign", DPU_SWITCH_CLS_COUNTS_SIGN)

static dpu_error_t bad_value(const char *key, const char *value, const char *want)
{
    return dpulib_fail(DPU_ERR_INVALID_PROFILE, "the profile says %s=%s, but %s must be %s", key,
                       value, key, want);
}

static dpu_error_t read_number(const char *key, const char *value, uint64_t low, uint64_t high,
                               uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(value, &end, 0);
    if (end == value || *end != 0 || errno != 0 || *value == '-' || *number < low ||
        *number > high) {
        char want[80];
        snprintf(want, sizeof want, "a number from %llu to %llu", (unsigned long long)low,
                 (unsigned long long)high);
        return bad_value(key, value, want);
    }

    return DPU_OK;
}

static dpu_error_t read_u32(const char *key, const char *value, uint32_t low, uint32_t high,
                            uint32_t *number)
{
    uint64_t wide = 0;
    dpu_error_t status = read_number(key, value, low, high, &wide);
    if (status == DPU_OK)
        *number = (uint32_t)wide;
    return status;
}

static dpu_error_t read_bool(const char *key, const char *value, bool *answer)
{
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0 && strcmp(value, "1") != 0 &&
        strcmp(value, "0") != 0)
        return bad_value(key, value, "true or false");
    *answer = *value == 't' || *value == '1';
    return DPU_OK;
}

static dpu_error_t read_engine(struct dpulib_profile *profile, const char *value)
{
    static const char *const names[DPU_ENGINE_COUNT] = {
        [DPU_ENGINE_AUTO] = "auto",
        [DPU_ENGINE_TURNS] = "turns",
        [DPU_ENGINE_DRIFT] = "drift",
        [DPU_ENGINE_TRANSLATED] = "translated",
    };
    for (uint32_t i = 0; i < DPU_ENGINE_COUNT; i++)
        if (strcmp(value, names[i]) == 0) {
            profile->machine.engine = i;
            return DPU_OK;
        }

    return bad_value("softEngine", value, "auto, turns, drift or translated");
}

static dpu_error_t read_backend(struct dpulib_profile *profile, const char *value)
{
    if (!dpu_type_from_profile_string(value, &profile->backend))
        return bad_value("backend", value, "simulator, cas, hw, model, spi or scenario");
    profile->vendor_accounting = profile->backend == FUNCTIONAL_SIMULATOR;
    return DPU_OK;
}

static bool is_ignored(const char *key)
{
#define SAME(name) \
    if (strcmp(key, name) == 0) \
        return true;
    IGNORED_KEYS(SAME)
#undef SAME
    return false;
}

static dpu_error_t unknown_soft_key(const char *key)
{
    char keys[1200];
    const char *separator = "";
    struct dpulib_text text = dpulib_text_new(keys, sizeof keys);
#define ADD(name) \
    dpulib_text_add(&text, "%s" name, separator); \
    separator = ", ";
#define ADD_NUMBER(name, type, field, low, high) ADD(name)
#define ADD_SWITCH(name, bit) ADD(name)
    SOFT_NUMBERS(ADD_NUMBER)
    SOFT_SWITCHES(ADD_SWITCH)
    ADD("softEngine")
#undef ADD_SWITCH
#undef ADD_NUMBER
#undef ADD
    return dpulib_fail(DPU_ERR_INVALID_PROFILE, "the profile has no key '%s'; there are %s", key,
                       keys);
}

static dpu_error_t apply_soft(struct dpulib_profile *profile, const char *key, const char *value)
{
    dpu_error_t status;
    uint64_t number = 0;
    bool flag = false;
#define READ_NUMBER(name, type, field, low, high) \
    if (strcmp(key, name) == 0) { \
        status = read_number(key, value, low, high, &number); \
        if (status == DPU_OK) \
            profile->field = (type)number; \
        profile->ranks_given |= strcmp(key, "softNrRanks") == 0; \
        return status; \
    }

    SOFT_NUMBERS(READ_NUMBER)
#undef READ_NUMBER
#define READ_SWITCH(name, bit) \
    if (strcmp(key, name) == 0) { \
        status = read_bool(key, value, &flag); \
        profile->machine.switches &= ~(uint32_t)(bit); \
        profile->machine.switches |= flag ? (uint32_t)(bit) : 0; \
        return status; \
    }

    SOFT_SWITCHES(READ_SWITCH)
#undef READ_SWITCH
    if (strcmp(key, "softEngine") == 0)
        return read_engine(profile, value);
    return unknown_soft_key(key);
}

static dpu_error_t apply(struct dpulib_profile *profile, const char *key, const char *value)
{
    bool flag = false;
    dpu_error_t status = DPU_OK;
#define IS(name) (strcmp(key, name) == 0)
    if (IS("backend"))
        return read_backend(profile, value);
    if (IS("chipId")) {
        profile->chip_given = true;
        return read_u32(key, value, 0, UINT32_MAX, &profile->chip_id);
    }
    if (IS("clockDivision"))
        return read_u32(key, value, 1, 8, &profile->clock_division);
    if (IS("fckFrequency"))
        return read_u32(key, value, 1, 4000, &profile->clock_mhz);
    if (IS("nrDpusPerCi") || IS("nrDpusPerCI"))
        return read_u32(key, value, 1, DPU_MAX_NR_DPUS_PER_CI, &profile->members);
    if (IS("nrThreadsPerRank"))
        return read_u32(key, value, 0, UINT32_MAX, &profile->threads_per_rank);
    if (IS("nrJobsPerRank"))
        return read_u32(key, value, 1, UINT32_MAX, &profile->jobs_per_rank);
    if (IS("sgXferEnable"))
        return read_bool(key, value, &profile->sg_enabled);
    if (IS("sgXferMaxBlocksPerDpu"))
        return read_u32(key, value, 0, UINT32_MAX, &profile->sg_max_blocks);
    if (IS("disableResetOnAlloc")) {
        status = read_bool(key, value, &flag);
        profile->reset_on_alloc = !flag;
        return status;
    }
#undef IS
    if (strncmp(key, "soft", 4) == 0)
        return apply_soft(profile, key, value);
    if (is_ignored(key))
        return DPU_OK;

    /* Profiles are read again and again. */
    static atomic_flag told = ATOMIC_FLAG_INIT;
    dpulib_log(DPULIB_INFO, "unused profile property: %s (= %s)", key, value);
    if (!atomic_flag_test_and_set(&told))
        dpulib_log(DPULIB_WARNING,
                   "the profile says %s=%s, but no property has that name, and it changes nothing; "
                   "further ones are not told",
                   key, value);
    return DPU_OK;
}

static dpu_error_t read_text(struct dpulib_profile *profile, const char *text)
{
    if (text == NULL || *text == 0)
        return DPU_OK;

    char *copy = strdup(text);
    if (copy == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (profile)");

    dpu_error_t status = DPU_OK;
    char *rest = copy;
    while (rest != NULL && status == DPU_OK) {
        char *key = strsep(&rest, ",");
        char *value = strchr(key, '=');
        if (value == NULL) {
            status =
                dpulib_fail(DPU_ERR_INVALID_PROFILE,
                            "the profile '%s' has '%s' where key=value is expected", text, key);
            break;
        }
        *value++ = 0;
        status = apply(profile, key, value);
    }

    free(copy);
    return status;
}

dpu_error_t dpulib_profile_read(struct dpulib_profile *profile, const char *text)
{
    *profile = (struct dpulib_profile){
        .backend = FUNCTIONAL_SIMULATOR,
        .members = DPU_MAX_NR_DPUS_PER_CI,
        .clock_division = 1,
        .reset_on_alloc = true,
        .sg_max_blocks = UINT32_MAX,
        .threads_per_rank = 1,
        .jobs_per_rank = 65536,
        .ranks = RANKS_BY_DEFAULT,
        .launch_microseconds = 170,
    };
    dpu_machine_default_options(&profile->machine);
    if (dpulib_refused_setting() != NULL)
        return dpulib_fail_again(DPU_ERR_INVALID_PROFILE, "%s", dpulib_refused_setting());

    dpu_error_t status = DPU_OK;
    const char *ranks = secure_getenv("DPU_SOFT_RANKS");
    if (ranks != NULL && *ranks != 0) {
        profile->ranks_given = true;
        status = read_u32("DPU_SOFT_RANKS", ranks, 1, DPULIB_RANKS_MAX, &profile->ranks);
    }

    const char *threads = secure_getenv("DPU_SOFT_THREADS");
    if (status == DPU_OK && threads != NULL && *threads != 0)
        status = read_u32("DPU_SOFT_THREADS", threads, 0, 1024, &profile->host_threads);
    if (status == DPU_OK)
        status = read_text(profile, secure_getenv("UPMEM_PROFILE_BASE"));
    if (status == DPU_OK)
        status = read_text(profile, text);
    if (status == DPU_OK)
        status = read_text(profile, secure_getenv("UPMEM_PROFILE"));
    if (status != DPU_OK)
        return status;
    if (profile->machine.dram_refresh_cycles >= profile->machine.dram_refresh_interval)
        return dpulib_fail(DPU_ERR_INVALID_PROFILE,
                           "the profile says softDramRefreshCycles=%u, but it must be less than "
                           "softDramRefreshInterval (%u)",
                           profile->machine.dram_refresh_cycles,
                           profile->machine.dram_refresh_interval);
    if (profile->clock_mhz == 0)
        profile->clock_mhz = dpulib_architecture(profile) == DPU_ARCHITECTURE_V1B ? 400 : 350;
    return DPU_OK;
}

uint32_t dpulib_clock(const struct dpulib_profile *profile)
{
    return profile->vendor_accounting ? 500000000 : profile->clock_mhz * 1000000;
}

uint32_t dpulib_architecture(const struct dpulib_profile *profile)
{
    return profile->chip_id > vD_fpga4 ? DPU_ARCHITECTURE_V1B : DPU_ARCHITECTURE_V1A;
}

const struct dpu_chip *dpulib_chip(const struct dpulib_profile *profile)
{
    return dpu_chip_of(dpulib_architecture(profile));
}
