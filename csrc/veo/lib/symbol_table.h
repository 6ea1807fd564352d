/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symbol_table.h: the symbols of a process that the host knows, with their signatures.
 *
 * They are in private memory, where kernels cannot change them. Any thread may call any function;
 * each takes the symbols' lock, and none blocks beyond that.
 */
#ifndef VEOLIB_SYMBOL_TABLE_H
#define VEOLIB_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct veo_proc_handle;

/* The address of NAME in the library HANDLE; 0 if it is not known. */
uint64_t veolib_symbol_known(struct veo_proc_handle *proc, uint64_t handle, const char *name);

/* Notes a symbol. Without memory nothing is kept, and the worker is asked again. */
void veolib_symbol_remember(struct veo_proc_handle *proc, uint64_t handle, const char *name,
                            uint64_t address, const char *signature);

/* Forgets the symbols of a library, or ALL of them. */
void veolib_symbols_forget(struct veo_proc_handle *proc, bool all, uint64_t handle);

/* Copies the signature, or the name, of the symbol at ADDRESS if it fits into SIZE bytes. Its
 * length, 0 if nothing is known. */
size_t veolib_symbol_signature(struct veo_proc_handle *proc, uint64_t address, char *text,
                               size_t size);
size_t veolib_symbol_name(struct veo_proc_handle *proc, uint64_t address, char *text, size_t size);

#endif
