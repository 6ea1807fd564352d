/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators: lists of ranks, of which one is this process's device. */
#ifndef ACCL_CPP_COMMUNICATOR_HPP
#define ACCL_CPP_COMMUNICATOR_HPP

#include <sstream>
#include <string>
#include <vector>

#include "common.hpp"

namespace ACCL
{

struct rank_t {
    std::string ip; /* IPv4 */
    int port;
    int session_id;
    addr_t max_segment_size;
};

class Communicator
{
  public:
    static constexpr uint32_t ELSEWHERE = UINT32_MAX;

    /* The engine's NUMBER for it, or ELSEWHERE; exchange memory shows it at ADDRESS. */
    Communicator(const std::vector<rank_t> &ranks, unsigned int rank, uint32_t number,
                 addr_t address)
        : ranks_(ranks), rank_(rank), number_(number), address_(address)
    {
    }
    bool has_this_device() const
    {
        return number_ != ELSEWHERE;
    }
    uint32_t number() const
    {
        return number_;
    }
    addr_t communicators_addr() const
    {
        return address_;
    }
    unsigned int local_rank() const
    {
        return rank_;
    }
    const std::vector<rank_t> *get_ranks() const
    {
        return &ranks_;
    }
    std::string dump() const
    {
        std::ostringstream text;
        text << "local rank " << rank_ << " of " << ranks_.size() << "\n";
        for (size_t i = 0; i < ranks_.size(); i++)
            text << "> rank " << i << " (ip " << ranks_[i].ip << ":" << ranks_[i].port
                 << " ; session " << ranks_[i].session_id << " ; max segment size "
                 << ranks_[i].max_segment_size << ")\n";
        return text.str();
    }

  private:
    std::vector<rank_t> ranks_;
    unsigned int rank_;
    uint32_t number_;
    addr_t address_;
};

} // namespace ACCL

#endif
