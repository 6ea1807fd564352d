/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of a CoyoteDevice by the name that programs use. */
#ifndef ACCL_CPP_COYOTEBUFFER_HPP
#define ACCL_CPP_COYOTEBUFFER_HPP

#include "coyotedevice.hpp"
#include "enginebuffer.hpp"

namespace ACCL
{

template <typename dtype> class CoyoteBuffer : public EngineBuffer<dtype>
{
  public:
    CoyoteBuffer(size_t length, dataType type, CCLO *device)
        : EngineBuffer<dtype>(dynamic_cast<detail::Engine &>(*device).session(), nullptr, length,
                              type, false, false)
    {
    }
};

} // namespace ACCL

#endif
