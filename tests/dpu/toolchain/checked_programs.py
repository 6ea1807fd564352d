# SPDX-License-Identifier: BSD-3-Clause
"""C programs with a fault that ``DPU_CHECK`` finds, and one without."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

Check = Callable[..., subprocess.CompletedProcess[str]]

HEAD = """
#include <alloc.h>
#include <barrier.h>
#include <defs.h>
#include <handshake.h>
#include <mram.h>
#include <mutex.h>
#include <sem.h>
#include <stdint.h>
#include <string.h>
MUTEX_INIT(first);
MUTEX_INIT(second);
BARRIER_INIT(all, NR_TASKLETS);
BARRIER_INIT(more, NR_TASKLETS + 1);
SEMAPHORE_INIT(units, 0);
__host volatile uint32_t total;
__mram_noinit uint32_t input[64];
__mram_noinit uint32_t next[64];
__dma_aligned uint32_t buffer[64];
__dma_aligned uint32_t beside[64];
__host uint32_t wanted;
"""
LAUNCH = """
import sys
from dpu import DpuError, DpuSet
with DpuSet(nr_dpus=int(sys.argv[2]), library="soft", binary=sys.argv[1]) as dpus:
    for _ in range(int(sys.argv[3])):
        try:
            dpus.exec()
        except DpuError:
            break
"""

# Name: body of the program, tasklets, the check, and what its report says.
FAULTS = {
    "race": (
        "static void __attribute__((noinline)) add(uint32_t by) { total += by; }\n"
        "int main(void) { add(me()); return 0; }",
        (
            "race",
            "race: tasklet ",
            "'total' + 0",
            "(add+",
            "called at pc",
            "(main+",
            "the other is",
        ),
    ),
    "race without a barrier": (
        "int main(void) { beside[me()] = 1; barrier_wait(&all);\n"
        "  if (me() == 0) total = beside[1]; else beside[me()] = total; return 0; }",
        ("race", "race: ", "'beside' + 4", "writes", "reads"),
    ),
    "race in MRAM": (
        "int main(void) { buffer[2 * me()] = me();\n"
        "  mram_write(&buffer[2 * me()], &input[me() & 1], 8); return 0; }",
        ("race", "'input' + 0 (MRAM", "by DMA"),
    ),
    "stack overflow": (
        "static uint32_t __attribute__((noinline)) deep(uint32_t n) {\n"
        "  volatile uint32_t a[32]; a[n & 31] = n; return n == 0 ? 0 : deep(n - 1) + a[n & 31]; }\n"
        "int main(void) { total = deep(12 - 10 * (me() == 0)); return 0; }",
        (
            "stack",
            "stack overflow: the stack of tasklet 1 has 1024 bytes",
            "`python -m dpu.stack PROGRAM` prints",
            "-DSTACK_SIZE_TASKLET_1=BYTES",
            "(deep+",
            "(main+",
        ),
    ),
    "uninitialised condition": (
        "static void __attribute__((noinline)) pick(uint32_t *a) {\n"
        "  if (a[3] == 7) total = 1; }\n"
        "int main(void) { if (me() == 0) { uint32_t *p = mem_alloc(64); p[2] = 5;\n"
        "  pick(p); } return 0; }",
        ("uninitialised", "uninitialised: a condition of tasklet 0 depends", "(main+"),
    ),
    "uninitialised address": (
        "int main(void) { volatile uint32_t index[4]; index[1] = 0;\n"
        "  total = buffer[index[me()] & 63]; return 0; }",
        ("uninitialised", "uninitialised: an address of tasklet 0 depends", "(main+"),
    ),
    "misaligned DMA": (
        "int main(void) { if (me() == 0) mram_read(&input[1], buffer, 8); return 0; }",
        ("dma", "misaligned DMA: ", "'input' + 4"),
    ),
    "DMA out of bounds": (
        "int main(void) { if (me() == 0)\n"
        "  mram_read((__mram_ptr void *)(DPU_MRAM_HEAP_POINTER + (64 << 20) - 64), buffer, 128);\n"
        "  return 0; }",
        ("dma", "DMA out of bounds: ", "beyond the end of the memory"),
    ),
    "DMA beyond a variable": (
        "int main(void) { if (me() == 0) mram_read(input, &buffer[32], 256); return 0; }",
        ("dma", "DMA beyond a variable: ", "'buffer' + 128", "128 bytes beyond its end"),
    ),
    "access during a transfer": (
        "int main(void) { barrier_wait(&all); if (me() == 0) mram_read(input, buffer, 256);\n"
        "  else total = buffer[60]; return 0; }",
        ("dma", "access during a transfer: tasklet 1 reads", "tasklet 0, which writes it by DMA"),
    ),
    "null pointer": (
        "int main(void) { volatile uint32_t *p = (uint32_t *)wanted; total = *p; return 0; }",
        ("bounds", "null pointer: tasklet 0 reads 4 bytes"),
    ),
    "beyond the heap": (
        "int main(void) { if (me() != 0) return 0;\n"
        "  volatile uint32_t *p = mem_alloc(64); p[15] = 1; p[16] = 1; return 0; }",
        ("bounds", "access outside of variables: tasklet 0 writes 4 bytes", "allocated 64 bytes"),
    ),
    "deadlock of locks": (
        "int main(void) {\n"
        "  if (me() == 0) { mutex_lock(first); handshake_wait_for(1); mutex_lock(second); }\n"
        "  else { mutex_lock(second); handshake_notify(); mutex_lock(first); } return 0; }",
        ("deadlock", "deadlock: 2 tasklets wait", "waits for mutex 'first'", "that tasklet 0 has"),
    ),
    "deadlock of one tasklet": (
        "int main(void) { if (me() == 0) { mutex_lock(first); mutex_lock(first); } return 0; }",
        ("deadlock", "deadlock: 1 tasklet waits", "mutex 'first'"),
    ),
    "deadlock at a barrier": (
        "int main(void) { barrier_wait(&more); return 0; }",
        ("deadlock", "deadlock: tasklets sleep", "barrier 'more'", "tasklet 1 sleeps", "(main+"),
    ),
}
# Everything that orders, and memory of every kind.
CLEAN = """
static uint32_t sums[NR_TASKLETS];
static uint32_t __attribute__((noinline)) work(uint32_t *cache, uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        cache[i] += i;
        sum += cache[i];
    }
    return sum;
}
int main(void)
{
    if (me() == 0) {
        mem_reset();
        total = 0;
    }
    barrier_wait(&all);
    uint32_t *cache = mem_alloc(64);
    mram_read(&input[16 * me()], cache, 64);
    sums[me()] = work(cache, 16);
    mram_write(cache, &next[16 * me()], 64);
    mutex_lock(first);
    total += sums[me()];
    mutex_unlock(first);
    if (me() == 0) {
        handshake_wait_for(1);
        total += sums[1];
        sem_give(&units);
    } else {
        handshake_notify();
        sem_take(&units);
        total += 1;
    }
    barrier_wait(&all);
    if (me() == 1)
        mram_read(next, buffer, 64);
    return 0;
}
"""
