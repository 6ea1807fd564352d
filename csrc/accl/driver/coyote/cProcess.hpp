/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands in for the header of Coyote, which the vendor's driver includes whether there is such a
 * shell or not. This driver is for XRT boards and the emulator: whoever asks for a Coyote device
 * gets an exception.
 */
#ifndef ACCL_DRIVER_COYOTE_HPP
#define ACCL_DRIVER_COYOTE_HPP

#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <unistd.h>
#include <unordered_map>
#include <vector>

namespace fpga
{

enum class CoyoteAlloc { HUGE_2M };
enum class CoyoteOper { SYNC, OFFLOAD };

struct csAlloc {
    CoyoteAlloc kind;
    unsigned long pages;
};

struct csInvoke {
    CoyoteOper operation;
    void *address;
    uint32_t bytes;
    bool clear, poll;
    uint32_t destination;
    bool stream;
};

class cProcess
{
  public:
    cProcess(int, pid_t)
    {
        refuse();
    }
    void *getMem(const csAlloc &)
    {
        return refuse();
    }
    void freeMem(void *)
    {
    }
    void invoke(const csInvoke &)
    {
        refuse();
    }
    uint64_t getCSR(uint64_t)
    {
        refuse();
        return 0;
    }
    void setCSR(uint64_t, uint64_t)
    {
        refuse();
    }
    int getCpid() const
    {
        return 0;
    }
    void printDebug()
    {
    }

  private:
    static void *refuse()
    {
        throw std::runtime_error("this build of the driver is without Coyote");
        return nullptr;
    }
};

} // namespace fpga

#endif
