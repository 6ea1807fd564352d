/* SPDX-License-Identifier: BSD-3-Clause */
/* Small functions that programs use: IPv4 addresses as words, and aligned memory. */
#ifndef ACCL_CPP_COMMON_HPP
#define ACCL_CPP_COMMON_HPP

#include <arpa/inet.h>
#include <cstdlib>
#include <string>

#include "errors.hpp"

#define ACCL_FPGA_ALIGNMENT 4096

namespace ACCL
{

/* To be freed by free(); nullptr if there is no memory. */
inline void *allocate_aligned_buffer(size_t size, size_t alignment = ACCL_FPGA_ALIGNMENT)
{
    void *memory = nullptr;
    return posix_memalign(&memory, alignment, size + (size == 0)) == 0 ? memory : nullptr;
}

/* 127.0.0.1 is 0x7F000001. */
inline uint32_t ip_encode(const std::string &ip)
{
    in_addr address{};
    if (inet_pton(AF_INET, ip.c_str(), &address) != 1)
        detail::fail(ACCL_INVALID, "not an IPv4 address: '" + ip + "'");
    return ntohl(address.s_addr);
}

inline std::string ip_decode(uint32_t ip)
{
    char text[INET_ADDRSTRLEN];
    in_addr address{};
    address.s_addr = htonl(ip);
    return inet_ntop(AF_INET, &address, text, sizeof text);
}

} // namespace ACCL

#endif
