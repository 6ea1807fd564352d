/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.h: settings from environment variables.
 *
 * The variables are read at each call; one that is empty counts as not set. A set-user-ID program
 * sees none of them. The functions may be called by any thread as long as no thread changes the
 * environment meanwhile.
 */
#ifndef VEOLIB_ENVIRONMENT_H
#define VEOLIB_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "veo/lib/variables.h"

#define VEOLIB_VARIABLE_ID(name, ...) VEOLIB_ID_##name,
enum veolib_variable {
    VEOLIB_VARIABLES(VEOLIB_VARIABLE_ID, VEOLIB_VARIABLE_ID, VEOLIB_VARIABLE_ID, VEOLIB_VARIABLE_ID,
                     VEOLIB_VARIABLE_ID, VEOLIB_VARIABLE_ID, VEOLIB_VARIABLE_ID)
        VEOLIB_VARIABLE_COUNT
};
#undef VEOLIB_VARIABLE_ID

/* The value of variable NAME; NULL if it is not set. Belongs to the environment. */
const char *veolib_env_text(const char *name);

/*
 * True if all variables of the list have values that are allowed. If not, the error names variable,
 * value and what is allowed. Names of our prefix that are not in the list are told once, on stderr.
 */
bool veolib_env_check(void);

/* A variable's number, size, or index among its words; its default if it is not set, or has a value
 * that is not allowed. */
uint64_t veolib_env_value(enum veolib_variable which);

#endif
