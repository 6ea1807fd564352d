/* SPDX-License-Identifier: BSD-3-Clause */
/* CCLO: what executes calls, as a table of functions; and a call with all its settings. */
#ifndef ACCL_CPP_CCLO_HPP
#define ACCL_CPP_CCLO_HPP

#include <chrono>
#include <vector>

#include "arithconfig.hpp"
#include "buffer.hpp"
#include "constants.hpp"

namespace ACCL
{

class CCLO
{
  public:
    struct Options {
        operation scenario = operation::nop;
        unsigned int count = 1;
        unsigned int comm = 0; /* address of a communicator in exchange memory */
        unsigned int root_src_dst = 0;
        cfgFunc cfg_function = cfgFunc::reset_periph;
        reduceFunction reduce_function = reduceFunction::SUM;
        unsigned int tag = TAG_ANY;
        addr_t arithcfg_addr = 0; /* has no effect */
        dataType compress_dtype = dataType::none;
        compressionFlags compression_flags = compressionFlags::NO_COMPRESSION;
        streamFlags stream_flags = streamFlags::NO_STREAM;
        hostFlags host_flags = hostFlags::NO_HOST;
        BaseBuffer *addr_0 = nullptr; /* operands, and the result */
        BaseBuffer *addr_1 = nullptr;
        BaseBuffer *addr_2 = nullptr;
        dataType data_type_io_0 = dataType::none; /* of streams in their place */
        dataType data_type_io_1 = dataType::none;
        dataType data_type_io_2 = dataType::none;
        std::vector<ACCLRequest *> waitfor;
    };

    enum deviceType { sim_device, xrt_device, coyote_device };

    virtual ~CCLO()
    {
    }

    /* Executes a call, and throws if it fails. */
    virtual ACCLRequest *call(const Options &options) = 0;
    /* Queues it. */
    virtual ACCLRequest *start(const Options &options) = 0;
    /* Words of exchange memory. */
    virtual val_t read(addr_t offset) = 0;
    virtual void write(addr_t offset, val_t value) = 0;
    /* Throw if the call has failed. */
    virtual void wait(ACCLRequest *request) = 0;
    virtual timeoutStatus wait(ACCLRequest *request, std::chrono::milliseconds timeout) = 0;
    virtual bool test(ACCLRequest *request) = 0;
    virtual void free_request(ACCLRequest *request) = 0;
    virtual val_t get_retcode(ACCLRequest *request) = 0;
    /* Nanoseconds. */
    virtual uint64_t get_duration(ACCLRequest *request) = 0;
    virtual addr_t get_base_addr() = 0;
    virtual deviceType get_device_type() = 0;
    virtual void printDebug() = 0;
};

} // namespace ACCL

#endif
