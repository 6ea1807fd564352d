/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronous calls are executed in the caller's thread: straight ahead if all others are finished,
 * else in their turn. Asynchronous ones are executed by service threads: there is always one whose
 * call does not wait for another rank, if there is something to do.
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
#include "accl/transport/executor.h"
#include "accl/transport/ticket.h"
#include "accl/transport/transport.h"
#include "accl/transport/wake.h"
#include "common/clock.h"
#include "common/futex.h"

/* Between two turns of carrying messages. */
#define CARRY_NS INT64_C(20000)
/* Interval at which a waiting thread calls the check. */
#define LOOK_NS (50 * CLOCK_MILLISECOND)

struct accl_request {
    _Atomic uint32_t refs; /* the caller and the queue */
    accl_device *device;   /* holds a reference of it */
    struct ticket ticket;
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

/* R, whose results are set, is done. */
static void request_end(accl_request *r)
{
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

static int wait_until(accl_device *device, int64_t until)
{
    struct timespec ts = {.tv_sec = (time_t)(until / CLOCK_SECOND),
                          .tv_nsec = (long)(until % CLOCK_SECOND)};
    return pthread_cond_timedwait(&device->changed, &device->lock, &ts);
}

/* Waits for a change, at most until LOOK, when the check is called; false if that says stop. With
 * the lock held, which it releases for the check, as that may run anything. */
static bool look_while_waiting(accl_device *device, int64_t *look)
{
    if (atomic_load(&device->carries)) {
        /* Calls in progress may depend on messages that this thread carries. */
        pthread_mutex_unlock(&device->lock);
        acclib_transport_carry(device);
        pthread_mutex_lock(&device->lock);
        if (clock_now() < *look) {
            wait_until(device, clock_now() + CARRY_NS);
            return true;
        }
    }

    if (wait_until(device, *look) != ETIMEDOUT)
        return true;

    pthread_mutex_unlock(&device->lock);

    bool goes_on = device->check == NULL || !device->check(device->check_argument);
    pthread_mutex_lock(&device->lock);
    *look = clock_now() + LOOK_NS;

    return goes_on;
}

/* True if R has nothing to wait for on this device. With the lock held. */
static bool may_start(const accl_device *device, const accl_request *r)
{
    for (size_t i = 0; i < r->n_waitfor; i++)
        if (r->waitfor[i]->device == device && atomic_load(&r->waitfor[i]->state) != ACCL_COMPLETED)
            return false;
    return acclib_ticket_may_start(device, &r->ticket);
}

/* The first request that no thread has, and that may start; NULL if there is none. With the lock
 * held. */
static accl_request *find_startable(const accl_device *device)
{
    uint32_t looked = 0;
    for (struct list_node *at = device->tickets.first; at != NULL && looked < TICKETS_AHEAD;
         at = at->next, looked++) {
        const struct ticket *t = ticket_of(at);
        if (t->request != NULL && !t->started && may_start(device, t->request))
            return t->request;
    }

    return NULL;
}

static void *service_main(void *argument);

/* Starts a thread if a request may start, and no thread could take it. With the lock held. */
static int provide_service(accl_device *device)
{
    if (device->service_ready || device->service_count == SERVICES_MAX || device->service_stops ||
        find_startable(device) == NULL)
        return ACCL_OK;

    int error =
        pthread_create(&device->services[device->service_count], NULL, service_main, device);
    if (error)
        return acclib_fail(ACCL_SYSTEM, "cannot start a thread: %s", strerror(error));

    device->service_count++;
    device->service_ready++;
    return ACCL_OK;
}

/* Waits for the requests that come before R; false if one has failed, which ends R. */
static bool wait_for_others(accl_device *device, accl_request *r)
{
    for (size_t i = 0; i < r->n_waitfor; i++) {
        accl_request *before = r->waitfor[i];
        while (!request_sleep(before, clock_now() + 50 * CLOCK_MILLISECOND) &&
               !atomic_load(&device->closed))
            ;
        bool done = atomic_load(&before->state) == ACCL_COMPLETED;
        if (!done || before->retcode) {
            r->retcode = done ? before->retcode : ACCL_ERROR(INTERRUPTED_ERROR);
            snprintf(r->text, sizeof r->text, "a call that this one waits for failed: %.600s",
                     done ? before->text : "the device was closed");
            return false;
        }
    }

    return true;
}

/* A fast call may have been going on when R was chosen: whether R is still the next. */
static bool confirm_start(accl_device *device, accl_request *r)
{
    pthread_mutex_lock(&device->lock);
    bool good = acclib_ticket_may_start(device, &r->ticket);
    r->ticket.started = good;
    pthread_mutex_unlock(&device->lock);
    return good;
}

/* Executes R, as the executor. */
static void execute_request(accl_device *device, accl_request *r)
{
    device->ticket = &r->ticket;
    atomic_store(&r->state, ACCL_EXECUTING);
    r->retcode =
        atomic_load(&device->closed)
            ? acclib_call_fail(device, ACCL_ERROR(INTERRUPTED_ERROR), "the device was closed")
            : acclib_call_execute(device, &r->call, false);
    acclib_wake_flush(device);
    r->duration = ticks_to_ns(&device->ticks, device->last_ticks);
    snprintf(r->text, sizeof r->text, "%s", r->retcode ? device->text : "");
    device->ticket = NULL;
}

/* The same for a service thread, in place of which another one may be needed. */
static bool let_others_end(accl_device *device, accl_request *r)
{
    pthread_mutex_lock(&device->lock);
    device->service_ready--;
    provide_service(device);
    pthread_mutex_unlock(&device->lock);

    bool good = wait_for_others(device, r);

    pthread_mutex_lock(&device->lock);
    device->service_ready++;
    pthread_mutex_unlock(&device->lock);
    return good;
}

/* A service thread executes R, which is started. */
static void serve(accl_device *device, accl_request *r)
{
    bool good = r->n_waitfor == 0 || let_others_end(device, r);
    if (good) {
        acclib_executor_enter_surely(device);
        good = confirm_start(device, r);
        if (good)
            execute_request(device, r);
        acclib_executor_leave(device);
        if (!good)
            return;
    }

    pthread_mutex_lock(&device->lock);
    acclib_ticket_remove(device, &r->ticket);
    request_end(r);
    pthread_mutex_unlock(&device->lock);
    request_drop(r);
}

static bool has_requests(const accl_device *device)
{
    struct list_node *at = device->tickets.first;
    while (at != NULL && (ticket_of(at)->request == NULL || ticket_of(at)->started))
        at = at->next;
    return at != NULL;
}

static void *service_main(void *argument)
{
    accl_device *device = argument;
    pthread_mutex_lock(&device->lock);
    for (;;) {
        accl_request *r = find_startable(device);
        if (r != NULL) {
            r->ticket.started = true;
            pthread_mutex_unlock(&device->lock);
            serve(device, r);
            pthread_mutex_lock(&device->lock);
        } else if (device->service_stops && !has_requests(device)) {
            break;
        } else {
            pthread_cond_wait(&device->changed, &device->lock);
        }
    }
    pthread_mutex_unlock(&device->lock);

    return NULL;
}

/* The ticket of a synchronous call that is not executed at once: waits for its turn, and becomes
 * the executor. False if the check says stop. */
static bool take_turn(accl_device *device, struct ticket *ticket)
{
    for (;;) {
        int64_t look = clock_now() + LOOK_NS;
        bool goes_on = true;
        pthread_mutex_lock(&device->lock);
        while (goes_on && !acclib_ticket_may_start(device, ticket))
            goes_on = look_while_waiting(device, &look);
        ticket->started = goes_on;
        pthread_mutex_unlock(&device->lock);
        if (!goes_on || acclib_executor_enter(device) != ACCL_OK)
            return false;

        pthread_mutex_lock(&device->lock);
        bool good = acclib_ticket_may_start(device, ticket);
        ticket->started = good;
        pthread_mutex_unlock(&device->lock);
        if (good)
            return true;
        acclib_executor_leave(device);
    }
}

/* TICKET of a synchronous call, which may be NULL, is done: requests may have waited for it that no
 * thread was started for. */
static void end_turn(accl_device *device, struct ticket *ticket)
{
    if (ticket == NULL)
        return;

    pthread_mutex_lock(&device->lock);
    acclib_ticket_remove(device, ticket);
    provide_service(device);
    pthread_mutex_unlock(&device->lock);
}

/* Executes CALL as the executor, and leaves. Error bits; their text is this thread's message. */
static uint32_t execute_and_leave(accl_device *device, const struct accl_call *call)
{
    uint32_t bits =
        atomic_load(&device->closed)
            ? acclib_call_fail(device, ACCL_ERROR(INTERRUPTED_ERROR), "the device was closed")
            : acclib_call_execute(device, call, true);
    if (bits)
        acclib_set_message(device->text);

    /* Leaving is a fence, as waking needs one. */
    uint64_t wakes = device->wakes;
    struct ticket *ticket = device->ticket;
    device->wakes = 0;
    device->ticket = NULL;
    acclib_executor_leave(device);
    acclib_wake_ranks(device, wakes);
    end_turn(device, ticket);

    return bits;
}

/* A synchronous call while others are not finished. */
static uint32_t call_in_turn(accl_device *device, const struct accl_call *call)
{
    struct ticket ticket;
    pthread_mutex_lock(&device->lock);
    acclib_ticket_add(device, &ticket, call);
    pthread_mutex_unlock(&device->lock);

    if (take_turn(device, &ticket)) {
        device->ticket = &ticket;
        return execute_and_leave(device, call);
    }

    end_turn(device, &ticket);
    acclib_set_message("the wait for the calls before this one was interrupted");
    return ACCL_ERROR(INTERRUPTED_ERROR);
}

ACCL_EXPORT int accl_call_sync(accl_device *device, const struct accl_call *call, uint32_t *retcode)
{
    if (retcode != NULL)
        *retcode = 0;
    int status = acclib_call_check(device, call);
    if (status != ACCL_OK)
        return status;

    bool at_once = atomic_load_explicit(&device->unfinished, memory_order_relaxed) == 0 &&
                   executor_try(device);
    uint32_t bits = at_once ? execute_and_leave(device, call) : call_in_turn(device, call);
    if (retcode != NULL)
        *retcode = bits;

    return bits ? ACCL_CALL_FAILED : ACCL_OK;
}

/* As of struct accl_device. */
static void note_waiting(accl_device *device, const struct ticket *ticket)
{
    if (ticket->request != NULL && ticket->waits)
        device->service_ready--;
    if (ticket->request != NULL && !ticket->waits)
        device->service_ready++;
    if (ticket->waits)
        provide_service(device);
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
    device->call_waits = note_waiting;
    if (device->service_stops) {
        status = acclib_fail(ACCL_CLOSED, "the device is closed");
    } else {
        acclib_ticket_add(device, &r->ticket, &r->call);
        r->ticket.request = r;
        status = provide_service(device);
        if (status == ACCL_OK)
            pthread_cond_broadcast(&device->changed);
        else
            acclib_ticket_remove(device, &r->ticket);
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

/* R is complete. Its last messages may have been queued since this thread carried, and the caller
 * need not make another call. */
static void send_last(const accl_request *r)
{
    if (atomic_load(&r->device->carries))
        acclib_transport_flush(r->device);
}

static bool request_await(accl_request *r, int64_t timeout_ns)
{
    int64_t deadline = clock_deadline(timeout_ns);
    bool carries = atomic_load(&r->device->carries);
    bool done = atomic_load(&r->state) == ACCL_COMPLETED;
    if (!done && carries)
        done = request_carry(r, deadline);
    else if (!done)
        done = timeout_ns != 0 && request_sleep(r, deadline);

    if (done)
        send_last(r);
    return done;
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
    int state = r != NULL ? (int)atomic_load(&r->state) : ACCL_COMPLETED;
    if (r != NULL && state == ACCL_COMPLETED && r->device->fork_count == acclib_fork_count())
        send_last(r);
    return state;
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
    int status = acclib_device_enter(device);
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
    int status = acclib_device_enter(device);
    if (status != ACCL_OK)
        return status;

    *retcode = device->last_retcode;
    *duration_ns = ticks_to_ns(&device->ticks, device->last_ticks);
    acclib_executor_leave(device);

    return ACCL_OK;
}

/* Ends the requests that no thread has taken: those whose turn came when the device was closed
 * already, or for which no thread could be started. */
static void end_untaken(accl_device *device)
{
    pthread_mutex_lock(&device->lock);
    for (struct list_node *at = device->tickets.first, *next; at != NULL; at = next) {
        next = at->next;
        accl_request *r = ticket_of(at)->request;
        if (r == NULL)
            continue;
        r->retcode = ACCL_ERROR(INTERRUPTED_ERROR);
        snprintf(r->text, sizeof r->text, "the device was closed");
        acclib_ticket_remove(device, &r->ticket);
        request_end(r);
        request_drop(r);
    }
    pthread_mutex_unlock(&device->lock);
}

void acclib_requests_stop(accl_device *device)
{
    pthread_mutex_lock(&device->lock);
    device->service_stops = true;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);

    acclib_wake_self(device);
    for (uint32_t i = 0; i < device->service_count; i++)
        pthread_join(device->services[i], NULL);
    acclib_executor_enter_surely(device);
    acclib_executor_leave(device);
    end_untaken(device);
}
