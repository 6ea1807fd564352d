/* SPDX-License-Identifier: BSD-3-Clause */
/* XRT's header of this name where XRT is installed, else the stand-in for it. */
#ifndef ACCL_CPP_XRT_BO_H
#define ACCL_CPP_XRT_BO_H
#pragma GCC system_header

#if __has_include_next(<xrt/xrt_device.h>)
#include_next <xrt/xrt_bo.h>
#else
#include "../accl/xrt_stand_in.hpp"
#endif

#endif
