/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libraries.h: the libraries that kernels are in.
 *
 * Symbols are looked up by the service thread, the rest is called by the main context's thread.
 * Texts are in shared memory: names are copied before they are checked.
 */
#ifndef VEOW_LIBRARIES_H
#define VEOW_LIBRARIES_H

#include <stdbool.h>
#include <stdint.h>

#include "veo/wire.h"

/*
 * Loads the program of VE code at PATH, whose symbols are found then as if they were linked into
 * the worker. Once, before there are contexts. False with the reason in ERROR, of WIRE_ERROR_SIZE.
 */
bool veow_load_code(const char *path, char *error);

/* Loads the library in TEXT. Its handle, or 0 with the reason in TEXT. */
uint64_t veow_load(struct wire_text *text);

/* Unloads it. 0 or enum wire_unload. */
uint64_t veow_unload(uint64_t handle);

/* The address of the symbol in TEXT, 0 with the reason there. Its signature is written there too.
 */
uint64_t veow_symbol(uint64_t handle, struct wire_text *text);

#endif
