/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of an XRT device that no engine knows, as programs make them for network kernels. Calls
 * refuse them: ACCL::create_buffer() makes buffers of an engine, of buffer objects too.
 */
#ifndef ACCL_CPP_XRTBUFFER_HPP
#define ACCL_CPP_XRTBUFFER_HPP

#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>

#include "buffer.hpp"

namespace ACCL
{

template <typename dtype> class XRTBuffer : public Buffer<dtype>
{
  public:
    XRTBuffer(addr_t length, dataType type, xrt::device &device, xrt::memory_group group)
        : XRTBuffer(xrt::bo(device, length * sizeof(dtype), group), length, type)
    {
    }
    XRTBuffer(addr_t length, dataType type, xrt::device &device, xrt::bo::flags flags,
              xrt::memory_group group)
        : XRTBuffer(xrt::bo(device, length * sizeof(dtype), flags, group), length, type)
    {
    }
    XRTBuffer(xrt::bo bo, addr_t length, dataType type)
        : Buffer<dtype>(bo.map<dtype *>(), length, type, ACCL_NO_ADDRESS), bo_(std::move(bo))
    {
    }

    xrt::bo *bo()
    {
        return &bo_;
    }
    bool is_simulated() const override
    {
        return false;
    }
    bool is_host_only() const override
    {
        return bo_.get_flags() == xrt::bo::flags::host_only;
    }
    void sync_from_device() override
    {
        bo_.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
    }
    void sync_to_device() override
    {
        bo_.sync(XCL_BO_SYNC_BO_TO_DEVICE);
    }
    void free_buffer() override
    {
    }
    std::unique_ptr<BaseBuffer> slice(size_t start, size_t end) override
    {
        size_t bytes = (end - start) * sizeof(dtype);
        return std::make_unique<XRTBuffer>(xrt::bo(bo_, bytes, start * sizeof(dtype)), end - start,
                                           this->_type);
    }

  private:
    xrt::bo bo_;
};

} // namespace ACCL

#endif
