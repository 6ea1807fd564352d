/* SPDX-License-Identifier: BSD-3-Clause */
/* The device of programs for ACCL's simulator: the soft engine, or the vendor's emulator. */
#ifndef ACCL_CPP_SIMDEVICE_HPP
#define ACCL_CPP_SIMDEVICE_HPP

#include <string>

#include <xrt/xrt_device.h>

#include "engine.hpp"

namespace ACCL
{

class SimDevice : public detail::Engine
{
  public:
    /* The emulator of rank R listens at port START_PORT + R; the soft engine has no port. */
    SimDevice(unsigned int start_port, unsigned int local_rank) : Engine(sim_device)
    {
        open("tcp://localhost:" + std::to_string(start_port + local_rank));
    }
    /* For SimBuffer. */
    detail::Session *get_context()
    {
        return session().get();
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
