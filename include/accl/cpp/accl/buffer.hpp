/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers: an array on the host, and as many bytes of device memory. Syncs copy between the two; a
 * buffer that is host-only has one memory.
 */
#ifndef ACCL_CPP_BUFFER_HPP
#define ACCL_CPP_BUFFER_HPP

#include <memory>

#include "constants.hpp"

namespace ACCL
{

/* A buffer of elements of any type. */
class BaseBuffer
{
  public:
    BaseBuffer(void *byte_array, size_t size, dataType type, addr_t address)
        : _byte_array(byte_array), _size(size), _type(type), _address(address)
    {
    }
    virtual ~BaseBuffer()
    {
    }

    virtual void sync_from_device() = 0;
    virtual void sync_to_device() = 0;
    /* Memory is freed with the object. */
    virtual void free_buffer() = 0;
    virtual bool is_simulated() const = 0;
    virtual bool is_host_only() const = 0;
    virtual void sync_bo_to_device()
    {
    }
    virtual void sync_bo_from_device()
    {
    }
    /* The elements from START to before END, in the same memory. */
    virtual std::unique_ptr<BaseBuffer> slice(size_t start, size_t end) = 0;

    /* The first N elements only. */
    virtual void sync_first_from_device(size_t n)
    {
        slice(0, n)->sync_from_device();
    }
    virtual void sync_first_to_device(size_t n)
    {
        slice(0, n)->sync_to_device();
    }

    /* In bytes. */
    size_t size() const
    {
        return _size;
    }
    dataType type() const
    {
        return _type;
    }
    void *byte_array() const
    {
        return _byte_array;
    }
    addr_t address() const
    {
        return _address;
    }

  protected:
    void *_byte_array;
    const size_t _size;
    const dataType _type;
    addr_t _address;
};

template <typename dtype> class Buffer : public BaseBuffer
{
  public:
    Buffer(dtype *buffer, size_t length, dataType type, addr_t address)
        : BaseBuffer(buffer, length * sizeof(dtype), type, address), _buffer(buffer),
          _length(length)
    {
    }

    size_t length() const
    {
        return _length;
    }
    dtype *buffer() const
    {
        return _buffer;
    }
    dtype &operator[](size_t i) const
    {
        return _buffer[i];
    }

  protected:
    dtype *_buffer;
    const size_t _length;

    void update_buffer(dtype *buffer, addr_t address)
    {
        _buffer = buffer;
        _byte_array = buffer;
        _address = address;
    }
};

} // namespace ACCL

#endif
