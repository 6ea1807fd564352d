/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/engine/stream.h"

#include <time.h>

#include "accl/transport/executor.h"
#include "accl/transport/transport.h"
#include "accl/transport/wait.h"
#include "accl/transport/wake.h"
#include "common/clock.h"

static uint32_t read_failed(accl_device *device, const struct stream_loss *loss)
{
    char text[256];
    acclib_stream_describe_loss(loss, text, sizeof text);
    uint32_t bits = loss->cause == STREAM_LOST_NO_MEMORY
                        ? ACCL_ERROR(DMA_INTERNAL_ERROR)
                        : ACCL_ERROR(DEQUEUE_BUFFER_SPARE_BUFFER_INDEX_ERROR);
    return acclib_call_fail(device, bits, "%s", text);
}

uint32_t acclib_stream_read(accl_device *device, uint8_t *data, uint64_t bytes)
{
    struct waiter w;
    struct stream_loss loss;
    uint32_t bits = 0;
    uint64_t have = 0;

    acclib_wait_begin(&w, device, NULL, NO_RANK, false, ACCL_ERROR(KRNL_TIMEOUT_STS_ERROR));
    for (;;) {
        acclib_transport_progress(device);
        have += acclib_stream_take(&device->streams, data + have, bytes - have, &loss);
        if (loss.puts)
            bits = read_failed(device, &loss);
        if (have >= bytes || bits || (bits = acclib_wait_pause(&w)))
            break;
    }
    acclib_wait_end(&w);

    if (bits == ACCL_ERROR(KRNL_TIMEOUT_STS_ERROR) && !device->text[0])
        acclib_call_fail(device, bits, "the kernel stream had %llu of %llu bytes after %u ms",
                         (unsigned long long)have, (unsigned long long)bytes, device->timeout_ms);

    return bits;
}

ACCL_EXPORT int accl_stream_mode(accl_device *device, int mode, accl_stream_hook hook,
                                 void *argument)
{
    int status = acclib_device_check(device);
    if (status != ACCL_OK)
        return status;
    if (mode < ACCL_STREAM_LOOPBACK || mode > ACCL_STREAM_QUEUE ||
        (mode == ACCL_STREAM_HOOK && hook == NULL))
        return acclib_fail(ACCL_INVALID, "stream mode %d%s", mode,
                           mode == ACCL_STREAM_HOOK ? " without a hook" : " does not exist");

    acclib_streams_set_mode(&device->streams, mode, hook, argument);
    return ACCL_OK;
}

ACCL_EXPORT int accl_stream_push(accl_device *device, const void *data, size_t bytes)
{
    if (data == NULL && bytes)
        return acclib_is_null("accl_stream_push", "data");

    int status = acclib_device_check(device);
    if (status != ACCL_OK)
        return status;

    switch (acclib_stream_push(&device->streams, data, bytes)) {
    case ACCL_OK: return ACCL_OK;
    case ACCL_INVALID:
        return acclib_fail(ACCL_NO_MEMORY, "the stream holds no more than %zu bytes", STREAM_MOST);
    default: return acclib_fail(ACCL_NO_MEMORY, "out of memory (%zu bytes of a stream)", bytes);
    }
}

/* Takes what has arrived, unless another thread is the executor and does so. */
static void progress(accl_device *device)
{
    if (!device->ranks || !executor_try(device))
        return;

    acclib_transport_progress(device);
    acclib_wake_flush(device);
    acclib_executor_leave(device);
}

ACCL_EXPORT int accl_stream_pull(accl_device *device, uint32_t *stream, void *data, size_t space,
                                 size_t *bytes, int64_t timeout_ns)
{
    if (stream == NULL)
        return acclib_is_null("accl_stream_pull", "stream");
    if (bytes == NULL)
        return acclib_is_null("accl_stream_pull", "bytes");
    if (data == NULL && space)
        return acclib_is_null("accl_stream_pull", "data");

    *stream = 0;
    *bytes = 0;
    int status = acclib_device_check(device);
    if (status != ACCL_OK)
        return status;

    int64_t deadline = clock_deadline(timeout_ns);
    for (;;) {
        struct stream_loss loss;
        char text[256];
        progress(device);
        status = acclib_stream_pull(&device->streams, stream, data, space, bytes, &loss);
        switch (status) {
        case ACCL_OK: return ACCL_OK;
        case ACCL_INVALID:
            return acclib_fail(ACCL_INVALID, "the message has %zu bytes, the buffer %zu", *bytes,
                               space);
        case ACCL_NO_MEMORY:
        case ACCL_CALL_FAILED:
            acclib_stream_describe_loss(&loss, text, sizeof text);
            return acclib_fail(status, "%s", text);
        default: break;
        }

        if (clock_now() >= deadline)
            return ACCL_PENDING;
        if (atomic_load(&device->closed))
            return acclib_fail(ACCL_CLOSED, "the device was closed");
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
}
