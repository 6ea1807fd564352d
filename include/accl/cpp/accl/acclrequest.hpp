/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: what calls return. They are valid until they are freed; those whose end the program has
 * seen are freed when so many others came after them that no program looks at them any more.
 */
#ifndef ACCL_CPP_ACCLREQUEST_HPP
#define ACCL_CPP_ACCLREQUEST_HPP

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "errors.hpp"

namespace ACCL
{
namespace detail
{

/* A call that was queued, or (without HANDLE) one that ended without failing. */
struct Request {
    ACCLRequest number = 0;
    accl_request *handle = nullptr;
    uint64_t duration_ns = 0;
    bool seen = false; /* its end */

    ~Request()
    {
        accl_request_free(handle);
    }
};

/* The requests of a device. Any thread may use it. */
class Requests
{
  public:
    static constexpr size_t KEPT = 65536;

    /* Takes HANDLE over. */
    ACCLRequest *add(accl_request *handle, uint64_t duration_ns, bool seen)
    {
        auto request = std::make_shared<Request>();
        request->handle = handle;
        request->duration_ns = duration_ns;

        std::lock_guard<std::mutex> guard(lock_);
        ACCLRequest *key = &request->number;
        request->number = ++last_;
        all_.emplace(key, request);
        if (seen)
            note_end(*request);
        return key;
    }
    std::shared_ptr<Request> find(ACCLRequest *key)
    {
        std::lock_guard<std::mutex> guard(lock_);
        auto found = all_.find(key);
        if (found == all_.end())
            fail(ACCL_NOT_FOUND, "no such request: it is of another ACCL object, or was freed, or "
                                 "ended " +
                                     std::to_string(KEPT) + " calls ago");
        return found->second;
    }
    void set_seen(Request &request)
    {
        std::lock_guard<std::mutex> guard(lock_);
        note_end(request);
    }
    /* Of a call that is not finished the engine keeps what it needs. */
    void remove(ACCLRequest *key)
    {
        std::lock_guard<std::mutex> guard(lock_);
        all_.erase(key);
    }

  private:
    std::mutex lock_;
    std::unordered_map<ACCLRequest *, std::shared_ptr<Request>> all_;
    std::deque<std::weak_ptr<Request>> ended_;
    ACCLRequest last_ = 0;

    void note_end(Request &request)
    {
        auto found = all_.find(&request.number);
        if (request.seen || found == all_.end())
            return;
        request.seen = true;
        ended_.push_back(found->second);
        if (ended_.size() <= KEPT)
            return;
        if (auto oldest = ended_.front().lock())
            all_.erase(&oldest->number);
        ended_.pop_front();
    }
};

} // namespace detail
} // namespace ACCL

#endif
