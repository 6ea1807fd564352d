/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_decode.h: turns what a program's printf() left in its log into text.
 *
 * A DPU does not format. Its printf() appends a record to a buffer in MRAM: the
 * conversions of the format, each from its % on, as one string with its NUL,
 * then the arguments, then zeros up to a multiple of 8. Literal text is an
 * argument of a %s of its own.
 *
 *   d i u x X o   8 bytes if the conversion has an l, else 4
 *   p b           4 bytes; b prints 32 binary digits, the lowest first
 *   c             1 byte
 *   s             the bytes of the string and a NUL
 *   e E f         8 bytes, a double; and g G a A if the conversion has an l
 *
 * Anything else, a plain g or a too, has 4 bytes that are not printed; in its
 * place is the conversion itself. Between records, bytes are skipped up to the
 * next %.
 */
#ifndef OFFCHIP_DPU_LOG_DECODE_H
#define OFFCHIP_DPU_LOG_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest field that a conversion may ask for: as much as C promises of
 * printf(). */
#define DPU_LOG_FIELD_MAX 4095

/* Takes a piece of the text; false to stop. */
typedef bool dpu_log_sink(void *argument, const char *text, size_t size);

enum dpu_log_status {
    DPU_LOG_OK,
    DPU_LOG_TRUNCATED, /* the log ends within a record */
    DPU_LOG_FIELD,     /* a width or precision above DPU_LOG_FIELD_MAX */
    DPU_LOG_STOPPED,   /* the sink returned false */
};

/*
 * Decodes SIZE bytes, which may be any, and gives the text to SINK piece by
 * piece. Whatever comes before an error has been given. Reads nothing but these
 * bytes, and never formats an address.
 */
enum dpu_log_status dpu_log_decode(const uint8_t *bytes, size_t size, dpu_log_sink *sink,
                                   void *argument);

#endif
