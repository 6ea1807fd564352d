/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronous calls with nothing queued are executed straight ahead, in the caller's thread. Queued
 * ones are executed by a service thread, started when first needed.
 */
#include "accl/engine/request.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "accl/base/fork.h"
#include "accl/engine/execute.h"
#include "accl/engine/executor.h"
#include "accl/transport/transport.h"
#include "accl/transport/wake.h"
#include "common/clock.h"
#include "common/futex.h"

/* Between two turns of carrying messages. */
#define CARRY_NS INT64_C(20000)

struct accl_request {
    _Atomic uint32_t refs; /* the caller and the queue */
    accl_device *device;   /* holds a reference of it */
    struct list_node in_queue;
    struct accl_call call;
    struct accl_request **waitfor;
    size_t n_waitfor;
    _Atomic uint32_t state; /* also a futex */
    _Atomic uint32_t waiters;
    uint32_t retcode;
    uint64_t duration;
    char text[TEXT_BYTES];
};

static void request_drop(accl_request *r)
{
    if (atomic_fetch_sub(&r->refs, 1) != 1)
        return;

    for (size_t i = 0; i < r->n_waitfor; i++)
        request_drop(r->waitfor[i]);
    free(r->waitfor);
    acclib_device_release(r->device);
    free(r);
}

static void request_end(accl_request *r, uint32_t bits, uint64_t duration, const char *text)
{
    r->retcode = bits;
    r->duration = duration;
    snprintf(r->text, sizeof r->text, "%s", bits ? text : "");
    int fd = r->device->completion_fd;
    atomic_store(&r->state, ACCL_COMPLETED);
    if (atomic_load(&r->waiters))
        syscall(SYS_futex, &r->state, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    uint64_t one = 1;
    if (fd >= 0 && write(fd, &one, sizeof one) < 0)
        return; /* the counter is full, and so the descriptor readable */
}

/* Sleeps until REQUEST is done or the deadline; false at the deadline. */
static bool request_sleep(accl_request *r, int64_t deadline)
{
    atomic_fetch_add(&r->waiters, 1);
    uint32_t state;
    bool done = false;
    while (!(done = (state = atomic_load(&r->state)) == ACCL_COMPLETED)) {
        int64_t now = clock_now();
        if (now >= deadline)
            break;
        int64_t left = deadline - now;
        if (left > CLOCK_SECOND)
            left = CLOCK_SECOND;
        struct timespec ts = {.tv_sec = (time_t)(left / CLOCK_SECOND),
                              .tv_nsec = (long)(left % CLOCK_SECOND)};
        syscall(SYS_futex, &r->state, FUTEX_WAIT_PRIVATE, state, &ts, NULL, 0);
    }

    atomic_fetch_sub(&r->waiters, 1);
    return done;
}

/* The executor runs R, which is off the queue. */
static void request_run(accl_device *device, accl_request *r, bool checks)
{
    atomic_store(&r->state, ACCL_EXECUTING);
    for (size_t i = 0; i < r->n_waitfor; i++) {
        accl_request *before = r->waitfor[i];
        while (!request_sleep(before, clock_now() + 50 * CLOCK_MILLISECOND) &&
               !atomic_load(&device->closed))
            ;
        bool done = atomic_load(&before->state) == ACCL_COMPLETED;
        if (!done || before->retcode) {
            char text[TEXT_BYTES];
            snprintf(text, sizeof text, "a call that this one waits for failed: %.600s",
                     done ? before->text : "the device was closed");
            request_end(r, done ? before->retcode : ACCL_ERROR(INTERRUPTED_ERROR), 0, text);
            return;
        }
    }

    uint32_t bits =
        atomic_load(&device->closed)
            ? acclib_call_fail(device, ACCL_ERROR(INTERRUPTED_ERROR), "the device was closed")
            : acclib_call_execute(device, &r->call, checks);
    acclib_wake_flush(device);
    request_end(r, bits, ticks_to_ns(&device->ticks, device->last_ticks), device->text);
}

/* With the lock held and running claimed: takes the first request, or none. */
static accl_request *queue_take(accl_device *device)
{
    struct list_node *node = list_pop(&device->queue);
    if (node == NULL)
        return NULL;

    atomic_fetch_sub(&device->queued, 1);
    return LIST_ENTRY(node, accl_request, in_queue);
}

static void *service_main(void *argument)
{
    accl_device *device = argument;
    pthread_mutex_lock(&device->lock);
    for (;;) {
        if (!list_is_empty(&device->queue) && executor_try(device)) {
            accl_request *r = queue_take(device);
            pthread_mutex_unlock(&device->lock);
            request_run(device, r, false);
            request_drop(r);
            acclib_executor_leave(device);
            pthread_mutex_lock(&device->lock);
        } else if (device->service_stops) {
            break;
        } else {
            pthread_cond_wait(&device->changed, &device->lock);
        }
    }
    pthread_mutex_unlock(&device->lock);

    return NULL;
}

ACCL_EXPORT int accl_call_sync(accl_device *device, const struct accl_call *call, uint32_t *retcode)
{
    if (retcode != NULL)
        *retcode = 0;
    int status = acclib_call_check(device, call);
    if (status != ACCL_OK)
        return status;
    if (atomic_load_explicit(&device->queued, memory_order_relaxed) == 0 && executor_try(device)) {
        if (!atomic_load(&device->closed)) {
            uint32_t bits = acclib_call_execute(device, call, true);
            if (bits)
                acclib_set_message(device->text);
            /* Leaving is a fence, as waking needs one. */
            uint64_t wakes = device->wakes;
            device->wakes = 0;
            acclib_executor_leave(device);
            acclib_wake_ranks(device, wakes);
            if (retcode != NULL)
                *retcode = bits;
            return bits ? ACCL_CALL_FAILED : ACCL_OK;
        }
        acclib_executor_leave(device);
        return acclib_fail(ACCL_CLOSED, "the device is closed");
    }

    accl_request *r;
    status = accl_call_start(device, call, NULL, 0, &r);
    if (status != ACCL_OK)
        return status;

    bool broken_off = false;
    while (!broken_off && accl_request_wait(r, 50 * CLOCK_MILLISECOND) == ACCL_PENDING)
        broken_off = device->check != NULL && device->check(device->check_argument);
    uint32_t bits = broken_off ? ACCL_ERROR(INTERRUPTED_ERROR) : r->retcode;
    acclib_set_message(broken_off ? "the wait was interrupted; the call continues" : r->text);
    accl_request_free(r);
    if (retcode != NULL)
        *retcode = bits;

    return bits ? ACCL_CALL_FAILED : ACCL_OK;
}

static int start_service(accl_device *device)
{
    if (device->service_runs)
        return ACCL_OK;

    int error = pthread_create(&device->service, NULL, service_main, device);
    if (error)
        return acclib_fail(ACCL_SYSTEM, "cannot start a thread: %s", strerror(error));

    device->service_runs = true;
    return ACCL_OK;
}

ACCL_EXPORT int accl_call_start(accl_device *device, const struct accl_call *call,
                                accl_request *const *waitfor, size_t n, accl_request **request)
{
    if (request == NULL)
        return acclib_is_null("accl_call_start", "request");
    if (waitfor == NULL && n)
        return acclib_is_null("accl_call_start", "waitfor");

    *request = NULL;
    int status = acclib_call_check(device, call);
    for (size_t i = 0; status == ACCL_OK && i < n; i++)
        if (waitfor[i] == NULL)
            status = acclib_is_null("accl_call_start", "waitfor[i]");
    if (status != ACCL_OK)
        return status;

    accl_request *r = calloc(1, sizeof *r);
    if (r != NULL && n) {
        r->waitfor = calloc(n, sizeof(accl_request *));
        if (r->waitfor == NULL) {
            free(r);
            r = NULL;
        }
    }

    if (r == NULL)
        return acclib_fail(ACCL_NO_MEMORY, "out of memory (request)");

    r->refs = 2;
    r->device = device;
    r->call = *call;
    r->n_waitfor = n;
    for (size_t i = 0; i < n; i++) {
        r->waitfor[i] = waitfor[i];
        atomic_fetch_add(&waitfor[i]->refs, 1);
    }

    atomic_fetch_add(&device->refs, 1);
    pthread_mutex_lock(&device->lock);
    status = device->service_stops ? acclib_fail(ACCL_CLOSED, "the device is closed")
                                   : start_service(device);
    if (status == ACCL_OK) {
        atomic_fetch_add(&device->queued, 1);
        list_append(&device->queue, &r->in_queue);
        pthread_cond_broadcast(&device->changed);
    }
    pthread_mutex_unlock(&device->lock);

    if (status != ACCL_OK) {
        request_drop(r);
        request_drop(r);
        return status;
    }

    *request = r;
    return ACCL_OK;
}

/* The same in the thread that carries messages meanwhile. */
static bool request_carry(accl_request *r, int64_t deadline)
{
    bool done;
    do
        acclib_transport_carry(r->device);
    while (!(done = request_sleep(r, clock_now() + CARRY_NS)) && clock_now() < deadline);
    return done;
}

static bool request_await(accl_request *r, int64_t timeout_ns)
{
    int64_t deadline = clock_deadline(timeout_ns);
    if (atomic_load(&r->state) == ACCL_COMPLETED)
        return true;
    if (atomic_load(&r->device->carries))
        return request_carry(r, deadline);
    return timeout_ns != 0 && request_sleep(r, deadline);
}

ACCL_EXPORT int accl_request_wait(accl_request *r, int64_t timeout_ns)
{
    if (r == NULL)
        return acclib_is_null("accl_request_wait", "r");
    if (r->device->fork_count != acclib_fork_count())
        return acclib_fail(ACCL_FORKED, "the request belongs to the parent of this process");
    if (!request_await(r, timeout_ns))
        return ACCL_PENDING;
    if (r->retcode)
        acclib_set_message(r->text);

    return r->retcode ? ACCL_CALL_FAILED : ACCL_OK;
}

ACCL_EXPORT int accl_request_state(const accl_request *r)
{
    return r != NULL ? (int)atomic_load(&r->state) : ACCL_COMPLETED;
}

ACCL_EXPORT uint32_t accl_request_retcode(const accl_request *r)
{
    return r != NULL && atomic_load(&r->state) == ACCL_COMPLETED ? r->retcode : 0;
}

ACCL_EXPORT const char *accl_request_message(const accl_request *r)
{
    return r != NULL && atomic_load(&r->state) == ACCL_COMPLETED ? r->text : "";
}

ACCL_EXPORT uint64_t accl_request_duration(const accl_request *r)
{
    return r != NULL && atomic_load(&r->state) == ACCL_COMPLETED ? r->duration : 0;
}

ACCL_EXPORT void accl_request_free(accl_request *r)
{
    if (r != NULL && r->device->fork_count == acclib_fork_count())
        request_drop(r);
}

ACCL_EXPORT int accl_completion_fd(accl_device *device, int *fd)
{
    if (fd == NULL)
        return acclib_is_null("accl_completion_fd", "fd");

    *fd = -1;
    int status = acclib_device_check(device);
    if (status == ACCL_OK)
        status = acclib_executor_enter(device);
    if (status != ACCL_OK)
        return status;
    if (device->completion_fd < 0)
        device->completion_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    *fd = device->completion_fd;
    acclib_executor_leave(device);

    return *fd >= 0 ? ACCL_OK
                    : acclib_fail(ACCL_SYSTEM, "cannot create an eventfd: %s", strerror(errno));
}

ACCL_EXPORT int accl_last_call(accl_device *device, uint32_t *retcode, uint64_t *duration_ns)
{
    if (retcode == NULL)
        return acclib_is_null("accl_last_call", "retcode");
    if (duration_ns == NULL)
        return acclib_is_null("accl_last_call", "duration_ns");

    *retcode = 0;
    *duration_ns = 0;
    int status = acclib_device_check(device);
    if (status == ACCL_OK)
        status = acclib_executor_enter(device);
    if (status != ACCL_OK)
        return status;

    *retcode = device->last_retcode;
    *duration_ns = ticks_to_ns(&device->ticks, device->last_ticks);
    acclib_executor_leave(device);

    return ACCL_OK;
}

void acclib_requests_stop(accl_device *device)
{
    pthread_mutex_lock(&device->lock);
    device->service_stops = true;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);

    acclib_wake_self(device);
    if (device->service_runs)
        pthread_join(device->service, NULL);
    acclib_executor_enter_surely(device);
    acclib_executor_leave(device);
}
