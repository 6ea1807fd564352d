/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accl.hpp: ACCL's C++ interface, for C++17 and later, on top of accl.h.
 *
 * Programs written for the class ACCL::ACCL of Xilinx/ACCL compile against it as they are, and run
 * on the soft engine, or on whatever library of accl.h they are linked with. Buffers start zeroed.
 * A call that fails throws (accl/errors.hpp), and so does wait() for one that was queued.
 *
 * Calls copy their operands to the device before they start, unless FROM_FPGA, and those that are
 * waited for copy their result back, unless TO_FPGA; with RUN_ASYNC the program does that itself
 * after wait(). Calls queued after those in WAITFOR start when these have ended. What calls do is
 * in accl.h. Any thread may make calls; the object must not be in use while it is destroyed.
 */
#ifndef ACCL_CPP_ACCL_HPP
#define ACCL_CPP_ACCL_HPP

/* Programs rely on what the original includes, which is more than is used here. */
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "accl/acclrequest.hpp"
#include "accl/arithconfig.hpp"
#include "accl/buffer.hpp"
#include "accl/cclo.hpp"
#include "accl/common.hpp"
#include "accl/communicator.hpp"
#include "accl/constants.hpp"
#include "accl/coyotebuffer.hpp"
#include "accl/coyotedevice.hpp"
#include "accl/simbuffer.hpp"
#include "accl/simdevice.hpp"
#include "accl/world.hpp"
#include "accl/xrtbuffer.hpp"
#include "accl/xrtdevice.hpp"

/* The original does this, and programs write times such as 10ms. */
using namespace std::chrono_literals;

namespace ACCL
{

class ACCL
{
    using Requests = std::vector<ACCLRequest *>;

  public:
    /* For a simulator. The soft engine takes its place, unless the library is the vendor's driver.
     */
    ACCL(unsigned int start_port, unsigned int local_rank,
         const arithConfigMap &arith_config = DEFAULT_ARITH_CONFIG)
        : ACCL(new SimDevice(start_port, local_rank), 0, arith_config)
    {
    }
    /* For a board. The soft engine has one memory: DEVICEMEM and RXBUFMEM have no effect. */
    ACCL(xrt::device &device, xrt::ip &cclo_ip, xrt::kernel &hostctrl_ip, int devicemem,
         const std::vector<int> &rxbufmem,
         const arithConfigMap &arith_config = DEFAULT_ARITH_CONFIG)
        : ACCL(new XRTDevice(cclo_ip, hostctrl_ip, device), devicemem, arith_config)
    {
        (void)rxbufmem;
    }
    /* Takes DEVICE over. */
    explicit ACCL(CoyoteDevice *device, const arithConfigMap &arith_config = DEFAULT_ARITH_CONFIG)
        : ACCL(device, 0, arith_config)
    {
    }
    ~ACCL()
    {
        deinit();
    }
    ACCL(const ACCL &) = delete;
    ACCL &operator=(const ACCL &) = delete;

    /* --- set-up --- */

    /*
     * Makes the rx buffers and communicator 0, of which this is LOCAL_RANK; to be called once. Does
     * not wait for other ranks. The engine chooses how messages go: the other limits have no
     * effect.
     */
    void initialize(const std::vector<rank_t> &ranks, int local_rank, int n_egr_rx_bufs = 16,
                    addr_t egr_rx_buf_size = 1024, addr_t max_egr_size = 1024,
                    addr_t max_rndzv_size = 32 * 1024)
    {
        (void)max_egr_size;
        (void)max_rndzv_size;
        if (!communicators_.empty())
            detail::fail(ACCL_IN_USE, "initialize() was called before: make another ACCL object");
        detail::check(accl_setup_rx_buffers(engine_->device(), static_cast<uint32_t>(n_egr_rx_bufs),
                                            egr_rx_buf_size));
        create_communicator(ranks, local_rank);
        engine_->write(CCLO_ADDR::CFGRDY_OFFSET, 1);
    }
    /*
     * Adds a communicator: of ranks of the first, if there is one. A rank that is not among them
     * may call this too; its calls with that communicator fail.
     */
    communicatorId create_communicator(const std::vector<rank_t> &ranks, int local_rank)
    {
        auto id = static_cast<communicatorId>(communicators_.size());
        communicators_.push_back(
            detail::make_communicator(engine_->device(), ranks, local_rank,
                                      id == GLOBAL_COMM ? nullptr : &communicators_.front()));
        return id;
    }
    /* Forgets messages and errors. */
    void soft_reset()
    {
        configure(cfgFunc::reset_periph, 0, false, {});
    }
    /* Leaves the other ranks, as the destructor does. Buffers keep their content. */
    void deinit() noexcept
    {
        engine_->session()->close();
    }
    /* Milliseconds; 0: none. */
    ACCLRequest *set_timeout(unsigned int value, bool run_async = false, Requests waitfor = {})
    {
        return configure(cfgFunc::set_timeout, value, run_async, waitfor);
    }
    /* Done by the network; kept for programs that ask for it. */
    void open_port(communicatorId comm_id = GLOBAL_COMM)
    {
        communicator(comm_id);
    }
    void open_con(communicatorId comm_id = GLOBAL_COMM)
    {
        communicator(comm_id);
    }
    void close_con(communicatorId comm_id = GLOBAL_COMM)
    {
        communicator(comm_id);
    }

    /* --- primitives --- */

    ACCLRequest *nop(bool run_async = false, Requests waitfor = {})
    {
        CCLO::Options call;
        call.count = 0;
        return run(call, GLOBAL_COMM, run_async, waitfor);
    }
    ACCLRequest *send(BaseBuffer &srcbuf, unsigned int count, unsigned int dst,
                      unsigned int tag = TAG_ANY, communicatorId comm_id = GLOBAL_COMM,
                      bool from_fpga = false, dataType compress_dtype = dataType::none,
                      bool run_async = false, Requests waitfor = {})
    {
        auto call = describe(operation::send, count, dst, tag, compress_dtype);
        call.addr_0 = to_device(srcbuf, from_fpga);
        return run(call, comm_id, run_async, waitfor);
    }
    /* Elements of the kernel's stream. */
    ACCLRequest *send(dataType src_data_type, unsigned int count, unsigned int dst,
                      unsigned int tag = TAG_ANY, communicatorId comm_id = GLOBAL_COMM,
                      dataType compress_dtype = dataType::none, bool run_async = false,
                      Requests waitfor = {})
    {
        auto call = describe(operation::send, count, dst, tag, compress_dtype);
        from_stream(call, src_data_type);
        return run(call, comm_id, run_async, waitfor);
    }
    /* To stream STREAM_ID of rank DST, without a recv() there. */
    ACCLRequest *stream_put(BaseBuffer &srcbuf, unsigned int count, unsigned int dst,
                            unsigned int stream_id, communicatorId comm_id = GLOBAL_COMM,
                            bool from_fpga = false, dataType compress_dtype = dataType::none,
                            bool run_async = false, Requests waitfor = {})
    {
        auto call = describe(operation::send, count, dst, stream(stream_id), compress_dtype);
        call.addr_0 = to_device(srcbuf, from_fpga);
        call.stream_flags = streamFlags::RES_STREAM;
        return run(call, comm_id, run_async, waitfor);
    }
    ACCLRequest *stream_put(dataType src_data_type, unsigned int count, unsigned int dst,
                            unsigned int stream_id, communicatorId comm_id = GLOBAL_COMM,
                            dataType compress_dtype = dataType::none, bool run_async = false,
                            Requests waitfor = {})
    {
        auto call = describe(operation::send, count, dst, stream(stream_id), compress_dtype);
        call.stream_flags = streamFlags::RES_STREAM;
        from_stream(call, src_data_type);
        return run(call, comm_id, run_async, waitfor);
    }
    ACCLRequest *recv(BaseBuffer &dstbuf, unsigned int count, unsigned int src,
                      unsigned int tag = TAG_ANY, communicatorId comm_id = GLOBAL_COMM,
                      bool to_fpga = false, dataType compress_dtype = dataType::none,
                      bool run_async = false, Requests waitfor = {})
    {
        auto call = describe(operation::recv, count, src, tag, compress_dtype);
        call.addr_2 = &dstbuf;
        return run(call, comm_id, run_async, waitfor, to_fpga ? nullptr : &dstbuf);
    }
    /* To the kernel's stream. */
    ACCLRequest *recv(dataType dst_data_type, unsigned int count, unsigned int src,
                      unsigned int tag = TAG_ANY, communicatorId comm_id = GLOBAL_COMM,
                      dataType compress_dtype = dataType::none, bool run_async = false,
                      Requests waitfor = {})
    {
        auto call = describe(operation::recv, count, src, tag, compress_dtype);
        to_stream(call, dst_data_type);
        return run(call, comm_id, run_async, waitfor);
    }
    ACCLRequest *copy(BaseBuffer &srcbuf, BaseBuffer &dstbuf, unsigned int count,
                      bool from_fpga = false, bool to_fpga = false, bool run_async = false,
                      Requests waitfor = {})
    {
        auto call = describe(operation::copy, count);
        call.addr_0 = to_device(srcbuf, from_fpga);
        call.addr_2 = &dstbuf;
        return run(call, GLOBAL_COMM, run_async, waitfor, to_fpga ? nullptr : &dstbuf);
    }
    ACCLRequest *copy_from_stream(BaseBuffer &dstbuf, unsigned int count, bool to_fpga = false,
                                  bool run_async = false, Requests waitfor = {})
    {
        auto call = describe(operation::copy, count);
        from_stream(call, dstbuf.type());
        call.addr_2 = &dstbuf;
        return run(call, GLOBAL_COMM, run_async, waitfor, to_fpga ? nullptr : &dstbuf);
    }
    ACCLRequest *copy_to_stream(BaseBuffer &srcbuf, unsigned int count, bool from_fpga = false,
                                bool run_async = false, Requests waitfor = {})
    {
        auto call = describe(operation::copy, count);
        call.addr_0 = to_device(srcbuf, from_fpga);
        to_stream(call, srcbuf.type());
        return run(call, GLOBAL_COMM, run_async, waitfor);
    }
    ACCLRequest *copy_from_to_stream(dataType data_type, unsigned int count, bool run_async = false,
                                     Requests waitfor = {})
    {
        auto call = describe(operation::copy, count);
        from_stream(call, data_type);
        to_stream(call, data_type);
        return run(call, GLOBAL_COMM, run_async, waitfor);
    }
    ACCLRequest *combine(unsigned int count, reduceFunction function, BaseBuffer &val1,
                         BaseBuffer &val2, BaseBuffer &result, bool val1_from_fpga = false,
                         bool val2_from_fpga = false, bool to_fpga = false, bool run_async = false,
                         Requests waitfor = {})
    {
        auto call = describe(operation::combine, count);
        call.reduce_function = function;
        call.addr_0 = to_device(val1, val1_from_fpga);
        call.addr_1 = to_device(val2, val2_from_fpga);
        call.addr_2 = &result;
        return run(call, GLOBAL_COMM, run_async, waitfor, to_fpga ? nullptr : &result);
    }

    /* --- collectives; COUNT is that of a rank's part --- */

    ACCLRequest *bcast(BaseBuffer &buf, unsigned int count, unsigned int root,
                       communicatorId comm_id = GLOBAL_COMM, bool from_fpga = false,
                       bool to_fpga = false, dataType compress_dtype = dataType::none,
                       bool run_async = false, Requests waitfor = {})
    {
        bool is_root = root == get_comm_rank(comm_id);
        auto call = describe(operation::bcast, count, root, TAG_ANY, compress_dtype);
        call.addr_0 = to_device(buf, from_fpga || !is_root);
        return run(call, comm_id, run_async, waitfor, to_fpga || is_root ? nullptr : &buf);
    }
    ACCLRequest *scatter(BaseBuffer &sendbuf, BaseBuffer &recvbuf, unsigned int count,
                         unsigned int root, communicatorId comm_id = GLOBAL_COMM,
                         bool from_fpga = false, bool to_fpga = false,
                         dataType compress_dtype = dataType::none, bool run_async = false,
                         Requests waitfor = {})
    {
        bool is_root = root == get_comm_rank(comm_id);
        auto call = describe(operation::scatter, count, root, TAG_ANY, compress_dtype);
        call.addr_0 = to_device(sendbuf, from_fpga || !is_root, all(count, comm_id));
        call.addr_2 = &recvbuf;
        return run(call, comm_id, run_async, waitfor, to_fpga ? nullptr : &recvbuf, count);
    }
    ACCLRequest *gather(BaseBuffer &sendbuf, BaseBuffer &recvbuf, unsigned int count,
                        unsigned int root, communicatorId comm_id = GLOBAL_COMM,
                        bool from_fpga = false, bool to_fpga = false,
                        dataType compress_dtype = dataType::none, bool run_async = false,
                        Requests waitfor = {})
    {
        bool is_root = root == get_comm_rank(comm_id);
        auto call = describe(operation::gather, count, root, TAG_ANY, compress_dtype);
        call.addr_0 = to_device(sendbuf, from_fpga, count);
        call.addr_2 = &recvbuf;
        return run(call, comm_id, run_async, waitfor, to_fpga || !is_root ? nullptr : &recvbuf,
                   all(count, comm_id));
    }
    ACCLRequest *allgather(BaseBuffer &sendbuf, BaseBuffer &recvbuf, unsigned int count,
                           communicatorId comm_id = GLOBAL_COMM, bool from_fpga = false,
                           bool to_fpga = false, dataType compress_dtype = dataType::none,
                           bool run_async = false, Requests waitfor = {})
    {
        auto call = describe(operation::allgather, count, 0, TAG_ANY, compress_dtype);
        call.addr_0 = to_device(sendbuf, from_fpga, count);
        call.addr_2 = &recvbuf;
        return run(call, comm_id, run_async, waitfor, to_fpga ? nullptr : &recvbuf,
                   all(count, comm_id));
    }
    ACCLRequest *alltoall(BaseBuffer &sendbuf, BaseBuffer &recvbuf, unsigned int count,
                          communicatorId comm_id = GLOBAL_COMM, bool from_fpga = false,
                          bool to_fpga = false, dataType compress_dtype = dataType::none,
                          bool run_async = false, Requests waitfor = {})
    {
        auto call = describe(operation::alltoall, count, 0, TAG_ANY, compress_dtype);
        call.addr_0 = to_device(sendbuf, from_fpga, all(count, comm_id));
        call.addr_2 = &recvbuf;
        return run(call, comm_id, run_async, waitfor, to_fpga ? nullptr : &recvbuf,
                   all(count, comm_id));
    }
    ACCLRequest *reduce(BaseBuffer &sendbuf, BaseBuffer &recvbuf, unsigned int count,
                        unsigned int root, reduceFunction func,
                        communicatorId comm_id = GLOBAL_COMM, bool from_fpga = false,
                        bool to_fpga = false, dataType compress_dtype = dataType::none,
                        bool run_async = false, Requests waitfor = {})
    {
        bool is_root = root == get_comm_rank(comm_id);
        auto call = reduction(operation::reduce, count, root, func, compress_dtype);
        call.addr_0 = to_device(sendbuf, from_fpga, count);
        call.addr_2 = &recvbuf;
        return run(call, comm_id, run_async, waitfor, to_fpga || !is_root ? nullptr : &recvbuf,
                   count);
    }
    ACCLRequest *reduce(dataType src_data_type, BaseBuffer &recvbuf, unsigned int count,
                        unsigned int root, reduceFunction func,
                        communicatorId comm_id = GLOBAL_COMM, bool to_fpga = false,
                        dataType compress_dtype = dataType::none, bool run_async = false,
                        Requests waitfor = {})
    {
        bool is_root = root == get_comm_rank(comm_id);
        auto call = reduction(operation::reduce, count, root, func, compress_dtype);
        from_stream(call, src_data_type);
        call.addr_2 = &recvbuf;
        return run(call, comm_id, run_async, waitfor, to_fpga || !is_root ? nullptr : &recvbuf,
                   count);
    }
    ACCLRequest *reduce(BaseBuffer &sendbuf, dataType dst_data_type, unsigned int count,
                        unsigned int root, reduceFunction func,
                        communicatorId comm_id = GLOBAL_COMM, bool from_fpga = false,
                        dataType compress_dtype = dataType::none, bool run_async = false,
                        Requests waitfor = {})
    {
        auto call = reduction(operation::reduce, count, root, func, compress_dtype);
        call.addr_0 = to_device(sendbuf, from_fpga, count);
        to_stream(call, dst_data_type);
        return run(call, comm_id, run_async, waitfor);
    }
    ACCLRequest *reduce(dataType src_data_type, dataType dst_data_type, unsigned int count,
                        unsigned int root, reduceFunction func,
                        communicatorId comm_id = GLOBAL_COMM,
                        dataType compress_dtype = dataType::none, bool run_async = false,
                        Requests waitfor = {})
    {
        auto call = reduction(operation::reduce, count, root, func, compress_dtype);
        from_stream(call, src_data_type);
        to_stream(call, dst_data_type);
        return run(call, comm_id, run_async, waitfor);
    }
    ACCLRequest *allreduce(BaseBuffer &sendbuf, BaseBuffer &recvbuf, unsigned int count,
                           reduceFunction func, communicatorId comm_id = GLOBAL_COMM,
                           bool from_fpga = false, bool to_fpga = false,
                           dataType compress_dtype = dataType::none, bool run_async = false,
                           Requests waitfor = {})
    {
        auto call = reduction(operation::allreduce, count, 0, func, compress_dtype);
        call.addr_0 = to_device(sendbuf, from_fpga, count);
        call.addr_2 = &recvbuf;
        return run(call, comm_id, run_async, waitfor, to_fpga ? nullptr : &recvbuf, count);
    }
    ACCLRequest *reduce_scatter(BaseBuffer &sendbuf, BaseBuffer &recvbuf, unsigned int count,
                                reduceFunction func, communicatorId comm_id = GLOBAL_COMM,
                                bool from_fpga = false, bool to_fpga = false,
                                dataType compress_dtype = dataType::none, bool run_async = false,
                                Requests waitfor = {})
    {
        auto call = reduction(operation::reduce_scatter, count, 0, func, compress_dtype);
        call.addr_0 = to_device(sendbuf, from_fpga, all(count, comm_id));
        call.addr_2 = &recvbuf;
        return run(call, comm_id, run_async, waitfor, to_fpga ? nullptr : &recvbuf, count);
    }
    ACCLRequest *barrier(communicatorId comm_id = GLOBAL_COMM, Requests waitfor = {})
    {
        auto call = describe(operation::barrier, 0);
        return run(call, comm_id, false, waitfor);
    }

    /* --- requests --- */

    void wait(ACCLRequest *request)
    {
        engine_->wait(request);
    }
    /* Returns true if the call ended within TIMEOUT. */
    bool wait(ACCLRequest *request, std::chrono::milliseconds timeout)
    {
        return engine_->wait(request, timeout) == no_timeout;
    }
    bool test(ACCLRequest *request)
    {
        return engine_->test(request);
    }
    /* Nanoseconds; 0 before its end. */
    uint64_t get_duration(ACCLRequest *request)
    {
        return engine_->get_duration(request);
    }
    void free_request(ACCLRequest *request)
    {
        engine_->free_request(request);
    }
    /* Error bits of the last call. */
    [[deprecated("calls that fail throw")]] val_t get_retcode()
    {
        return engine_->read(CCLO_ADDR::RETCODE_OFFSET);
    }

    /* --- state --- */

    bool is_simulated() const
    {
        return simulated_;
    }
    int devicemem() const
    {
        return devicemem_;
    }
    val_t get_hwid()
    {
        return engine_->read(CCLO_ADDR::IDCODE_OFFSET);
    }
    std::vector<rank_t> get_comm_group(communicatorId comm_id)
    {
        return *communicator(comm_id).get_ranks();
    }
    unsigned int get_comm_rank(communicatorId comm_id)
    {
        return communicator(comm_id).local_rank();
    }
    /* In exchange memory. */
    addr_t get_communicator_addr(communicatorId comm_id = GLOBAL_COMM)
    {
        return communicator(comm_id).communicators_addr();
    }
    /* Throws: only kernels of an FPGA look for it. */
    addr_t get_arithmetic_config_addr(std::pair<dataType, dataType> id)
    {
        return arith_config_.at(id).addr();
    }
    std::string dump_exchange_memory()
    {
        return text_of([this](char *text, size_t space, size_t *needed) {
            return accl_dump_exchange_memory(engine_->device(), text, space, needed);
        });
    }
    std::string dump_eager_rx_buffers(size_t n_egr_rx_bufs, bool dump_data = true)
    {
        (void)n_egr_rx_bufs;
        return dump_eager_rx_buffers(dump_data);
    }
    std::string dump_eager_rx_buffers(bool dump_data = true)
    {
        (void)dump_data;
        return text_of([this](char *text, size_t space, size_t *needed) {
            return accl_dump_rx_buffers(engine_->device(), text, space, needed);
        });
    }
    std::string dump_communicator()
    {
        std::string all;
        for (size_t id = 0; id < communicators_.size(); id++)
            all += "communicator " + std::to_string(id) + ": " + communicators_[id].dump();
        return all;
    }

    /* --- buffers of LENGTH elements; MEM_GRP has no effect: the engine has one memory --- */

    template <typename dtype>
    std::unique_ptr<Buffer<dtype>> create_buffer(size_t length, dataType type)
    {
        return make<dtype>(nullptr, length, type, false);
    }
    template <typename dtype>
    std::unique_ptr<Buffer<dtype>> create_buffer(size_t length, dataType type, unsigned)
    {
        return make<dtype>(nullptr, length, type, false);
    }
    /* With HOST_BUFFER, which is to outlive the buffer, as its host side. */
    template <typename dtype>
    std::unique_ptr<Buffer<dtype>> create_buffer(dtype *host_buffer, size_t length, dataType type)
    {
        return make(host_buffer, length, type, false);
    }
    template <typename dtype>
    std::unique_ptr<Buffer<dtype>> create_buffer(dtype *host_buffer, size_t length, dataType type,
                                                 unsigned)
    {
        return make(host_buffer, length, type, false);
    }
    /* With the memory of BO, whose syncs go on working. */
    template <typename dtype>
    std::unique_ptr<Buffer<dtype>> create_buffer(xrt::bo &bo, size_t length, dataType type)
    {
        return std::make_unique<EngineBuffer<dtype>>(engine_->session(), bo, length, type,
                                                     simulated_);
    }
    template <typename dtype>
    std::unique_ptr<Buffer<dtype>> create_buffer_host(size_t length, dataType type)
    {
        return make<dtype>(nullptr, length, type, true);
    }
    template <typename dtype>
    std::unique_ptr<Buffer<dtype>> create_buffer_p2p(size_t length, dataType type)
    {
        return make<dtype>(nullptr, length, type, false);
    }
    template <typename dtype>
    std::unique_ptr<Buffer<dtype>> create_buffer_p2p(size_t length, dataType type, unsigned)
    {
        return make<dtype>(nullptr, length, type, false);
    }
    template <typename dtype>
    std::unique_ptr<Buffer<dtype>> create_coyotebuffer(size_t length, dataType type)
    {
        return make<dtype>(nullptr, length, type, false);
    }

  private:
    static constexpr size_t WHOLE = SIZE_MAX;

    std::unique_ptr<detail::Engine> engine_;
    const arithConfigMap arith_config_;
    std::vector<Communicator> communicators_; /* by number */
    const bool simulated_;
    const int devicemem_;

    ACCL(detail::Engine *engine, int devicemem, const arithConfigMap &arith_config)
        : engine_(engine), arith_config_(arith_config),
          simulated_(engine_->get_device_type() == CCLO::sim_device), devicemem_(devicemem)
    {
    }

    const Communicator &communicator(communicatorId id) const
    {
        if (communicators_.empty())
            detail::fail(ACCL_NOT_READY, "the device is not configured: call initialize() first");
        if (id >= communicators_.size())
            detail::fail(ACCL_NOT_FOUND, "no communicator " + std::to_string(id));
        return communicators_[id];
    }
    size_t all(unsigned int count, communicatorId id) const
    {
        return count * communicator(id).get_ranks()->size();
    }
    static unsigned int stream(unsigned int id)
    {
        if (id > ACCL_STREAM_ID_MAX)
            detail::fail(ACCL_INVALID, "stream " + std::to_string(id) + ": the largest is " +
                                           std::to_string(ACCL_STREAM_ID_MAX));
        return id;
    }

    static CCLO::Options describe(operation scenario, unsigned int count,
                                  unsigned int root_src_dst = 0, unsigned int tag = TAG_ANY,
                                  dataType compress = dataType::none)
    {
        CCLO::Options call;
        call.scenario = scenario;
        call.count = count;
        call.root_src_dst = root_src_dst;
        call.tag = tag;
        call.compress_dtype = compress;
        return call;
    }
    static CCLO::Options reduction(operation scenario, unsigned int count, unsigned int root,
                                   reduceFunction function, dataType compress)
    {
        CCLO::Options call = describe(scenario, count, root, TAG_ANY, compress);
        call.reduce_function = function;
        return call;
    }
    static void from_stream(CCLO::Options &call, dataType type)
    {
        call.stream_flags |= streamFlags::OP0_STREAM;
        call.data_type_io_0 = type;
    }
    static void to_stream(CCLO::Options &call, dataType type)
    {
        call.stream_flags |= streamFlags::RES_STREAM;
        call.data_type_io_2 = type;
    }
    /* Copies N elements, unless they are THERE. */
    static BaseBuffer *to_device(BaseBuffer &buffer, bool there, size_t n = WHOLE)
    {
        if (!there && n == WHOLE)
            buffer.sync_to_device();
        else if (!there)
            buffer.sync_first_to_device(n);
        return &buffer;
    }
    /* Copies N elements of BACK to the host when the call has ended. */
    ACCLRequest *run(const CCLO::Options &options, communicatorId comm_id, bool run_async,
                     const Requests &waitfor, BaseBuffer *back = nullptr, size_t n = WHOLE)
    {
        const Communicator &comm = communicator(comm_id);
        if (!comm.has_this_device())
            detail::fail(ACCL_INVALID, "this rank is not in communicator " +
                                           std::to_string(comm_id) + ": leave the call out");
        accl_call call = detail::describe(options, arith_config_);
        call.comm = comm.number();
        ACCLRequest *request = engine_->submit(call, !run_async, waitfor);
        if (run_async || back == nullptr)
            return request;
        if (n == WHOLE)
            back->sync_from_device();
        else
            back->sync_first_from_device(n);
        return request;
    }
    ACCLRequest *configure(cfgFunc function, unsigned int value, bool run_async,
                           const Requests &waitfor)
    {
        accl_call call{};
        call.size = sizeof call;
        call.operation = ACCL_CONFIG;
        call.function = static_cast<uint32_t>(function);
        call.count = value;
        return engine_->submit(call, !run_async, waitfor);
    }
    template <typename dump> static std::string text_of(dump &&write)
    {
        size_t needed = 0;
        detail::check(write(nullptr, 0, &needed));
        std::string text(needed + 1, '\0');
        detail::check(write(&text[0], text.size(), &needed));
        text.resize(needed < text.size() ? needed : text.size() - 1);
        return text;
    }
    template <typename dtype>
    std::unique_ptr<Buffer<dtype>> make(dtype *array, size_t length, dataType type, bool host_only)
    {
        return std::make_unique<EngineBuffer<dtype>>(engine_->session(), array, length, type,
                                                     simulated_, host_only);
    }
};

} // namespace ACCL

#endif
