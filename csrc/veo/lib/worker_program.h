/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * worker_program.h: which program a VE process runs.
 *
 * Both functions may be called by any thread.
 */
#ifndef VEOLIB_WORKER_PROGRAM_H
#define VEOLIB_WORKER_PROGRAM_H

#include <limits.h>

/*
 * The program in VEORUN_BIN; NULL for the library's own worker. A worker of NEC's SDK that does not
 * exist counts as not set: programs such as VEDA set the variable whether the SDK is there or not.
 */
const char *veolib_worker_chosen(void);

/*
 * The path of PROGRAM, or in OWN the path of the library's own worker if PROGRAM is NULL or VE
 * code: *CODE is then PROGRAM, which that worker loads. NULL (error set) if it cannot be executed
 * here.
 */
const char *veolib_worker_program(const char *program, char own[PATH_MAX], const char **code);

#endif
