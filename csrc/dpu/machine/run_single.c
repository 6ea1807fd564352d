/* SPDX-License-Identifier: BSD-3-Clause */
/* run_single.c: the interpreter for one tasklet that runs alone. */
#define INTERPRETER dpu_run_single
#define ALONE 0
#define AHEAD 0
#define SINGLE 1
#define OBSERVED 0
#define LANE 0
#include "interpreter.inc"
