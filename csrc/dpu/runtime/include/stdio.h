/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stdio.h: printing into a buffer in MRAM, which the host decodes (dpu_log_read).
 *
 * `l` and `ll` both mean 64 bits.
 */
#ifndef DPU_RUNTIME_STDIO_H
#define DPU_RUNTIME_STDIO_H

#include <attributes.h>
#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EOF (-1)

/* Makes the buffer SIZE bytes, a multiple of 8, instead of 1 MiB. To be used once, at file scope;
 * ends in a semicolon. */
#define STDOUT_BUFFER_INIT(size) \
    _Static_assert(((size) >= 8) && (((size) & 7) == 0), \
                   "the buffer's size is a multiple of 8, and not 0"); \
    unsigned char __dma_aligned __mram_noinit_keep __stdout_buffer[(size)]; \
    const unsigned int __stdout_buffer_size = (size);

/*
 * Text that does not fit between the write position and the end goes on at the start of the
 * buffer; one that is larger than the buffer is fault 5.
 */
int printf(const char *__restrict format, ...);
int vprintf(const char *__restrict format, va_list arguments);
int puts(const char *str);
int putchar(int c);

#ifdef __cplusplus
}
#endif

#endif
