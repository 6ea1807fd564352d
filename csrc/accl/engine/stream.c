/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's streams: bytes that the engine puts out, and what it takes in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accl/engine/engine.h"

#define STREAM_MOST ((size_t)64 << 20)

struct stream_chunk *stream_chunk_new(uint32_t stream, uint64_t bytes)
{
    struct stream_chunk *chunk =
        bytes <= SIZE_MAX - sizeof *chunk ? malloc(sizeof *chunk + (size_t)bytes) : NULL;
    if (chunk)
        *chunk = (struct stream_chunk){.bytes = (size_t)bytes, .stream = stream};
    return chunk;
}

static struct stream_chunk *chunk_of(uint32_t stream, const void *data, size_t bytes)
{
    struct stream_chunk *chunk = stream_chunk_new(stream, bytes);
    if (chunk && bytes)
        copy_memory(chunk->data, data, bytes);
    return chunk;
}

static void queue_add(struct stream_queue *queue, struct stream_chunk *chunk)
{
    if (queue->first)
        queue->last->next = chunk;
    else
        queue->first = chunk;
    queue->last = chunk;
    queue->bytes += chunk->bytes;
}

static void queue_drop_first(struct stream_queue *queue)
{
    struct stream_chunk *chunk = queue->first;
    queue->first = chunk->next;
    queue->bytes -= chunk->bytes - chunk->taken;
    queue->loss = chunk->loss;
    free(chunk);
}

/* Whether something was lost before the first chunk; the reader is told once. */
static bool queue_take_loss(struct stream_queue *queue, struct stream_loss *loss)
{
    *loss = queue->loss;
    queue->loss = (struct stream_loss){0};
    return loss->puts > 0;
}

static void describe_loss(const struct stream_loss *loss, char *text, size_t space)
{
    char more[48] = "";
    if (loss->puts > 1)
        snprintf(more, sizeof more, ", and %u more after it", loss->puts - 1);
    snprintf(text, space,
             "a stream put of %llu bytes from rank %u to stream %u was lost%s: there was no memory "
             "for it here",
             (unsigned long long)loss->bytes, loss->source, loss->stream, more);
}

bool stream_has_room(accl_device *device, size_t bytes)
{
    pthread_mutex_lock(&device->stream_lock);
    size_t held =
        device->stream_mode == ACCL_STREAM_QUEUE ? device->output.bytes : device->input.bytes;
    pthread_mutex_unlock(&device->stream_lock);
    return held == 0 || held + bytes <= STREAM_MOST;
}

/* Of the hook it is known only that it pushes what the engine then reads. */
static struct stream_queue *queue_of(accl_device *device)
{
    return device->stream_mode == ACCL_STREAM_QUEUE ? &device->output : &device->input;
}

void stream_lose(accl_device *device, uint32_t stream, uint32_t source, uint64_t bytes)
{
    pthread_mutex_lock(&device->stream_lock);
    struct stream_queue *queue = queue_of(device);
    struct stream_loss *loss = queue->first ? &queue->last->loss : &queue->loss;
    if (!loss->puts)
        *loss = (struct stream_loss){.stream = stream, .source = source, .bytes = bytes};
    loss->puts++;
    pthread_mutex_unlock(&device->stream_lock);
}

/* The hook, if there is one. */
static accl_stream_hook hook_of(accl_device *device, void **argument)
{
    pthread_mutex_lock(&device->stream_lock);
    accl_stream_hook hook = device->hook;
    *argument = device->hook_argument;
    pthread_mutex_unlock(&device->stream_lock);
    return hook;
}

void stream_give(accl_device *device, struct stream_chunk *chunk)
{
    pthread_mutex_lock(&device->stream_lock);
    accl_stream_hook hook = device->hook;
    void *argument = device->hook_argument;
    if (!hook)
        queue_add(queue_of(device), chunk);
    pthread_mutex_unlock(&device->stream_lock);
    if (!hook)
        return;
    hook(argument, chunk->stream, chunk->data, chunk->bytes);
    free(chunk);
}

bool stream_deliver(accl_device *device, uint32_t stream, const void *data, size_t bytes)
{
    void *argument;
    accl_stream_hook hook = hook_of(device, &argument);
    if (hook) {
        hook(argument, stream, data, bytes);
        return true;
    }
    struct stream_chunk *chunk = chunk_of(stream, data, bytes);
    if (chunk)
        stream_give(device, chunk);
    return chunk != NULL;
}

static uint32_t read_failed(accl_device *device, const struct stream_loss *loss)
{
    char text[256];
    describe_loss(loss, text, sizeof text);
    return call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR), "%s", text);
}

uint32_t stream_take(accl_device *device, uint8_t *data, uint64_t bytes)
{
    struct waiter w;
    wait_begin(&w, device, NULL, NO_RANK, false, ACCL_ERROR(KRNL_TIMEOUT_STS_ERROR));
    uint32_t bits = 0;
    uint64_t have = 0;
    struct stream_loss loss = {0};
    for (;;) {
        message_progress_streams(device);
        pthread_mutex_lock(&device->stream_lock);
        while (have < bytes && !queue_take_loss(&device->input, &loss) && device->input.first) {
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
        if (loss.puts)
            bits = read_failed(device, &loss);
        if (have >= bytes || bits || (bits = wait_pause(&w)))
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
    struct stream_chunk *chunk = bytes <= STREAM_MOST ? chunk_of(0, data, bytes) : NULL;
    if (!chunk && bytes <= STREAM_MOST)
        return accl_fail(ACCL_NO_MEMORY, "no memory for %zu bytes of a stream", bytes);

    pthread_mutex_lock(&device->stream_lock);
    bool fits = chunk && device->input.bytes + bytes <= STREAM_MOST;
    if (fits)
        queue_add(&device->input, chunk);
    pthread_mutex_unlock(&device->stream_lock);
    if (fits)
        return ACCL_OK;
    free(chunk);
    return accl_fail(ACCL_NO_MEMORY, "the stream holds no more than %zu bytes", STREAM_MOST);
}

static int pull_failed(const struct stream_loss *loss)
{
    char text[256];
    describe_loss(loss, text, sizeof text);
    return accl_fail(ACCL_NO_MEMORY, "%s", text);
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
        struct stream_loss loss;
        pthread_mutex_lock(&device->stream_lock);
        struct stream_chunk *chunk = device->output.first;
        if (queue_take_loss(&device->output, &loss)) {
            *stream = loss.stream;
            status = ACCL_NO_MEMORY;
        } else if (chunk) {
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
        if (status == ACCL_NO_MEMORY)
            return pull_failed(&loss);
        if (status == ACCL_OK || clock_now() >= deadline)
            return status;
        if (atomic_load(&device->closed))
            return accl_fail(ACCL_CLOSED, "the device was closed");
        struct timespec ts = {.tv_nsec = 200000};
        nanosleep(&ts, NULL);
    }
}
