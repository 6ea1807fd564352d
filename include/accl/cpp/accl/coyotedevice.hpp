/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device of programs for boards with the Coyote shell. The soft engine takes its place; queue
 * pairs and processes of Coyote are not there.
 */
#ifndef ACCL_CPP_COYOTEDEVICE_HPP
#define ACCL_CPP_COYOTEDEVICE_HPP

#include "engine.hpp"

namespace ACCL
{

class CoyoteDevice : public detail::Engine
{
  public:
    explicit CoyoteDevice(unsigned int queue_pairs = 0) : Engine(coyote_device), num_qp(queue_pairs)
    {
        open("");
    }

    unsigned int num_qp;
};

} // namespace ACCL

#endif
