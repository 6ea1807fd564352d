/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/engine/executor.h"

#include <errno.h>

#include "accl/transport/transport.h"
#include "common/clock.h"

/* How often a waiter calls the check, and carries messages where no other thread does. */
#define LOOK_NS (50 * CLOCK_MILLISECOND)
#define CARRY_NS INT64_C(20000)

void acclib_executor_leave(accl_device *device)
{
    atomic_store(&device->running, 0);
    if (atomic_load(&device->interest) || atomic_load(&device->queued)) {
        pthread_mutex_lock(&device->lock);
        pthread_cond_broadcast(&device->changed);
        pthread_mutex_unlock(&device->lock);
    }
}

static int wait_until(accl_device *device, int64_t until)
{
    struct timespec ts = {.tv_sec = (time_t)(until / CLOCK_SECOND),
                          .tv_nsec = (long)(until % CLOCK_SECOND)};
    return pthread_cond_timedwait(&device->changed, &device->lock, &ts);
}

/* Waits for a change, at most until LOOK, when the check is called; false if that says stop. */
static bool look_while_waiting(accl_device *device, int64_t *look)
{
    if (atomic_load(&device->carries)) {
        /* What runs may depend on it. */
        pthread_mutex_unlock(&device->lock);
        acclib_transport_carry(device);
        pthread_mutex_lock(&device->lock);
        if (clock_now() < *look) {
            wait_until(device, clock_now() + CARRY_NS);
            return true;
        }
    }

    if (wait_until(device, *look) != ETIMEDOUT)
        return true;

    /* Without the lock, as the check may run anything. */
    pthread_mutex_unlock(&device->lock);

    bool goes_on = !device->check(device->check_argument);
    pthread_mutex_lock(&device->lock);
    *look = clock_now() + LOOK_NS;

    return goes_on;
}

/* Becomes the executor, after all that is queued at this moment. */
static int enter(accl_device *device, bool checks)
{
    if (atomic_load(&device->queued) == 0 && executor_try(device))
        return ACCL_OK;

    int status = ACCL_OK;
    int64_t look = clock_now() + LOOK_NS;
    pthread_mutex_lock(&device->lock);
    atomic_fetch_add(&device->interest, 1);
    while (!list_is_empty(&device->queue) || !executor_try(device)) {
        if (!checks) {
            pthread_cond_wait(&device->changed, &device->lock);
        } else if (!look_while_waiting(device, &look)) {
            status = acclib_fail(ACCL_INTERRUPTED, "the wait for the running call was interrupted");
            break;
        }
    }

    atomic_fetch_sub(&device->interest, 1);
    pthread_mutex_unlock(&device->lock);

    return status;
}

int acclib_executor_enter(accl_device *device)
{
    return enter(device, device->check != NULL);
}

void acclib_executor_enter_surely(accl_device *device)
{
    enter(device, false);
}
