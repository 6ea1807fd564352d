/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.c: what kind of DPUs is asked for, as key=value pairs with commas between them.
 *
 * Keys with "soft" are ours; the others are the vendor's. Of these some are for real chips, or for
 * parts of the vendor's library that ours does not have: they are known, and have no effect.
 */
#include "dpu/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_BY_DEFAULT 40
#define RANKS_MAX 4096 /* ids have 12 bits */

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
        snprintf(want, sizeof(want), "a number from %llu to %llu", (unsigned long long)low,
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
    if (IS("softNrRanks")) {
        profile->ranks_given = true;
        return read_u32(key, value, 1, RANKS_MAX, &profile->ranks);
    }
    if (IS("softMaxCycles"))
        return read_number(key, value, 0, UINT64_MAX, &profile->max_cycles);
    if (IS("softThreads"))
        return read_u32(key, value, 0, 1024, &profile->host_threads);
    if (IS("softSwitches"))
        return read_u32(key, value, 0, UINT32_MAX, &profile->switches);
#undef IS
    if (!is_ignored(key))
        dpulib_log(DPULIB_INFO, "unused profile property: %s (= %s)", key, value);
    return DPU_OK;
}

static dpu_error_t read_text(struct dpulib_profile *profile, const char *text)
{
    if (text == NULL || *text == 0)
        return DPU_OK;
    char *copy = strdup(text);
    if (copy == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "there is no memory to read the profile");
    dpu_error_t status = DPU_OK;
    char *rest = copy;
    while (rest != NULL && status == DPU_OK) {
        char *key = strsep(&rest, ",");
        char *value = strchr(key, '=');
        if (value == NULL) {
            status = dpulib_fail(DPU_ERR_INVALID_PROFILE,
                                 "the profile '%s' has '%s' where key=value is wanted", text, key);
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
    };
    dpu_error_t status = DPU_OK;
    const char *ranks = secure_getenv("DPU_SOFT_RANKS");
    if (ranks != NULL && *ranks != 0) {
        profile->ranks_given = true;
        status = read_u32("DPU_SOFT_RANKS", ranks, 1, RANKS_MAX, &profile->ranks);
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
    if (profile->clock_mhz == 0)
        profile->clock_mhz = profile->chip_id > vD_fpga4 ? 400 : 350;
    return DPU_OK;
}

uint32_t dpulib_clock(const struct dpu_rank_t *rank)
{
    return rank->profile.vendor_accounting ? 500000000 : rank->profile.clock_mhz * 1000000;
}
