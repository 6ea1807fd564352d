/* SPDX-License-Identifier: BSD-3-Clause */
/* A buffer of nothing. */
#ifndef ACCL_CPP_DUMMYBUFFER_HPP
#define ACCL_CPP_DUMMYBUFFER_HPP

#include "buffer.hpp"

namespace ACCL
{

class DummyBuffer : public BaseBuffer
{
  public:
    explicit DummyBuffer(addr_t address = 0) : BaseBuffer(nullptr, 0, dataType::none, address)
    {
    }
    bool is_simulated() const override
    {
        return false;
    }
    bool is_host_only() const override
    {
        return false;
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
    std::unique_ptr<BaseBuffer> slice(size_t, size_t) override
    {
        return std::make_unique<DummyBuffer>();
    }
};

} // namespace ACCL

#endif
