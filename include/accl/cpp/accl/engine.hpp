/* SPDX-License-Identifier: BSD-3-Clause */
/* A CCLO over accl.h. The devices that programs name (SimDevice and others) are this. */
#ifndef ACCL_CPP_ENGINE_HPP
#define ACCL_CPP_ENGINE_HPP

#include <cstdlib>
#include <strings.h>

#include "acclrequest.hpp"
#include "cclo.hpp"
#include "session.hpp"

namespace ACCL
{
namespace detail
{

inline const char *name_of(dataType type)
{
    switch (static_cast<uint32_t>(type)) {
#define ACCL_CPP_NAME(name, value, bytes, text, arithmetic) \
    case value: return text;
        ACCL_DTYPE_LIST(ACCL_CPP_NAME)
#undef ACCL_CPP_NAME
    default: return "an unknown type";
    }
}

/* Returns true for types that need no arithmetic configuration: the original has none for them. */
inline bool needs_no_configuration(dataType type)
{
    return type == dataType::none || type == dataType::int8 || type > dataType::int64;
}

/* Chooses the types of a call: of its elements, and (*NARROW) the one that they are converted to.
 */
inline dataType choose_types(const dataType (&types)[3], dataType compress,
                             const arithConfigMap &allowed, dataType *narrow)
{
    dataType first = dataType::none, second = dataType::none;
    for (dataType type : types) {
        if (type == dataType::none || type == first || type == second)
            continue;
        if (second != dataType::none)
            fail(ACCL_INVALID, "buffers of three types in a call");
        (first == dataType::none ? first : second) = type;
    }
    if (second == dataType::none && compress != dataType::none && compress != first)
        second = compress;
    else if (compress != dataType::none && compress != first && compress != second)
        fail(ACCL_INVALID, std::string("buffers of ") + name_of(first) + " and " + name_of(second) +
                               " compressed to " + name_of(compress));
    *narrow = second;
    if (second == dataType::none && needs_no_configuration(first))
        return first;

    if (second == dataType::none)
        second = first;
    if (compress != second && dataTypeSize.at(first) < dataTypeSize.at(second))
        std::swap(first, second);
    if (first != second)
        *narrow = second;
    if (allowed.count({first, second}) == 0)
        fail(ACCL_INVALID, std::string("no arithmetic configuration has ") + name_of(first) +
                               " with " + name_of(second));
    return first;
}

inline bool moves_data(operation scenario)
{
    return scenario != operation::config && scenario != operation::barrier &&
           scenario != operation::nop;
}

/* Returns true if all ranks use all its buffers, and as many elements of them as the count says. */
inline bool has_count_everywhere(operation scenario)
{
    return scenario == operation::copy || scenario == operation::combine ||
           scenario == operation::send || scenario == operation::recv ||
           scenario == operation::bcast;
}

/* OPTIONS for accl.h, but for the communicator. */
inline accl_call describe(const CCLO::Options &options, const arithConfigMap &allowed)
{
    BaseBuffer *const buffers[3] = {options.addr_0, options.addr_1, options.addr_2};
    const dataType streams[3] = {options.data_type_io_0, options.data_type_io_1,
                                 options.data_type_io_2};
    accl_call call{};
    call.size = sizeof call;
    call.operation = static_cast<uint32_t>(options.scenario);
    call.count = options.count;
    call.root_src_dst = options.root_src_dst;
    call.tag = options.tag;
    call.stream_flags = static_cast<uint32_t>(options.stream_flags);
    call.compression_flags = static_cast<uint32_t>(options.compression_flags);
    call.host_flags = static_cast<uint32_t>(options.host_flags);
    call.function = options.scenario == operation::config
                        ? static_cast<uint32_t>(options.cfg_function)
                        : static_cast<uint32_t>(options.reduce_function);

    dataType types[3], narrow;
    for (int i = 0; i < 3; i++) {
        types[i] = buffers[i] != nullptr ? buffers[i]->type() : streams[i];
        if (buffers[i] == nullptr)
            continue;
        call.address[i] = buffers[i]->address();
        if (call.address[i] == ACCL_NO_ADDRESS && buffers[i]->size() > 0)
            fail(ACCL_INVALID, "a buffer that is not of this ACCL object: make it with "
                               "create_buffer()");
        size_t bytes = dataTypeSize.at(types[i]) / 8;
        if (has_count_everywhere(options.scenario) && options.count * bytes > buffers[i]->size())
            fail(ACCL_INVALID, std::to_string(options.count) + " elements of a buffer of " +
                                   std::to_string(buffers[i]->size() / bytes));
        if (buffers[i]->is_host_only())
            call.host_flags |= UINT32_C(1) << i;
    }
    call.dtype =
        static_cast<uint32_t>(choose_types(types, options.compress_dtype, allowed, &narrow));
    if (call.dtype == ACCL_NONE && moves_data(options.scenario))
        fail(ACCL_INVALID, "a call without elements: its buffer is not there, or of no type");
    if (narrow == dataType::none)
        return call;

    call.compressed_dtype = static_cast<uint32_t>(narrow);
    for (int i = 0; i < 3; i++)
        if (types[i] == narrow)
            call.compression_flags |= UINT32_C(1) << i;
    if (options.compress_dtype != dataType::none)
        call.compression_flags |= ACCL_ETH_COMPRESSED;
    return call;
}

class Engine : public CCLO
{
  public:
    explicit Engine(deviceType kind) : kind_(kind)
    {
    }

    /* A device of the driver's ENDPOINT (an emulator's), or of a bit stream on a board. */
    void open(const std::string &endpoint, const std::string &xclbin = "", int board = 0)
    {
        accl_config config{};
        config.size = sizeof config;
        // Programs that sync where they should may do without the copies.
        const char *memory = std::getenv("ACCL_MEMORY");
        if (memory != nullptr && strcasecmp(memory, "unified") == 0)
            config.memory_mode = ACCL_MEMORY_UNIFIED;
        config.stack = ACCL_STACK_TCP;
        config.endpoint = endpoint.empty() ? nullptr : endpoint.c_str();
        config.xclbin = xclbin.empty() ? nullptr : xclbin.c_str();
        config.board_index = board;
        session_ = std::make_shared<Session>(config);
    }
    const std::shared_ptr<Session> &session() const
    {
        return session_;
    }
    accl_device *device() const
    {
        return session_->device();
    }

    /* Executes CALL, or queues it. */
    ACCLRequest *submit(const accl_call &call, bool wait_for_end,
                        const std::vector<ACCLRequest *> &waitfor)
    {
        if (wait_for_end && waitfor.empty()) {
            uint32_t retcode = 0;
            auto begin = std::chrono::steady_clock::now();
            int status = accl_call_sync(device(), &call, &retcode);
            check(status, retcode);
            auto duration = std::chrono::steady_clock::now() - begin;
            return requests_.add(
                nullptr,
                static_cast<uint64_t>(
                    std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count()),
                true);
        }

        std::vector<std::shared_ptr<Request>> before; /* alive until the call is queued */
        std::vector<accl_request *> handles;
        for (ACCLRequest *request : waitfor) {
            before.push_back(requests_.find(request));
            if (before.back()->handle != nullptr)
                handles.push_back(before.back()->handle);
        }
        accl_request *handle = nullptr;
        check(accl_call_start(device(), &call, handles.data(), handles.size(), &handle));
        ACCLRequest *request = requests_.add(handle, 0, false);
        if (wait_for_end)
            wait(request);
        return request;
    }

    ACCLRequest *call(const Options &options) override
    {
        return submit(translate(options), true, options.waitfor);
    }
    ACCLRequest *start(const Options &options) override
    {
        return submit(translate(options), false, options.waitfor);
    }
    val_t read(addr_t offset) override
    {
        val_t value = 0;
        check(accl_exchange_read(device(), static_cast<uint32_t>(offset), &value));
        return value;
    }
    void write(addr_t offset, val_t value) override
    {
        check(accl_exchange_write(device(), static_cast<uint32_t>(offset), value));
    }
    void wait(ACCLRequest *request) override
    {
        finish(request, -1);
    }
    timeoutStatus wait(ACCLRequest *request, std::chrono::milliseconds limit) override
    {
        return finish(request, limit.count() * INT64_C(1000000)) ? no_timeout : timeout;
    }
    bool test(ACCLRequest *request) override
    {
        return ended(*requests_.find(request));
    }
    void free_request(ACCLRequest *request) override
    {
        requests_.remove(request);
    }
    val_t get_retcode(ACCLRequest *request) override
    {
        auto found = requests_.find(request);
        return found->handle != nullptr ? accl_request_retcode(found->handle) : 0;
    }
    uint64_t get_duration(ACCLRequest *request) override
    {
        auto found = requests_.find(request);
        return found->handle != nullptr ? accl_request_duration(found->handle) : found->duration_ns;
    }
    addr_t get_base_addr() override
    {
        return 0;
    }
    deviceType get_device_type() override
    {
        return kind_;
    }
    void printDebug() override
    {
    }

  private:
    std::shared_ptr<Session> session_;
    Requests requests_;
    deviceType kind_;

    static bool ended(const Request &request)
    {
        return request.handle == nullptr || accl_request_state(request.handle) == ACCL_COMPLETED;
    }
    bool finish(ACCLRequest *request, int64_t limit_ns)
    {
        auto found = requests_.find(request);
        if (found->handle == nullptr)
            return true;
        int status = accl_request_wait(found->handle, limit_ns);
        if (status == ACCL_PENDING)
            return false;
        requests_.set_seen(*found);
        if (status == ACCL_CALL_FAILED)
            fail(status, accl_request_message(found->handle), accl_request_retcode(found->handle));
        check(status);
        return true;
    }
    accl_call translate(const Options &options)
    {
        accl_call call = describe(options, DEFAULT_ARITH_CONFIG);
        bool alone = !moves_data(options.scenario) || options.scenario == operation::copy ||
                     options.scenario == operation::combine;
        if (!alone || options.scenario == operation::barrier)
            check(accl_communicator_at(device(), options.comm, &call.comm));
        return call;
    }
};

} // namespace detail
} // namespace ACCL

#endif
