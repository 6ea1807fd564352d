/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * configuration.c: the kind of DPUs that is asked for by a profile string: key=value pairs with
 * commas between them.
 *
 * Keys with "soft" are ours; the others are the vendor's. Of these some are for real chips, or for
 * parts of the vendor's library that ours does not have: they are known, and have no effect. Others
 * are logged as the vendor does it, and told; one that begins with "soft" is a mistake.
 */
#include "dpu/lib/ranks/configuration.h"

#include "dpu/lib/core/error.h"
#include "dpu/lib/core/settings.h"
#include "dpu/lib/core/verbose.h"
#include "dpu/lib/ranks/chip_keys.h"
#include "dpu/lib/ranks/configuration_keys.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu_chip_id.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* State of reading: the configuration, and its origin. */
struct reading {
    struct dpulib_configuration *configuration;
    const char *source;
    const char *variable; /* that stands for a key; NULL: none */
};

static dpu_error_t bad_value(const struct reading *reading, const char *key, const char *value,
                             const char *want)
{
    const char *name = reading->variable != NULL ? reading->variable : key;
    return dpulib_fail(DPU_ERR_INVALID_PROFILE, "%s says %s=%s, but %s must be %s", reading->source,
                       name, value, name, want);
}

static dpu_error_t read_number(const struct reading *reading, const char *key, const char *value,
                               uint64_t low, uint64_t high, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(value, &end, 0);
    if (end == value || *end != 0 || errno != 0 || *value == '-' || *number < low ||
        *number > high) {
        char want[80];
        snprintf(want, sizeof want, "a number from %llu to %llu", (unsigned long long)low,
                 (unsigned long long)high);
        return bad_value(reading, key, value, want);
    }

    return DPU_OK;
}

static dpu_error_t read_bool(const struct reading *reading, const char *key, const char *value,
                             bool *answer)
{
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0 && strcmp(value, "1") != 0 &&
        strcmp(value, "0") != 0)
        return bad_value(reading, key, value, "true or false");
    *answer = *value == 't' || *value == '1';
    return DPU_OK;
}

static dpu_error_t read_engine(const struct reading *reading, const char *key, const char *value,
                               const char *want)
{
    static const char *const names[DPU_ENGINE_COUNT] = {
        [DPU_ENGINE_AUTO] = "auto",         [DPU_ENGINE_TURNS] = "turns",
        [DPU_ENGINE_DRIFT] = "drift",       [DPU_ENGINE_TRANSLATED] = "translated",
        [DPU_ENGINE_LOCKSTEP] = "lockstep",
    };
    for (uint32_t i = 0; i < DPU_ENGINE_COUNT; i++)
        if (strcmp(value, names[i]) == 0) {
            reading->configuration->machine.engine = i;
            return DPU_OK;
        }

    return bad_value(reading, key, value, want);
}

static dpu_error_t read_backend(const struct reading *reading, const char *key, const char *value,
                                const char *want)
{
    struct dpulib_configuration *configuration = reading->configuration;
    if (!dpu_type_from_profile_string(value, &configuration->backend))
        return bad_value(reading, key, value, want);
    configuration->vendor_accounting = configuration->backend == FUNCTIONAL_SIMULATOR;
    return DPU_OK;
}

static dpu_error_t read_sg_enabled(const struct reading *reading, const char *key,
                                   const char *value, const char *want)
{
    (void)want;
    return read_bool(reading, key, value, &reading->configuration->sg_enabled);
}

static dpu_error_t read_no_reset(const struct reading *reading, const char *key, const char *value,
                                 const char *want)
{
    bool keeps = false;
    (void)want;
    dpu_error_t status = read_bool(reading, key, value, &keeps);
    reading->configuration->reset_on_alloc = !keeps;
    return status;
}

static dpu_error_t read_servers(const struct reading *reading, const char *key, const char *value,
                                const char *want)
{
    static const char *const names[] = {
        [DPULIB_SERVERS_SHARE] = "share",
        [DPULIB_SERVERS_ONLY] = "only",
        [DPULIB_SERVERS_NONE] = "none",
    };
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i]) == 0) {
            reading->configuration->servers = (enum dpulib_servers)i;
            return DPU_OK;
        }

    return bad_value(reading, key, value, want);
}

static dpu_error_t unknown_soft_key(const struct reading *reading, const char *key)
{
#define NAME(name, ...) ", " name
    static const char keys[] = DPULIB_SOFT_NUMBERS(NAME) DPU_MACHINE_NUMBERS(NAME)
        DPULIB_SOFT_SWITCHES(NAME) DPULIB_SOFT_WORDS(NAME);
#undef NAME
    return dpulib_fail(DPU_ERR_INVALID_PROFILE, "%s has no key '%s'; there are %s", reading->source,
                       key, keys + strlen(", "));
}

/* Profiles are read again and again: each is told once. */
static void tell_of_no_effect(const struct reading *reading, const char *key, const char *value)
{
    static struct dpulib_told told;
    const char *why = "no property has that name";
    bool is_told = true;
#define SAME(name, says_so, reason) \
    if (strcmp(key, name) == 0) { \
        why = reason; \
        is_told = says_so; \
    }

    DPULIB_IGNORED_KEYS(SAME)
#undef SAME
    dpulib_log(DPULIB_INFO, "unused profile property: %s (= %s)", key, value);
    if (is_told)
        dpulib_log_once(&told, DPULIB_WARNING, "%s says %s=%s, but %s: it changes nothing",
                        reading->source, key, value, why);
}

static dpu_error_t apply(const struct reading *reading, const char *key, const char *value)
{
    struct dpulib_configuration *configuration = reading->configuration;
    dpu_error_t status;
    uint64_t number = 0;
    bool flag = false;
    configuration->ranks_given |= strcmp(key, "softNrRanks") == 0;
    configuration->chip_given |= strcmp(key, "chipId") == 0;
    configuration->energy_given |= strcmp(key, "softInstructionPicojoules") == 0;
#define READ_NUMBER(name, type, field, low, high, ...) \
    if (strcmp(key, name) == 0) { \
        status = read_number(reading, key, value, low, high, &number); \
        if (status == DPU_OK) \
            configuration->field = (type)number; \
        return status; \
    }
#define READ_OPTION(name, type, field, ...) READ_NUMBER(name, type, machine.field, __VA_ARGS__)

    DPULIB_VENDOR_NUMBERS(READ_NUMBER)
    DPULIB_SOFT_NUMBERS(READ_NUMBER)
    DPU_MACHINE_NUMBERS(READ_OPTION)
#undef READ_OPTION
#undef READ_NUMBER
#define READ_SWITCH(name, bit, ...) \
    if (strcmp(key, name) == 0) { \
        status = read_bool(reading, key, value, &flag); \
        configuration->machine.switches &= ~(uint32_t)(bit); \
        configuration->machine.switches |= flag ? (uint32_t)(bit) : 0; \
        return status; \
    }

    DPULIB_SOFT_SWITCHES(READ_SWITCH)
#undef READ_SWITCH
#define READ_WORD(name, function, values, ...) \
    if (strcmp(key, name) == 0) \
        return function(reading, key, value, values);

    DPULIB_VENDOR_WORDS(READ_WORD)
    DPULIB_SOFT_WORDS(READ_WORD)
#undef READ_WORD
    if (strncmp(key, "soft", 4) == 0)
        return unknown_soft_key(reading, key);
    tell_of_no_effect(reading, key, value);
    return DPU_OK;
}

static dpu_error_t read_text(struct dpulib_configuration *configuration, const char *source,
                             const char *text)
{
    if (text == NULL || *text == 0)
        return DPU_OK;

    char *copy = strdup(text);
    if (copy == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (profile)");

    const struct reading reading = {configuration, source, NULL};
    dpu_error_t status = DPU_OK;
    char *rest = copy;
    while (rest != NULL && status == DPU_OK) {
        char *key = strsep(&rest, ",");
        char *value = strchr(key, '=');
        if (value == NULL) {
            status = dpulib_fail(DPU_ERR_INVALID_PROFILE,
                                 "%s is '%s', which has '%s' where key=value is expected", source,
                                 text, key);
            break;
        }
        *value++ = 0;
        status = apply(&reading, key, value);
    }

    free(copy);
    return status;
}

/* A variable whose value is that of a key. */
static dpu_error_t read_variable(struct dpulib_configuration *configuration,
                                 enum dpulib_variable variable, const char *key)
{
    const char *value = dpulib_setting(variable);
    const struct reading reading = {configuration, "the environment",
                                    dpulib_setting_name(variable)};
    return value != NULL ? apply(&reading, key, value) : DPU_OK;
}

/*
 * UPMEM has published 1.2 W for a chip whose 8 DPUs compute at 500 MHz (Hot Chips 31, 2019, as
 * heise.de/-4500711 has it), with all that it does then. Nothing is published of what waits,
 * of transfers, and of other chips.
 */
#define UPMEM_PICOJOULES 300

static bool is_another_chip(const struct dpu_machine_options *machine)
{
    struct dpu_machine_options plain;
    dpu_machine_default_options(&plain);
    plain.max_cycles = machine->max_cycles;
    plain.switches = machine->switches;
#define DIFFERS(key, type, field, ...) || machine->field != plain.field
    return false DPU_MACHINE_NUMBERS(DIFFERS);
#undef DIFFERS
}

dpu_error_t dpulib_configuration_read(struct dpulib_configuration *configuration, const char *text)
{
    *configuration = (struct dpulib_configuration){
        .backend = FUNCTIONAL_SIMULATOR,
        .members = DPU_MAX_NR_DPUS_PER_CI,
        .clock_division = 1,
        .reset_on_alloc = true,
        .sg_max_blocks = UINT32_MAX,
        .threads_per_rank = 1,
        .jobs_per_rank = 65536,
        .ranks = 40,
        .launch_microseconds = 170,
        .serial_to = 330,
        .serial_from = 120,
        .parallel_to = 6680,
        .parallel_from = 4740,
        .broadcast = 16880,
        .wram = 15,
        .call_to = 57,
        .call_from = 100,
        .call_serial = 35,
    };
    dpu_machine_default_options(&configuration->machine);
    if (dpulib_refused_setting() != NULL)
        return dpulib_fail_again(DPU_ERR_INVALID_PROFILE, "%s", dpulib_refused_setting());

    dpu_error_t status = read_variable(configuration, DPULIB_DPU_SOFT_RANKS, "softNrRanks");
    if (status == DPU_OK)
        status = read_variable(configuration, DPULIB_DPU_SOFT_THREADS, "softThreads");
    if (status == DPU_OK)
        status = read_text(configuration, "UPMEM_PROFILE_BASE",
                           dpulib_setting(DPULIB_UPMEM_PROFILE_BASE));
    if (status == DPU_OK)
        status = read_text(configuration, "the profile", text);
    if (status == DPU_OK)
        status = read_text(configuration, "UPMEM_PROFILE", dpulib_setting(DPULIB_UPMEM_PROFILE));
    if (status != DPU_OK)
        return status;
    if (configuration->clock_mhz == 0)
        configuration->clock_mhz =
            dpulib_architecture(configuration) == DPU_ARCHITECTURE_V1B ? 400 : 350;
    if (!configuration->energy_given && !is_another_chip(&configuration->machine))
        configuration->instruction_picojoules = UPMEM_PICOJOULES;
    return dpulib_chip_keys_check(configuration);
}

double dpulib_joules(const struct dpulib_configuration *configuration, uint64_t instructions)
{
    return 1e-12 * configuration->instruction_picojoules * (double)instructions;
}

uint32_t dpulib_clock(const struct dpulib_configuration *configuration)
{
    return configuration->vendor_accounting ? 500000000 : configuration->clock_mhz * 1000000;
}

uint32_t dpulib_architecture(const struct dpulib_configuration *configuration)
{
    return configuration->chip_id > vD_fpga4 ? DPU_ARCHITECTURE_V1B : DPU_ARCHITECTURE_V1A;
}

struct dpu_chip dpulib_chip(const struct dpulib_configuration *configuration)
{
    struct dpu_machine_options options = configuration->machine;
    options.architecture = dpulib_architecture(configuration);
    return dpu_machine_chip(&options);
}
