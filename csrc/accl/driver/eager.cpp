/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's barrier and alltoall speak by rendezvous, which only its RDMA network carries: on
 * the others they would hang. Here they are made of calls that every network carries.
 */
#include "driver.hpp"

namespace driver
{

/* Smaller messages than a word of the data path have stopped engines of some versions. */
constexpr unsigned token_elements = 16;

/* The first rank receives from all, then sends to all. */
uint32_t eager_barrier(Device &d, uint32_t comm, uint64_t *duration_ns)
{
    ACCL::ACCL &a = *d.driver;
    uint64_t ranks = d.communicators[comm].size();
    auto gathered = scratch(d, (ranks + 1) * token_elements, ACCL_FLOAT32);
    auto own = gathered->slice(ranks * token_elements, (ranks + 1) * token_elements);
    uint32_t bits =
        conclude(a, a.gather(*own, *gathered, token_elements, 0, comm, true, true), duration_ns);
    if (bits)
        return bits;
    return conclude(a, a.bcast(*own, token_elements, 0, comm, true, true), duration_ns);
}

/* One scatter by each rank. */
uint32_t eager_alltoall(Device &d, const accl_call &c, const Operands &o, uint64_t *duration_ns)
{
    ACCL::ACCL &a = *d.driver;
    uint64_t ranks = d.communicators[c.comm].size();
    auto count = static_cast<unsigned>(c.count);
    ACCL::BaseBuffer *source = o.first.get();
    std::unique_ptr<ACCL::BaseBuffer> kept;
    bool in_place = o.first->address() < o.result->address() + o.result->size() &&
                    o.result->address() < o.first->address() + o.first->size();
    if (in_place) {
        kept = scratch(d, c.count * ranks, static_cast<uint32_t>(o.first->type()));
        for (uint64_t i = 0; i < ranks; i++) {
            auto from = o.first->slice(i * c.count, (i + 1) * c.count);
            auto to = kept->slice(i * c.count, (i + 1) * c.count);
            uint32_t bits = conclude(a, a.copy(*from, *to, count, true, true), duration_ns);
            if (bits)
                return bits;
        }
        source = kept.get();
    }
    for (uint64_t root = 0; root < ranks; root++) {
        auto part = o.result->slice(root * c.count, (root + 1) * c.count);
        uint32_t bits = conclude(a,
                                 a.scatter(*source, *part, count, static_cast<unsigned>(root),
                                           c.comm, true, true, o.wire),
                                 duration_ns);
        if (bits)
            return bits;
    }
    return 0;
}

} // namespace driver
