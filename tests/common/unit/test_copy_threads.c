/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/common/copy.c tsan
 *
 * Threads that make the first copies together, each of which may be the one that finds out what
 * the processor has.
 */
#include "common/copy.h"

#include <pthread.h>
#include <string.h>

#include "tests/support/check.h"

enum { THREADS = 4, BYTES = 32 << 10 };

static uint8_t source[BYTES];
static pthread_barrier_t barrier;

static void *first_call(void *unused)
{
    static _Thread_local uint8_t to[BYTES];
    pthread_barrier_wait(&barrier);

    copy_memory(to, source, BYTES);

    CHECK(memcmp(to, source, BYTES) == 0);
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < BYTES; i++)
        source[i] = (uint8_t)(i * 7);

    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, first_call, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);

    pthread_barrier_destroy(&barrier);
    puts("ok");
    return 0;
}
