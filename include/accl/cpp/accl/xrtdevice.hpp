/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device of programs for boards. Without one the soft engine takes its place, and nothing but
 * calls can be made: kernels beside the engine are code of an FPGA.
 */
#ifndef ACCL_CPP_XRTDEVICE_HPP
#define ACCL_CPP_XRTDEVICE_HPP

#include <experimental/xrt_ip.h>
#include <xrt/xrt_device.h>
#include <xrt/xrt_kernel.h>

#include "engine.hpp"

namespace ACCL
{

class XRTDevice : public detail::Engine
{
  public:
    XRTDevice(xrt::ip &, xrt::kernel &, xrt::device &device) : Engine(xrt_device), device_(device)
    {
#ifdef ACCL_XRT_STAND_IN
        open("", device.xclbin(), device.index());
#else
        open("");
#endif
    }
    xrt::device *get_device()
    {
        return &device_;
    }

  private:
    xrt::device device_;
};

} // namespace ACCL

#endif
