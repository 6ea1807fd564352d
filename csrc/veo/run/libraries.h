/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libraries.h: the VE code that this process has loaded.
 *
 * Loading and unloading are for one thread at a time; the rest may be called by any thread, and
 * functions that take an address by handlers of signals too.
 */
#ifndef VERUN_LIBRARIES_H
#define VERUN_LIBRARIES_H

#include "common/text.h"
#include "veo/link/library.h"
#include "veo/run/thread.h"

/* True if the file at PATH is VE code, an archive of it too. */
bool verun_recognises(const char *path);

/*
 * Finds the file with VE code that a name without a folder stands for: the first one of that name
 * in the folders of LD_LIBRARY_PATH, which has those of VE_LD_LIBRARY_PATH in the worker. False if
 * there is none, or it is host code.
 */
bool verun_find_code(const char *name, char *path, size_t size);

/*
 * Chooses what runs VE code (VEO_SOFT_ENGINE), once; loading does so first. False if there is no
 * engine of that name, or VEO_SOFT_CC names no compiler.
 */
bool verun_engine_ready(struct velink_error *error);

/*
 * Loads a file and calls what it does at its start. A library that is loaded already is the same
 * one again. NULL with the reason.
 */
struct velink_library *verun_load(const char *path, struct velink_error *error);

/* Undoes one verun_load(). */
void verun_unload(struct velink_library *library);

/* The library that has an address, or NULL. */
const struct velink_library *verun_library_at(uint64_t address);

/* Adds where an address is, such as " axpy+0x28 (kernel.o) at kernel.c:9", as far as that is known;
 * the line is that of the call if RETURNED, as where it returns to is the next one. */
void verun_add_place(struct text *text, uint64_t address, bool returned);

#endif
