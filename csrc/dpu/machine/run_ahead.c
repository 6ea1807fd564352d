/* SPDX-License-Identifier: BSD-3-Clause */
/* run_ahead.c: the interpreter for a tasklet that runs while others are left behind. */
#define INTERPRETER dpu_run_ahead_one
#define ALONE 0
#define AHEAD 1
#define SINGLE 1
#define OBSERVED 0
#define LANE 0
#include "interpreter.inc"
