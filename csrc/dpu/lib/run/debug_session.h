/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * debug_session.h: a launch that a debugger has.
 *
 * DPU_DEBUG names a socket (AF_UNIX, SOCK_SEQPACKET) that a debugger listens on. Each DPU that is
 * launched connects to it, says hello, and waits before its first instruction. Then the debugger
 * sends requests, one at a time, and the DPU answers, until it is told to go on (DETACH) or the
 * debugger closes the socket. Without a debugger that listens, launches are as usual.
 *
 * Requests are not trusted: each is read once into memory of the session and checked there.
 * dpu/debugger/session.py is the other side.
 */
#ifndef OFFCHIP_DPU_LIB_DEBUG_SESSION_H
#define OFFCHIP_DPU_LIB_DEBUG_SESSION_H

#include "dpu.h"
#include "dpu/lib/run/debug_run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DPULIB_DEBUG_MAGIC UINT32_C(0x42474444) /* "DDGB" */
#define DPULIB_DEBUG_VERSION 2
/* Bytes of the longest message. */
#define DPULIB_DEBUG_MESSAGE (1 << 15)

enum dpulib_debug_request_kind {
    DPULIB_DEBUG_READ = 1,        /* a: address, b: bytes */
    DPULIB_DEBUG_WRITE = 2,       /* a: address; data */
    DPULIB_DEBUG_THREADS = 3,     /* answer: struct dpulib_debug_thread of each */
    DPULIB_DEBUG_SET_THREAD = 4,  /* a: tasklet; struct dpulib_debug_thread */
    DPULIB_DEBUG_BREAKPOINTS = 5, /* one bit per instruction of IRAM */
    DPULIB_DEBUG_WATCHES = 6,     /* struct dpulib_watch of each */
    DPULIB_DEBUG_STEP = 7,        /* a: tasklet; answer: struct dpulib_debug_stopped */
    DPULIB_DEBUG_RUN = 8,         /* d: rounds, a, b, c: tasklet and range; answer: likewise */
    DPULIB_DEBUG_FAULT = 9,       /* answer: a sentence about the fault */
    DPULIB_DEBUG_IMAGE = 10,      /* a: offset, b: bytes of the program's file */
    DPULIB_DEBUG_DETACH = 11,     /* no answer */
};

/* All numbers are those of the host: both sides are on one machine. */
struct dpulib_debug_hello {
    uint32_t magic, version, process, rank, slice, member, threads, image;
    char path[256]; /* of the program; cut off if it is longer */
};

struct dpulib_debug_request {
    uint32_t kind, a, b, c;
    uint64_t d;
};

struct dpulib_debug_thread {
    uint32_t registers[DPU_MACHINE_REGISTERS];
    uint32_t pc, flags; /* 1: zero, 2: carry, 4: it runs */
};

struct dpulib_debug_stopped {
    uint32_t stop, thread, pc, watch; /* enum dpulib_stop */
    uint64_t cycles;
    uint64_t counts[DPU_MACHINE_THREADS_ROOM];
};

/* The state of a session, whose requests dpulib_debug_answer() answers. */
struct dpulib_debug_session {
    struct dpulib_debug debug;
    bool is_over; /* the launch need not go on */
};

/*
 * Answers a request of SIZE bytes in a buffer of DPULIB_DEBUG_MESSAGE bytes; the answer takes its
 * place: an error (0: none; 1: wrong request, 2: out of bounds), then data. Returns its size, 0
 * for none: the session ends.
 */
size_t dpulib_debug_answer(struct dpu_t *dpu, struct dpulib_debug_session *session,
                           uint8_t *message, size_t size);

/*
 * Lets a debugger have a launch that has begun, if there is one; returns when that lets it go.
 * True if the launch is over: *status is how it ended. For the operation that runs the launch.
 */
bool dpulib_debug_launch(struct dpu_t *dpu, enum dpu_run_status *status);

#endif
