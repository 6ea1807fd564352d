/* SPDX-License-Identifier: BSD-3-Clause */
/* run_alone.c: the interpreter for a tasklet that runs up to its next event. */
#define INTERPRETER dpu_run_alone
#define ALONE 1
#define AHEAD 0
#define SINGLE 1
#define OBSERVED 0
#define LANE 0
#include "interpreter.inc"
