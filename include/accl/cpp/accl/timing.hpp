/* SPDX-License-Identifier: BSD-3-Clause */
/* A stopwatch. */
#ifndef ACCL_CPP_TIMING_HPP
#define ACCL_CPP_TIMING_HPP

#include <chrono>
#include <stdexcept>

namespace ACCL
{

class Timer
{
  public:
    void start()
    {
        *this = Timer();
        start_ = clock::now();
        started_ = true;
    }
    void end()
    {
        if (!started_ || ended_)
            throw std::runtime_error(started_ ? "Timer: end() was called before"
                                              : "Timer: call start() before end()");
        end_ = clock::now();
        ended_ = true;
    }
    void reset()
    {
        *this = Timer();
    }
    /* Microseconds. */
    unsigned long elapsed() const
    {
        if (!ended_)
            throw std::runtime_error("Timer: call start() and end() before elapsed()");
        return static_cast<unsigned long>(
            std::chrono::duration_cast<std::chrono::microseconds>(end_ - start_).count());
    }

  private:
    using clock = std::chrono::steady_clock;
    clock::time_point start_, end_;
    bool started_ = false, ended_ = false;
};

} // namespace ACCL

#endif
