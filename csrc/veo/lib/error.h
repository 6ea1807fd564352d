/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error.h: error texts and log lines.
 *
 * The text of the last failure is kept per thread for veosoft_error(). It is also printed on stderr
 * unless veosoft_set_quiet() turned that off. No function blocks or fails; all may be called by any
 * thread, with or without locks.
 */
#ifndef VEOLIB_ERROR_H
#define VEOLIB_ERROR_H

#include <stdbool.h>

/* Records a failure: keeps the text, prints it unless quiet, and sets errno to ERROR. */
void veolib_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints one line on stderr, quiet or not. */
void veolib_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints one line on stderr if VEO_LOG_DEBUG is set. */
void veolib_log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True if errors are kept without being printed. */
bool veolib_is_quiet(void);

#endif
