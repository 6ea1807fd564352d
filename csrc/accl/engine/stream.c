/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's streams: bytes that the engine puts out, and what it takes in. */
#include <stdlib.h>
#include <string.h>

#include "accl/engine/engine.h"

#define STREAM_MOST ((size_t)64 << 20)

/* Without memory, false. */
static bool queue_add(struct stream_queue *queue, uint32_t stream, const void *data, size_t bytes)
{
    struct stream_chunk *chunk = malloc(sizeof *chunk + bytes);
    if (!chunk)
        return false;
    chunk->next = NULL;
    chunk->bytes = bytes;
    chunk->taken = 0;
    chunk->stream = stream;
    if (bytes)
        copy_memory(chunk->data, data, bytes);
    if (!queue->first)
        queue->end = &queue->first;
    *queue->end = chunk;
    queue->end = &chunk->next;
    queue->bytes += bytes;
    return true;
}

static void queue_drop_first(struct stream_queue *queue)
{
    struct stream_chunk *chunk = queue->first;
    queue->first = chunk->next;
    queue->bytes -= chunk->bytes - chunk->taken;
    free(chunk);
}

bool stream_has_room(accl_device *device, size_t bytes)
{
    pthread_mutex_lock(&device->stream_lock);
    size_t held =
        device->stream_mode == ACCL_STREAM_QUEUE ? device->output.bytes : device->input.bytes;
    pthread_mutex_unlock(&device->stream_lock);
    return held == 0 || held + bytes <= STREAM_MOST;
}

bool stream_deliver(accl_device *device, uint32_t stream, const void *data, size_t bytes)
{
    pthread_mutex_lock(&device->stream_lock);
    int mode = device->stream_mode;
    accl_stream_hook hook = device->hook;
    void *argument = device->hook_argument;
    bool good = true;
    if (mode == ACCL_STREAM_LOOPBACK)
        good = queue_add(&device->input, stream, data, bytes);
    else if (mode == ACCL_STREAM_QUEUE)
        good = queue_add(&device->output, stream, data, bytes);
    pthread_mutex_unlock(&device->stream_lock);
    if (mode == ACCL_STREAM_HOOK)
        hook(argument, stream, data, bytes);
    return good;
}

uint32_t stream_take(accl_device *device, uint8_t *data, uint64_t bytes)
{
    struct waiter w;
    wait_begin(&w, device, NULL, NO_RANK, false, ACCL_ERROR(KRNL_TIMEOUT_STS_ERROR));
    uint32_t bits = 0;
    uint64_t have = 0;
    for (;;) {
        message_progress_streams(device);
        pthread_mutex_lock(&device->stream_lock);
        while (have < bytes && device->input.first) {
            struct stream_chunk *chunk = device->input.first;
            size_t n = chunk->bytes - chunk->taken;
            if (n > bytes - have)
                n = (size_t)(bytes - have);
            copy_memory(data + have, chunk->data + chunk->taken, n);
            have += n;
            chunk->taken += n;
            device->input.bytes -= n;
            if (chunk->taken == chunk->bytes)
                queue_drop_first(&device->input);
        }
        pthread_mutex_unlock(&device->stream_lock);
        if (have >= bytes || (bits = wait_pause(&w)))
            break;
    }
    wait_end(&w);
    if (bits == ACCL_ERROR(KRNL_TIMEOUT_STS_ERROR) && !device->text[0])
        call_fail(device, bits, "the kernel stream gave %llu of %llu bytes in %u ms",
                  (unsigned long long)have, (unsigned long long)bytes, device->timeout_ms);
    return bits;
}

void stream_free(accl_device *device)
{
    while (device->input.first)
        queue_drop_first(&device->input);
    while (device->output.first)
        queue_drop_first(&device->output);
}

ACCL_EXPORT int accl_stream_mode(accl_device *device, int mode, accl_stream_hook hook,
                                 void *argument)
{
    int status = device_check(device);
    if (status != ACCL_OK)
        return status;
    if (mode < ACCL_STREAM_LOOPBACK || mode > ACCL_STREAM_QUEUE ||
        (mode == ACCL_STREAM_HOOK && !hook))
        return accl_fail(ACCL_INVALID, "stream mode %d%s", mode,
                         mode == ACCL_STREAM_HOOK ? " without a hook" : " does not exist");
    pthread_mutex_lock(&device->stream_lock);
    device->stream_mode = mode;
    device->hook = mode == ACCL_STREAM_HOOK ? hook : NULL;
    device->hook_argument = argument;
    pthread_mutex_unlock(&device->stream_lock);
    return ACCL_OK;
}

ACCL_EXPORT int accl_stream_push(accl_device *device, const void *data, size_t bytes)
{
    if (!data && bytes)
        return accl_is_null("accl_stream_push", "data");
    int status = device_check(device);
    if (status != ACCL_OK)
        return status;
    pthread_mutex_lock(&device->stream_lock);
    bool good =
        device->input.bytes + bytes <= STREAM_MOST && queue_add(&device->input, 0, data, bytes);
    pthread_mutex_unlock(&device->stream_lock);
    if (!good)
        return accl_fail(ACCL_NO_MEMORY, "the stream holds %zu bytes already", STREAM_MOST);
    return ACCL_OK;
}

ACCL_EXPORT int accl_stream_pull(accl_device *device, uint32_t *stream, void *data, size_t space,
                                 size_t *bytes, int64_t timeout_ns)
{
    if (!stream)
        return accl_is_null("accl_stream_pull", "stream");
    if (!bytes)
        return accl_is_null("accl_stream_pull", "bytes");
    if (!data && space)
        return accl_is_null("accl_stream_pull", "data");
    *stream = 0;
    *bytes = 0;
    int status = device_check(device);
    if (status != ACCL_OK)
        return status;
    int64_t deadline = clock_deadline(timeout_ns);
    for (;;) {
        /* Only the executor may touch the rings; where somebody else is it, it progresses. */
        uint32_t free_now = 0;
        if (device->ranks && atomic_compare_exchange_strong(&device->running, &free_now, 1)) {
            message_progress_streams(device);
            wake_flush(device);
            executor_leave(device);
        }
        status = ACCL_PENDING;
        pthread_mutex_lock(&device->stream_lock);
        struct stream_chunk *chunk = device->output.first;
        if (chunk) {
            *stream = chunk->stream;
            *bytes = chunk->bytes;
            status = ACCL_OK;
            if (chunk->bytes > space) {
                status = ACCL_INVALID;
            } else {
                if (chunk->bytes)
                    copy_memory(data, chunk->data, chunk->bytes);
                queue_drop_first(&device->output);
            }
        }
        pthread_mutex_unlock(&device->stream_lock);
        if (status == ACCL_INVALID)
            return accl_fail(ACCL_INVALID, "the message has %zu bytes, the room is %zu", *bytes,
                             space);
        if (status == ACCL_OK || clock_now() >= deadline)
            return status;
        if (atomic_load(&device->closed))
            return accl_fail(ACCL_CLOSED, "the device was closed");
        struct timespec ts = {.tv_nsec = 200000};
        nanosleep(&ts, NULL);
    }
}
