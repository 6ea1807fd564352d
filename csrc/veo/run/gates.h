/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gates.h: calls from VE code to functions of the host, by addresses that have no code.
 *
 * libc.def lists the functions with their types. Any thread.
 */
#ifndef VERUN_GATES_H
#define VERUN_GATES_H

#include <stdbool.h>
#include <stdint.h>

#include "veo/machine/core.h"

/* Has CORE call the host where VE code calls a gate. */
void verun_gates_attach(struct ve_core *core);

/* The address of a function or variable of the host; 0 if VE code cannot have it. */
uint64_t verun_gate_address(const char *name);

/* An address for a function that is nowhere: a call of it ends the code with its name. */
uint64_t verun_gate_for_missing(const char *name);

/* The name of the function that a gate is for, or NULL. */
const char *verun_gate_name(uint64_t address);

/* Its types as libc.def has them; NULL of one that works on the registers, or is nowhere. */
const char *verun_gate_types(uint64_t address);

/* A function of the host that works on the registers: arguments from s0 on, the result in s0. */
typedef bool verun_special(struct ve_core *core);

#endif
