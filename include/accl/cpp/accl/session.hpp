/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device of accl.h, and the memory of buffers. Buffers share it with the ACCL object, and so may
 * outlive that.
 */
#ifndef ACCL_CPP_SESSION_HPP
#define ACCL_CPP_SESSION_HPP

#include <memory>
#include <utility>

#include "errors.hpp"

namespace ACCL
{
namespace detail
{

class Session : public std::enable_shared_from_this<Session>
{
  public:
    explicit Session(const accl_config &config)
    {
        check(accl_open(&config, &device_));
    }
    ~Session()
    {
        close();
    }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    void close() noexcept
    {
        accl_close(std::exchange(device_, nullptr));
    }
    /* Throws if it was closed. */
    accl_device *device() const
    {
        if (device_ == nullptr)
            fail(ACCL_CLOSED, "the ACCL object is gone, or deinit() was called: make another one");
        return device_;
    }

  private:
    accl_device *device_ = nullptr;
};

/* Device memory with its host pages, which are the library's or an array of the caller. */
class Memory
{
  public:
    Memory(std::shared_ptr<Session> session, size_t bytes, dataType type, bool host_only,
           void *array = nullptr)
        : session_(std::move(session)), array_(static_cast<char *>(array))
    {
        uint32_t flags = ACCL_BUFFER_ZERO;

        if (host_only)
            flags |= ACCL_BUFFER_HOST_ONLY;
        check(accl_buffer_create(session_->device(), bytes, static_cast<uint32_t>(type), flags,
                                 &buffer_));
    }
    ~Memory()
    {
        accl_buffer_free(buffer_);
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;

    const std::shared_ptr<Session> &session() const
    {
        return session_;
    }
    void *host() const
    {
        return array_ != nullptr ? array_ : accl_buffer_host(buffer_);
    }
    addr_t address() const
    {
        return accl_buffer_address(buffer_);
    }
    bool host_only() const
    {
        return (accl_buffer_flags(buffer_) & ACCL_BUFFER_HOST_ONLY) != 0;
    }
    void to_device(size_t offset, size_t bytes)
    {
        if (array_ != nullptr)
            write(offset, array_ + offset, bytes);
        else
            check(accl_buffer_sync_to_device(buffer_, offset, bytes));
    }
    void from_device(size_t offset, size_t bytes)
    {
        if (array_ != nullptr)
            read(offset, array_ + offset, bytes);
        else
            check(accl_buffer_sync_from_device(buffer_, offset, bytes));
    }
    /* Past the host pages. */
    void write(size_t offset, const void *data, size_t bytes)
    {
        check(accl_memory_write(session_->device(), address() + offset, data, bytes));
    }
    void read(size_t offset, void *data, size_t bytes)
    {
        check(accl_memory_read(session_->device(), address() + offset, data, bytes));
    }

  private:
    std::shared_ptr<Session> session_;
    char *array_;
    accl_buffer *buffer_ = nullptr;
};

} // namespace detail
} // namespace ACCL

#endif
