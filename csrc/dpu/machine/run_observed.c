/* SPDX-License-Identifier: BSD-3-Clause */
/* run_observed.c: the interpreter for several tasklets that are observed, one instruction of each
 * in turn. */
#define INTERPRETER dpu_run_observed
#define ALONE 0
#define AHEAD 0
#define SINGLE 0
#define OBSERVED 1
#define LANE 0
#include "interpreter.inc"
