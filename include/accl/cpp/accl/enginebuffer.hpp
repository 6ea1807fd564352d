/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers in the memory of a device, which is what ACCL::create_buffer() makes. */
#ifndef ACCL_CPP_ENGINEBUFFER_HPP
#define ACCL_CPP_ENGINEBUFFER_HPP

#include <string>

#include <xrt/xrt_bo.h>

#include "buffer.hpp"
#include "session.hpp"

namespace ACCL
{
namespace detail
{

inline size_t bytes_of(size_t length, size_t bytes)
{
    if (length > SIZE_MAX / bytes)
        fail(ACCL_NO_MEMORY, "a buffer of " + std::to_string(length) + " elements is too large");
    return length * bytes;
}

#ifdef ACCL_XRT_STAND_IN
/* Makes the device memory of a buffer object that of a buffer. */
class Pages : public xrt::stand_in::pages
{
  public:
    explicit Pages(std::shared_ptr<Memory> memory) : memory_(std::move(memory))
    {
    }
    const std::shared_ptr<Memory> &memory() const
    {
        return memory_;
    }
    void write(size_t offset, const void *data, size_t bytes) override
    {
        memory_->write(offset, data, bytes);
    }
    void read(size_t offset, void *data, size_t bytes) override
    {
        memory_->read(offset, data, bytes);
    }
    uint64_t address() const override
    {
        return memory_->address();
    }

  private:
    std::shared_ptr<Memory> memory_;
};
#endif

} // namespace detail

template <typename dtype> class EngineBuffer : public Buffer<dtype>
{
  public:
    /* The LENGTH elements that begin at byte OFFSET of MEMORY. */
    EngineBuffer(std::shared_ptr<detail::Memory> memory, size_t offset, size_t length,
                 dataType type, bool simulated, xrt::bo bo = xrt::bo())
        : Buffer<dtype>(reinterpret_cast<dtype *>(static_cast<char *>(memory->host()) + offset),
                        length, type, memory->address() + offset),
          memory_(std::move(memory)), offset_(offset), simulated_(simulated), bo_(std::move(bo))
    {
    }
    /* Of the library's pages, filled with zeros, or of ARRAY, which is to outlive the buffer. */
    EngineBuffer(std::shared_ptr<detail::Session> session, dtype *array, size_t length,
                 dataType type, bool simulated, bool host_only)
        : EngineBuffer(std::make_shared<detail::Memory>(std::move(session),
                                                        detail::bytes_of(length, sizeof(dtype)),
                                                        type, host_only, array),
                       0, length, type, simulated)
    {
    }
    /* Of the memory of a buffer object. */
    EngineBuffer(const std::shared_ptr<detail::Session> &session, xrt::bo &bo, size_t length,
                 dataType type, bool simulated)
        : EngineBuffer(attach(session, bo, detail::bytes_of(length, sizeof(dtype)), type),
                       offset_in(bo), length, type, simulated, bo)
    {
    }

    xrt::bo *bo()
    {
        return bo_ ? &bo_ : nullptr;
    }
    bool is_simulated() const override
    {
        return simulated_;
    }
    bool is_host_only() const override
    {
        return memory_->host_only();
    }
    void sync_from_device() override
    {
        memory_->from_device(offset_, this->_size);
    }
    void sync_to_device() override
    {
        memory_->to_device(offset_, this->_size);
    }
    void sync_first_from_device(size_t n) override
    {
        within(0, n);
        memory_->from_device(offset_, n * sizeof(dtype));
    }
    void sync_first_to_device(size_t n) override
    {
        within(0, n);
        memory_->to_device(offset_, n * sizeof(dtype));
    }
    void free_buffer() override
    {
    }
    std::unique_ptr<BaseBuffer> slice(size_t start, size_t end) override
    {
        within(start, end);
        return std::make_unique<EngineBuffer>(memory_, offset_ + start * sizeof(dtype), end - start,
                                              this->_type, simulated_, bo_);
    }

  private:
    std::shared_ptr<detail::Memory> memory_;
    size_t offset_; /* in bytes */
    bool simulated_;
    xrt::bo bo_;

    void within(size_t start, size_t end) const
    {
        if (start > end || end > this->_length)
            detail::fail(ACCL_INVALID, "elements " + std::to_string(start) + " to " +
                                           std::to_string(end) + " of a buffer of " +
                                           std::to_string(this->_length) +
                                           ": make the buffer larger, or the count smaller");
    }

    static std::shared_ptr<detail::Memory> attach(const std::shared_ptr<detail::Session> &session,
                                                  xrt::bo &bo, size_t bytes, dataType type)
    {
        if (bytes > bo.size())
            detail::fail(ACCL_INVALID, "a buffer of " + std::to_string(bytes) +
                                           " bytes in a buffer object of " +
                                           std::to_string(bo.size()));
#ifdef ACCL_XRT_STAND_IN
        xrt::stand_in::object &object = *bo.get_handle();
        auto *had = dynamic_cast<detail::Pages *>(object.device.get());
        if (had != nullptr && had->memory()->session() == session)
            return had->memory();

        // The content of the device memory so far moves along.
        auto memory = std::make_shared<detail::Memory>(
            session, object.bytes, type, bo.get_flags() == xrt::bo::flags::host_only, object.host);
        std::unique_ptr<char[]> content(new char[object.bytes]);
        object.device->read(0, content.get(), object.bytes);
        memory->write(0, content.get(), object.bytes);
        object.device = std::make_shared<detail::Pages>(memory);
        return memory;
#else
        // The memory of a board is out of reach: syncs are with the host's side of the object.
        return std::make_shared<detail::Memory>(session, bytes, type, false, bo.map<char *>());
#endif
    }
    static size_t offset_in(const xrt::bo &bo)
    {
#ifdef ACCL_XRT_STAND_IN
        return bo.get_offset();
#else
        (void)bo;
        return 0;
#endif
    }
};

} // namespace ACCL

#endif
