/* SPDX-License-Identifier: BSD-3-Clause */
/* mram_unaligned.h: MRAM access of any alignment and size, and of less than 8 bytes. */
#ifndef DPU_RUNTIME_MRAM_UNALIGNED_H
#define DPU_RUNTIME_MRAM_UNALIGNED_H

#include <defs.h>
#include <mram.h>
#include <stdint.h>
#include <string.h>
#include <vmutex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Words of 8 bytes are guarded by 2 ^ this virtual mutexes. */
#ifndef __MRAM_UNALIGNED_ACCESS_LOG_NB_VLOCK
#define __MRAM_UNALIGNED_ACCESS_LOG_NB_VLOCK 11
#endif

extern struct vmutex __mram_unaligned_access_virtual_locks;
extern uint8_t __mram_unaligned_access_buffer[];

/*
 * Reads N bytes, at most 2048 with the bytes around them that share words. BUFFER, aligned to 8,
 * has room for N + 16. Returns where in BUFFER the first of the bytes is.
 */
void *mram_read_unaligned(const __mram_ptr void *from, void *buffer, unsigned int n);
/*
 * Writes N bytes, at most 2048. FROM modulo 8 must be DEST modulo 8, else fault 8. Words of MRAM
 * that are written in part are guarded, so that tasklets may write side by side.
 */
void mram_write_unaligned(const void *from, __mram_ptr void *dest, unsigned int n);

/* This tasklet's copy of the word that holds ADDRESS, guarded until __mram_word_put(). */
uint8_t *__mram_word_get(uintptr_t address);
void __mram_word_put(uintptr_t address);

/* Calls UPDATE_FUNC(int *, ARGS) on a copy of the integer at DEST in MRAM, and writes it back. */
#define mram_update_int_atomic(dest, update_func, args) \
    do { \
        uintptr_t __mram_at = (uintptr_t)(dest); \
        (*(update_func))((int *)(void *)(__mram_word_get(__mram_at) + (__mram_at & 4)), args); \
        __mram_word_put(__mram_at); \
    } while (0)

#define mram_write_int_atomic(dest, val) \
    do { \
        uintptr_t __mram_at = (uintptr_t)(dest); \
        int __mram_value = (int)(val); \
        *(int *)(void *)(__mram_word_get(__mram_at) + (__mram_at & 4)) = __mram_value; \
        __mram_word_put(__mram_at); \
    } while (0)

#define mram_update_byte_atomic(dest, update_func, args) \
    do { \
        uintptr_t __mram_at = (uintptr_t)(dest); \
        (*(update_func))(__mram_word_get(__mram_at) + (__mram_at & 7), args); \
        __mram_word_put(__mram_at); \
    } while (0)

#define mram_write_byte_atomic(dest, val) \
    do { \
        uintptr_t __mram_at = (uintptr_t)(dest); \
        uint8_t __mram_value = (uint8_t)(val); \
        __mram_word_get(__mram_at)[__mram_at & 7] = __mram_value; \
        __mram_word_put(__mram_at); \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
