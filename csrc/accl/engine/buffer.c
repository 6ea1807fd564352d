/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers: device pages, host pages unless they are the same, and slices of both. */
#include <stdlib.h>
#include <string.h>

#include "accl/arithmetic/dtype.h"
#include "accl/base/device.h"
#include "accl/base/fork.h"
#include "common/copy.h"

struct accl_buffer {
    _Atomic uint32_t refs; /* of a root: itself and its slices */
    accl_buffer *root;     /* itself for one that is not a slice */
    struct heap *heap;
    uint64_t device_offset, host_offset;
    uint64_t bytes;
    uint32_t flags;
};

ACCL_EXPORT int accl_buffer_create(accl_device *device, uint64_t bytes, uint32_t dtype,
                                   uint32_t flags, accl_buffer **buffer)
{
    if (buffer == NULL)
        return acclib_is_null("accl_buffer_create", "buffer");

    *buffer = NULL;
    int status = acclib_device_check(device);
    if (status != ACCL_OK)
        return status;
    if (flags & ~(uint32_t)(ACCL_BUFFER_HOST_ONLY | ACCL_BUFFER_ZERO) ||
        (dtype != ACCL_NONE && acclib_dtype_bytes(dtype) == 0))
        return acclib_fail(ACCL_INVALID, "unknown buffer flags 0x%x or dtype %u", flags, dtype);

    accl_buffer *b = calloc(1, sizeof *b);
    if (b == NULL)
        return acclib_fail(ACCL_NO_MEMORY, "out of memory (buffer object)");

    struct heap *heap = device->heap;
    b->refs = 1;
    b->root = b;
    b->heap = heap;
    b->bytes = bytes;
    b->flags = flags & ACCL_BUFFER_HOST_ONLY;
    b->device_offset = acclib_heap_get(heap, bytes);
    bool apart = device->memory_mode == ACCL_MEMORY_SEPARATE && !b->flags;
    b->host_offset = apart && b->device_offset ? acclib_heap_get(heap, bytes) : b->device_offset;
    if (!b->host_offset) {
        if (b->device_offset)
            acclib_heap_put(heap, b->device_offset);
        free(b);
        return acclib_fail(
            ACCL_NO_MEMORY,
            "out of device memory (%llu bytes%s): the limit is that of the machine or of "
            "the device (memory_bytes)%s",
            (unsigned long long)bytes, apart ? " and as many on the host" : "",
            acclib_heap_limits());
    }

    if (flags & ACCL_BUFFER_ZERO) {
        memset(heap->base + b->device_offset, 0, bytes);
        if (apart)
            memset(heap->base + b->host_offset, 0, bytes);
    }

    if (apart)
        acclib_heap_set_host(heap, b->device_offset, b->host_offset);
    atomic_fetch_add(&heap->refs, 1);
    *buffer = b;

    return ACCL_OK;
}

ACCL_EXPORT int accl_buffer_slice(accl_buffer *buffer, uint64_t offset, uint64_t bytes,
                                  accl_buffer **slice)
{
    if (slice == NULL)
        return acclib_is_null("accl_buffer_slice", "slice");
    if (buffer == NULL)
        return acclib_is_null("accl_buffer_slice", "buffer");

    *slice = NULL;
    if (offset > buffer->bytes || bytes > buffer->bytes - offset)
        return acclib_fail(ACCL_INVALID, "bytes %llu to %llu of a buffer of %llu",
                           (unsigned long long)offset, (unsigned long long)(offset + bytes),
                           (unsigned long long)buffer->bytes);
    accl_buffer *s = malloc(sizeof *s);
    if (s == NULL)
        return acclib_fail(ACCL_NO_MEMORY, "out of memory (buffer object)");

    *s = (accl_buffer){.refs = 1,
                       .root = buffer->root,
                       .heap = buffer->heap,
                       .device_offset = buffer->device_offset + offset,
                       .host_offset = buffer->host_offset + offset,
                       .bytes = bytes,
                       .flags = buffer->flags};
    atomic_fetch_add(&buffer->root->refs, 1);
    *slice = s;

    return ACCL_OK;
}

ACCL_EXPORT void accl_buffer_free(accl_buffer *buffer)
{
    if (buffer == NULL)
        return;

    accl_buffer *root = buffer->root;
    if (buffer != root)
        free(buffer);
    if (atomic_fetch_sub(&root->refs, 1) != 1)
        return;

    struct heap *heap = root->heap;

    /* In a forked child the pages are still the parent's. */
    if (heap->fork_count == acclib_fork_count()) {
        if (root->host_offset != root->device_offset) {
            acclib_heap_set_host(heap, root->device_offset, 0);
            acclib_heap_put(heap, root->host_offset);
        }
        acclib_heap_put(heap, root->device_offset);
        acclib_heap_release(heap);
    }

    free(root);
}

ACCL_EXPORT void *accl_buffer_host(const accl_buffer *buffer)
{
    return buffer != NULL ? buffer->heap->base + buffer->host_offset : NULL;
}

ACCL_EXPORT uint64_t accl_buffer_address(const accl_buffer *buffer)
{
    return buffer != NULL ? ADDRESS_BASE + buffer->device_offset : ACCL_NO_ADDRESS;
}

ACCL_EXPORT uint64_t accl_buffer_bytes(const accl_buffer *buffer)
{
    return buffer != NULL ? buffer->bytes : 0;
}

ACCL_EXPORT uint32_t accl_buffer_flags(const accl_buffer *buffer)
{
    return buffer != NULL ? buffer->flags : 0;
}

static int sync_range(accl_buffer *buffer, uint64_t offset, uint64_t bytes, bool to_device)
{
    if (offset > buffer->bytes || bytes > buffer->bytes - offset)
        return acclib_fail(ACCL_INVALID, "bytes %llu to %llu of a buffer of %llu",
                           (unsigned long long)offset, (unsigned long long)(offset + bytes),
                           (unsigned long long)buffer->bytes);
    if (buffer->heap->fork_count != acclib_fork_count())
        return acclib_fail(ACCL_FORKED, "the buffer belongs to the parent process");
    if (buffer->host_offset == buffer->device_offset || bytes == 0)
        return ACCL_OK;

    uint8_t *host = buffer->heap->base + buffer->host_offset + offset;
    uint8_t *pages = buffer->heap->base + buffer->device_offset + offset;
    copy_memory(to_device ? pages : host, to_device ? host : pages, bytes);

    return ACCL_OK;
}

ACCL_EXPORT int accl_buffer_sync_to_device(accl_buffer *buffer, uint64_t offset, uint64_t bytes)
{
    if (buffer == NULL)
        return acclib_is_null("accl_buffer_sync_to_device", "buffer");
    return sync_range(buffer, offset, bytes, true);
}

ACCL_EXPORT int accl_buffer_sync_from_device(accl_buffer *buffer, uint64_t offset, uint64_t bytes)
{
    if (buffer == NULL)
        return acclib_is_null("accl_buffer_sync_from_device", "buffer");
    return sync_range(buffer, offset, bytes, false);
}

static int memory_range(accl_device *device, uint64_t address, uint64_t bytes)
{
    int status = acclib_device_check(device);
    if (status != ACCL_OK)
        return status;
    if (!acclib_heap_valid(device->heap, address, bytes))
        return acclib_fail(ACCL_INVALID,
                           "%llu bytes at device address 0x%llx are not inside one buffer",
                           (unsigned long long)bytes, (unsigned long long)address);
    return ACCL_OK;
}

ACCL_EXPORT int accl_memory_read(accl_device *device, uint64_t address, void *data, uint64_t bytes)
{
    if (data == NULL && bytes)
        return acclib_is_null("accl_memory_read", "data");

    int status = memory_range(device, address, bytes);
    if (status == ACCL_OK && bytes)
        copy_memory(data, device->heap->base + (address - ADDRESS_BASE), bytes);
    return status;
}

ACCL_EXPORT int accl_memory_write(accl_device *device, uint64_t address, const void *data,
                                  uint64_t bytes)
{
    if (data == NULL && bytes)
        return acclib_is_null("accl_memory_write", "data");

    int status = memory_range(device, address, bytes);
    if (status == ACCL_OK && bytes)
        copy_memory(device->heap->base + (address - ADDRESS_BASE), data, bytes);
    return status;
}

ACCL_EXPORT int accl_memory_info(accl_device *device, struct accl_memory_info *info)
{
    if (info == NULL)
        return acclib_is_null("accl_memory_info", "info");

    int status = acclib_device_check(device);
    if (status != ACCL_OK)
        return status;

    struct accl_memory_info full = {.size = info->size,
                                    .memory_mode = device->memory_mode,
                                    .capacity = device->heap->bytes - ARENA_HEADER_BYTES,
                                    .allocated = acclib_heap_used(device->heap),
                                    .base = ADDRESS_BASE + ARENA_HEADER_BYTES};
    memcpy(info, &full, info->size < sizeof full ? info->size : sizeof full);

    return ACCL_OK;
}
