/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/base/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "accl/base/fork.h"
#include "common/clock.h"

int acclib_device_check(accl_device *device)
{
    if (device == NULL)
        return acclib_fail(ACCL_INVALID, "the device must not be NULL");
    if (device->fork_count != acclib_fork_count())
        return acclib_fail(ACCL_FORKED, "the device was opened by the parent of this process: open "
                                        "another one here");
    if (atomic_load_explicit(&device->closed, memory_order_relaxed))
        return acclib_fail(ACCL_CLOSED, "the device is closed");

    return ACCL_OK;
}

struct communicator *acclib_communicator_find(const accl_device *device, uint32_t id)
{
    struct list_node *at = device->communicators.first;
    while (at != NULL && communicator_of(at)->id != id)
        at = at->next;
    return at != NULL ? communicator_of(at) : NULL;
}

void acclib_device_release(accl_device *d)
{
    if (atomic_fetch_sub(&d->refs, 1) != 1)
        return;
    if (d->completion_fd >= 0)
        close(d->completion_fd);
    pthread_mutex_destroy(&d->lock);
    pthread_cond_destroy(&d->changed);
    acclib_streams_destroy(&d->streams);
    free(d->exchange);
    if (d->heap != NULL)
        acclib_heap_release(d->heap);
    free(d);
}

uint32_t acclib_call_fail(accl_device *device, uint32_t bits, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(device->text, sizeof device->text, format, args);
    va_end(args);
    return bits;
}

int64_t acclib_call_deadline(accl_device *device)
{
    if (!device->deadline)
        device->deadline = device->timeout_ms
                               ? clock_now() + (int64_t)device->timeout_ms * CLOCK_MILLISECOND
                               : CLOCK_NEVER;
    return device->deadline;
}
