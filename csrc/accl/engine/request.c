/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who executes: one thread at a time, in the order of submission. A synchronous call with nothing
 * queued goes straight ahead. Queued ones are executed by a service thread, started when first
 * needed, or by a thread that has to wait anyway.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "accl/engine/engine.h"
#include "common/futex.h"

static bool try_run(accl_device *device)
{
    uint32_t nobody = 0;
    return atomic_compare_exchange_strong(&device->running, &nobody, 1);
}

void executor_leave(accl_device *device)
{
    atomic_store(&device->running, 0);
    if (atomic_load(&device->interest) || atomic_load(&device->queued)) {
        pthread_mutex_lock(&device->lock);
        pthread_cond_broadcast(&device->changed);
        pthread_mutex_unlock(&device->lock);
    }
}

/* ------------------------------------------------------------------ requests */

static void request_drop(accl_request *r)
{
    if (atomic_fetch_sub(&r->refs, 1) != 1)
        return;
    for (size_t i = 0; i < r->n_waitfor; i++)
        request_drop(r->waitfor[i]);
    free(r->waitfor);
    device_release(r->device);
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
    uint32_t bits = atomic_load(&device->closed)
                        ? call_fail(device, ACCL_ERROR(INTERRUPTED_ERROR), "the device was closed")
                        : call_execute(device, &r->call, checks);
    wake_flush(device);
    request_end(r, bits, ticks_to_ns(&device->ticks, device->last_ticks), device->text);
}

/* With the lock held and running claimed: takes the first request, or none. */
static accl_request *queue_take(accl_device *device)
{
    accl_request *r = device->queue;
    if (r) {
        device->queue = r->next;
        if (!device->queue)
            device->queue_end = &device->queue;
        atomic_fetch_sub(&device->queued, 1);
    }
    return r;
}

static void *service_main(void *argument)
{
    accl_device *device = argument;
    pthread_mutex_lock(&device->lock);
    for (;;) {
        if (device->queue && try_run(device)) {
            accl_request *r = queue_take(device);
            pthread_mutex_unlock(&device->lock);
            request_run(device, r, false);
            request_drop(r);
            executor_leave(device);
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

/* Waits for a change, at most until LOOK, the time to ask the check; false if that says stop. */
static bool look_while_waiting(accl_device *device, int64_t *look)
{
    struct timespec ts = {.tv_sec = (time_t)(*look / CLOCK_SECOND),
                          .tv_nsec = (long)(*look % CLOCK_SECOND)};
    if (pthread_cond_timedwait(&device->changed, &device->lock, &ts) != ETIMEDOUT)
        return true;
    /* Without the lock, as the check may run anything. */
    pthread_mutex_unlock(&device->lock);
    bool goes_on = !device->check(device->check_argument);
    pthread_mutex_lock(&device->lock);
    *look = clock_now() + 50 * CLOCK_MILLISECOND;
    return goes_on;
}

/* Becomes the executor, after all that is queued at this moment. */
static int enter(accl_device *device, bool checks)
{
    if (atomic_load(&device->queued) == 0 && try_run(device))
        return ACCL_OK;
    int status = ACCL_OK;
    int64_t look = clock_now() + 50 * CLOCK_MILLISECOND;
    pthread_mutex_lock(&device->lock);
    atomic_fetch_add(&device->interest, 1);
    while (device->queue || !try_run(device)) {
        if (!checks) {
            pthread_cond_wait(&device->changed, &device->lock);
        } else if (!look_while_waiting(device, &look)) {
            status = accl_fail(ACCL_INTERRUPTED, "the wait for a call that runs was broken off");
            break;
        }
    }
    atomic_fetch_sub(&device->interest, 1);
    pthread_mutex_unlock(&device->lock);
    return status;
}

int executor_enter(accl_device *device)
{
    return enter(device, device->check);
}

/* ------------------------------------------------------------------ interface */

ACCL_EXPORT int accl_call_sync(accl_device *device, const struct accl_call *call, uint32_t *retcode)
{
    if (retcode)
        *retcode = 0;
    int status = call_check(device, call);
    if (status != ACCL_OK)
        return status;
    if (atomic_load_explicit(&device->queued, memory_order_relaxed) == 0 && try_run(device)) {
        if (!atomic_load(&device->closed)) {
            uint32_t bits = call_execute(device, call, true);
            if (bits)
                accl_set_message(device->text);
            /* Leaving is a fence, as waking needs one. */
            uint64_t wakes = device->wakes;
            device->wakes = 0;
            executor_leave(device);
            wake_ranks(device, wakes);
            if (retcode)
                *retcode = bits;
            return bits ? ACCL_CALL_FAILED : ACCL_OK;
        }
        executor_leave(device);
        return accl_fail(ACCL_CLOSED, "the device is closed");
    }
    accl_request *r;
    status = accl_call_start(device, call, NULL, 0, &r);
    if (status != ACCL_OK)
        return status;
    bool broken_off = false;
    while (!broken_off && accl_request_wait(r, 50 * CLOCK_MILLISECOND) == ACCL_PENDING)
        broken_off = device->check && device->check(device->check_argument);
    uint32_t bits = broken_off ? ACCL_ERROR(INTERRUPTED_ERROR) : r->retcode;
    accl_set_message(broken_off ? "the caller broke off the wait; the call goes on" : r->text);
    accl_request_free(r);
    if (retcode)
        *retcode = bits;
    return bits ? ACCL_CALL_FAILED : ACCL_OK;
}

static int start_service(accl_device *device)
{
    if (device->service_runs)
        return ACCL_OK;
    int error = pthread_create(&device->service, NULL, service_main, device);
    if (error)
        return accl_fail(ACCL_SYSTEM, "cannot start a thread: %s", strerror(error));
    device->service_runs = true;
    return ACCL_OK;
}

ACCL_EXPORT int accl_call_start(accl_device *device, const struct accl_call *call,
                                accl_request *const *waitfor, size_t n, accl_request **request)
{
    if (!request)
        return accl_is_null("accl_call_start", "request");
    if (!waitfor && n)
        return accl_is_null("accl_call_start", "waitfor");
    *request = NULL;
    int status = call_check(device, call);
    for (size_t i = 0; status == ACCL_OK && i < n; i++)
        if (!waitfor[i])
            status = accl_is_null("accl_call_start", "a request to wait for");
    if (status != ACCL_OK)
        return status;

    accl_request *r = calloc(1, sizeof *r);
    if (r && n) {
        r->waitfor = calloc(n, sizeof(accl_request *));
        if (!r->waitfor) {
            free(r);
            r = NULL;
        }
    }
    if (!r)
        return accl_fail(ACCL_NO_MEMORY, "no memory for a request");
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
    status = device->service_stops ? accl_fail(ACCL_CLOSED, "the device is closed")
                                   : start_service(device);
    if (status == ACCL_OK) {
        atomic_fetch_add(&device->queued, 1);
        *device->queue_end = r;
        device->queue_end = &r->next;
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

ACCL_EXPORT int accl_request_wait(accl_request *r, int64_t timeout_ns)
{
    if (!r)
        return accl_is_null("accl_request_wait", "r");
    if (r->device->fork_count != fork_count())
        return accl_fail(ACCL_FORKED, "the request belongs to the parent of this process");
    if (atomic_load(&r->state) != ACCL_COMPLETED &&
        (timeout_ns == 0 || !request_sleep(r, clock_deadline(timeout_ns))))
        return ACCL_PENDING;
    if (r->retcode)
        accl_set_message(r->text);
    return r->retcode ? ACCL_CALL_FAILED : ACCL_OK;
}

ACCL_EXPORT int accl_request_state(const accl_request *r)
{
    return r ? (int)atomic_load(&r->state) : ACCL_COMPLETED;
}

ACCL_EXPORT uint32_t accl_request_retcode(const accl_request *r)
{
    return r && atomic_load(&r->state) == ACCL_COMPLETED ? r->retcode : 0;
}

ACCL_EXPORT const char *accl_request_message(const accl_request *r)
{
    return r && atomic_load(&r->state) == ACCL_COMPLETED ? r->text : "";
}

ACCL_EXPORT uint64_t accl_request_duration(const accl_request *r)
{
    return r && atomic_load(&r->state) == ACCL_COMPLETED ? r->duration : 0;
}

ACCL_EXPORT void accl_request_free(accl_request *r)
{
    if (r && r->device->fork_count == fork_count())
        request_drop(r);
}

ACCL_EXPORT int accl_completion_fd(accl_device *device, int *fd)
{
    if (!fd)
        return accl_is_null("accl_completion_fd", "fd");
    *fd = -1;
    int status = device_check(device);
    if (status == ACCL_OK)
        status = executor_enter(device);
    if (status != ACCL_OK)
        return status;
    if (device->completion_fd < 0)
        device->completion_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    *fd = device->completion_fd;
    executor_leave(device);
    return *fd >= 0 ? ACCL_OK : accl_fail(ACCL_SYSTEM, "no eventfd: %s", strerror(errno));
}

ACCL_EXPORT int accl_last_call(accl_device *device, uint32_t *retcode, uint64_t *duration_ns)
{
    if (!retcode)
        return accl_is_null("accl_last_call", "retcode");
    if (!duration_ns)
        return accl_is_null("accl_last_call", "duration_ns");
    *retcode = 0;
    *duration_ns = 0;
    int status = device_check(device);
    if (status == ACCL_OK)
        status = executor_enter(device);
    if (status != ACCL_OK)
        return status;
    *retcode = device->last_retcode;
    *duration_ns = ticks_to_ns(&device->ticks, device->last_ticks);
    executor_leave(device);
    return ACCL_OK;
}

/* The device is marked closed: what runs ends by itself, what is queued fails. */
void requests_stop(accl_device *device)
{
    pthread_mutex_lock(&device->lock);
    device->service_stops = true;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
    if (device->ranks) {
        atomic_fetch_add(&device->header->bell, 1);
        futex_wake_all(&device->header->bell);
    }
    if (device->service_runs)
        pthread_join(device->service, NULL);
    enter(device, false);
    executor_leave(device);
}
