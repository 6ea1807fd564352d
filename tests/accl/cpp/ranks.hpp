/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks as threads of one process, and checks that name their line. */
#ifndef RANKS_HPP
#define RANKS_HPP

#include <accl.hpp>
#include <accl_network_utils.hpp>

#include <cstdio>
#include <functional>
#include <thread>
#include <unistd.h>

#define EXPECT(condition) \
    do { \
        if (!(condition)) \
            fail_at(__LINE__, #condition); \
    } while (false)

/* That STATEMENT throws an exception TYPE, whose text has TEXT in it. */
#define EXPECT_THROW(type, text, statement) \
    do { \
        std::string what_ = "nothing it should"; \
        try { \
            statement; \
        } catch (const type &error) { \
            what_ = error.what(); \
        } \
        if (what_.find(text) == std::string::npos) \
            fail_at(__LINE__, "threw: " + what_); \
    } while (false)

[[noreturn]] inline void fail_at(int line, const std::string &what)
{
    std::fprintf(stderr, "line %d: %s\n", line, what.c_str());
    std::_Exit(1);
}

using Part = std::function<void(::ACCL::ACCL &, int, int)>;

inline std::unique_ptr<::ACCL::ACCL> start(int rank, int size)
{
    auto ranks = accl_network_utils::generate_ranks(true, rank, size, 5500, 4096);
    auto accl = accl_network_utils::initialize_accl(
        ranks, rank, true, accl_network_utils::acclDesign::TCP, xrt::device(), "", 16, 4096);
    accl->set_timeout(20000);
    return accl;
}

/* Executes PART on each of SIZE ranks. */
inline void on_ranks(int size, const Part &part)
{
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; rank++)
        threads.emplace_back([=, &part] {
            try {
                auto accl = start(rank, size);
                part(*accl, rank, size);
            } catch (const std::exception &error) {
                fail_at(0, "rank " + std::to_string(rank) + ": " + error.what());
            }
        });
    for (std::thread &thread : threads)
        thread.join();
}

/* Programs of other processes are not met. */
inline void use_own_job()
{
    setenv("ACCL_JOB", ("cpp-" + std::to_string(getpid())).c_str(), 1);
}

#endif
