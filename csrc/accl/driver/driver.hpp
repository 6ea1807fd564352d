/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accl.h over the vendor's C++ driver: what the parts of the shim have in common.
 *
 * The driver's object exists from the first communicator on, as it wants to know the rank. One
 * thread of the device makes all calls into it, in the order of submission: the driver blocks, is
 * not thread-safe, and cannot be interrupted.
 */
#ifndef ACCL_DRIVER_HPP
#define ACCL_DRIVER_HPP

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "accl.hpp"

/* The vendor's names are C++, those of the interface are macros and C names. */
#include "accl.h"

#define ACCL_EXPORT extern "C" __attribute__((visibility("default")))

namespace driver
{

struct Device;

/* A request outlives its handle and its device. */
struct Request {
    std::mutex lock;
    std::condition_variable done;
    uint32_t state = ACCL_QUEUED;
    uint32_t retcode = 0;
    uint64_t duration_ns = 0;
    std::string text;
    accl_call call{};
    std::vector<std::shared_ptr<Request>> waitfor;

    void finish(uint32_t bits, const std::string &why);
};

struct Device {
    accl_config config{};
    std::string xclbin, endpoint;
    uint32_t rx_count = 0;
    uint64_t rx_bytes = 0;
    uint64_t segment_size = 0;
    uint32_t timeout_ms = 1000000;
    uint32_t last_retcode = 0;
    uint64_t last_duration_ns = 0;
    std::vector<std::vector<accl_rank>> communicators;
    std::vector<uint32_t> local_ranks;
    std::map<uint32_t, uint32_t> words; /* written into exchange memory by the caller */

    int (*check)(void *) = nullptr;
    void *check_argument = nullptr;

    xrt::device board; /* of hardware; before the driver, which refers to them */
    xrt::ip engine;
    xrt::kernel control;
    std::unique_ptr<ACCL::ACCL> driver;
    bool rendezvous = false; /* the engine's network has it */
    std::shared_ptr<ACCL::BaseBuffer> scratch;
    std::mutex driver_lock; /* held during each call into it */

    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::shared_ptr<Request>> queue;
    bool stops = false, ended = false;
    std::thread worker;

    std::mutex memory_lock;
    std::map<uint64_t, accl_buffer *> buffers; /* roots by device address */

    void run();
};

/* Sets this thread's message; returns STATUS. */
int fail(int status, const std::string &text);
/* Runs BODY, which may throw what the driver throws. */
template <typename Body> int guarded(Body body)
{
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return fail(ACCL_NO_MEMORY, "out of memory");
    } catch (const std::exception &error) {
        return fail(ACCL_SYSTEM, error.what());
    } catch (...) {
        return fail(ACCL_SYSTEM, "the driver threw an unknown exception");
    }
}

size_t element_bytes(uint32_t dtype);
const char *element_name(uint32_t dtype);
ACCL::dataType data_type(uint32_t dtype);
/* The elements of DTYPE at ADDRESS, as the driver takes them; NULL outside all buffers. */
std::unique_ptr<ACCL::BaseBuffer> view(Device &device, uint64_t address, uint64_t count,
                                       uint32_t dtype);
/* Device memory for one call at a time, of at least COUNT elements of DTYPE. */
std::unique_ptr<ACCL::BaseBuffer> scratch(Device &device, uint64_t count, uint32_t dtype);
/* Releases the driver, and what it must not outlive. */
void release_driver(Device &device);

/* Operands of a call, with the driver's types. */
struct Operands {
    std::unique_ptr<ACCL::BaseBuffer> first, second, result;
    ACCL::dataType first_type, result_type, wire;
    bool from_stream, to_stream;
};

/* Waits for nothing more: the error bits of a call that the driver has ended, and its duration. */
uint32_t conclude(ACCL::ACCL &driver, ACCL::ACCLRequest *request, uint64_t *duration_ns);
/* Calls that the engine has with rendezvous only, made of its eager ones; error bits. */
uint32_t eager_barrier(Device &device, uint32_t comm, uint64_t *duration_ns);
uint32_t eager_alltoall(Device &device, const accl_call &call, const Operands &operands,
                        uint64_t *duration_ns);
/* Makes the call; error bits, with *TEXT. */
uint32_t perform(Device &device, const accl_call &call, uint64_t *duration_ns, std::string *text);

} // namespace driver

struct accl_device {
    std::shared_ptr<driver::Device> d;
};

struct accl_buffer {
    std::shared_ptr<driver::Device> d;
    std::shared_ptr<ACCL::BaseBuffer> memory; /* of the root */
    uint64_t offset, bytes;
    uint32_t flags;
    bool is_root;
    std::shared_ptr<int> users; /* of the root and its slices */
};

struct accl_request {
    std::shared_ptr<driver::Request> r;
};

#endif
