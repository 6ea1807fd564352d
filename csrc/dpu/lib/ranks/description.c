/* SPDX-License-Identifier: BSD-3-Clause */
/* description.c: what is told of a rank. */
#include "dpu/lib/ranks/description.h"

#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/ranks/configuration.h"
#include "dpu_chip_id.h"
#include "dpu_description.h"

#include <stdlib.h>

dpu_description_t dpulib_description_new(const struct dpulib_configuration *configuration)
{
    dpu_description_t description = calloc(1, sizeof *description);
    if (description == NULL)
        return NULL;

    const struct dpu_chip chip = dpulib_chip(configuration);
    struct dpu_hw_description_t *hw = &description->hw;
    hw->signature.chip_id = (dpu_chip_id_e)configuration->chip_id;
    hw->timings.carousel = (struct dpu_carousel_config){2, 1, 2, 1};
    hw->timings.fck_frequency_in_mhz = configuration->clock_mhz;
    hw->timings.reset_wait_duration = 20;
    hw->timings.std_temperature = 110;
    hw->timings.clock_division = (uint8_t)configuration->clock_division;
    hw->topology.nr_of_control_interfaces = DPU_MAX_NR_CIS;
    hw->topology.nr_of_dpus_per_control_interface = (uint8_t)configuration->members;
    hw->memories.mram_size = chip.mram;
    hw->memories.wram_size = chip.wram / 4;
    hw->memories.iram_size = (iram_size_t)chip.iram;
    /* From the 24th on, or behind the tasklets. */
    uint32_t first = chip.threads > DPU_MACHINE_THREADS ? chip.threads : DPU_MACHINE_THREADS;
    hw->dpu.nr_of_threads = (uint8_t)chip.threads;
    hw->dpu.nr_of_atomic_bits = DPU_MACHINE_ATOMIC_BITS;
    hw->dpu.nr_of_notify_bits = (uint8_t)(DPU_MACHINE_RUN_BITS - first);
    hw->dpu.nr_of_work_registers_per_thread = DPU_MACHINE_REGISTERS;
    description->type = configuration->backend;
    description->configuration.disable_reset_on_alloc = !configuration->reset_on_alloc;
    description->refcount = 1;
    return description;
}

DPU_EXPORT dpu_error_t dpu_get_profile_description(const char *profile,
                                                   dpu_description_t *description)
{
    if (description == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "description must not be NULL");

    *description = NULL;
    struct dpulib_configuration read;
    dpu_error_t status = dpulib_configuration_read(&read, profile);
    if (status != DPU_OK)
        return status;

    *description = dpulib_description_new(&read);
    if (*description == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (description)");
    return DPU_OK;
}

DPU_EXPORT void dpu_acquire_description(dpu_description_t description)
{
    if (description != NULL)
        __atomic_add_fetch(&description->refcount, 1, __ATOMIC_RELAXED);
}

DPU_EXPORT void dpu_free_description(dpu_description_t description)
{
    if (description == NULL || __atomic_sub_fetch(&description->refcount, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    if (description->_internals.free != NULL)
        description->_internals.free(description->_internals.data);
    free(description);
}
