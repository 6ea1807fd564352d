/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * release.h: freeing memory that a kernel allocated with malloc().
 */
#ifndef VEOW_RELEASE_H
#define VEOW_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "veo/worker/context.h"

/* Frees the block at ADDRESS. False, and nothing is done, if it is not one. For the thread of CTX.
 */
bool veow_free(struct veow_context *ctx, uint64_t address);

#endif
