/* SPDX-License-Identifier: BSD-3-Clause */
/* drift.h: the engine in which tasklets run alone between events; see drift.c. */
#ifndef OFFCHIP_DPU_DRIFT_H
#define OFFCHIP_DPU_DRIFT_H

#include "engine.h"

extern const struct dpu_engine dpu_engine_drift;

#endif
