/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/executor.h"

#include "accl/transport/ticket.h"
#include "accl/transport/transport.h"
#include "common/clock.h"
#include "common/futex.h"

/* Intervals at which a waiter calls the check, and carries messages where no other thread does. */
#define LOOK_NS (50 * CLOCK_MILLISECOND)
#define CARRY_NS INT64_C(20000)

/* A thread that wants to become the executor. */
struct candidate {
    struct list_node in_device;
    _Atomic uint32_t is_executor; /* also a futex */
};

/* The first candidate becomes the executor, unless another thread has just become it. */
static void hand_over(accl_device *device)
{
    pthread_mutex_lock(&device->lock);
    if (!list_is_empty(&device->candidates) && executor_try(device)) {
        struct list_node *node = list_pop(&device->candidates);
        struct candidate *next = LIST_ENTRY(node, struct candidate, in_device);
        atomic_store(&next->is_executor, 1);
        /* It may be gone by now: nobody else sleeps at that address. */
        futex_wake_all(&next->is_executor);
    }
    pthread_mutex_unlock(&device->lock);
}

void acclib_executor_leave(accl_device *device)
{
    atomic_store(&device->running, 0);
    if (atomic_load(&device->interest))
        hand_over(device);
}

/* Withdraws the candidate SELF; false if it has become the executor. */
static bool withdraw(accl_device *device, struct candidate *self)
{
    pthread_mutex_lock(&device->lock);
    bool waits = !atomic_load(&self->is_executor);
    if (waits)
        list_remove(&device->candidates, &self->in_device);
    pthread_mutex_unlock(&device->lock);

    return waits;
}

static int enter(accl_device *device, bool checks)
{
    if (executor_try(device))
        return ACCL_OK;

    struct candidate self = {.is_executor = 0};
    atomic_fetch_add(&device->interest, 1);
    pthread_mutex_lock(&device->lock);
    if (executor_try(device))
        atomic_store(&self.is_executor, 1);
    else
        list_append(&device->candidates, &self.in_device);
    pthread_mutex_unlock(&device->lock);

    int status = ACCL_OK;
    int64_t look = clock_now() + LOOK_NS;
    while (status == ACCL_OK && !atomic_load(&self.is_executor)) {
        bool carries = atomic_load(&device->carries);
        if (carries)
            acclib_transport_carry(device);
        futex_sleep(&self.is_executor, 0, carries ? CARRY_NS : LOOK_NS);
        if (!checks || clock_now() < look)
            continue;
        look = clock_now() + LOOK_NS;
        if (!device->check(device->check_argument))
            continue;
        /* The check has taken the signal: also who has just become the executor does not go on. */
        if (!withdraw(device, &self))
            acclib_executor_leave(device);
        status = acclib_fail(ACCL_INTERRUPTED, "the wait for the running call was interrupted");
    }
    atomic_fetch_sub(&device->interest, 1);

    return status;
}

int acclib_executor_enter(accl_device *device)
{
    return enter(device, device->check != NULL);
}

int acclib_device_enter(accl_device *device)
{
    int status = acclib_device_check(device);
    return status == ACCL_OK ? acclib_executor_enter(device) : status;
}

void acclib_executor_enter_surely(accl_device *device)
{
    enter(device, false);
}

void acclib_executor_let_go(accl_device *device, struct execution *saved)
{
    acclib_ticket_show_waiting(device);
    *saved = (struct execution){.call = device->call,
                                .ticket = device->ticket,
                                .checks = device->checks,
                                .deadline = device->deadline,
                                .lingers = device->lingers};
    device->call = NULL;
    device->ticket = NULL;
    acclib_executor_leave(device);
}

void acclib_executor_take_back(accl_device *device, const struct execution *saved)
{
    acclib_executor_enter_surely(device);
    device->call = saved->call;
    device->ticket = saved->ticket;
    device->checks = saved->checks;
    device->deadline = saved->deadline;
    device->lingers = saved->lingers;
    device->text[0] = 0;
    acclib_ticket_show_going(device);
}
