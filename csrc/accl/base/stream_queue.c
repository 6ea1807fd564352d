/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/base/stream_queue.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/copy.h"

struct stream_chunk *acclib_stream_chunk_new(uint32_t stream, uint64_t bytes)
{
    struct stream_chunk *chunk =
        bytes <= SIZE_MAX - sizeof *chunk ? malloc(sizeof *chunk + (size_t)bytes) : NULL;
    if (chunk != NULL)
        *chunk = (struct stream_chunk){.bytes = (size_t)bytes, .stream = stream};
    return chunk;
}

static struct stream_chunk *chunk_of(uint32_t stream, const void *data, size_t bytes)
{
    struct stream_chunk *chunk = acclib_stream_chunk_new(stream, bytes);
    if (chunk != NULL && bytes)
        copy_memory(chunk->data, data, bytes);
    return chunk;
}

static void queue_add(struct stream_queue *queue, struct stream_chunk *chunk)
{
    list_append(&queue->chunks, &chunk->in_queue);
    queue->bytes += chunk->bytes;
}

/* NULL if the queue is empty. */
static struct stream_chunk *queue_first(const struct stream_queue *queue)
{
    return list_is_empty(&queue->chunks)
               ? NULL
               : LIST_ENTRY(queue->chunks.first, struct stream_chunk, in_queue);
}

static void queue_drop_first(struct stream_queue *queue)
{
    struct stream_chunk *chunk = queue_first(queue);
    list_remove(&queue->chunks, &chunk->in_queue);
    queue->bytes -= chunk->bytes - chunk->taken;
    queue->loss = chunk->loss;
    free(chunk);
}

/* True if puts were lost before the first chunk. Takes the loss, so that it is reported once. */
static bool queue_take_loss(struct stream_queue *queue, struct stream_loss *loss)
{
    *loss = queue->loss;
    queue->loss = (struct stream_loss){0};
    return loss->puts > 0;
}

void acclib_stream_describe_loss(const struct stream_loss *loss, char *text, size_t space)
{
    static const char *const causes[] = {
        [STREAM_LOST_NO_MEMORY] = "out of memory here",
        [STREAM_LOST_DAMAGED] =
            "it refers to rx buffers or memory that do not belong to it; another "
            "process has overwritten this rank's memory",
    };
    char more[48] = "";
    if (loss->puts > 1)
        snprintf(more, sizeof more, ", and %u more after it", loss->puts - 1);
    snprintf(text, space, "a stream put of %llu bytes from rank %u to stream %u was lost%s: %s",
             (unsigned long long)loss->bytes, loss->source, loss->stream, more,
             causes[loss->cause]);
}

void acclib_streams_init(struct streams *streams)
{
    pthread_mutex_init(&streams->lock, NULL);
}

void acclib_streams_clear(struct streams *streams)
{
    pthread_mutex_lock(&streams->lock);
    while (queue_first(&streams->input) != NULL)
        queue_drop_first(&streams->input);
    while (queue_first(&streams->output) != NULL)
        queue_drop_first(&streams->output);
    pthread_mutex_unlock(&streams->lock);
}

void acclib_streams_destroy(struct streams *streams)
{
    acclib_streams_clear(streams);
    pthread_mutex_destroy(&streams->lock);
}

void acclib_streams_set_mode(struct streams *streams, int mode, accl_stream_hook hook,
                             void *argument)
{
    pthread_mutex_lock(&streams->lock);
    streams->mode = mode;
    streams->hook = mode == ACCL_STREAM_HOOK ? hook : NULL;
    streams->hook_argument = argument;
    pthread_mutex_unlock(&streams->lock);
}

bool acclib_stream_has_room(struct streams *streams, size_t bytes)
{
    pthread_mutex_lock(&streams->lock);
    size_t held = streams->mode == ACCL_STREAM_QUEUE ? streams->output.bytes : streams->input.bytes;
    pthread_mutex_unlock(&streams->lock);
    return held == 0 || held + bytes <= STREAM_MOST;
}

/* Of the hook it is known only that it pushes what the engine then reads. */
static struct stream_queue *queue_of(struct streams *streams)
{
    return streams->mode == ACCL_STREAM_QUEUE ? &streams->output : &streams->input;
}

void acclib_stream_lose(struct streams *streams, const struct stream_loss *lost)
{
    pthread_mutex_lock(&streams->lock);
    struct stream_queue *queue = queue_of(streams);
    struct stream_loss *loss =
        list_is_empty(&queue->chunks)
            ? &queue->loss
            : &LIST_ENTRY(queue->chunks.last, struct stream_chunk, in_queue)->loss;
    if (loss->puts)
        loss->puts += lost->puts;
    else
        *loss = *lost;
    pthread_mutex_unlock(&streams->lock);
}

/* The hook, if there is one. */
static accl_stream_hook hook_of(struct streams *streams, void **argument)
{
    pthread_mutex_lock(&streams->lock);
    accl_stream_hook hook = streams->hook;
    *argument = streams->hook_argument;
    pthread_mutex_unlock(&streams->lock);
    return hook;
}

void acclib_stream_give(struct streams *streams, struct stream_chunk *chunk)
{
    pthread_mutex_lock(&streams->lock);
    accl_stream_hook hook = streams->hook;
    void *argument = streams->hook_argument;
    if (hook == NULL)
        queue_add(queue_of(streams), chunk);
    pthread_mutex_unlock(&streams->lock);

    if (hook == NULL)
        return;

    hook(argument, chunk->stream, chunk->data, chunk->bytes);
    free(chunk);
}

bool acclib_stream_deliver(struct streams *streams, uint32_t stream, const void *data, size_t bytes)
{
    void *argument;
    accl_stream_hook hook = hook_of(streams, &argument);
    if (hook != NULL) {
        hook(argument, stream, data, bytes);
        return true;
    }

    struct stream_chunk *chunk = chunk_of(stream, data, bytes);
    if (chunk != NULL)
        acclib_stream_give(streams, chunk);

    return chunk != NULL;
}

size_t acclib_stream_take(struct streams *streams, uint8_t *data, size_t bytes,
                          struct stream_loss *loss)
{
    struct stream_queue *queue = &streams->input;
    size_t have = 0;
    *loss = (struct stream_loss){0};
    pthread_mutex_lock(&streams->lock);
    struct stream_chunk *chunk;
    while (have < bytes && !queue_take_loss(queue, loss) && (chunk = queue_first(queue)) != NULL) {
        size_t n = chunk->bytes - chunk->taken;
        if (n > bytes - have)
            n = bytes - have;

        copy_memory(data + have, chunk->data + chunk->taken, n);
        have += n;
        chunk->taken += n;
        queue->bytes -= n;
        if (chunk->taken == chunk->bytes)
            queue_drop_first(queue);
    }
    pthread_mutex_unlock(&streams->lock);

    return have;
}

int acclib_stream_push(struct streams *streams, const void *data, size_t bytes)
{
    if (bytes > STREAM_MOST)
        return ACCL_INVALID;

    struct stream_chunk *chunk = chunk_of(0, data, bytes);
    if (chunk == NULL)
        return ACCL_NO_MEMORY;

    pthread_mutex_lock(&streams->lock);
    bool fits = streams->input.bytes + bytes <= STREAM_MOST;
    if (fits)
        queue_add(&streams->input, chunk);
    pthread_mutex_unlock(&streams->lock);

    if (!fits)
        free(chunk);

    return fits ? ACCL_OK : ACCL_INVALID;
}

int acclib_stream_pull(struct streams *streams, uint32_t *stream, void *data, size_t space,
                       size_t *bytes, struct stream_loss *loss)
{
    int status = ACCL_PENDING;
    pthread_mutex_lock(&streams->lock);
    struct stream_chunk *chunk = queue_first(&streams->output);
    if (queue_take_loss(&streams->output, loss)) {
        *stream = loss->stream;
        status = loss->cause == STREAM_LOST_NO_MEMORY ? ACCL_NO_MEMORY : ACCL_CALL_FAILED;
    } else if (chunk != NULL) {
        *stream = chunk->stream;
        *bytes = chunk->bytes;
        status = chunk->bytes > space ? ACCL_INVALID : ACCL_OK;
    }

    if (status == ACCL_OK) {
        if (chunk->bytes)
            copy_memory(data, chunk->data, chunk->bytes);
        queue_drop_first(&streams->output);
    }
    pthread_mutex_unlock(&streams->lock);

    return status;
}
