/* SPDX-License-Identifier: BSD-3-Clause */
/* load.h: loads shared objects and executables. */
#ifndef VELINK_LOAD_H
#define VELINK_LOAD_H

#include <stdbool.h>

#include "veo/link/library.h"

/* Loads the file of LIBRARY, which owns what is made, also after a failure. False with the reason.
 */
bool velink_load(struct velink_library *library, const struct velink_environment *environment,
                 struct velink_error *error);

#endif
