/* SPDX-License-Identifier: BSD-3-Clause */
/* run_observed_ahead.c: the interpreter for a tasklet that is observed, and runs while others are
 * left behind. */
#define INTERPRETER dpu_run_observed_ahead
#define ALONE 0
#define AHEAD 1
#define SINGLE 1
#define OBSERVED 1
#define LANE 0
#include "interpreter.inc"
