/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libdpu -Wl,--wrap=strdup
 *
 * Every key of a profile with values at its limits and beyond, every text of an error, and texts
 * that are put together.
 */
#include "dpu/lib/ranks/configuration.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/job_kind.h"
#include "dpu/machine/machine.h"
#include "dpu.h"
#include "tests/support/check.h"

static bool no_memory;

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return no_memory ? NULL : __real_strdup(text);
}

static struct dpulib_configuration profile;

static dpu_error_t read(const char *key, const char *value)
{
    char text[200];
    snprintf(text, sizeof text, "%s=%s", key, value);
    return dpulib_configuration_read(&profile, text);
}

static void check_refused(const char *key, const char *value, const char *want)
{
    char text[200];
    snprintf(text, sizeof text, "the profile says %s=%s, but %s must be %s", key, value, key, want);
    CHECK(read(key, value) == DPU_ERR_INVALID_PROFILE);
    CHECK(strcmp(dpulib_detail(), text) == 0);
}

/* --- numbers --- */

static void test_numbers(void)
{
    static const struct {
        const char *key;
        uint64_t low, high;
        size_t offset, size;
    } keys[] = {
#define NUMBER(key, type, field, low, high, ...) \
    {key, low, high, offsetof(struct dpulib_configuration, field), sizeof profile.field},
#define OPTION(key, type, field, ...) NUMBER(key, type, machine.field, __VA_ARGS__)
        DPULIB_VENDOR_NUMBERS(NUMBER) DPULIB_SOFT_NUMBERS(NUMBER) DPU_MACHINE_NUMBERS(OPTION)
#undef OPTION
#undef NUMBER
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const uint64_t good[] = {keys[i].low, keys[i].high};
        char value[32], want[80], text[200];
        for (size_t k = 0; k < 2; k++) {
            uint64_t got = 0;
            /* Any number of cycles fits into that interval, and none into any; all forwarding is
             * earlier than a tasklet that is so slow. */
            snprintf(text, sizeof text,
                     "softDramRefreshInterval=1000000000,softDramRefreshCycles=0,"
                     "softPipelineCycles=1000,%s=%#llx",
                     keys[i].key, (unsigned long long)good[k]);
            CHECK(dpulib_configuration_read(&profile, text) == DPU_OK);
            memcpy(&got, (const uint8_t *)&profile + keys[i].offset, keys[i].size);
            CHECK(got == good[k]);
        }

        snprintf(want, sizeof want, "a number from %llu to %llu", (unsigned long long)keys[i].low,
                 (unsigned long long)keys[i].high);
        const char *const bad[] = {"", "x", "1x", "-1", "99999999999999999999999"};
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
            check_refused(keys[i].key, bad[k], want);
        if (keys[i].low > 0)
            check_refused(keys[i].key, "0", want);
        if (keys[i].high < UINT64_MAX) {
            snprintf(value, sizeof value, "%llu", (unsigned long long)keys[i].high + 1);
            check_refused(keys[i].key, value, want);
        }
    }

    /* Defaults of the table are those that a profile has. */
    CHECK(dpulib_configuration_read(&profile, NULL) == DPU_OK);
#define SAME(key, type, field, low, high, text, meaning) \
    CHECK(text[0] < '0' || text[0] > '9' || (uint64_t)profile.field == strtoull(text, NULL, 10));
#define SAME_OPTION(key, type, field, low, high, value, meaning) \
    CHECK(profile.machine.field == (value));
    DPULIB_VENDOR_NUMBERS(SAME)
    DPULIB_SOFT_NUMBERS(SAME)
    DPU_MACHINE_NUMBERS(SAME_OPTION)
#undef SAME_OPTION
#undef SAME

    CHECK(read("chipId", "1") == DPU_OK && profile.chip_given && !profile.ranks_given);
    CHECK(read("softNrRanks", "3") == DPU_OK && profile.ranks == 3 && profile.ranks_given);
    CHECK(read("softNrRanks", "0") == DPU_ERR_INVALID_PROFILE);
}

/* --- true and false --- */

static void test_switches(void)
{
    static const struct {
        const char *key;
        uint32_t bit;
    } keys[] = {
#define SWITCH(key, bit, meaning) {key, bit},
        DPULIB_SOFT_SWITCHES(SWITCH)
#undef SWITCH
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        uint32_t others = ~keys[i].bit;
        CHECK(dpulib_configuration_read(&profile, NULL) == DPU_OK);
        others &= profile.machine.switches;
        CHECK(read(keys[i].key, "true") == DPU_OK);
        CHECK(profile.machine.switches == (others | keys[i].bit));
        CHECK(read(keys[i].key, "0") == DPU_OK && profile.machine.switches == others);
        check_refused(keys[i].key, "yes", "true or false");
    }

    CHECK(read("sgXferEnable", "1") == DPU_OK && profile.sg_enabled);
    CHECK(read("sgXferEnable", "false") == DPU_OK && !profile.sg_enabled);
    CHECK(read("disableResetOnAlloc", "true") == DPU_OK && !profile.reset_on_alloc);
    CHECK(read("disableResetOnAlloc", "false") == DPU_OK && profile.reset_on_alloc);
    check_refused("disableResetOnAlloc", "2", "true or false");
}

/* --- other keys --- */

static void test_backends(void)
{
    CHECK(dpulib_configuration_read(&profile, "") == DPU_OK);
    CHECK(profile.backend == FUNCTIONAL_SIMULATOR && !profile.vendor_accounting);
    CHECK(read("backend", "simulator") == DPU_OK && profile.vendor_accounting);
    CHECK(dpulib_clock(&profile) == 500000000);
    CHECK(read("backend", "hw") == DPU_OK && profile.backend == HW && !profile.vendor_accounting);
    CHECK(dpulib_clock(&profile) == profile.clock_mhz * UINT32_C(1000000));
    check_refused("backend", "fast", "simulator, cas, hw, model, spi or scenario");
}

static void test_keys_without_effect(void)
{
    static const char *const ignored[] = {"enableProfiling", "mramSize", "iramSize", "nobodysKey"};
    struct dpulib_configuration usual;
    CHECK(dpulib_configuration_read(&usual, NULL) == DPU_OK);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) {
        CHECK(read(ignored[i], "whatever") == DPU_OK);
        CHECK(profile.members == usual.members && profile.ranks == usual.ranks &&
              profile.machine.switches == usual.machine.switches);
    }

    /* One of ours that does not exist names those that do. */
    CHECK(read("softNrRank", "1") == DPU_ERR_INVALID_PROFILE);
    CHECK(strstr(dpulib_detail(), "has no key 'softNrRank'; there are softNrRanks, "));
#define NAMED(key, ...) CHECK(strstr(dpulib_detail(), key) != NULL);
    DPULIB_SOFT_NUMBERS(NAMED)
    DPU_MACHINE_NUMBERS(NAMED)
    DPULIB_SOFT_SWITCHES(NAMED)
    DPULIB_SOFT_WORDS(NAMED)
#undef NAMED
}

/* Of the environment and the caller, each over the one before. */
static void test_places(void)
{
    setenv("UPMEM_PROFILE_BASE", "nrDpusPerCi=2,fckFrequency=100", 1);
    setenv("UPMEM_PROFILE", "fckFrequency=300", 1);
    setenv("DPU_SOFT_RANKS", "7", 1);
    setenv("DPU_SOFT_THREADS", "5", 1);
    CHECK(dpulib_configuration_read(&profile, "nrDpusPerCi=3,fckFrequency=200") == DPU_OK);
    CHECK(profile.members == 3 && profile.clock_mhz == 300);
    CHECK(profile.ranks == 7 && profile.ranks_given && profile.host_threads == 5);

    static const char *const names[] = {"DPU_SOFT_RANKS", "DPU_SOFT_THREADS", "UPMEM_PROFILE_BASE",
                                        "UPMEM_PROFILE"};
    for (size_t i = 0; i < 4; i++) {
        setenv(names[i], "none", 1);
        CHECK(dpulib_configuration_read(&profile, NULL) == DPU_ERR_INVALID_PROFILE);
        CHECK(strstr(dpulib_detail(), names[i]) != NULL);
        setenv(names[i], "", 1);
        CHECK(dpulib_configuration_read(&profile, NULL) == DPU_OK);
    }

    CHECK(dpulib_configuration_read(&profile, "nrDpusPerCi=2,,") == DPU_ERR_INVALID_PROFILE);
    no_memory = true;
    dpu_error_t status = dpulib_configuration_read(&profile, "nrDpusPerCi=2");
    no_memory = false;
    CHECK(status == DPU_ERR_SYSTEM && strstr(dpulib_detail(), "out of memory"));
}

/* --- errors --- */

static void check_text(uint32_t status, const char *text)
{
    char *got = (char *)(uintptr_t)dpu_error_to_string((dpu_error_t)status);
    CHECK(got != NULL && strcmp(got, text) == 0);
    free(got);
}

static void test_texts_of_errors(void)
{
#define CODE(name, value, text) check_text(value, text);
    DPU_ERROR_CODES(CODE)
#undef CODE
    check_text(9999, "unknown error");

    char text[200];
#define JOB(name, value, job) \
    snprintf(text, sizeof text, "asynchronous operation error (%s): %s (0x%x)", job, \
             "system error", value << DPU_ERROR_ASYNC_JOB_TYPE_SHIFT | 2); \
    check_text((uint32_t)DPU_ERR_ASYNC_JOBS | value << DPU_ERROR_ASYNC_JOB_TYPE_SHIFT | 2, text);
    DPULIB_JOBS(JOB)
#undef JOB
    check_text((uint32_t)DPU_ERR_ASYNC_JOBS | 99U << DPU_ERROR_ASYNC_JOB_TYPE_SHIFT | 9999,
               "asynchronous operation error (unknown job type): unknown error (0x63270f)");
}

static void test_failures_are_counted(void)
{
    static const char *const texts[] = {"one", "one", "one; 1 more DPU failed as well",
                                        "one; 2 more DPUs failed as well"};
    for (uint32_t n = 0; n < 4; n++) {
        (void)dpulib_fail(DPU_ERR_SYSTEM, "one");
        CHECK(dpulib_count_failures(DPU_ERR_SYSTEM, n) == DPU_ERR_SYSTEM);
        CHECK(strcmp(dpulib_detail(), texts[n]) == 0);
    }
    CHECK(dpulib_count_failures(DPU_OK, 5) == DPU_OK);
    CHECK(strcmp(dpulib_detail(), texts[3]) == 0);

    /* The text may have parts of the one before. */
    (void)dpulib_fail(DPU_ERR_SYSTEM, "again: %s", dpulib_detail());
    CHECK(strcmp(dpulib_detail(), "again: one; 2 more DPUs failed as well") == 0);
}

/* --- texts --- */

static void test_texts_are_cut_off(void)
{
    char buffer[8];
    struct text text = text_new(buffer, sizeof buffer);
    CHECK(buffer[0] == 0);
    text_add(&text, "%s", "");
    text_add(&text, "%d-", 12345);
    CHECK(strcmp(buffer, "12345-") == 0);
    text_add(&text, "%d", 678);
    CHECK(strcmp(buffer, "12345-6") == 0);
    text_add(&text, "more");
    CHECK(strcmp(buffer, "12345-6") == 0 && text.length == strlen("12345-678more"));

    char none = 'x';
    text = text_new(&none, 0);
    text_add(&text, "more");
    CHECK(none == 'x');
}

static void test_bits(void)
{
    static const struct {
        uint64_t bits;
        const char *text;
    } cases[] = {{0, ""},
                 {1, "0"},
                 {UINT32_C(0x80000000), "31"},
                 {UINT32_MAX, "0-31"},
                 {UINT64_MAX, "0-63"},
                 {UINT64_C(7) << 31, "31-33"},
                 {UINT64_C(5) << 61, "61, 63"},
                 {0x8F, "0-3, 7"},
                 {0x6, "1, 2"},
                 {0x7, "0-2"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char buffer[64];
        struct text text = text_new(buffer, sizeof buffer);
        text_add_bits(&text, cases[i].bits);
        if (strcmp(buffer, cases[i].text) != 0)
            fprintf(stderr, "%llx: %s\n", (unsigned long long)cases[i].bits, buffer);
        CHECK(strcmp(buffer, cases[i].text) == 0);
    }
}

int main(void)
{
    test_numbers();
    test_switches();
    test_backends();
    test_keys_without_effect();
    test_places();
    test_texts_of_errors();
    test_failures_are_counted();
    test_texts_are_cut_off();
    test_bits();
    return 0;
}
