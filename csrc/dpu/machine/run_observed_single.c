/* SPDX-License-Identifier: BSD-3-Clause */
/* run_observed_single.c: the interpreter for one tasklet that runs alone and is observed. */
#define INTERPRETER dpu_run_observed_single
#define ALONE 0
#define AHEAD 0
#define SINGLE 1
#define OBSERVED 1
#define LANE 0
#include "interpreter.inc"
