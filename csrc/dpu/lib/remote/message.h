/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message.h: what a process whose DPUs run elsewhere and the server that runs them tell each other,
 * over a stream.
 *
 * Both are the same version of the library, which DPULIB_HELLO compares, on the same kind of
 * processor: numbers and structures are as they are in memory. Nothing that the other side sends is
 * believed: dpulib_message_size() checks a header, and who gets one checks that it is its turn.
 *
 *     to the server          from the server
 *     HELLO                  HELLO
 *     CREATE                                       a DPU, of which everything is zero
 *     PAGES, ZEROS, SAME ...                       what was changed since the last launch
 *     LAUNCH                                       its state: it runs
 *     STOP                                         it ends soon, wherever it is
 *                            ALIVE ...             while DPUs run
 *                            CHANGED ...           which pages the launch has changed
 *                            ENDED                 its state
 *     READ                   PAGES, ZEROS ... READ
 *     FREE
 *                            TROUBLE               why the server gives up
 */
#ifndef OFFCHIP_DPU_LIB_MESSAGE_H
#define OFFCHIP_DPU_LIB_MESSAGE_H

#include "dpu/machine/remote.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DPULIB_REMOTE_DPUS_MAX (4096u * 64)
#define DPULIB_TEXT_MAX 256
/* A server whose DPUs run says so at least so often. */
#define DPULIB_ALIVE_SECONDS 1

enum dpulib_message_kind {
    DPULIB_HELLO = 1, /* a text of DPULIB_TEXT_MAX bytes: dpulib_hello() */
    DPULIB_CREATE,    /* struct dpu_machine_options */
    DPULIB_FREE,
    DPULIB_PAGES,   /* their content */
    DPULIB_ZEROS,   /* pages that are zeros */
    DPULIB_SAME,    /* pages that are those of another DPU: its number, uint32_t */
    DPULIB_CHANGED, /* pages */
    DPULIB_READ,    /* pages; in return, when they have been sent */
    DPULIB_LAUNCH,  /* struct dpu_packed */
    DPULIB_STOP,
    DPULIB_ENDED, /* struct dpu_packed; first: enum dpu_run_status, count: translated code ran */
    DPULIB_ALIVE,
    DPULIB_TROUBLE, /* a text, as HELLO */
    DPULIB_MESSAGE_KINDS
};

struct dpulib_message {
    uint32_t kind, dpu;    /* number of the DPU */
    uint32_t first, count; /* pages; see machine/remote.h */
};

/* The bytes that follow a message about a DPU of this copy, NULL for a number without a DPU. False
 * if there is no such message. */
bool dpulib_message_size(const struct dpulib_message *message, const struct dpu_remote_copy *copy,
                         size_t *size);

/* A text that both sides have to agree on: version, and sizes of structures. */
void dpulib_hello(char text[DPULIB_TEXT_MAX]);

/*
 * A whole message to a socket, which may be NULL, and SIZE bytes; or SIZE bytes from it. Blocks for
 * as long as the other side takes no bytes, or sends none, but not longer than LIMIT (ns; negative:
 * no limit) for each part. 0, or an error: EPIPE for a stream that is over, ETIMEDOUT.
 */
int dpulib_send(int fd, const struct dpulib_message *message, const void *data, size_t size,
                int64_t limit);
int dpulib_receive(int fd, void *data, size_t size, int64_t limit);

/* Sends pages, of which those that are zeros take no bytes. */
int dpulib_send_pages(int fd, const struct dpu_remote_copy *copy,
                      const struct dpulib_message *pages, int64_t limit);
/* Receives the content of PAGES or ZEROS into the machine's memory. */
int dpulib_receive_pages(int fd, struct dpu_remote_copy *copy, const struct dpulib_message *pages,
                         int64_t limit);

#endif
