/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocations that fail. A program that is linked with failing.c has functions of its own for
 * memory, threads and descriptors that memory is behind; sweep() runs a scenario again and again,
 * and each time the next one of its allocations fails. What fails must say so, what was begun must
 * come to its end, and nothing may be left.
 */
#ifndef FAILING_H
#define FAILING_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Runs the scenario with failures, and then once more without. Arguments of the program: once (one
 * allocation fails) or on (it and all that follow); the first number; the distance from one to the
 * next. Prints how many allocations there were, how many were made to fail, and how many of these
 * a call told of. The status is that of the program.
 */
int sweep(int argc, char *argv[], void (*scenario)(void));

/*
 * Notes what a call of the scenario gave; OK again. The first that is not in a pass must give the
 * reason in its text, and must not be when nothing was made to fail.
 */
bool told(bool ok, const char *call, const char *text);

/* A call of this pass was not OK. */
bool failure_told(void);

/* This thread's allocations do not fail: it is not what is tested. */
void failing_spare(bool spared);

#endif
