/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of accl.h from lists of ranks, if these can be reached. */
#ifndef ACCL_CPP_WORLD_HPP
#define ACCL_CPP_WORLD_HPP

#include <cstdlib>
#include <string>
#include <vector>

#include "communicator.hpp"

namespace ACCL
{
namespace detail
{

/* Returns true if the launcher started N processes on this host. */
inline bool started_here(size_t n)
{
    for (const char *name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "LOCAL_WORLD_SIZE"}) {
        const char *value = std::getenv(name);
        if (value != nullptr)
            return std::strtoul(value, nullptr, 10) == n;
    }
    return false;
}

/*
 * Addresses that differ are other hosts, unless the launcher says otherwise: programs for boards
 * number their networks, whatever hosts the ranks are on.
 */
inline std::vector<accl_rank> list_ranks(const std::vector<rank_t> &ranks, int local_rank)
{
    if (local_rank < 0 || static_cast<size_t>(local_rank) >= ranks.size())
        fail(ACCL_INVALID, "local rank " + std::to_string(local_rank) + " of " +
                               std::to_string(ranks.size()) + " ranks");
    bool here = started_here(ranks.size());
    uint32_t own = ip_encode(ranks[static_cast<size_t>(local_rank)].ip);
    std::vector<accl_rank> listed;
    for (const rank_t &rank : ranks) {
        accl_rank entry{};
        entry.ip = ip_encode(rank.ip);
        entry.port = static_cast<uint32_t>(rank.port);
        entry.session = static_cast<uint32_t>(rank.session_id);
        entry.max_segment_size = static_cast<uint32_t>(rank.max_segment_size);
        entry.reach = ACCL_REACH_SHARED;
        if (entry.ip != own && !here)
            fail(ACCL_UNSUPPORTED,
                 "rank " + std::to_string(listed.size()) + " has the address " + rank.ip +
                     ", this one " + ip_decode(own) +
                     ": C++ programs reach ranks on their own host; give these one address, or "
                     "start all of them by one mpiexec");
        listed.push_back(entry);
    }
    return listed;
}

/* Makes a communicator, which is the FIRST one of the device, or has ranks of that. */
inline Communicator make_communicator(accl_device *device, const std::vector<rank_t> &ranks,
                                      int local_rank, const Communicator *first)
{
    std::vector<accl_rank> listed = list_ranks(ranks, local_rank);
    auto own = static_cast<uint32_t>(local_rank);

    if (first != nullptr) {
        const rank_t &here = first->get_ranks()->at(first->local_rank());
        if (ranks[own].ip != here.ip || ranks[own].port != here.port)
            return Communicator(ranks, own, Communicator::ELSEWHERE, 0);
    }

    uint32_t number = 0;
    check(accl_create_communicator(device, listed.data(), static_cast<uint32_t>(listed.size()), own,
                                   &number));
    struct accl_communicator_info info{};
    info.size = sizeof info;
    check(accl_communicator_info(device, number, &info));
    return Communicator(ranks, own, number, info.exchange_address);
}

} // namespace detail
} // namespace ACCL

#endif
