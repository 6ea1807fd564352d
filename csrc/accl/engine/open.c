/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices: opening, rx buffers, closing, and what a fork does to them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accl/base/device.h"
#include "accl/base/fork.h"
#include "accl/engine/communicator.h"
#include "accl/engine/configure.h"
#include "accl/engine/exchange.h"
#include "accl/engine/request.h"
#include "accl/engine/world.h"
#include "accl/transport/transport.h"
#include "common/cores.h"

/* All devices of the process: the one piece of global state besides that of base/fork.c, whose lock
 * guards it. */
static struct list all_devices;

/* A forked child closes its copies of sockets, or the names would stay in use while it lives. */
static void forked_child(void)
{
    for (struct list_node *at = all_devices.first; at != NULL; at = at->next) {
        accl_device *d = LIST_ENTRY(at, accl_device, in_process);
        for (uint32_t i = 0; i < TRANSPORTS_MAX && d->transports[i] != NULL; i++)
            d->transports[i]->forked(d);
        close(d->heap->fd);
    }

    all_devices = (struct list){NULL, NULL};
}

static void list_device(accl_device *d)
{
    acclib_fork_lock();
    list_prepend(&all_devices, &d->in_process);
    acclib_fork_unlock();
}

static void unlist_device(accl_device *d)
{
    acclib_fork_lock();
    list_remove(&all_devices, &d->in_process);
    acclib_fork_unlock();
}

/* A name that was cut short would be that of another job as well. */
static int choose_job(accl_device *device, const char *job)
{
    char parent[64] = "";
    const char *name = job != NULL ? job : secure_getenv("ACCL_JOB");
    const char *kind = "job ";

    if (name == NULL) {
        kind = "pmix ";
        name = secure_getenv("PMIX_NAMESPACE");
    }

    if (name == NULL && secure_getenv("PMI_RANK") != NULL) {
        /* hydra: all ranks of a job on one host are children of one proxy. */
        FILE *file = NULL;
        char path[64], line[1024];
        unsigned long long start = 0;
        snprintf(path, sizeof path, "/proc/%d/stat", (int)getppid());
        if ((file = fopen(path, "re")) != NULL) {
            const char *end = fgets(line, sizeof line, file) != NULL ? strrchr(line, ')') : NULL;
            if (end != NULL)
                sscanf(end + 1,
                       " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                       "%*d %llu",
                       &start);
            fclose(file);
        }
        snprintf(parent, sizeof parent, "%d %llu", (int)getppid(), start);
        kind = "hydra ";
        name = parent;
    }

    if (name == NULL) {
        kind = "";
        name = "ports";
    }

    int length = snprintf(device->job, sizeof device->job, "%s%s", kind, name);
    if ((size_t)length < sizeof device->job)
        return ACCL_OK;
    return acclib_fail(ACCL_INVALID, "the name of a job has %zu bytes at most, not %zu: %.40s...",
                       sizeof device->job - 1 - strlen(kind), strlen(name), name);
}

ACCL_EXPORT int accl_open(const struct accl_config *config, accl_device **device)
{
    if (device == NULL)
        return acclib_is_null("accl_open", "device");

    *device = NULL;
    struct accl_config c = {.size = sizeof c};
    if (config != NULL)
        memcpy(&c, config, config->size < sizeof c ? config->size : sizeof c);
    if (c.memory_mode > ACCL_MEMORY_UNIFIED || c.stack > ACCL_STACK_RDMA)
        return acclib_fail(ACCL_INVALID, "unknown memory mode %u or stack %u", c.memory_mode,
                           c.stack);
    acclib_fork_watch(forked_child);
    accl_device *d = calloc(1, sizeof *d);
    if (d == NULL)
        return acclib_fail(ACCL_NO_MEMORY, "out of memory (device)");

    d->refs = 1;
    d->fork_count = acclib_fork_count();
    d->completion_fd = -1;
    d->memory_mode = c.memory_mode;
    d->stack = c.stack;
    d->timeout_ms = DEFAULT_TIMEOUT_MS;
    cores_add(&d->core_set, 0);
    atomic_store(&d->cores, usable_cores());
    ticks_start(&d->ticks);
    pthread_mutex_init(&d->lock, NULL);
    acclib_streams_init(&d->streams);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&d->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    d->exchange = calloc(EXCHANGE_WORDS, sizeof *d->exchange);
    d->heap = acclib_heap_open(c.memory_bytes);
    if (d->exchange == NULL || d->heap == NULL) {
        int error = errno;
        acclib_device_release(d);
        return acclib_fail(ACCL_NO_MEMORY, "cannot create device memory: %s%s", strerror(error),
                           acclib_heap_limits());
    }

    int status = choose_job(d, c.job);
    if (status != ACCL_OK) {
        acclib_device_release(d);
        return status;
    }
    d->header = (struct arena_header *)(void *)d->heap->base;
    d->header->waits.operation = NO_RANK;
    acclib_exchange_init(d);
    list_device(d);
    *device = d;

    return ACCL_OK;
}

ACCL_EXPORT void accl_close(accl_device *d)
{
    if (d == NULL || d->fork_count != acclib_fork_count() || atomic_exchange(&d->closed, true))
        return;

    unlist_device(d);
    acclib_requests_stop(d);
    acclib_world_close(d);
    acclib_communicators_free(d);
    acclib_streams_clear(&d->streams);
    acclib_device_release(d);
}

ACCL_EXPORT void accl_set_interrupt_check(accl_device *device, int (*check)(void *argument),
                                          void *argument)
{
    if (acclib_device_check(device) != ACCL_OK)
        return;
    device->check_argument = argument;
    device->check = check;
}

ACCL_EXPORT int accl_setup_rx_buffers(accl_device *device, uint32_t count, uint64_t bytes)
{
    int status = acclib_device_check(device);
    if (status != ACCL_OK)
        return status;
    if (count < 1 || count > ARENA_RX_MAX || bytes < 1 || bytes > (UINT64_C(1) << 30))
        return acclib_fail(ACCL_INVALID,
                           "%u rx buffers of %llu bytes: 1 to %d buffers of 1 byte to 1 GiB are "
                           "possible",
                           count, (unsigned long long)bytes, ARENA_RX_MAX);
    if (device->ranks)
        return acclib_fail(ACCL_IN_USE, "other ranks may know the rx buffers already: they are set "
                                        "up before the first communicator");
    bytes = (bytes + ARENA_LINE - 1) & ~(uint64_t)(ARENA_LINE - 1);
    status = acclib_rx_pool_make(device->heap, device->header, count, bytes, &device->pool);
    if (status != ACCL_OK)
        return status;

    device->rx_count = count;
    device->rx_bytes = bytes;
    device->segment_size = bytes;
    acclib_exchange_init(device);

    return ACCL_OK;
}

ACCL_EXPORT int accl_get_settings(accl_device *device, uint32_t *timeout_ms, uint64_t *segment_size)
{
    if (timeout_ms == NULL)
        return acclib_is_null("accl_get_settings", "timeout_ms");
    if (segment_size == NULL)
        return acclib_is_null("accl_get_settings", "segment_size");

    int status = acclib_device_check(device);
    *timeout_ms = status == ACCL_OK ? device->timeout_ms : 0;
    *segment_size = status == ACCL_OK ? device->segment_size : 0;

    return status;
}
