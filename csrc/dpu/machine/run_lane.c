/* SPDX-License-Identifier: BSD-3-Clause */
/* run_lane.c: the same as run_alone.c for a machine whose WRAM is a lane. */
#define INTERPRETER dpu_run_lane
#define ALONE 1
#define AHEAD 0
#define SINGLE 1
#define OBSERVED 0
#define LANE 1
#include "interpreter.inc"
