/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The message of the last failure, one per thread, as accl_error_message() gives it.
 */
#ifndef ACCL_BASE_ERROR_H
#define ACCL_BASE_ERROR_H

#define ACCL_EXPORT __attribute__((visibility("default")))

/* Longest message of a failure, with its NUL. */
#define TEXT_BYTES 768

/* Sets the message, and returns STATUS. */
int acclib_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ACCL_INVALID: argument WHAT of FUNCTION must not be NULL. */
int acclib_is_null(const char *function, const char *what);

void acclib_set_message(const char *text);

#endif
