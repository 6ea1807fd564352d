/* SPDX-License-Identifier: BSD-3-Clause */
/* run_rounds.c: the interpreter for several tasklets, one instruction of each in turn. */
#define INTERPRETER dpu_run_rounds
#define ALONE 0
#define AHEAD 0
#define SINGLE 0
#define OBSERVED 0
#define LANE 0
#include "interpreter.inc"
