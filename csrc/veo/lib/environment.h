/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.h: settings from environment variables.
 *
 * The variables are read at each call. A set-user-ID program sees none of them. The functions may
 * be called by any thread as long as no thread changes the environment meanwhile.
 */
#ifndef VEOLIB_ENVIRONMENT_H
#define VEOLIB_ENVIRONMENT_H

#include <stddef.h>

/* The value of variable NAME; NULL if it is not set or empty. Belongs to the environment. */
const char *veolib_env_text(const char *name);

/*
 * The size in variable NAME: a number with an optional suffix K, M or G. DEFAULT_SIZE if it is not
 * set; also if it cannot be parsed, after an error message.
 */
size_t veolib_env_size(const char *name, size_t default_size);

#endif
