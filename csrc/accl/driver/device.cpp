/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening a board or an emulator, communicators, registers and dumps. */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <set>

#include "driver.hpp"

namespace driver
{

static thread_local std::string last_message;

int fail(int status, const std::string &text)
{
    last_message = text;
    return status;
}

static std::string dotted(uint32_t ip)
{
    char text[16];
    std::snprintf(text, sizeof text, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255,
                  ip & 255);
    return text;
}

static std::vector<ACCL::rank_t> rank_list(const std::vector<accl_rank> &ranks)
{
    std::vector<ACCL::rank_t> list;
    for (size_t i = 0; i < ranks.size(); i++) {
        const accl_rank &r = ranks[i];
        int session =
            r.session == ACCL_NO_SESSION ? static_cast<int>(i) : static_cast<int>(r.session);
        list.push_back({dotted(r.ip), static_cast<int>(r.port), session, r.max_segment_size});
    }
    return list;
}

/* The port in "tcp://localhost:5500"; an emulated rank listens at the first one plus its rank. */
static unsigned first_port(const std::string &endpoint, uint32_t rank)
{
    size_t colon = endpoint.rfind(':');
    int port = colon == std::string::npos ? 0 : std::atoi(endpoint.c_str() + colon + 1);
    if (port < 1 + static_cast<int>(rank) || port > 65535)
        throw std::runtime_error("the endpoint '" + endpoint + "' has no port for this rank");
    return static_cast<unsigned>(port) - rank;
}

/* Opens the board, with engines and their memory where the vendor's reference designs put them. */
static void open_board(Device &d)
{
    std::string engine = std::to_string(d.config.cclo_index);
    int bank = d.config.cclo_index * 6;
    d.board = xrt::device(static_cast<unsigned>(d.config.board_index));
    xrt::uuid design = d.board.load_xclbin(d.xclbin);
    d.engine = xrt::ip(d.board, design, "ccl_offload:{ccl_offload_" + engine + "}");
    d.control = xrt::kernel(d.board, design, "hostctrl:{hostctrl_" + engine + "_0}",
                            xrt::kernel::cu_access_mode::exclusive);
    d.driver = std::make_unique<ACCL::ACCL>(d.board, d.engine, d.control, bank,
                                            std::vector<int>{bank + 1});
}

static int first_communicator(Device &d, const std::vector<accl_rank> &ranks, uint32_t me)
{
    if (!d.rx_count)
        return fail(ACCL_NOT_READY, "set up rx buffers before communicators");
    if (d.endpoint.empty())
        open_board(d);
    else
        d.driver = std::make_unique<ACCL::ACCL>(first_port(d.endpoint, me), me);
    try {
        /* An emulator reports 0 whatever it has. */
        d.rendezvous = (d.driver->get_hwid() & 3) == 2;
        d.driver->initialize(rank_list(ranks), static_cast<int>(me), static_cast<int>(d.rx_count),
                             d.rx_bytes, d.rendezvous ? d.rx_bytes : UINT32_MAX,
                             std::max<uint64_t>(d.rx_bytes * 2, 32 * 1024));
    } catch (...) {
        d.driver.reset();
        throw;
    }
    d.segment_size = d.rx_bytes;
    d.communicators.push_back(ranks);
    d.local_ranks.push_back(me);
    return ACCL_OK;
}

static int add(Device &d, const std::vector<accl_rank> &ranks, uint32_t me, uint32_t *id)
{
    return guarded([&] {
        std::lock_guard<std::mutex> guard(d.driver_lock);
        *id = static_cast<uint32_t>(d.communicators.size());
        if (!d.driver)
            return first_communicator(d, ranks, me);
        d.driver->create_communicator(rank_list(ranks), static_cast<int>(me));
        d.communicators.push_back(ranks);
        d.local_ranks.push_back(me);
        return static_cast<int>(ACCL_OK);
    });
}

/* TEXT as the functions for dumps give it. */
static int give(const std::string &text, char *out, size_t space, size_t *needed)
{
    if (space) {
        size_t n = std::min(text.size(), space - 1);
        std::memcpy(out, text.data(), n);
        out[n] = 0;
    }
    if (needed)
        *needed = text.size();
    return ACCL_OK;
}

template <typename Dump>
static int dump(accl_device *device, char *out, size_t space, size_t *needed, Dump text)
{
    give("", out, space, needed);
    if (!device->d->driver)
        return fail(ACCL_NOT_READY, "the device has no communicator yet");
    return guarded([&] {
        std::lock_guard<std::mutex> guard(device->d->driver_lock);
        return give(text(*device->d->driver), out, space, needed);
    });
}

} // namespace driver

using namespace driver;

ACCL_EXPORT int accl_abi_version(void)
{
    return ACCL_ABI_VERSION;
}

ACCL_EXPORT const char *accl_version(void)
{
    return "offchip " OFFCHIP_VERSION " over the ACCL driver";
}

ACCL_EXPORT const char *accl_error_message(void)
{
    return last_message.c_str();
}

ACCL_EXPORT const char *accl_status_text(int status)
{
    switch (status) {
#define STATUS_CASE(name, value, text) \
    case value: return text;
        ACCL_STATUS_LIST(STATUS_CASE)
    default: return "";
    }
}

ACCL_EXPORT const char *accl_error_name(unsigned bit)
{
    switch (bit) {
#define NAME_CASE(name, number, text) \
    case number: return #name;
        ACCL_ERROR_LIST(NAME_CASE)
    default: return "";
    }
}

ACCL_EXPORT const char *accl_error_text(unsigned bit)
{
    switch (bit) {
#define TEXT_CASE(name, number, text) \
    case number: return text;
        ACCL_ERROR_LIST(TEXT_CASE)
    default: return "";
    }
}

ACCL_EXPORT int accl_open(const struct accl_config *config, accl_device **device)
{
    *device = nullptr;
    accl_config c = {};
    if (config)
        std::memcpy(&c, config, std::min<size_t>(config->size, sizeof c));
    bool hardware = c.xclbin && c.xclbin[0], emulator = c.endpoint && c.endpoint[0];
    if (hardware == emulator)
        return fail(ACCL_INVALID, "the driver needs a bit stream (xclbin) or an emulator's "
                                  "endpoint, and not both");
    if (c.memory_mode != ACCL_MEMORY_SEPARATE)
        return fail(ACCL_UNSUPPORTED, "host and device memory are separate on hardware");
    return guarded([&] {
        auto handle = std::make_unique<accl_device>();
        auto d = std::make_shared<Device>();
        d->config = c;
        d->xclbin = hardware ? c.xclbin : "";
        d->endpoint = emulator ? c.endpoint : "";
        d->config.xclbin = d->config.endpoint = d->config.job = nullptr;
        /* The thread shares ownership of what it works on. */
        d->worker = std::thread([d] { d->run(); });
        handle->d = d;
        *device = handle.release();
        return static_cast<int>(ACCL_OK);
    });
}

ACCL_EXPORT void accl_close(accl_device *device)
{
    if (!device)
        return;
    Device &d = *device->d;
    bool ended;
    {
        std::unique_lock<std::mutex> guard(d.lock);
        d.stops = true;
        d.changed.notify_all();
        /* A call that hangs in the driver cannot be interrupted: its thread is abandoned. */
        ended = d.changed.wait_for(guard, std::chrono::seconds(5), [&d] { return d.ended; });
    }
    if (ended) {
        d.worker.join();
        guarded([&] {
            std::lock_guard<std::mutex> guard(d.driver_lock);
            release_driver(d);
            return 0;
        });
    } else {
        d.worker.detach();
    }
    delete device;
}

ACCL_EXPORT void accl_set_interrupt_check(accl_device *device, int (*check)(void *argument),
                                          void *argument)
{
    device->d->check_argument = argument;
    device->d->check = check;
}

ACCL_EXPORT int accl_setup_rx_buffers(accl_device *device, uint32_t count, uint64_t bytes)
{
    if (count < 1 || count > 254 || bytes < 64 || bytes > UINT32_MAX)
        return fail(ACCL_INVALID, "1 to 254 rx buffers of 64 bytes to 4 GiB are possible");
    if (device->d->driver)
        return fail(ACCL_IN_USE, "rx buffers are set up before the first communicator");
    device->d->rx_count = count;
    device->d->rx_bytes = bytes;
    return ACCL_OK;
}

ACCL_EXPORT int accl_create_communicator(accl_device *device, const struct accl_rank *ranks,
                                         uint32_t n, uint32_t local_rank, uint32_t *id)
{
    *id = 0;
    if (n < 1 || local_rank >= n)
        return fail(ACCL_INVALID, "the local rank is not one of the ranks");
    return add(*device->d, {ranks, ranks + n}, local_rank, id);
}

ACCL_EXPORT int accl_split_communicator(accl_device *device, uint32_t comm, const uint32_t *indices,
                                        uint32_t n, uint32_t *id)
{
    Device &d = *device->d;
    *id = 0;
    if (comm >= d.communicators.size())
        return fail(ACCL_NOT_FOUND, "no such communicator");
    return guarded([&] {
        std::set<uint32_t> chosen(indices, indices + n);
        std::vector<accl_rank> ranks;
        uint32_t me = UINT32_MAX;
        for (uint32_t i : chosen) {
            if (i >= d.communicators[comm].size())
                return fail(ACCL_INVALID, "the communicator has no such rank");
            if (i == d.local_ranks[comm])
                me = static_cast<uint32_t>(ranks.size());
            ranks.push_back(d.communicators[comm][i]);
        }
        if (me == UINT32_MAX)
            return fail(ACCL_INVALID, "the local rank is not among the ranks");
        return add(d, ranks, me, id);
    });
}

ACCL_EXPORT int accl_communicator_info(accl_device *device, uint32_t comm,
                                       struct accl_communicator_info *info)
{
    Device &d = *device->d;
    if (comm >= d.communicators.size())
        return fail(ACCL_NOT_FOUND, "no such communicator");
    return guarded([&] {
        struct accl_communicator_info full = {};
        full.size = info->size;
        full.ranks = static_cast<uint32_t>(d.communicators[comm].size());
        full.local_rank = d.local_ranks[comm];
        std::lock_guard<std::mutex> guard(d.driver_lock);
        full.exchange_address = static_cast<uint32_t>(d.driver->get_communicator_addr(comm));
        std::memcpy(info, &full, std::min<size_t>(info->size, sizeof full));
        return static_cast<int>(ACCL_OK);
    });
}

ACCL_EXPORT int accl_communicator_ranks(accl_device *device, uint32_t comm, struct accl_rank *ranks,
                                        uint32_t n)
{
    Device &d = *device->d;
    if (comm >= d.communicators.size())
        return fail(ACCL_NOT_FOUND, "no such communicator");
    for (uint32_t i = 0; i < n && i < d.communicators[comm].size(); i++)
        ranks[i] = d.communicators[comm][i];
    return ACCL_OK;
}

ACCL_EXPORT int accl_communicator_at(accl_device *device, uint32_t address, uint32_t *comm)
{
    struct accl_communicator_info info = {};
    info.size = sizeof info;
    for (*comm = 0; accl_communicator_info(device, *comm, &info) == ACCL_OK; ++*comm)
        if (info.exchange_address == address)
            return ACCL_OK;
    *comm = 0;
    return fail(ACCL_NOT_FOUND, "no communicator has that address");
}

static bool is_word(uint32_t offset)
{
    return offset % 4 == 0 && offset < ACCL_EXCHANGE_SIZE;
}

/* The driver shows two registers only. What was written is read back as well. */
ACCL_EXPORT int accl_exchange_read(accl_device *device, uint32_t offset, uint32_t *value)
{
    Device &d = *device->d;
    *value = 0;
    if (!is_word(offset))
        return fail(ACCL_INVALID, "exchange memory has 8 KiB of words");
    if (!d.driver)
        return fail(ACCL_NOT_READY, "the device has no communicator yet");
    if (offset == ACCL_EXCHANGE_CFGRDY) {
        *value = 1;
        return ACCL_OK;
    }
    if (offset == ACCL_EXCHANGE_RETCODE) {
        *value = d.last_retcode;
        return ACCL_OK;
    }
    if (offset != ACCL_EXCHANGE_HWID) {
        std::lock_guard<std::mutex> guard(d.lock);
        auto word = d.words.find(offset);
        if (word != d.words.end()) {
            *value = word->second;
            return ACCL_OK;
        }
        return fail(ACCL_UNSUPPORTED, "the driver shows exchange memory as a dump only");
    }
    return guarded([&] {
        std::lock_guard<std::mutex> guard(d.driver_lock);
        *value = d.driver->get_hwid();
        return static_cast<int>(ACCL_OK);
    });
}

/* The engine's tables are the driver's: as with the soft engine, calls do not use these words. */
ACCL_EXPORT int accl_exchange_write(accl_device *device, uint32_t offset, uint32_t value)
{
    Device &d = *device->d;
    if (!is_word(offset))
        return fail(ACCL_INVALID, "exchange memory has 8 KiB of words");
    return guarded([&] {
        std::lock_guard<std::mutex> guard(d.lock);
        d.words[offset] = value;
        return static_cast<int>(ACCL_OK);
    });
}

ACCL_EXPORT int accl_get_settings(accl_device *device, uint32_t *timeout_ms, uint64_t *segment_size)
{
    *timeout_ms = device->d->timeout_ms;
    *segment_size = device->d->segment_size;
    return ACCL_OK;
}

ACCL_EXPORT int accl_dump_rx_buffers(accl_device *device, char *text, size_t space, size_t *needed)
{
    return dump(device, text, space, needed,
                [](ACCL::ACCL &a) { return a.dump_eager_rx_buffers(false); });
}

/* The driver dumps all of them at once. */
ACCL_EXPORT int accl_dump_communicator(accl_device *device, uint32_t comm, char *text, size_t space,
                                       size_t *needed)
{
    if (comm >= device->d->communicators.size())
        return fail(ACCL_NOT_FOUND, "no such communicator");
    return dump(device, text, space, needed, [](ACCL::ACCL &a) { return a.dump_communicator(); });
}

ACCL_EXPORT int accl_dump_exchange_memory(accl_device *device, char *text, size_t space,
                                          size_t *needed)
{
    return dump(device, text, space, needed,
                [](ACCL::ACCL &a) { return a.dump_exchange_memory(); });
}
