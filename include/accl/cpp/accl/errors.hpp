/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failures of accl.h as exceptions. A call that failed is a std::runtime_error, memory that cannot
 * be had a std::bad_alloc, as in the original; what() is the library's text.
 */
#ifndef ACCL_CPP_ERRORS_HPP
#define ACCL_CPP_ERRORS_HPP

#include <new>
#include <stdexcept>
#include <string>

#include "constants.hpp"

namespace ACCL
{

class accl_exception : public std::runtime_error
{
  public:
    accl_exception(int status, const std::string &text, val_t retcode = 0)
        : std::runtime_error(text), status_(status), retcode_(retcode)
    {
    }
    /* enum accl_status */
    int status() const noexcept
    {
        return status_;
    }
    /* Error bits of a call that was executed, or 0. */
    val_t retcode() const noexcept
    {
        return retcode_;
    }

  private:
    int status_;
    val_t retcode_;
};

class accl_bad_alloc : public std::bad_alloc
{
  public:
    explicit accl_bad_alloc(const std::string &text) : text_(text)
    {
    }
    const char *what() const noexcept override
    {
        return text_.what();
    }

  private:
    std::runtime_error text_; /* whose copies do not throw */
};

namespace detail
{

[[noreturn]] inline void fail(int status, const std::string &text, val_t retcode = 0)
{
    if (status == ACCL_NO_MEMORY)
        throw accl_bad_alloc(text);
    throw accl_exception(status, text, retcode);
}

/* Throws what a function of accl.h reported just now in this thread. */
inline void check(int status, val_t retcode = 0)
{
    if (status == ACCL_OK)
        return;
    const char *text = accl_error_message();
    fail(status, *text != '\0' ? text : accl_status_text(status), retcode);
}

} // namespace detail
} // namespace ACCL

#endif
