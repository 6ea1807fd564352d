/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.h: VEO_SOFT_ENGINE, what Vector Engine code is run by. */
#ifndef OFFCHIP_VERUN_ENGINE_H
#define OFFCHIP_VERUN_ENGINE_H

#include "veo/link/error.h"

#include <stdbool.h>

/*
 * Chooses the engine, once. False if there is none of that name, or VEO_SOFT_CC names no compiler.
 */
bool verun_engine_ready(struct velink_error *error);

#endif
