/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * names.c: libveo under another file name, for linkers and for dlopen().
 *
 * NEC's SDK has libveo.so (for -lveo) and older releases libaveoVH.so, as links to one file. Wheels
 * cannot carry links. So each of these names is a small library of its own: it has the names of
 * libveo's functions for the linker, and libveo.so.1 as its soname, so that programs ask for that.
 * Where it is loaded itself, it is a filter (DT_FILTER): the dynamic loader takes every function
 * from the libveo.so.1 beside it, and these bodies are never called.
 */
#include "dispatch/veo_symbols.h"
#include "veosoft.h"

/* Under a name of its own in C, as headers declare the function with other types. */
#define NAME(function) \
    __attribute__((visibility("default"), noreturn)) void body_of_##function(void) __asm__( \
        #function); \
    void body_of_##function(void) \
    { \
        __builtin_trap(); \
    }

VEO_SYMBOLS(NAME)
VEOSOFT_SYMBOLS(NAME)
