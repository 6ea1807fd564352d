/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_bank_interface_pmc.h: two counters of what goes on at the MRAM of a DPU.
 *
 * Chips of the v1B architecture have them. Here all DPUs do, unless the profile's chipId names a
 * chip of v1A. They count what the program does; what the host's memory controller does is not
 * simulated, nor is the clock of the memory, so these events are refused.
 *
 * The functions are for one DPU, whose program may run. They fail with DPU_ERR_INTERNAL.
 */
#ifndef DPU_BANK_INTERFACE_PMC_H
#define DPU_BANK_INTERFACE_PMC_H

#include <stdint.h>

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    BANK_INTERFACE_PMC_NONE = 0x00,
    BANK_INTERFACE_PMC_LDMA_INSTRUCTION = 0x01, /* ldma and ldmai */
    BANK_INTERFACE_PMC_SDMA_INSTRUCTION = 0x02,
    /* Transfers of 64 bits by these instructions. */
    BANK_INTERFACE_PMC_READ_64BIT_INSTRUCTION = 0x04,
    BANK_INTERFACE_PMC_WRITE_64BIT_INSTRUCTION = 0x08,
    /* Refused. */
    BANK_INTERFACE_PMC_HOST_ACTIVATE_COMMAND = 0x10,
    BANK_INTERFACE_PMC_HOST_REFRESH_COMMAND = 0x20,
    BANK_INTERFACE_PMC_ROW_HAMMER_REFRESH_COMMAND = 0x40,
    BANK_INTERFACE_PMC_CYCLES = 0x80
} bank_interface_pmc_event_t;

/* Two counters of 32 bits, or one of 64, for which both events are the same. */
typedef enum {
    BANK_INTERFACE_PMC_32BIT_MODE = 0,
    BANK_INTERFACE_PMC_64BIT_MODE = 1
} bank_interface_pmc_mode_t;

typedef struct {
    bank_interface_pmc_mode_t mode;
    bank_interface_pmc_event_t counter_1;
    bank_interface_pmc_event_t counter_2;
} bank_interface_pmc_config_t;

typedef struct {
    union {
        struct {
            uint32_t counter_1;
            uint32_t counter_2;
        } two_32bits;
        struct {
            uint64_t counter_1;
        } one_64bits;
    };
} bank_interface_pmc_result_t;

/* Counts from 0, from now on. */
dpu_error_t dpu_bank_interface_pmc_enable(struct dpu_set_t set,
                                          bank_interface_pmc_config_t configuration);
dpu_error_t dpu_bank_interface_pmc_disable(struct dpu_set_t set);
/* Stops counting: what was counted can be read until the counters are disabled. */
dpu_error_t dpu_bank_interface_pmc_stop_counters(struct dpu_set_t set);
dpu_error_t dpu_bank_interface_pmc_read_counters(struct dpu_set_t set,
                                                 bank_interface_pmc_result_t *result);

#ifdef __cplusplus
}
#endif

#endif
