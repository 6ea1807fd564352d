/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices: opening, rx buffers, closing, and what a fork does to them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "accl/transport/packets/packets.h"

/* All devices of the process: the one piece of global state. A forked child closes its copies of
 * their sockets, or the names would stay in use for as long as it lives. */
static struct {
    pthread_mutex_t lock;
    pthread_once_t once;
    accl_device *first;
    _Atomic unsigned forks;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

unsigned fork_count(void)
{
    return atomic_load_explicit(&registry.forks, memory_order_relaxed);
}

void device_registry_lock(void)
{
    pthread_mutex_lock(&registry.lock);
}

void device_registry_unlock(void)
{
    pthread_mutex_unlock(&registry.lock);
}

static void forked_child(void)
{
    atomic_fetch_add(&registry.forks, 1);
    for (accl_device *d = registry.first; d; d = d->next) {
        if (d->listener >= 0)
            close(d->listener);
        close(d->heap->fd);
    }
    registry.first = NULL;
    pthread_mutex_unlock(&registry.lock);
}

static void watch_forks(void)
{
    pthread_atfork(device_registry_lock, device_registry_unlock, forked_child);
}

int device_check(accl_device *device)
{
    if (!device)
        return accl_fail(ACCL_INVALID, "the device must not be NULL");
    if (device->fork_count != fork_count())
        return accl_fail(ACCL_FORKED, "the device was opened by the parent of this process: open "
                                      "another one here");
    if (atomic_load_explicit(&device->closed, memory_order_relaxed))
        return accl_fail(ACCL_CLOSED, "the device is closed");
    return ACCL_OK;
}

static void choose_job(accl_device *device, const char *job)
{
    char parent[64] = "";
    const char *name = job ? job : secure_getenv("ACCL_JOB");
    const char *kind = "job ";
    if (!name) {
        kind = "pmix ";
        name = secure_getenv("PMIX_NAMESPACE");
    }
    if (!name && secure_getenv("PMI_RANK")) {
        /* hydra: all ranks of a job on one host are children of one proxy. */
        FILE *file = NULL;
        char path[64], line[1024];
        unsigned long long start = 0;
        snprintf(path, sizeof path, "/proc/%d/stat", (int)getppid());
        if ((file = fopen(path, "re"))) {
            const char *end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
            if (end)
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
    if (!name) {
        kind = "";
        name = "ports";
    }
    snprintf(device->job, sizeof device->job, "%s%s", kind, name);
}

ACCL_EXPORT int accl_open(const struct accl_config *config, accl_device **result)
{
    if (!result)
        return accl_is_null("accl_open", "result");
    *result = NULL;
    struct accl_config c = {.size = sizeof c};
    if (config)
        memcpy(&c, config, config->size < sizeof c ? config->size : sizeof c);
    if (c.memory_mode > ACCL_MEMORY_UNIFIED || c.stack > ACCL_STACK_RDMA)
        return accl_fail(ACCL_INVALID, "unknown memory mode %u or stack %u", c.memory_mode,
                         c.stack);
    pthread_once(&registry.once, watch_forks);
    accl_device *d = calloc(1, sizeof *d);
    if (!d)
        return accl_fail(ACCL_NO_MEMORY, "no memory for a device");
    d->refs = 1;
    d->fork_count = fork_count();
    d->listener = d->stopper = d->completion_fd = -1;
    d->memory_mode = c.memory_mode;
    d->stack = c.stack;
    d->timeout_ms = 1000000;
    cores_add(&d->core_set, 0);
    atomic_store(&d->cores, usable_cores());
    ticks_start(&d->ticks);
    d->queue_end = &d->queue;
    d->communicators_end = &d->communicators;
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->stream_lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&d->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    d->exchange = calloc(EXCHANGE_WORDS, sizeof *d->exchange);
    d->heap = heap_open(c.memory_bytes);
    if (!d->exchange || !d->heap) {
        int error = errno;
        device_release(d);
        return accl_fail(ACCL_NO_MEMORY, "cannot make device memory: %s", strerror(error));
    }
    choose_job(d, c.job);
    d->header = (struct arena_header *)(void *)d->heap->base;
    d->header->waits.operation = NO_RANK;
    exchange_init(d);
    device_registry_lock();
    d->next = registry.first;
    d->link = &registry.first;
    if (d->next)
        d->next->link = &d->next;
    registry.first = d;
    device_registry_unlock();
    *result = d;
    return ACCL_OK;
}

void device_release(accl_device *d)
{
    if (atomic_fetch_sub(&d->refs, 1) != 1)
        return;
    if (d->completion_fd >= 0)
        close(d->completion_fd);
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->stream_lock);
    pthread_cond_destroy(&d->changed);
    free(d->exchange);
    if (d->heap)
        heap_release(d->heap);
    free(d);
}

ACCL_EXPORT void accl_close(accl_device *d)
{
    if (!d || d->fork_count != fork_count() || atomic_exchange(&d->closed, true))
        return;
    device_registry_lock();
    *d->link = d->next;
    if (d->next)
        d->next->link = d->link;
    device_registry_unlock();
    requests_stop(d);
    attach_stop(d);
    atomic_store(&d->header->closed, 1);
    for (uint32_t i = 0; i < d->ranks; i++)
        if (i != d->rank && d->peers[i].arena)
            atomic_store(&d->peers[i].out->left, 1);
    for (uint32_t i = 0; i < d->ranks; i++)
        wake_later(d, &d->peers[i]);
    wake_flush(d);
    parcels_free(d);
    packets_close(d);
    attach_drop(d);
    communicators_free(d);
    stream_free(d);
    free(d->peers);
    d->peers = NULL;
    d->ranks = 0;
    device_release(d);
}

ACCL_EXPORT void accl_set_interrupt_check(accl_device *device, int (*check)(void *argument),
                                          void *argument)
{
    if (device_check(device) != ACCL_OK)
        return;
    device->check_argument = argument;
    device->check = check;
}

/* Makes the pool in the heap; its slots are ready for senders. */
static int make_pool(accl_device *d, uint32_t count, uint64_t bytes)
{
    uint64_t slots = heap_get(d->heap, count * sizeof(struct rx_slot));
    uint64_t pool = slots ? heap_get(d->heap, count * bytes) : 0;
    if (!pool) {
        if (slots)
            heap_put(d->heap, slots);
        return accl_fail(ACCL_NO_MEMORY, "no memory for %u rx buffers of %llu bytes", count,
                         (unsigned long long)bytes);
    }
    if (d->pool.slots) {
        heap_put(d->heap, heap_offset(d->heap, d->pool.slots));
        heap_put(d->heap, heap_offset(d->heap, d->pool.data));
    }
    struct rx_slot *slot = (struct rx_slot *)(void *)(d->heap->base + slots);
    memset(slot, 0, count * sizeof *slot);
    for (uint32_t i = 0; i < count; i++)
        atomic_init(&slot[i].status, ACCL_RX_ENQUEUED);
    d->pool = (struct pool){
        .slots = slot, .data = d->heap->base + pool, .slot_bytes = bytes, .slot_count = count};
    d->header->slots = slots;
    d->header->pool = pool;
    d->header->slot_bytes = bytes;
    d->header->slot_count = count;
    d->rx_count = count;
    d->rx_bytes = bytes;
    d->segment_size = bytes;
    return ACCL_OK;
}

ACCL_EXPORT int accl_setup_rx_buffers(accl_device *device, uint32_t count, uint64_t bytes)
{
    int status = device_check(device);
    if (status != ACCL_OK)
        return status;
    if (count < 1 || count > ARENA_RX_MAX || bytes < 1 || bytes > (UINT64_C(1) << 30))
        return accl_fail(ACCL_INVALID,
                         "%u rx buffers of %llu bytes: 1 to %d buffers of 1 byte to 1 GiB are "
                         "possible",
                         count, (unsigned long long)bytes, ARENA_RX_MAX);
    if (device->ranks)
        return accl_fail(ACCL_IN_USE, "other ranks may know the rx buffers already: they are set "
                                      "up before the first communicator");
    bytes = (bytes + ARENA_LINE - 1) & ~(uint64_t)(ARENA_LINE - 1);
    status = make_pool(device, count, bytes);
    if (status == ACCL_OK)
        exchange_init(device);
    return status;
}

ACCL_EXPORT int accl_get_settings(accl_device *device, uint32_t *timeout_ms, uint64_t *segment_size)
{
    if (!timeout_ms)
        return accl_is_null("accl_get_settings", "timeout_ms");
    if (!segment_size)
        return accl_is_null("accl_get_settings", "segment_size");
    int status = device_check(device);
    *timeout_ms = status == ACCL_OK ? device->timeout_ms : 0;
    *segment_size = status == ACCL_OK ? device->segment_size : 0;
    return status;
}
