/* SPDX-License-Identifier: BSD-3-Clause */
/* Input from the host comes out doubled, plus 1 for each tasklet if they share it. */
#include <barrier.h>
#include <defs.h>
#include <mutex.h>
#include <stddef.h>
#include <stdint.h>
#include <wramfifo.h>

INPUT_FIFO_INIT(input, 3, 16);
OUTPUT_FIFO_INIT(output, 3, 8);
BARRIER_INIT(all, NR_TASKLETS);
MUTEX_INIT(guard);

__host volatile uint64_t active;
__host uint32_t shared;
static volatile uint32_t helpers;

static void work(uint8_t *in, void *context)
{
    (void)in;
    (void)context;
    mutex_lock(guard);
    helpers++;
    mutex_unlock(guard);
}

static void finish(uint8_t *in, uint8_t *out, void *context)
{
    (void)context;
    *(uint64_t *)(void *)out = 2 * *(uint64_t *)(void *)in + helpers;
    helpers = 0;
}

static void both(uint8_t *in, uint8_t *out)
{
    *(uint64_t *)(void *)out = 2 * *(uint64_t *)(void *)in;
}

int main(void)
{
    if (shared)
        process_inputs_all_tasklets(&input, &output, work, finish, NULL, &all, &active);
    else
        process_inputs_each_tasklet(&input, &output, both, guard, &active);
    return 0;
}
