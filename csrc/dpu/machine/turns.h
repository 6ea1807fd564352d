/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.h: the engine in which tasklets issue one instruction each in turn; see turns.c. */
#ifndef OFFCHIP_DPU_TURNS_H
#define OFFCHIP_DPU_TURNS_H

#include "engine.h"

extern const struct dpu_engine dpu_engine_turns;

#endif
