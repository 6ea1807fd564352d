/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Says at exit what the launches of a host program have taken: loaded before it (LD_PRELOAD), with
 * the libdpu that is to be measured. Prints `launches` and the seconds of processor time.
 */
#include "dpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

typedef dpu_error_t launch_function(struct dpu_set_t set, dpu_launch_policy_t policy);

static double seconds;

static double processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

__attribute__((visibility("default"))) dpu_error_t dpu_launch(struct dpu_set_t set,
                                                              dpu_launch_policy_t policy)
{
    launch_function *launch;
    *(void **)&launch = dlsym(RTLD_NEXT, "dpu_launch");
    double start = processor_seconds();
    dpu_error_t status = launch(set, policy);
    if (status == DPU_OK && policy == DPU_ASYNCHRONOUS)
        status = dpu_sync(set);

    seconds += processor_seconds() - start;
    return status;
}

__attribute__((destructor)) static void print(void)
{
    fprintf(stderr, "\nlaunches %.9f\n", seconds);
}
