/* SPDX-License-Identifier: BSD-3-Clause */
/* From struct accl_call to the driver's methods. */
#include <stdexcept>

#include "driver.hpp"

namespace driver
{

using ACCL::ACCLRequest;

namespace
{

constexpr uint32_t error_bit(unsigned bit)
{
    return UINT32_C(1) << bit;
}

uint32_t refuse(unsigned bit, std::string *text, const char *why)
{
    *text = why;
    return error_bit(bit);
}

bool mixed(const accl_call &c)
{
    return c.compressed_dtype != ACCL_NONE && c.compressed_dtype != c.dtype;
}

/* The type of an operand that the flag says is compressed. */
uint32_t type_of(const accl_call &c, uint32_t flag)
{
    return mixed(c) && c.compression_flags & flag ? c.compressed_dtype : c.dtype;
}

/* Elements read and written on this rank, as the driver will slice them. */
void extents(const accl_call &c, uint64_t ranks, uint64_t *in, uint64_t *out)
{
    *in = *out = c.count;
    switch (c.operation) {
    case ACCL_SCATTER:
    case ACCL_REDUCE_SCATTER: *in *= ranks; break;
    case ACCL_GATHER:
    case ACCL_ALLGATHER: *out *= ranks; break;
    case ACCL_ALLTOALL:
        *in *= ranks;
        *out *= ranks;
        break;
    default: break;
    }
}

bool needs_first(const accl_call &c, bool is_root)
{
    switch (c.operation) {
    case ACCL_RECV:
    case ACCL_BARRIER:
    case ACCL_NOP: return false;
    case ACCL_SCATTER: return is_root;
    default: return true;
    }
}

bool needs_result(const accl_call &c, bool is_root)
{
    switch (c.operation) {
    case ACCL_SEND:
    case ACCL_BCAST:
    case ACCL_BARRIER:
    case ACCL_NOP: return false;
    case ACCL_GATHER:
    case ACCL_REDUCE: return is_root;
    default: return true;
    }
}

/* The driver's other calls take buffers only. */
bool has_streams(uint32_t operation)
{
    return operation == ACCL_COPY || operation == ACCL_SEND || operation == ACCL_RECV ||
           operation == ACCL_REDUCE;
}

uint32_t find_operands(Device &d, const accl_call &c, Operands *o, std::string *text)
{
    static const char outside[] = "an address outside the buffers of this device";
    bool local = c.operation == ACCL_COPY || c.operation == ACCL_COMBINE;
    uint64_t ranks = local ? 1 : d.communicators[c.comm].size();
    bool is_root = !local && d.local_ranks[c.comm] == c.root_src_dst;
    uint64_t in, out;
    extents(c, ranks, &in, &out);
    o->from_stream = c.stream_flags & ACCL_OP0_STREAM;
    o->to_stream = c.stream_flags & ACCL_RES_STREAM;
    uint32_t first = type_of(c, ACCL_OP0_COMPRESSED);
    uint32_t result = type_of(c, ACCL_RES_COMPRESSED);
    o->first_type = data_type(first);
    o->result_type = data_type(result);
    o->wire = c.compression_flags & ACCL_ETH_COMPRESSED && mixed(c) ? data_type(c.compressed_dtype)
                                                                    : ACCL::dataType::none;
    if (!o->from_stream && c.operation != ACCL_RECV && c.operation != ACCL_BARRIER) {
        o->first = view(d, c.address[0], in, first);
        if (!o->first && needs_first(c, is_root))
            return refuse(ACCL_DMA_DECODE_ERROR_BIT, text, outside);
    }
    if (c.operation == ACCL_COMBINE) {
        o->second = view(d, c.address[1], in, type_of(c, ACCL_OP1_COMPRESSED));
        if (!o->second)
            return refuse(ACCL_DMA_DECODE_ERROR_BIT, text, outside);
    }
    if (!o->to_stream && c.operation != ACCL_SEND && c.operation != ACCL_BCAST &&
        c.operation != ACCL_BARRIER) {
        o->result = view(d, c.address[2], out, result);
        if (!o->result && needs_result(c, is_root))
            return refuse(ACCL_DMA_DECODE_ERROR_BIT, text, outside);
    }
    /* The driver needs a buffer even for operands that are not used. */
    if (!o->first && o->result)
        o->first = view(d, c.address[2], c.count, result);
    if (!o->result && o->first)
        o->result = view(d, c.address[0], c.count, first);
    return 0;
}

ACCLRequest *start_copy(ACCL::ACCL &a, const accl_call &c, Operands &o, unsigned count)
{
    if (o.from_stream && o.to_stream)
        return a.copy_from_to_stream(o.result_type, count);
    if (o.from_stream)
        return a.copy_from_stream(*o.result, count, true);
    if (o.to_stream)
        return a.copy_to_stream(*o.first, count, true);
    (void)c;
    return a.copy(*o.first, *o.result, count, true, true);
}

ACCLRequest *start_send(ACCL::ACCL &a, const accl_call &c, Operands &o, unsigned count)
{
    if (o.to_stream && o.from_stream)
        return a.stream_put(o.first_type, count, c.root_src_dst, c.tag, c.comm, o.wire);
    if (o.to_stream)
        return a.stream_put(*o.first, count, c.root_src_dst, c.tag, c.comm, true, o.wire);
    if (o.from_stream)
        return a.send(o.first_type, count, c.root_src_dst, c.tag, c.comm, o.wire);
    return a.send(*o.first, count, c.root_src_dst, c.tag, c.comm, true, o.wire);
}

ACCLRequest *start_reduce(ACCL::ACCL &a, const accl_call &c, Operands &o, unsigned count)
{
    auto function = static_cast<ACCL::reduceFunction>(c.function);
    if (o.from_stream && o.to_stream)
        return a.reduce(o.first_type, o.result_type, count, c.root_src_dst, function, c.comm,
                        o.wire);
    if (o.from_stream)
        return a.reduce(o.first_type, *o.result, count, c.root_src_dst, function, c.comm, true,
                        o.wire);
    if (o.to_stream)
        return a.reduce(*o.first, o.result_type, count, c.root_src_dst, function, c.comm, true,
                        o.wire);
    return a.reduce(*o.first, *o.result, count, c.root_src_dst, function, c.comm, true, true,
                    o.wire);
}

/* Makes the call, which has ended when the driver returns. */
ACCLRequest *start(ACCL::ACCL &a, const accl_call &c, Operands &o)
{
    auto count = static_cast<unsigned>(c.count);
    auto function = static_cast<ACCL::reduceFunction>(c.function);
    uint32_t root = c.root_src_dst;
    switch (c.operation) {
    case ACCL_COPY: return start_copy(a, c, o, count);
    case ACCL_COMBINE:
        return a.combine(count, function, *o.first, *o.second, *o.result, true, true, true);
    case ACCL_SEND: return start_send(a, c, o, count);
    case ACCL_RECV:
        if (o.to_stream)
            return a.recv(o.result_type, count, root, c.tag, c.comm, o.wire);
        return a.recv(*o.result, count, root, c.tag, c.comm, true, o.wire);
    case ACCL_BCAST: return a.bcast(*o.first, count, root, c.comm, true, true, o.wire);
    case ACCL_SCATTER:
        return a.scatter(*o.first, *o.result, count, root, c.comm, true, true, o.wire);
    case ACCL_GATHER: return a.gather(*o.first, *o.result, count, root, c.comm, true, true, o.wire);
    case ACCL_REDUCE: return start_reduce(a, c, o, count);
    case ACCL_ALLGATHER: return a.allgather(*o.first, *o.result, count, c.comm, true, true, o.wire);
    case ACCL_ALLREDUCE:
        return a.allreduce(*o.first, *o.result, count, function, c.comm, true, true, o.wire);
    case ACCL_REDUCE_SCATTER:
        return a.reduce_scatter(*o.first, *o.result, count, function, c.comm, true, true, o.wire);
    case ACCL_ALLTOALL: return a.alltoall(*o.first, *o.result, count, c.comm, true, true, o.wire);
    case ACCL_BARRIER: return a.barrier(c.comm);
    case ACCL_NOP: return a.nop();
    default: throw std::runtime_error("the driver has no such operation");
    }
}

/* The code register: what the driver reports for a request is always 0. */
uint32_t return_code(ACCL::ACCL &a)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return a.get_retcode();
#pragma GCC diagnostic pop
}

/* The driver's own request, and the number that it forgets. */
void end_request(ACCL::ACCL &a, ACCLRequest *request, uint64_t *duration_ns)
{
    if (!request)
        return;
    *duration_ns += a.get_duration(request);
    a.free_request(request);
    delete request;
}

bool reduces(const accl_call &c)
{
    return c.operation == ACCL_COMBINE || c.operation == ACCL_REDUCE ||
           c.operation == ACCL_ALLREDUCE || c.operation == ACCL_REDUCE_SCATTER;
}

bool has_arithmetic(uint32_t dtype)
{
    return dtype >= ACCL_FLOAT16 && dtype <= ACCL_INT64;
}

bool needs_rendezvous(const Device &d, const accl_call &c)
{
    return (c.operation == ACCL_BARRIER || c.operation == ACCL_ALLTOALL) &&
           d.communicators[c.comm].size() > 1;
}

uint32_t configure(Device &d, const accl_call &c, uint64_t *duration_ns, std::string *text)
{
    switch (c.function) {
    case ACCL_CFG_RESET: d.driver->soft_reset(); return 0;
    case ACCL_CFG_TIMEOUT: {
        auto value = static_cast<uint32_t>(c.count > UINT32_MAX ? UINT32_MAX : c.count);
        uint32_t bits = conclude(*d.driver, d.driver->set_timeout(value), duration_ns);
        d.timeout_ms = value;
        return bits;
    }
    case ACCL_CFG_MAX_SEGMENT_SIZE:
        if (c.count != d.segment_size)
            return refuse(ACCL_DMA_NOT_EXPECTED_BTT_ERROR_BIT, text,
                          "the driver has no way to change the segment size");
        return 0;
    /* Sessions are opened by the network's own tools before. */
    case ACCL_CFG_ENABLE_PACKETS:
    case ACCL_CFG_OPEN_PORT:
    case ACCL_CFG_OPEN_CONNECTION:
    case ACCL_CFG_STACK: return 0;
    default:
        return refuse(ACCL_COLLECTIVE_NOT_IMPLEMENTED_BIT, text, "unknown configuration function");
    }
}

/* A call whose operation, types and communicator the driver has. */
uint32_t make(Device &d, const accl_call &c, uint64_t *duration_ns, std::string *text)
{
    if (c.stream_flags && !has_streams(c.operation))
        return refuse(ACCL_COLLECTIVE_NOT_IMPLEMENTED_BIT, text,
                      "the driver has streams for copy, send, receive and reduce only");
    if (c.count > UINT32_MAX)
        return refuse(ACCL_DMA_SIZE_ERROR_BIT, text, "the driver's counts have 32 bits");
    bool empty = c.count == 0 && c.operation != ACCL_BARRIER && c.operation != ACCL_NOP;
    if (empty)
        return 0; /* the engine has no such call, and there is nothing to do */
    Operands operands;
    if (c.operation != ACCL_NOP) {
        uint32_t bits = find_operands(d, c, &operands, text);
        if (bits)
            return bits;
    }
    uint32_t bits;
    if (d.rendezvous || !needs_rendezvous(d, c))
        bits = conclude(*d.driver, start(*d.driver, c, operands), duration_ns);
    else if (c.operation == ACCL_BARRIER)
        bits = eager_barrier(d, c.comm, duration_ns);
    else
        bits = eager_alltoall(d, c, operands, duration_ns);
    if (bits)
        *text = "the engine's return code is not 0";
    return bits;
}

} // namespace

uint32_t conclude(ACCL::ACCL &a, ACCLRequest *request, uint64_t *duration_ns)
{
    uint32_t bits = return_code(a);
    end_request(a, request, duration_ns);
    return bits;
}

uint32_t perform(Device &d, const accl_call &c, uint64_t *duration_ns, std::string *text)
{
    *duration_ns = 0;
    try {
        std::lock_guard<std::mutex> guard(d.driver_lock);
        if (!d.driver)
            return refuse(ACCL_NOT_READY_ERROR_BIT, text, "the device has no communicator yet");
        if (c.operation == ACCL_CONFIG)
            return configure(d, c, duration_ns, text);
        if (c.operation > ACCL_ALLTOALL && c.operation != ACCL_NOP)
            return refuse(ACCL_COLLECTIVE_NOT_IMPLEMENTED_BIT, text, "unknown operation");
        if (c.comm >= d.communicators.size())
            return refuse(ACCL_COLLECTIVE_NOT_IMPLEMENTED_BIT, text, "no such communicator");
        if (reduces(c) && c.function > ACCL_MAX)
            return refuse(ACCL_ARITH_ERROR_BIT, text,
                          "the driver has the functions SUM and MAX only");
        if (reduces(c) && !has_arithmetic(c.dtype)) {
            std::string why = "the driver has no arithmetic for elements of " +
                              std::string(element_name(c.dtype)) +
                              ": only for float16, float32, float64, int32 and int64";
            return refuse(ACCL_ARITH_ERROR_BIT, text, why.c_str());
        }
        if (c.dtype == ACCL_COMPLEX128 && c.operation != ACCL_NOP && c.operation != ACCL_BARRIER) {
            /* Two integers of the driver. */
            accl_call halves = c;
            halves.dtype = ACCL_BITS64;
            halves.count *= 2;
            return make(d, halves, duration_ns, text);
        }
        return make(d, c, duration_ns, text);
    } catch (const std::exception &error) {
        return refuse(ACCL_DMA_INTERNAL_ERROR_BIT, text, error.what());
    } catch (...) {
        return refuse(ACCL_DMA_INTERNAL_ERROR_BIT, text, "the driver threw an unknown exception");
    }
}

} // namespace driver
