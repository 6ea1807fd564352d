/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * args.h: argument lists, as a call reads them.
 *
 * A list holds the arguments as 64-bit words in the VE's representation, the class of each
 * (integer, float, double), and the buffers of stack arguments, which belong to the caller. One
 * list must not be changed by two threads at once, nor while a call is being submitted with it.
 */
#ifndef VEOLIB_ARGS_H
#define VEOLIB_ARGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ve_offload.h"
#include "veo/wire.h"

/* The type letters of veosoft_args_set_signature(), without 'v'. */
#define SIGNATURE_LETTERS "bBhHiIlLpfd"

/* The most bytes that the stack arguments of a call may have together. */
#define VEO_STACK_ARGS_MAX ((size_t)63 << 20)

struct stack_arg {
    char *buffer;
    size_t size;
    enum veo_args_intent intent;
    int argnum;
};

struct veo_args {
    _Atomic uint32_t kind; /* enum handle_kind */
    struct veo_args *next; /* in the list of freed ones */
    int nargs;             /* highest number set + 1 */
    int nstack;
    int stack_capacity;
    struct stack_arg *stack;
    char ret; /* 0: no signature */
    uint64_t signature[WIRE_KIND_WORDS];
    uint64_t kinds[WIRE_KIND_WORDS];
    uint64_t values[VEO_MAX_NUM_ARGS];
};

/* True if ARGS is an argument list that was not freed; if not, sets the error. */
bool veolib_args_check(const struct veo_args *args);

/* To be called in a forked child: another thread may have held the lock. */
void veolib_args_after_fork(void);

#endif
