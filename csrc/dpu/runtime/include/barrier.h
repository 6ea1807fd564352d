/* SPDX-License-Identifier: BSD-3-Clause */
/* barrier.h: a point that a number of tasklets reach before any of them goes on. */
#ifndef DPU_RUNTIME_BARRIER_H
#define DPU_RUNTIME_BARRIER_H

#include <atomic_bit.h>
#include <attributes.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct barrier_t {
    uint8_t wait_queue;    /* the last tasklet in the queue, 0xff for none */
    uint8_t count;         /* tasklets still to come */
    uint8_t initial_count; /* what count starts from again */
    uint8_t lock;          /* the atomic bit that guards the structure */
} barrier_t;

/*
 * Defines the barrier NAME for COUNTER tasklets, an expression that the preprocessor can make. As
 * the vendor's it ends in a semicolon, and programs leave theirs out.
 */
#define BARRIER_INIT(_name, _counter) \
    _Static_assert(((_counter) < 128) && ((_counter) >= -127), "a barrier counts to 127"); \
    ATOMIC_BIT_INIT(__CONCAT(barrier_, _name)); \
    extern barrier_t _name; \
    __DPU_GUARDED_OBJECT(_name, _counter, ATOMIC_BIT_GET(__CONCAT(barrier_, _name)));

/* Waits until the number of tasklets has come here; then the barrier is ready for its next use. */
void barrier_wait(barrier_t *barrier);

#ifdef __cplusplus
}
#endif

#endif
