/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of the driver, slices of them, and memory by address. */
#include <cstring>

#include "driver.hpp"

namespace driver
{

size_t element_bytes(uint32_t dtype)
{
    switch (dtype) {
#define BYTES_CASE(name, value, bytes, text, arithmetic) \
    case value: return bytes;
        ACCL_DTYPE_LIST(BYTES_CASE)
    default: return 0;
    }
}

const char *element_name(uint32_t dtype)
{
    switch (dtype) {
#define NAME_CASE(name, value, bytes, text, arithmetic) \
    case value: return text;
        ACCL_DTYPE_LIST(NAME_CASE)
    default: return "an unknown type";
    }
}

/* The numbers are the driver's own, up to the last type that it has: what is only moved goes as an
 * integer of that size, or as two. */
ACCL::dataType data_type(uint32_t dtype)
{
    if (dtype <= ACCL_INT64)
        return static_cast<ACCL::dataType>(dtype);
    switch (element_bytes(dtype)) {
    case 1: return ACCL::dataType::int8;
    case 2: return ACCL::dataType::float16;
    case 4: return ACCL::dataType::int32;
    default: return ACCL::dataType::int64;
    }
}

/*
 * Part of a buffer, with the element type of a call. The driver looks at type and address only; as
 * syncs are calls of their own here, it is never asked to make one.
 */
class View : public ACCL::BaseBuffer
{
  public:
    View(std::shared_ptr<ACCL::BaseBuffer> root, uint64_t offset, uint64_t bytes, uint32_t dtype)
        : ACCL::BaseBuffer(static_cast<uint8_t *>(root->byte_array()) + offset, bytes,
                           data_type(dtype), root->address() + offset),
          root_(std::move(root)), offset_(offset), dtype_(dtype)
    {
    }
    void sync_from_device() override
    {
    }
    void sync_to_device() override
    {
    }
    void free_buffer() override
    {
    }
    bool is_simulated() const override
    {
        return root_->is_simulated();
    }
    bool is_host_only() const override
    {
        return root_->is_host_only();
    }
    void sync_bo_to_device() override
    {
        root_->sync_bo_to_device();
    }
    void sync_bo_from_device() override
    {
        root_->sync_bo_from_device();
    }
    std::unique_ptr<ACCL::BaseBuffer> slice(size_t start, size_t end) override
    {
        size_t size = element_bytes(dtype_);
        return std::make_unique<View>(root_, offset_ + start * size, (end - start) * size, dtype_);
    }

  private:
    std::shared_ptr<ACCL::BaseBuffer> root_;
    uint64_t offset_;
    uint32_t dtype_;
};

/* The root that has [ADDRESS, +BYTES), and where; with the memory lock held. */
static accl_buffer *find(Device &device, uint64_t address, uint64_t bytes, uint64_t *offset)
{
    auto next = device.buffers.upper_bound(address);
    if (next == device.buffers.begin())
        return nullptr;
    accl_buffer *root = std::prev(next)->second;
    *offset = address - root->memory->address();
    return *offset <= root->bytes && bytes <= root->bytes - *offset ? root : nullptr;
}

std::unique_ptr<ACCL::BaseBuffer> view(Device &device, uint64_t address, uint64_t count,
                                       uint32_t dtype)
{
    size_t size = element_bytes(dtype);
    uint64_t offset = 0;
    std::lock_guard<std::mutex> guard(device.memory_lock);
    if (!size || count > UINT64_MAX / size)
        return nullptr;
    accl_buffer *root = find(device, address, count * size, &offset);
    if (!root)
        return nullptr;
    return std::make_unique<View>(root->memory, offset, count * size, dtype);
}

std::unique_ptr<ACCL::BaseBuffer> scratch(Device &device, uint64_t count, uint32_t dtype)
{
    uint64_t bytes = count * element_bytes(dtype);
    if (!device.scratch || device.scratch->size() < bytes) {
        if (device.scratch)
            device.scratch->free_buffer();
        device.scratch.reset();
        device.scratch = device.driver->create_buffer<int8_t>(bytes, ACCL::dataType::int8);
    }
    return std::make_unique<View>(device.scratch, 0, bytes, dtype);
}

void release_driver(Device &device)
{
    if (device.scratch)
        device.scratch->free_buffer();
    device.scratch.reset();
    device.driver.reset();
}

/* Copies a range between host and device. */
static int sync(const accl_buffer *b, uint64_t offset, uint64_t bytes, bool to_device)
{
    if (offset > b->bytes || bytes > b->bytes - offset)
        return fail(ACCL_INVALID, "a range beyond the buffer");
    if (!bytes)
        return ACCL_OK;
    return guarded([&] {
        std::lock_guard<std::mutex> guard(b->d->driver_lock);
        uint64_t start = b->offset + offset;
        /* Roots are made of bytes. A driver without slices gets all of it. */
        std::unique_ptr<ACCL::BaseBuffer> part;
        if (start != 0 || bytes != b->memory->size())
            part = b->memory->slice(start, start + bytes);
        ACCL::BaseBuffer &memory = part ? *part : *b->memory;
        if (to_device)
            memory.sync_to_device();
        else
            memory.sync_from_device();
        return static_cast<int>(ACCL_OK);
    });
}

} // namespace driver

using namespace driver;

ACCL_EXPORT int accl_buffer_create(accl_device *device, uint64_t bytes, uint32_t dtype,
                                   uint32_t flags, accl_buffer **buffer)
{
    *buffer = nullptr;
    if ((dtype != ACCL_NONE && element_bytes(dtype) == 0) ||
        flags & ~static_cast<uint32_t>(ACCL_BUFFER_HOST_ONLY | ACCL_BUFFER_ZERO))
        return fail(ACCL_INVALID, "unknown buffer flags or dtype");
    Device &d = *device->d;
    if (!d.driver)
        return fail(ACCL_NOT_READY, "create a communicator first: the driver has no memory before");
    return guarded([&] {
        auto b = std::make_unique<accl_buffer>();
        b->d = device->d;
        b->offset = 0;
        b->bytes = bytes;
        b->flags = flags & ACCL_BUFFER_HOST_ONLY;
        b->is_root = true;
        b->users = std::make_shared<int>(0);
        size_t length = bytes ? bytes : 1;
        {
            std::lock_guard<std::mutex> guard(d.driver_lock);
            if (b->flags)
                b->memory = d.driver->create_buffer_host<int8_t>(length, ACCL::dataType::int8);
            else
                b->memory = d.driver->create_buffer<int8_t>(length, ACCL::dataType::int8);
        }
        if (!b->memory)
            return fail(ACCL_NO_MEMORY, "the driver returned no buffer");
        if (flags & ACCL_BUFFER_ZERO) {
            std::memset(b->memory->byte_array(), 0, length);
            int status = sync(b.get(), 0, bytes, true);
            if (status != ACCL_OK)
                return status;
        }
        std::lock_guard<std::mutex> guard(d.memory_lock);
        d.buffers[b->memory->address()] = b.get();
        *buffer = b.release();
        return static_cast<int>(ACCL_OK);
    });
}

ACCL_EXPORT int accl_buffer_slice(accl_buffer *buffer, uint64_t offset, uint64_t bytes,
                                  accl_buffer **slice)
{
    *slice = nullptr;
    if (offset > buffer->bytes || bytes > buffer->bytes - offset)
        return fail(ACCL_INVALID, "a slice beyond the buffer");
    return guarded([&] {
        auto s = std::make_unique<accl_buffer>(*buffer);
        s->offset += offset;
        s->bytes = bytes;
        s->is_root = false;
        *slice = s.release();
        return static_cast<int>(ACCL_OK);
    });
}

ACCL_EXPORT void accl_buffer_free(accl_buffer *buffer)
{
    if (!buffer)
        return;
    std::shared_ptr<Device> d = buffer->d;
    {
        std::lock_guard<std::mutex> guard(d->memory_lock);
        if (buffer->is_root)
            d->buffers.erase(buffer->memory->address());
    }
    bool last = buffer->users.use_count() == 1;
    guarded([&] {
        std::lock_guard<std::mutex> guard(d->driver_lock);
        /* Without its driver the memory is already freed. */
        if (last && d->driver)
            buffer->memory->free_buffer();
        delete buffer;
        return 0;
    });
}

ACCL_EXPORT void *accl_buffer_host(const accl_buffer *buffer)
{
    return static_cast<uint8_t *>(buffer->memory->byte_array()) + buffer->offset;
}

ACCL_EXPORT uint64_t accl_buffer_address(const accl_buffer *buffer)
{
    return buffer->memory->address() + buffer->offset;
}

ACCL_EXPORT uint64_t accl_buffer_bytes(const accl_buffer *buffer)
{
    return buffer->bytes;
}

ACCL_EXPORT uint32_t accl_buffer_flags(const accl_buffer *buffer)
{
    return buffer->flags;
}

ACCL_EXPORT int accl_buffer_sync_to_device(accl_buffer *buffer, uint64_t offset, uint64_t bytes)
{
    return sync(buffer, offset, bytes, true);
}

ACCL_EXPORT int accl_buffer_sync_from_device(accl_buffer *buffer, uint64_t offset, uint64_t bytes)
{
    return sync(buffer, offset, bytes, false);
}

/* Through the buffer's host side: the driver has no other way. */
static int by_address(accl_device *device, uint64_t address, void *data, uint64_t bytes, bool write)
{
    accl_buffer part;
    {
        std::lock_guard<std::mutex> guard(device->d->memory_lock);
        uint64_t offset = 0;
        accl_buffer *root = find(*device->d, address, bytes, &offset);
        if (!root)
            return fail(ACCL_INVALID, "no buffer is at that address");
        part = *root;
        part.offset = offset;
        part.bytes = bytes;
    }
    if (write)
        std::memcpy(accl_buffer_host(&part), data, bytes);
    int status = sync(&part, 0, bytes, write);
    if (status == ACCL_OK && !write)
        std::memcpy(data, accl_buffer_host(&part), bytes);
    return status;
}

ACCL_EXPORT int accl_memory_read(accl_device *device, uint64_t address, void *data, uint64_t bytes)
{
    return by_address(device, address, data, bytes, false);
}

ACCL_EXPORT int accl_memory_write(accl_device *device, uint64_t address, const void *data,
                                  uint64_t bytes)
{
    return by_address(device, address, const_cast<void *>(data), bytes, true);
}

ACCL_EXPORT int accl_memory_info(accl_device *device, struct accl_memory_info *info)
{
    struct accl_memory_info full = {};
    full.size = info->size;
    full.memory_mode = ACCL_MEMORY_SEPARATE;
    std::lock_guard<std::mutex> guard(device->d->memory_lock);
    for (const auto &entry : device->d->buffers)
        full.allocated += entry.second->bytes;
    std::memcpy(info, &full, info->size < sizeof full ? info->size : sizeof full);
    return ACCL_OK;
}
