/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h: a program of VE code that runs alone, without a host program. */
#ifndef VEOW_PROGRAM_H
#define VEOW_PROGRAM_H

/*
 * Runs the program in the file ARGV[0], which is an executable, or has main(). Does not return once
 * it runs: the process ends with its exit code, or by the signal of its exception. The exit code if
 * it cannot be run.
 */
int veow_run_program(char *argv[]);

#endif
