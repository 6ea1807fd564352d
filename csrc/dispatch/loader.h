/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loader.h: opens a shared library and fills a table with the addresses of its functions.
 *
 * This file is compiled into every extension module that calls a vendor's library or its twin.
 * It has no state of its own: a library is an object that the caller keeps.
 */
#ifndef OFFCHIP_LOADER_H
#define OFFCHIP_LOADER_H

#include <stddef.h>

#define OFFCHIP_LIBRARY_TEXT 512

/*
 * A loaded library. Zero-initialised, or after offchip_library_close(), it is closed. To be kept
 * as long as any address from its table may be called.
 */
struct offchip_library {
    void *handle;
    /* The file that the functions really came from, "" if none was found. */
    char *path;
    /* Names of required functions that are not there, each followed by a zero, and their number. */
    char *missing;
    size_t missing_count;
    /* Of the optional ones, how many are there. */
    size_t optional_count;
    /* Why the last open failed, "" if it did not. */
    char error[OFFCHIP_LIBRARY_TEXT];
};

/*
 * Loads the library at PATH, which must contain a slash, with RTLD_NOW | RTLD_LOCAL.
 *
 * NAMES are looked up and the addresses stored in SLOTS, an array of as many function pointers
 * (or a struct of nothing but those); absent ones become NULL and are listed in LIB. The same for
 * OPTIONAL_NAMES, whose absence is no fault. Either number may be 0.
 *
 * 0 when every required function is there; the number of absent ones when some are not (the
 * library is open all the same, the caller decides); -1 when it could not be loaded, with the
 * reason in LIB->error and all slots NULL. LIB must be closed before it is used again.
 * May run the library's constructors. Threads: one at a time for each LIB.
 */
int offchip_library_open(const char *path, const char *const *names, size_t n, void *slots,
                         const char *const *optional_names, size_t n_optional, void *optional_slots,
                         struct offchip_library *lib);

/* The name of required function number I that is not there, NULL past the last. */
const char *offchip_library_missing(const struct offchip_library *lib, size_t i);

/* Unloads. The text of the last error stays. Harmless on a closed one. */
void offchip_library_close(struct offchip_library *lib);

#endif
