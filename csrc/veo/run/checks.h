/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks.h: checks of VE code, if VEO_CHECK asks for them: each thread's core then has its own
 * (csrc/veo/checks), and findings go to stderr or to the file that its log= names.
 *
 * Any thread, unless it says otherwise. Without VEO_CHECK nothing happens.
 */
#ifndef VERUN_CHECKS_H
#define VERUN_CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/text.h"
#include "veo/checks/checks.h"
#include "veo/link/error.h"

/* Names of an address in VE code. */
struct verun_code {
    const char *(*file)(uint64_t address);     /* NULL: none that is known */
    const char *(*function)(uint64_t address); /* its symbol; NULL likewise */
    /* Adds its function and line, such as " (axpy+0x28, kernel.c:9)". */
    void (*add)(struct text *text, uint64_t address);
};

/* Reads VEO_CHECK, once. False if a word of it means nothing, or its log cannot be written. */
bool verun_checks_ready(const struct verun_code *code, struct velink_error *error);

/* Attaches checks to a core that has its stack and its gates, and ends them. */
void verun_checks_attach(struct ve_core *core);
void verun_checks_detach(struct ve_core *core);

/* The stack was written, as for a program that is about to begin. */
void verun_checks_enter_program(struct ve_core *core);

/* The host calls a function: what VE code has allocated until now may have been written by it. */
void verun_checks_from_host(const struct ve_core *core);

/* Frees a block of the checked heap, as the host asks for it; *freed says if it was one. False if
 * the address is not of that heap. */
bool verun_checks_free(uint64_t address, bool *freed);

/* Memory of another process that VE code may access. */
struct verun_zones {
    enum ve_zone (*find)(uint64_t address, uint64_t size);
    /* Adds what an address in none of its blocks is near to. */
    void (*describe)(struct text *text, uint64_t address);
};
/* Before the first VE code is loaded. */
void verun_checks_set_zones(const struct verun_zones *zones);
/* Adds a report: its first line, where it is, the calls that led there, and the block. ZONES: NULL
 * without memory of another process. */
void verun_add_finding(struct text *text, const struct verun_code *code,
                       const struct verun_zones *zones, const struct ve_checks *checks,
                       const struct ve_finding *finding);

/* Has *STATUS set to what exit= asks for once something was found. */
void verun_checks_set_status(_Atomic uint32_t *status);

/* Writes the last line; the end of the process does so too. Handlers of signals may call it. */
void verun_checks_summarise(void);
/* At the end of a process: tells if VEO_CHECK is set and no VE code was loaded. */
void verun_checks_finish(void);

#endif
