/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls in the order of their submission, by the one thread that talks to the driver. */
#include <chrono>

#include "driver.hpp"

namespace driver
{

void Request::finish(uint32_t bits, const std::string &why)
{
    std::lock_guard<std::mutex> guard(lock);
    retcode = bits;
    text = bits ? why : "";
    state = ACCL_COMPLETED;
    done.notify_all();
}

/* 0 if what R waits for has succeeded; otherwise R has failed too. */
static bool wait_for_others(Device &device, Request &r)
{
    for (const auto &before : r.waitfor) {
        std::unique_lock<std::mutex> guard(before->lock);
        bool stopped = false;
        while (before->state != ACCL_COMPLETED && !stopped) {
            before->done.wait_for(guard, std::chrono::milliseconds(50));
            std::lock_guard<std::mutex> of_device(device.lock);
            stopped = device.stops;
        }
        if (before->state == ACCL_COMPLETED && before->retcode == 0)
            continue;
        uint32_t bits = before->state == ACCL_COMPLETED ? before->retcode
                                                        : UINT32_C(1) << ACCL_INTERRUPTED_ERROR_BIT;
        std::string why = "a call that this one waits for failed: " + before->text;
        guard.unlock();
        r.finish(bits, why);
        return false;
    }
    return true;
}

void Device::run()
{
    std::unique_lock<std::mutex> guard(lock);
    for (;;) {
        changed.wait(guard, [this] { return stops || !queue.empty(); });
        if (queue.empty())
            break;
        std::shared_ptr<Request> r = queue.front();
        queue.pop_front();
        bool closed = stops;
        guard.unlock();
        if (closed) {
            r->finish(UINT32_C(1) << ACCL_INTERRUPTED_ERROR_BIT, "the device was closed");
        } else if (wait_for_others(*this, *r)) {
            {
                std::lock_guard<std::mutex> of_request(r->lock);
                r->state = ACCL_EXECUTING;
            }
            std::string why;
            uint32_t bits = perform(*this, r->call, &r->duration_ns, &why);
            {
                std::lock_guard<std::mutex> of_device(lock);
                last_retcode = bits;
                last_duration_ns = r->duration_ns;
            }
            r->finish(bits, why);
        }
        guard.lock();
    }
    ended = true;
    changed.notify_all();
}

} // namespace driver

using namespace driver;

ACCL_EXPORT int accl_call_start(accl_device *device, const struct accl_call *call,
                                accl_request *const *waitfor, size_t n, accl_request **request)
{
    *request = nullptr;
    Device &d = *device->d;
    if (call->size < sizeof *call)
        return fail(ACCL_INVALID, "struct accl_call is too small");
    if (!d.driver)
        return fail(ACCL_NOT_READY, "the device has no communicator yet");
    return guarded([&] {
        auto handle = std::make_unique<accl_request>();
        handle->r = std::make_shared<Request>();
        handle->r->call = *call;
        for (size_t i = 0; i < n; i++)
            handle->r->waitfor.push_back(waitfor[i]->r);
        std::lock_guard<std::mutex> guard(d.lock);
        if (d.stops)
            return fail(ACCL_CLOSED, "the device is closed");
        d.queue.push_back(handle->r);
        d.changed.notify_all();
        *request = handle.release();
        return static_cast<int>(ACCL_OK);
    });
}

ACCL_EXPORT int accl_call_sync(accl_device *device, const struct accl_call *call, uint32_t *retcode)
{
    if (retcode)
        *retcode = 0;
    accl_request *request;
    int status = accl_call_start(device, call, nullptr, 0, &request);
    if (status != ACCL_OK)
        return status;
    Device &d = *device->d;
    while ((status = accl_request_wait(request, INT64_C(50000000))) == ACCL_PENDING) {
        if (d.check && d.check(d.check_argument)) {
            accl_request_free(request);
            if (retcode)
                *retcode = UINT32_C(1) << ACCL_INTERRUPTED_ERROR_BIT;
            return fail(ACCL_CALL_FAILED, "the wait was interrupted; the call continues");
        }
    }
    if (retcode)
        *retcode = accl_request_retcode(request);
    accl_request_free(request);
    return status;
}

ACCL_EXPORT int accl_request_wait(accl_request *request, int64_t timeout_ns)
{
    Request &r = *request->r;
    std::unique_lock<std::mutex> guard(r.lock);
    auto ended = [&r] { return r.state == ACCL_COMPLETED; };
    if (timeout_ns < 0)
        r.done.wait(guard, ended);
    else if (!r.done.wait_for(guard, std::chrono::nanoseconds(timeout_ns), ended))
        return ACCL_PENDING;
    return r.retcode ? fail(ACCL_CALL_FAILED, r.text) : ACCL_OK;
}

ACCL_EXPORT int accl_request_state(const accl_request *request)
{
    std::lock_guard<std::mutex> guard(request->r->lock);
    return static_cast<int>(request->r->state);
}

ACCL_EXPORT uint32_t accl_request_retcode(const accl_request *request)
{
    std::lock_guard<std::mutex> guard(request->r->lock);
    return request->r->state == ACCL_COMPLETED ? request->r->retcode : 0;
}

/* It does not change once the request is done. */
ACCL_EXPORT const char *accl_request_message(const accl_request *request)
{
    std::lock_guard<std::mutex> guard(request->r->lock);
    return request->r->state == ACCL_COMPLETED ? request->r->text.c_str() : "";
}

ACCL_EXPORT uint64_t accl_request_duration(const accl_request *request)
{
    std::lock_guard<std::mutex> guard(request->r->lock);
    return request->r->state == ACCL_COMPLETED ? request->r->duration_ns : 0;
}

ACCL_EXPORT void accl_request_free(accl_request *request)
{
    delete request;
}

ACCL_EXPORT int accl_last_call(accl_device *device, uint32_t *retcode, uint64_t *duration_ns)
{
    std::lock_guard<std::mutex> guard(device->d->lock);
    *retcode = device->d->last_retcode;
    *duration_ns = device->d->last_duration_ns;
    return ACCL_OK;
}
