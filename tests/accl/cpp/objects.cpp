/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests, buffers, communicators and errors of accl.hpp, and what stands in for XRT. */
#include "ranks.hpp"

#include <accl/dummybuffer.hpp>
#include <accl/timing.hpp>
#include <xrt/xrt_uuid.h>

using namespace ACCL;

static const dataType F32 = dataType::float32;

static std::atomic<int> looked; /* ranks that looked at a call before its end */

static void requests(::ACCL::ACCL &accl, int rank, int size)
{
    auto next = static_cast<unsigned>((rank + 1) % size);
    auto last = static_cast<unsigned>((rank + size - 1) % size);
    auto sent = accl.create_buffer<float>(8, F32), got = accl.create_buffer<float>(8, F32);
    (*sent)[0] = static_cast<float>(rank + 1);

    ACCLRequest *receive = accl.recv(*got, 8, last, 1, GLOBAL_COMM, true, dataType::none, true);
    EXPECT(!accl.wait(receive, 1ms));
    EXPECT(!accl.test(receive));
    EXPECT(accl.get_duration(receive) == 0);
    looked++;
    while (looked < size)
        std::this_thread::yield();
    accl.send(*sent, 8, next, 1);
    accl.wait(receive);
    EXPECT(accl.test(receive) && accl.wait(receive, 1ms));
    EXPECT(accl.get_duration(receive) > 0);
    got->sync_from_device();
    EXPECT((*got)[0] == static_cast<float>(last + 1));

    // A call that is waited for gives a request as well.
    ACCLRequest *copied = accl.copy(*sent, *got, 8, false, false, false, {receive});
    EXPECT(accl.get_duration(copied) > 0);
    EXPECT((*got)[0] == static_cast<float>(rank + 1));
    ACCLRequest *sum = accl.allreduce(*sent, *got, 8, reduceFunction::SUM);
    EXPECT(accl.get_duration(sum) > 0);
    accl.free_request(receive);
    EXPECT_THROW(std::runtime_error, "no such request", accl.wait(receive));
}

/* Nobody has to free requests. */
static void many_requests(::ACCL::ACCL &accl, int, int)
{
    ACCLRequest *first = accl.nop(), *last = nullptr;
    for (size_t i = 0; i < detail::Requests::KEPT; i++)
        last = accl.nop();
    EXPECT(accl.get_duration(last) > 0);
    EXPECT_THROW(std::runtime_error, "no such request", accl.get_duration(first));
}

static void failures(::ACCL::ACCL &accl, int rank, int size)
{
    auto buffer = accl.create_buffer<float>(8, F32), other = accl.create_buffer<float>(8, F32);
    auto halves = accl.create_buffer<uint16_t>(8, dataType::float16);
    auto longs = accl.create_buffer<int64_t>(8, dataType::int64);
    DummyBuffer nothing;
    accl.set_timeout(50);
    try {
        accl.recv(*buffer, 8, static_cast<unsigned>(rank), 3);
        EXPECT(false);
    } catch (const accl_exception &error) {
        EXPECT(error.retcode() == ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
        EXPECT(std::string(error.what()).find("tag 3") != std::string::npos);
    }
    try {
        accl.copy(*buffer, *other, 9);
        EXPECT(false);
    } catch (const accl_exception &error) {
        EXPECT(error.status() != ACCL_OK && error.retcode() == 0);
    }
    ACCLRequest *late = accl.recv(*buffer, 8, static_cast<unsigned>(rank), 3, GLOBAL_COMM, true,
                                  dataType::none, true);
    EXPECT_THROW(std::runtime_error, "tag 3", accl.wait(late));
    accl.set_timeout(20000);

    EXPECT_THROW(std::runtime_error, "elements 0 to 9 of a buffer of 8",
                 accl.gather(*buffer, *other, 9, 0));
    EXPECT_THROW(std::runtime_error, "9 elements of a buffer of 8", accl.copy(*buffer, *other, 9));
    EXPECT_THROW(std::runtime_error, "int64 with float32", accl.copy(*buffer, *longs, 8));
    EXPECT_THROW(std::runtime_error, "three types",
                 accl.combine(8, reduceFunction::SUM, *buffer, *halves, *longs));
    EXPECT_THROW(std::runtime_error, "int64 and float32 compressed to float16",
                 accl.scatter(*longs, *buffer, 1, 0, GLOBAL_COMM, true, true, dataType::float16));
    EXPECT_THROW(std::runtime_error, "a call without elements", accl.copy(nothing, nothing, 8));
    EXPECT_THROW(std::runtime_error, "stream 247", accl.stream_put(*buffer, 8, 0, 247));
    EXPECT_THROW(std::runtime_error, "no communicator 5", accl.bcast(*buffer, 8, 0, 5));
    EXPECT_THROW(std::runtime_error, "before: make another",
                 accl.initialize(accl.get_comm_group(0), rank));
    EXPECT_THROW(std::bad_alloc, "too large", accl.create_buffer<float>(SIZE_MAX / 2, F32));
    EXPECT_THROW(std::bad_alloc, "bytes", accl.create_buffer<float>(size_t{1} << 50, F32));
    EXPECT_THROW(std::runtime_error, "10.10.10.2",
                 accl.create_communicator(accl_network_utils::generate_ranks(false, 0, 2), 0));
    EXPECT_THROW(std::runtime_error, "not an IPv4 address",
                 accl.create_communicator({{"localhost", 1, 0, 64}}, 0));
    EXPECT_THROW(std::runtime_error, "local rank 9",
                 accl.create_communicator(accl.get_comm_group(0), 9));
    EXPECT(size >= 1);

    ::ACCL::ACCL raw(7000, 0);
    EXPECT_THROW(std::runtime_error, "call initialize() first", raw.nop());
    EXPECT_THROW(std::runtime_error, "another ACCL object", raw.wait(late));
    raw.deinit();
    EXPECT_THROW(std::runtime_error, "deinit() was called", raw.create_buffer<float>(1, F32));
}

static void buffers(::ACCL::ACCL &accl, int, int)
{
    auto device = accl.create_buffer<float>(5000, F32);
    auto host = accl.create_buffer_host<float>(5000, F32);
    auto p2p = accl.create_buffer_p2p<float>(5000, F32);
    std::vector<float> array(5000, 3.0F);
    auto theirs = accl.create_buffer(array.data(), array.size(), F32);
    EXPECT(device->length() == 5000 && device->size() == 20000 && device->type() == F32);
    EXPECT(!device->is_host_only() && host->is_host_only() && device->is_simulated());
    EXPECT(theirs->buffer() == array.data());
    device->sync_from_device();
    EXPECT((*device)[4999] == 0 && (*host)[4999] == 0 && (*p2p)[4999] == 0);

    accl.copy(*theirs, *host, 5000);
    EXPECT((*host)[4999] == 3);
    (*host)[0] = 4;
    accl.copy(*host, *theirs, 5000);
    EXPECT(array[0] == 4);

    // Parts are in the same memory.
    auto part = device->slice(100, 200);
    EXPECT(part->size() == 400 && part->address() == device->address() + 400);
    accl.copy(*theirs, *part, 100);
    EXPECT((*device)[100] == 4 && (*device)[99] == 0);
    EXPECT_THROW(std::runtime_error, "elements 4999 to 5001 of a buffer of 5000",
                 device->slice(4999, 5001));
    EXPECT_THROW(std::runtime_error, "elements 2 to 1", device->slice(2, 1));

    // An element type of another size on the way.
    auto halves = accl.create_buffer<uint16_t>(16, dataType::float16);
    accl.copy(*theirs, *halves, 16);
    EXPECT((*halves)[0] == 0x4400 && (*halves)[1] == 0x4200);
}

/* Buffers live on after the object that made them. */
static void buffers_that_outlive(::ACCL::ACCL &, int, int)
{
    std::vector<float> array(4, 1.0F);
    std::unique_ptr<Buffer<float>> device, theirs;
    {
        ::ACCL::ACCL other(8000, 0);
        other.initialize({{"127.0.0.1", 8000, 0, 4096}}, 0);
        device = other.create_buffer<float>(4, F32);
        theirs = other.create_buffer(array.data(), array.size(), F32);
        other.copy(*theirs, *device, 4);
    }
    (*device)[0] = 0;
    device->sync_from_device();
    EXPECT((*device)[0] == 1);
    EXPECT_THROW(std::runtime_error, "the ACCL object is gone", theirs->sync_from_device());
}

static void communicators(::ACCL::ACCL &accl, int rank, int size)
{
    auto group = accl.get_comm_group(GLOBAL_COMM);
    EXPECT(static_cast<int>(group.size()) == size);
    EXPECT(accl.get_comm_rank(GLOBAL_COMM) == static_cast<unsigned>(rank));
    auto buffer = accl.create_buffer<float>(1, F32), sum = accl.create_buffer<float>(1, F32);
    (*buffer)[0] = 1;

    // Of all ranks but the first, which makes it too.
    if (size > 1) {
        std::vector<rank_t> rest(group.begin() + 1, group.end());
        communicatorId id = accl.create_communicator(rest, rank == 0 ? 0 : rank - 1);
        EXPECT(id == 1);
        if (rank == 0)
            EXPECT_THROW(std::runtime_error, "this rank is not in communicator 1",
                         accl.allreduce(*buffer, *sum, 1, reduceFunction::SUM, id));
        else
            accl.allreduce(*buffer, *sum, 1, reduceFunction::SUM, id);
        EXPECT((*sum)[0] == static_cast<float>(rank == 0 ? 0 : size - 1));
    }
    communicatorId twin = accl.create_communicator(group, rank);
    accl.allreduce(*buffer, *sum, 1, reduceFunction::SUM, twin);
    EXPECT((*sum)[0] == static_cast<float>(size));
    EXPECT(accl.get_communicator_addr(twin) != accl.get_communicator_addr());
    EXPECT(accl.dump_communicator().find("communicator 1: local rank") != std::string::npos);
    EXPECT(!accl.dump_exchange_memory().empty() && !accl.dump_eager_rx_buffers().empty());
    EXPECT(accl.get_hwid() != 0);
    accl.barrier();
}

/* A CCLO by itself. */
static void engines(::ACCL::ACCL &accl, int, int)
{
    arithConfigMap few = {{{F32, F32}, DEFAULT_ARITH_CONFIG.at({F32, F32})}};
    ::ACCL::ACCL plain(9000, 0, few);
    plain.initialize({{"127.0.0.1", 9000, 0, 4096}}, 0);
    auto a = plain.create_buffer<double>(1, dataType::float64);
    EXPECT_THROW(std::runtime_error, "no arithmetic configuration has float64 with float64",
                 plain.copy(*a, *a, 1));
    EXPECT_THROW(std::runtime_error, "only kernels of an FPGA",
                 plain.get_arithmetic_config_addr({F32, F32}));

    SimDevice device(9100, 0);
    SimBuffer<int> from(3, dataType::int32, device.get_context());
    SimBuffer<int> to(3, dataType::int32, device.get_context());
    from[1] = 5;
    CCLO::Options call;
    call.scenario = operation::copy;
    call.count = 3;
    call.addr_0 = &from;
    call.addr_2 = &to;
    from.sync_to_device();
    device.wait(device.start(call));
    to.sync_from_device();
    EXPECT(to[1] == 5);
    call.scenario = operation::barrier;
    call.comm = 4;
    EXPECT_THROW(std::runtime_error, "no communicator", device.call(call));
    EXPECT(device.get_device_type() == CCLO::sim_device && accl.is_simulated());
    EXPECT(std::string(error_code_to_string(errorCode::RECEIVE_TIMEOUT_ERROR)) ==
           "no matching message arrived in time");
    EXPECT(ip_decode(ip_encode("10.1.2.3")) == "10.1.2.3");
    Timer timer;
    EXPECT_THROW(std::runtime_error, "start() before end()", timer.end());
    timer.start();
    timer.end();
    EXPECT(timer.elapsed() < 1000000);
}

/* Programs for boards run, as far as they need no kernel of their own. */
static void boards(::ACCL::ACCL &simulated, int, int)
{
    xrt::device card(0);
    std::vector<rank_t> ranks = {{"10.10.10.1", 5001, 0, 4096}};
    auto accl = accl_network_utils::initialize_accl(
        ranks, 0, false, accl_network_utils::acclDesign::UDP, card, "accl.xclbin");
    EXPECT(!accl->is_simulated() && simulated.is_simulated());

    // A buffer object and the buffer over it have one memory on either side.
    xrt::bo object(card, 16 * sizeof(float), static_cast<xrt::memory_group>(accl->devicemem()));
    auto *data = object.map<float *>();
    data[0] = 2;
    object.sync(XCL_BO_SYNC_BO_TO_DEVICE);
    auto buffer = accl->create_buffer<float>(object, 16, F32);
    auto again = accl->create_buffer<float>(object, 16, F32);
    EXPECT(buffer->buffer() == data && buffer->address() == again->address());
    accl->combine(16, reduceFunction::SUM, *buffer, *again, *buffer, true, true, true);
    EXPECT(data[0] == 2);
    object.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
    EXPECT(data[0] == 4);
    xrt::bo second(object, 4 * sizeof(float), 4 * sizeof(float));
    auto part = accl->create_buffer<float>(second, 4, F32);
    EXPECT(part->address() == buffer->address() + 16);
    EXPECT_THROW(std::runtime_error, "a buffer object of 16",
                 accl->create_buffer<float>(second, 5, F32));
    EXPECT_THROW(std::runtime_error, "xrt::bo: 4 bytes at 64 of 64",
                 object.sync(XCL_BO_SYNC_BO_TO_DEVICE, 4, 64));
    EXPECT_THROW(std::runtime_error, "has no memory", xrt::bo().map());

    xrt::kernel kernel(card, card.get_xclbin_uuid(), "vadd_put:{vadd_0}");
    EXPECT_THROW(std::runtime_error, "the kernel vadd_put:{vadd_0} needs an FPGA",
                 kernel(object, 16));
    EXPECT_THROW(std::runtime_error, "a register of vadd_put:{vadd_0} needs an FPGA",
                 kernel.read_register(0));
    XRTBuffer<float> loose(16, F32, card, 0);
    loose.sync_to_device();
    EXPECT_THROW(std::runtime_error, "make it with create_buffer()",
                 accl->copy(loose, *buffer, 16));

    ::ACCL::ACCL coyote(new CoyoteDevice(1));
    coyote.initialize({{"127.0.0.1", 9300, 0, 4096}}, 0);
    auto shell = coyote.create_coyotebuffer<float>(4, F32);
    coyote.copy(*shell, *shell, 4);
}

static void files(::ACCL::ACCL &, int, int)
{
    using namespace accl_network_utils;
    std::string path = "ranks-" + std::to_string(getpid()) + ".json";
    auto with = [&](const char *text) {
        std::ofstream(path) << text;
        return generate_ranks(path, 0, 6000, 2048);
    };
    auto ranks = with("{\"name\": [\"x\"], \"ips\": [\"127.0.0.1\", \"127.0.0.2\"]}");
    EXPECT(ranks.size() == 2 && ranks[1].ip == "127.0.0.2" && ranks[1].port == 6001);
    EXPECT(ranks[1].session_id == 1 && ranks[1].max_segment_size == 2048);
    for (const char *text : {"", "{}", "{\"ips\": [", "{\"ips\": []}", "{\"ips\": [\"1]}"})
        EXPECT_THROW(std::runtime_error, "expected a JSON object", with(text));
    std::filesystem::remove(path);
    EXPECT_THROW(std::runtime_error, "cannot read the list of ranks", generate_ranks(path, 0));
}

int main(int, char **words)
{
    const std::map<std::string, Part> parts = {
        {"requests", requests},
        {"many_requests", many_requests},
        {"failures", failures},
        {"buffers", buffers},
        {"outlive", buffers_that_outlive},
        {"communicators", communicators},
        {"engines", engines},
        {"boards", boards},
        {"files", files},
    };
    use_own_job();
    on_ranks(std::atoi(words[2]), parts.at(words[1]));
    std::puts("ok");
}
