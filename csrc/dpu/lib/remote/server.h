/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server.h: connections to servers, and what comes over them. Private to this folder.
 *
 * A connection exists as long as DPUs are with the server. `lock` guards what several threads look
 * at, and is not held while anything is sent or received; `sending` keeps messages that belong
 * together together. One thread at a time receives: the first one that waits.
 */
#ifndef OFFCHIP_DPU_LIB_SERVER_H
#define OFFCHIP_DPU_LIB_SERVER_H

#include "dpu/lib/core/error.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/remote/message.h"

#include <pthread.h>

#define DPULIB_WHY_MAX 400

struct dpulib_server {
    const char *path; /* NULL: there is none */
    int fd;           /* -1: not connected */
    pthread_mutex_t lock, sending;
    pthread_cond_t heard;        /* something was received, or nobody receives any more */
    struct dpulib_remote **dpus; /* by number; NULL where there is none */
    uint32_t room, count;        /* of DPUs */
    bool receiving;              /* a thread does */
    bool lost;                   /* it is no more used until all its DPUs are freed */
    uint32_t expected;           /* answers */
    int64_t last;                /* when something was heard, or first expected */
    char why[DPULIB_WHY_MAX];    /* it is lost */
    /* Under the lock of sending: a long run of pages that was sent last, and whose it is, as long
     * as the server's DPU has it; NULL: nobody's. */
    struct dpulib_remote *owner;
    uint8_t *run;
    size_t run_room;
    uint32_t run_first, run_count;
};

/* A DPU that is with a server, until its rank is destroyed. */
struct dpulib_remote {
    struct dpulib_attachment attachment;
    struct dpu_remote_copy copy;
    struct dpu_t *dpu;
    struct dpulib_server *server;
    uint32_t number;
    bool exists;   /* the server has it; for operations only, as the next one */
    bool launched; /* and nobody here knows how that has ended */
    bool away;     /* it has not ended; with the lock, as the rest */
    bool brings;   /* pages, in [first, first + pages) */
    uint32_t first, pages;
    uint32_t status; /* of the launch that has ended: enum dpu_run_status */
    bool translated;
};

/* The server of a rank; NULL: this process. */
struct dpulib_server *dpulib_server_of(const struct dpu_rank_t *rank);

/* Adds a DPU, and connects if it is the first one. */
dpu_error_t dpulib_server_add(struct dpulib_server *server, struct dpulib_remote *remote);
/* Takes it out, and closes the connection after the last one. */
void dpulib_server_remove(struct dpulib_remote *remote);

/* With the lock: an answer is expected about a DPU. */
void dpulib_server_expect(struct dpulib_server *server, bool *flag);
/* With the lock: waits until *FLAG is false, but not after the deadline (clock.h). */
void dpulib_server_wait(struct dpulib_server *server, const bool *flag, int64_t deadline);
/* An error of sending, unless it is 0: the server is lost. Without the lock. */
void dpulib_server_sent(struct dpulib_server *server, int error);
int64_t dpulib_server_limit(void);

#endif
