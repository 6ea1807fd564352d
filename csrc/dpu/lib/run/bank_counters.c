/* SPDX-License-Identifier: BSD-3-Clause */
/* bank_counters.c: the functions of dpu_bank_interface_pmc.h. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/configuration.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/schedule/submit.h"
#include "dpu_bank_interface_pmc.h"

/* False for what is not simulated. */
static bool count_event(const struct dpu_machine *machine, bank_interface_pmc_event_t event,
                        uint64_t *count)
{
    struct dpu_dma_totals totals;
    dpu_machine_get_dma_totals(machine, &totals);
    switch (event) {
    case BANK_INTERFACE_PMC_NONE: *count = 0; return true;
    case BANK_INTERFACE_PMC_LDMA_INSTRUCTION: *count = totals.reads; return true;
    case BANK_INTERFACE_PMC_SDMA_INSTRUCTION: *count = totals.writes; return true;
    case BANK_INTERFACE_PMC_READ_64BIT_INSTRUCTION: *count = totals.read_bytes / 8; return true;
    case BANK_INTERFACE_PMC_WRITE_64BIT_INSTRUCTION: *count = totals.write_bytes / 8; return true;
    default: return false;
    }
}

static dpu_error_t check_events(const bank_interface_pmc_config_t *config)
{
    const bank_interface_pmc_event_t first = config->counter_1, second = config->counter_2;
    if (config->mode != BANK_INTERFACE_PMC_32BIT_MODE &&
        config->mode != BANK_INTERFACE_PMC_64BIT_MODE)
        return dpulib_fail(DPU_ERR_INTERNAL, "%d is not a mode of the counters", (int)config->mode);
    if (config->mode == BANK_INTERFACE_PMC_64BIT_MODE && first != second)
        return dpulib_fail(DPU_ERR_INTERNAL,
                           "a counter of 64 bits needs its event twice, and 0x%x is not 0x%x",
                           (unsigned)first, (unsigned)second);
    return DPU_OK;
}

static dpu_error_t run_enable(struct dpu_t *dpu, void *argument)
{
    const bank_interface_pmc_config_t *config = argument;
    struct dpulib_bank_counters counters = {
        .state = DPULIB_COUNTING,
        .mode = config->mode,
        .events = {config->counter_1, config->counter_2},
    };
    for (int i = 0; i < 2; i++)
        if (!count_event(dpu->machine, counters.events[i], &counters.start[i]))
            return dpulib_fail(DPU_ERR_INTERNAL,
                               "event 0x%x is not simulated: only DMA instructions and what they "
                               "transfer are counted",
                               (unsigned)counters.events[i]);

    dpu->bank_counters = counters;
    return DPU_OK;
}

static dpu_error_t run_disable(struct dpu_t *dpu, void *argument)
{
    (void)argument;
    dpu->bank_counters.state = DPULIB_NOT_COUNTING;
    return DPU_OK;
}

static uint64_t read_counter(const struct dpu_t *dpu, int number)
{
    const struct dpulib_bank_counters *counters = &dpu->bank_counters;
    uint64_t now = counters->stop[number];
    if (counters->state == DPULIB_COUNTING)
        (void)count_event(dpu->machine, counters->events[number], &now);
    return now - counters->start[number];
}

static dpu_error_t run_stop(struct dpu_t *dpu, void *argument)
{
    (void)argument;
    struct dpulib_bank_counters *counters = &dpu->bank_counters;
    if (counters->state != DPULIB_COUNTING)
        return DPU_OK;
    for (int i = 0; i < 2; i++)
        counters->stop[i] = counters->start[i] + read_counter(dpu, i);
    counters->state = DPULIB_STOPPED;
    return DPU_OK;
}

static dpu_error_t run_read(struct dpu_t *dpu, void *argument)
{
    bank_interface_pmc_result_t *result = argument;
    if (dpu->bank_counters.state == DPULIB_NOT_COUNTING)
        return dpulib_fail(DPU_ERR_INTERNAL, "the counters are not enabled");
    if (dpu->bank_counters.mode == BANK_INTERFACE_PMC_64BIT_MODE) {
        result->one_64bits.counter_1 = read_counter(dpu, 0);
    } else {
        result->two_32bits.counter_1 = (uint32_t)read_counter(dpu, 0);
        result->two_32bits.counter_2 = (uint32_t)read_counter(dpu, 1);
    }

    return DPU_OK;
}

static dpu_error_t run_on(struct dpu_set_t set, dpu_error_t (*run)(struct dpu_t *, void *),
                          void *argument)
{
    dpu_error_t error = dpulib_check_set(set);
    if (error != DPU_OK)
        return error;
    if (set.kind != DPU_SET_DPU)
        return dpulib_fail(DPU_ERR_INTERNAL, "this function takes a single DPU, not ranks");

    const struct dpulib_configuration *configuration = &set.dpu->rank->configuration;
    if (configuration->chip_given && dpulib_architecture(configuration) == DPU_ARCHITECTURE_V1A)
        return dpulib_fail(DPU_ERR_INTERNAL, "chip %u, of the v1A architecture, has no counters",
                           configuration->chip_id);
    return dpulib_run_on_dpu(
        set.dpu, &(struct dpulib_spec){.run = run, .argument = argument, .parallel = true});
}

DPU_EXPORT dpu_error_t dpu_bank_interface_pmc_enable(struct dpu_set_t set,
                                                     bank_interface_pmc_config_t configuration)
{
    dpu_error_t error = check_events(&configuration);
    return error != DPU_OK ? error : run_on(set, run_enable, &configuration);
}

DPU_EXPORT dpu_error_t dpu_bank_interface_pmc_disable(struct dpu_set_t set)
{
    return run_on(set, run_disable, NULL);
}

DPU_EXPORT dpu_error_t dpu_bank_interface_pmc_stop_counters(struct dpu_set_t set)
{
    return run_on(set, run_stop, NULL);
}

DPU_EXPORT dpu_error_t dpu_bank_interface_pmc_read_counters(struct dpu_set_t set,
                                                            bank_interface_pmc_result_t *result)
{
    if (result == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "result must not be NULL");
    return run_on(set, run_read, result);
}
