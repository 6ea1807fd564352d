/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * static_symbols.h: the functions and variables linked into a worker executable.
 *
 * `python -m veo.static_worker` links a user's objects with libveorun.a and a generated C file
 * that defines this table, ended by an entry whose name is NULL. The generated file repeats the
 * structure: it is compiled where this header is not installed.
 */
#ifndef VEORUN_STATIC_SYMBOLS_H
#define VEORUN_STATIC_SYMBOLS_H

struct veorun_symbol {
    const char *name;
    const void *address;
};

/* Weak: the worker that the package ships has no user objects and no table; test the address. */
extern const struct veorun_symbol veorun_static_symbols[] __attribute__((weak));

#endif
