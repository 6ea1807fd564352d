/* SPDX-License-Identifier: BSD-3-Clause */
/* print_record.c: printf for formats that the compiler has parsed (print_records.py). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "stdout_buffer.h"

int __print_record(const char *record, ...);

/* RECORD: conversions, a 0, and a letter per argument. */
int __print_record(const char *record, ...)
{
    va_list arguments;

    va_start(arguments, record);
    __open_print_sequence();
    record = __print_string(record);
    for (char letter = *record++; letter != 0; letter = *record++) {
        if (letter == 't') {
            record = __print_string(record);
        } else if (letter == 's') {
            const char *string = va_arg(arguments, const char *);

            __print_string(string != NULL ? string : "(null)");
        } else if (letter == '8') {
            uint64_t number = va_arg(arguments, uint64_t);

            __print_word((uint32_t)number, 4);
            __print_word((uint32_t)(number >> 32), 4);
        } else {
            __print_word(va_arg(arguments, uint32_t), (size_t)(letter - '0'));
        }
    }

    __close_print_sequence();
    va_end(arguments);
    return 0;
}
