/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of a SimDevice by the name that programs use. */
#ifndef ACCL_CPP_SIMBUFFER_HPP
#define ACCL_CPP_SIMBUFFER_HPP

#include "enginebuffer.hpp"

namespace ACCL
{

template <typename dtype> class SimBuffer : public EngineBuffer<dtype>
{
  public:
    /* CONTEXT is SimDevice::get_context(). */
    SimBuffer(size_t length, dataType type, detail::Session *context, bool is_host = false,
              unsigned int memory_group = 0)
        : SimBuffer(nullptr, length, type, context, is_host, memory_group)
    {
    }
    SimBuffer(dtype *array, size_t length, dataType type, detail::Session *context,
              bool is_host = false, unsigned int = 0)
        : EngineBuffer<dtype>(context->shared_from_this(), array, length, type, true, is_host)
    {
    }
};

} // namespace ACCL

#endif
