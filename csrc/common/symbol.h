/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OFFCHIP_SYMBOL_H
#define OFFCHIP_SYMBOL_H

/*
 * Linker's name of a function that several libraries share, put after its declaration:
 * libveorun.a is linked with users' programs, which may have functions of the plain name.
 */
#define OFFCHIP_SYMBOL(name) __asm__("offchip_" #name)

#endif
