/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs against libveo's C API, each a CASE of one executable. KERNELS is the path of the
 * library made of kernels.c.
 */
#ifndef VEO_CASES_H
#define VEO_CASES_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/case.h"
#include "ve_offload.h"

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s: failed: %s (errno %d)\n", __FILE__, __LINE__, __func__, \
                    #condition, errno); \
            exit(1); \
        } \
    } while (0)

#define CHECK_EQUAL(seen, wanted) \
    do { \
        long long seen_ = (long long)(seen); \
        long long wanted_ = (long long)(wanted); \
        if (seen_ != wanted_) { \
            fprintf(stderr, "%s:%d: %s: %s is %lld, not %lld (errno %d)\n", __FILE__, __LINE__, \
                    __func__, #seen, seen_, wanted_, errno); \
            exit(1); \
        } \
    } while (0)

/* A process with the kernels loaded. */
struct fixture {
    struct veo_proc_handle *proc;
    uint64_t library;
    struct veo_thr_ctxt *ctx; /* the main context */
    struct veo_args *args;
};

struct fixture set_up(void);
void tear_down(struct fixture *f);
const char *kernels_path(void);
uint64_t symbol(const struct fixture *f, const char *name);
/* Calls with the fixture's arguments, waits, checks that it went well. */
uint64_t call(const struct fixture *f, struct veo_thr_ctxt *ctx, const char *name);
uint64_t wait_ok(struct veo_thr_ctxt *ctx, uint64_t id);
double as_double(uint64_t bits);
float as_float(uint64_t bits);

#endif
