/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases.h"

#include <time.h>

uint32_t read_register(struct dpu_set_t dpu, uint32_t number)
{
    struct dpusoft_thread state = {.size = sizeof state};
    CHECK_OK(dpusoft_debug_get_thread(dpu, 0, &state));
    return state.registers[number];
}

uint32_t read_counter(struct dpu_set_t dpu)
{
    return read_register(dpu, 1);
}

struct dpusoft_report read_report(struct dpu_set_t dpu)
{
    struct dpusoft_report report = {.size = sizeof report};
    CHECK_OK(dpusoft_get_report(dpu, &report));
    return report;
}

struct dpu_set_t first_dpu(struct dpu_set_t set)
{
    struct dpu_set_dpu_iterator_t iterator = dpu_set_dpu_iterator_from(&set);
    CHECK_TRUE(iterator.has_next);
    return iterator.next;
}

struct dpu_set_t allocate(uint32_t count, const char *profile)
{
    struct dpu_set_t set;
    CHECK_OK(dpu_alloc(count, profile, &set));
    return set;
}

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
