/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers, mutexes, semaphores, reader-writer locks, handshakes; counts what goes wrong. */
#include <alloc.h>
#include <barrier.h>
#include <defs.h>
#include <errno.h>
#include <handshake.h>
#include <mutex.h>
#include <mutex_pool.h>
#include <rwlock.h>
#include <sem.h>
#include <stdint.h>
#include <stdlib.h>
#include <vmutex.h>

BARRIER_INIT(all, NR_TASKLETS);
BARRIER_INIT(again, NR_TASKLETS);
SEMAPHORE_INIT(units, 3);
SEMAPHORE_INIT(ready, 0);
MUTEX_INIT(guard);
MUTEX_POOL_INIT(pool, 4);
VMUTEX_INIT(virtual_ones, 64, 2);
RWLOCK_INIT(book);

__host uint32_t tasklets_seen, order_errors, counter, pool_counter[8], virtual_counter[8];
__host uint32_t inside, most_inside, handed[24], trylock_errors, book_errors;
__host volatile uint32_t page_a, page_b;

static volatile uint32_t phase[24];

static void check_phase(uint32_t value)
{
    for (int i = 0; i < NR_TASKLETS; i++)
        if (phase[i] < value || phase[i] > value + 1)
            order_errors++;
}

int main(void)
{
    uint32_t id = me();

    for (uint32_t round = 1; round <= 20; round++) {
        for (volatile uint32_t i = 0; i < (id * 7 + round * 13) % 31; i++)
            ;
        phase[id] = round;
        barrier_wait(round & 1 ? &all : &again);
        check_phase(round);
    }
    barrier_wait(&all);

    for (int i = 0; i < 50; i++) {
        mutex_lock(guard);
        uint32_t value = *(volatile uint32_t *)&counter;
        for (volatile int delay = 0; delay < (int)(id & 3); delay++)
            ;
        *(volatile uint32_t *)&counter = value + 1;
        mutex_unlock(guard);

        uint32_t which = (id + (uint32_t)i) & 7;
        mutex_pool_lock(&pool, (uint16_t)which);
        value = *(volatile uint32_t *)&pool_counter[which];
        *(volatile uint32_t *)&pool_counter[which] = value + 1;
        mutex_pool_unlock(&pool, (uint16_t)which);

        vmutex_lock(&virtual_ones, (uint16_t)(which * 7));
        value = *(volatile uint32_t *)&virtual_counter[which];
        *(volatile uint32_t *)&virtual_counter[which] = value + 1;
        vmutex_unlock(&virtual_ones, (uint16_t)(which * 7));

        sem_take(&units);
        mutex_lock(guard);
        inside++;
        if (inside > most_inside)
            most_inside = inside;
        mutex_unlock(guard);
        for (volatile int delay = 0; delay < 5; delay++)
            ;
        mutex_lock(guard);
        inside--;
        mutex_unlock(guard);
        sem_give(&units);

        if ((id & 3) == 0) {
            rwlock_write_lock(&book);
            page_a++;
            for (volatile int delay = 0; delay < 3; delay++)
                ;
            page_b++;
            rwlock_write_unlock(&book);
        } else {
            rwlock_read_lock(&book);
            if (page_a != page_b)
                book_errors++;
            rwlock_read_unlock(&book);
        }
    }
    barrier_wait(&all);
    if (id == 0) {
        mutex_lock(guard);
        if (mutex_trylock(guard))
            trylock_errors++;
        mutex_unlock(guard);
        if (!mutex_trylock(guard))
            trylock_errors++;
        mutex_unlock(guard);
    }
    /* a chain: each hands over to the next */
    if (id != 0) {
        handshake_wait_for(id - 1);
        handed[id] = handed[id - 1] + 1;
    } else {
        handed[0] = 1;
    }
    if (id != NR_TASKLETS - 1)
        handshake_notify();
    /* one waits for all others by a semaphore that starts at 0 */
    if (id == 0)
        for (int i = 1; i < NR_TASKLETS; i++)
            sem_take(&ready);
    else
        sem_give(&ready);
    mutex_lock(guard);
    tasklets_seen++;
    mutex_unlock(guard);
    return 0;
}
