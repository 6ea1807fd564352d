/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * worker_start.h: starting a worker.
 *
 * The worker inherits the memory file, the spin board's file and the read end of the lifeline, and
 * maps the memory at the host's address. Blocks until the worker says that it is ready, 20 s at
 * most (with VEO_DEBUG without limit). One thread per worker.
 */
#ifndef VEOLIB_WORKER_START_H
#define VEOLIB_WORKER_START_H

#include "veo/lib/memory.h"
#include "veo/lib/worker.h"

enum start_result {
    START_OK,
    START_FAILED,        /* error set */
    START_ADDRESS_TAKEN, /* the worker cannot map the memory there: try another address */
};

/*
 * Spawns PROGRAM (NULL: veolib_worker_program() finds the library's own). The header of MEMORY must
 * be filled in. On failure no child is left.
 */
enum start_result veolib_worker_start(struct veolib_worker *worker,
                                      const struct veolib_memory *memory, int board_fd,
                                      const char *program);

/* Of the workers that this thread starts: standard output and error, -1 for the host's. */
void veolib_worker_set_output(int out, int err);

#endif
