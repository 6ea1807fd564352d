/* SPDX-License-Identifier: BSD-3-Clause */
/* puts.c: printing without a format. */
#include <stdio.h>
#include <string.h>

#include "stdout_buffer.h"

int puts(const char *str)
{
    __open_print_sequence();
    __print_text("%s", 2);
    while (*str != 0)
        __print_byte(*str++);
    __print_text("\n", 1);
    __close_print_sequence();
    return 0;
}

int putchar(int c)
{
    __open_print_sequence();
    __print_text("%c", 2);
    __print_byte(c);
    __close_print_sequence();
    return (unsigned char)c;
}
