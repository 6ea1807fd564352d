/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h: putting together a sentence in a buffer of a fixed size; what does not fit is cut off. */
#ifndef OFFCHIP_DPU_LIB_TEXT_H
#define OFFCHIP_DPU_LIB_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct dpulib_text {
    char *at;
    size_t left;
};

/* A text in SIZE bytes at BUFFER, empty at first. */
struct dpulib_text dpulib_text_new(char *buffer, size_t size);
__attribute__((format(printf, 2, 3))) void dpulib_text_add(struct dpulib_text *text,
                                                           const char *format, ...);
/* The numbers of the bits that are set: "0-3, 7". */
void dpulib_text_add_bits(struct dpulib_text *text, uint32_t bits);

#endif
