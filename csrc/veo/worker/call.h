/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.h: calls of functions whose arguments come from a slot.
 *
 * To be called by the thread of a context. Blocks as long as the function runs.
 */
#ifndef VEOW_CALL_H
#define VEOW_CALL_H

#include <stdint.h>

#include "veo/wire.h"

/*
 * Calls the function of a slot, which is a private copy. Returns the outcome; *RESULT is in the
 * VE's representation.
 */
int veow_call(const struct wire_slot *slot, uint64_t *result);

/* Calls it once for each call of a batch, until the host wants no more; *RESULT: how many. */
int veow_call_batch(const struct wire_slot *slot, uint64_t *result);

#endif
