/* SPDX-License-Identifier: BSD-3-Clause */
/* perfcounter.c: the performance counter. */
#include <attributes.h>
#include <dpu_instructions.h>
#include <perfcounter.h>

/* 0 until the host, which knows the clock, loads the program. */
const volatile uint32_t __host CLOCKS_PER_SEC = 0;

/* The hardware counts 36 bits and shows all but the lowest 4 of them. */
perfcounter_t perfcounter_get(void)
{
    return (perfcounter_t)__dpu_time() << 4;
}

perfcounter_t perfcounter_config(perfcounter_config_t config, bool reset_value)
{
    return (perfcounter_t)__dpu_time_cfg((uint32_t)config << 1 | reset_value) << 4;
}
