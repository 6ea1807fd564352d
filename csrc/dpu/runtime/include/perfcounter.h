/* SPDX-License-Identifier: BSD-3-Clause */
/* perfcounter.h: the counter of cycles or instructions, one for the whole DPU. */
#ifndef DPU_RUNTIME_PERFCOUNTER_H
#define DPU_RUNTIME_PERFCOUNTER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A count; its lowest 4 bits are always 0. */
typedef uint64_t perfcounter_t;

typedef enum _perfcounter_config_t {
    COUNT_SAME = 0, /* what was counted before */
    COUNT_CYCLES = 1,
    COUNT_INSTRUCTIONS = 2,
    COUNT_NOTHING = 3,
#ifdef __dpu_v1B__
    COUNT_DISABLE_BOTH = 6,
    COUNT_ENABLE_BOTH = 7,
#endif
} perfcounter_config_t;

/* Cycles of the DPU in a second; the host writes it when it loads the program. */
extern const volatile uint32_t CLOCKS_PER_SEC;

perfcounter_t perfcounter_get(void);
/* Chooses what is counted, from 0 if RESET_VALUE; returns the count before. */
perfcounter_t perfcounter_config(perfcounter_config_t config, bool reset_value);

#ifdef __cplusplus
}
#endif

#endif
