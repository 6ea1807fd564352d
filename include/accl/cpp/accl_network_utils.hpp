/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accl_network_utils.hpp: makes lists of ranks, and an ACCL object that is ready for calls.
 * Programs may include it beside accl.hpp. Networks of FPGAs are not set up: there are none.
 */
#ifndef ACCL_NETWORK_UTILS_HPP
#define ACCL_NETWORK_UTILS_HPP

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "accl.hpp"

namespace accl_network_utils
{

/* ROCE is of releases until 2023. */
enum class acclDesign { AXIS3x, TCP, UDP, CYT_TCP, CYT_RDMA, ROCE };

class network_error : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/* The list "ips" of a JSON file: addresses without escapes. */
inline std::vector<std::string> get_ips(const std::filesystem::path &config_file)
{
    std::ifstream file(config_file);
    if (!file)
        throw std::runtime_error("cannot read the list of ranks " + config_file.string());
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};

    std::vector<std::string> ips;
    size_t at = text.find("\"ips\"");
    size_t begin = text.find('[', at), end = text.find(']', at);
    if (at != std::string::npos && begin != std::string::npos && end != std::string::npos)
        for (size_t quote = text.find('"', begin); quote < end;) {
            size_t close = text.find('"', quote + 1);
            if (close > end)
                break;
            ips.push_back(text.substr(quote + 1, close - quote - 1));
            quote = text.find('"', close + 1);
        }
    if (ips.empty())
        throw std::runtime_error(config_file.string() +
                                 ": expected a JSON object with a list of addresses, \"ips\"");
    return ips;
}

/* 127.0.0.1 for all, or 10.10.10.1 and following. */
inline std::vector<std::string> get_ips(bool local, int world_size)
{
    std::vector<std::string> ips;
    for (int i = 1; i <= world_size; i++)
        ips.push_back(local ? "127.0.0.1" : "10.10.10." + std::to_string(i));
    return ips;
}

inline std::vector<ACCL::rank_t> generate_ranks(const std::vector<std::string> &ips,
                                                std::uint16_t start_port, unsigned int rxbuf_size)
{
    std::vector<ACCL::rank_t> ranks;
    for (size_t i = 0; i < ips.size(); i++) {
        int number = static_cast<int>(i);
        ranks.push_back({ips[i], start_port + number, number, rxbuf_size});
    }
    return ranks;
}

inline std::vector<ACCL::rank_t> generate_ranks(const std::filesystem::path &config_file,
                                                int local_rank, std::uint16_t start_port = 5500,
                                                unsigned int rxbuf_size = 1024, bool roce = false)
{
    (void)local_rank;
    (void)roce;
    return generate_ranks(get_ips(config_file), start_port, rxbuf_size);
}

inline std::vector<ACCL::rank_t> generate_ranks(bool local, int local_rank, int world_size,
                                                std::uint16_t start_port = 5500,
                                                unsigned int rxbuf_size = 1024, bool roce = false)
{
    (void)local_rank;
    (void)roce;
    return generate_ranks(get_ips(local, world_size), start_port, rxbuf_size);
}

/*
 * Makes the object for a SIMULATOR, or for DEVICE with the bit stream XCLBIN, and initializes it
 * with NBUFS rx buffers of BUFSIZE bytes. What only networks have (DESIGN, RSFEC) has no effect.
 */
inline std::unique_ptr<ACCL::ACCL> initialize_accl(
    std::vector<ACCL::rank_t> &ranks, int local_rank, bool simulator, acclDesign design,
    xrt::device device = xrt::device(), std::filesystem::path xclbin = "", unsigned int nbufs = 16,
    unsigned int bufsize = 1024, unsigned int egrsize = 0, bool rsfec = false)
{
    (void)design;
    (void)rsfec;
    std::unique_ptr<ACCL::ACCL> accl;
    if (simulator) {
        int own_port = ranks.at(static_cast<size_t>(local_rank)).port;
        accl = std::make_unique<ACCL::ACCL>(static_cast<unsigned>(own_port - local_rank),
                                            static_cast<unsigned>(local_rank));
    } else {
        const auto id = device.load_xclbin(xclbin.string());
        xrt::ip engine(device, id, "ccl_offload:{ccl_offload_0}");
        xrt::kernel control(device, id, "hostctrl:{hostctrl_0}",
                            xrt::kernel::cu_access_mode::exclusive);
        accl = std::make_unique<ACCL::ACCL>(device, engine, control, 0, std::vector<int>{});
    }
    accl->initialize(ranks, local_rank, static_cast<int>(nbufs), bufsize,
                     egrsize != 0 ? egrsize : bufsize);
    return accl;
}

} // namespace accl_network_utils

#endif
