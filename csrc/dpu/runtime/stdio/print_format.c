/* SPDX-License-Identifier: BSD-3-Clause */
/* print_format.c: the parser of printf's formats. */
#include "print_format.h"

static const char *parse_length(const char *at, struct print_item *item)
{
    switch (*at) {
    case 'h':
        item->bytes = 2;
        if (at[1] == 'h') {
            item->bytes = 1;
            at++;
        }

        return at + 1;
    case 'l': item->bytes = 8; return at[1] == 'l' ? at + 2 : at + 1;
    case 'j':
    case 'q': item->bytes = 8; return at + 1;
    case 'z':
    case 't':
    case 'L': return at + 1;
    default: return at;
    }
}

static enum print_kind kind_of(char letter)
{
    switch (letter) {
    case 'd':
    case 'i': return PRINT_SIGNED;
    case 'u':
    case 'o':
    case 'x':
    case 'X':
    case 'b': return PRINT_UNSIGNED;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': return PRINT_DOUBLE;
    case 'c': return PRINT_CHARACTER;
    case 's': return PRINT_STRING;
    case 'p': return PRINT_POINTER;
    case 'n': return PRINT_NOTHING;
    default: return PRINT_MISTAKEN;
    }
}

/* Letter of the conversion that the host knows instead. */
static char letter_for_host(char letter)
{
    switch (letter) {
    case 'i': return 'd';
    case 'F': return 'f';
    default: return letter;
    }
}

static const char *parse_flags(const char *at, struct print_item *item)
{
    while (*at == '-' || *at == '+' || *at == ' ' || *at == '#' || *at == '0')
        at++;
    if (*at == '*') {
        item->width_given = true;
        at++;
    }

    while (*at >= '0' && *at <= '9')
        at++;
    if (*at == '.') {
        at++;
        item->precision = 0;
        if (*at == '*') {
            item->precision_given = true;
            at++;
        }

        for (; *at >= '0' && *at <= '9'; at++)
            if (item->precision < 100000)
                item->precision = item->precision * 10 + (*at - '0');
    }

    return at;
}

void __print_parse(const char *format, struct print_item *item)
{
    const char *at = format;

    item->start = format;
    item->flags_end = format;
    item->letter = 0;
    item->bytes = 4;
    item->width_given = false;
    item->precision_given = false;
    item->precision = -1;
    if (*at == 0) {
        item->kind = PRINT_END;
        item->end = at;
        return;
    }

    if (*at != '%') {
        while (*at != 0 && *at != '%')
            at++;
        item->kind = PRINT_TEXT;
        item->end = at;
        return;
    }

    if (at[1] == '%') {
        item->kind = PRINT_PERCENT;
        item->end = at + 2;
        return;
    }

    at = parse_flags(at + 1, item);
    item->flags_end = at;
    at = parse_length(at, item);
    item->kind = kind_of(*at);
    item->letter = letter_for_host(*at);
    item->end = *at == 0 ? at : at + 1;
}
