/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * print_format.h: formats of printf, taken apart for the record that the host gets.
 *
 * A record is the conversions alone, with %s in place of the text between them, a 0, and then an
 * argument for each: integers in 4 bytes, or 8 with `l`; floating point in 8; a character in 1;
 * strings and text with a 0 at their end. The parser does not print, so that it can be tested.
 */
#ifndef DPU_RUNTIME_PRINT_FORMAT_H
#define DPU_RUNTIME_PRINT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

enum print_kind {
    PRINT_END,
    PRINT_TEXT,
    PRINT_PERCENT, /* %% */
    PRINT_SIGNED,
    PRINT_UNSIGNED,
    PRINT_DOUBLE,
    PRINT_CHARACTER,
    PRINT_STRING,
    PRINT_POINTER,
    PRINT_NOTHING,  /* %n */
    PRINT_MISTAKEN, /* no conversion: printed as text */
};

struct print_item {
    enum print_kind kind;
    const char *start; /* of the item in the format */
    const char *end;
    const char *flags_end; /* flags, width and precision are [start + 1, flags_end) */
    char letter;           /* as the host gets it */
    uint8_t bytes;         /* that the program passed and meant: 1, 2, 4 or 8 */
    bool width_given;      /* by an argument, `*` */
    bool precision_given;
    int32_t precision; /* as written; -1 for none */
};

/* The item at FORMAT; its end is where the next one starts. */
void __print_parse(const char *format, struct print_item *item);

#endif
