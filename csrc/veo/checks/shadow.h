/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shadow.h: what is known of each byte of the process's memory: whether VE code may access it, and
 * which of its bits were never written. Memory that nobody spoke of is accessible and written.
 *
 * It belongs to the process, as its memory does. Any thread; calls exclude each other. Where the
 * shadow itself finds no memory, bytes count as accessible and written.
 */
#ifndef OFFCHIP_VE_SHADOW_H
#define OFFCHIP_VE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No access from now on. */
void ve_shadow_hide(uint64_t address, uint64_t size);
/* Accessible, and not written yet. */
void ve_shadow_fresh(uint64_t address, uint64_t size);
/* Accessible, and written. */
void ve_shadow_open(uint64_t address, uint64_t size);
/* Its accessible bytes count as written. */
void ve_shadow_define(uint64_t address, uint64_t size);

/* The first byte of a range that may not be accessed. False if there is none. */
bool ve_shadow_find_hidden(uint64_t address, uint64_t size, uint64_t *hidden);
/* The first byte of a range that has a bit which was never written. False if there is none. */
bool ve_shadow_find_undefined(uint64_t address, uint64_t size, uint64_t *undefined);

/* The undefined bits of BYTES bytes, at most 8, as a little-endian word; and writing them. */
uint64_t ve_shadow_load(uint64_t address, uint32_t bytes);
void ve_shadow_store(uint64_t address, uint32_t bytes, uint64_t undefined);
/* Undefined bits move with the bytes of memmove(). */
void ve_shadow_copy(uint64_t to, uint64_t from, uint64_t size);

#endif
