/* SPDX-License-Identifier: BSD-3-Clause */
/* printf.c: printf for the host to decode. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "print_format.h"
#include "stdout_buffer.h"

/* One argument of the program, fetched as its type says. */
union argument {
    uint64_t number;
    const char *string;
};

static void fetch(const struct print_item *item, va_list *arguments, int32_t *width,
                  int32_t *precision, union argument *value)
{
    union {
        double number;
        uint64_t bits;
    } real;

    *precision = item->precision;
    if (item->width_given)
        *width = va_arg(*arguments, int);
    if (item->precision_given)
        *precision = va_arg(*arguments, int);
    value->number = 0;
    switch (item->kind) {
    case PRINT_SIGNED:
        if (item->bytes == 8)
            value->number = va_arg(*arguments, uint64_t);
        else
            value->number = (uint64_t)va_arg(*arguments, int32_t);
        if (item->bytes == 2)
            value->number = (uint64_t)(int16_t)value->number;
        else if (item->bytes == 1)
            value->number = (uint64_t)(int8_t)value->number;
        break;
    case PRINT_UNSIGNED:
        if (item->bytes == 8)
            value->number = va_arg(*arguments, uint64_t);
        else
            value->number = va_arg(*arguments, uint32_t);
        if (item->bytes == 2)
            value->number = (uint16_t)value->number;
        else if (item->bytes == 1)
            value->number = (uint8_t)value->number;
        break;
    case PRINT_DOUBLE:
        real.number = va_arg(*arguments, double);
        value->number = real.bits;
        break;
    case PRINT_CHARACTER: value->number = (uint8_t)va_arg(*arguments, int); break;
    case PRINT_STRING: value->string = va_arg(*arguments, const char *); break;
    case PRINT_POINTER:
    case PRINT_NOTHING: value->number = va_arg(*arguments, uint32_t); break;
    default: break;
    }
}

static void print_decimal(int32_t number)
{
    char digits[10];
    uint32_t value = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
    int count = 0;

    if (number < 0)
        __print_byte('-');
    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (count != 0)
        __print_byte(digits[--count]);
}

/* The host takes g and a for 8 bytes only if they are long; e and f are in any case. */
static bool needs_long(char letter)
{
    return letter == 'g' || letter == 'G' || letter == 'a' || letter == 'A';
}

/* The conversion as the host is to apply it, with numbers in place of stars. */
static void print_conversion(const struct print_item *item, int32_t width, int32_t precision)
{
    __print_byte('%');
    for (const char *at = item->start + 1; at != item->flags_end; at++) {
        if (*at != '*') {
            if (*at == '.' && item->precision_given && precision < 0) {
                /* As if there were none. */
                break;
            }

            __print_byte(*at);
        } else if (at > item->start && at[-1] == '.') {
            print_decimal(precision);
        } else {
            print_decimal(width);
        }
    }

    if (item->letter == 'b') {
        /* The host prints 32 digits, lowest first: 64 of them are two conversions. */
        __print_byte('b');
        if (item->bytes == 8) {
            __print_byte('%');
            __print_byte('b');
        }

        return;
    }

    if (item->kind == PRINT_DOUBLE
            ? needs_long(item->letter)
            : item->bytes == 8 && item->kind != PRINT_CHARACTER && item->kind != PRINT_STRING)
        __print_byte('l');
    __print_byte(item->letter);
}

static void print_argument(const struct print_item *item, int32_t precision, union argument value)
{
    switch (item->kind) {
    case PRINT_SIGNED:
    case PRINT_UNSIGNED: __print_number(value.number, item->bytes == 8 ? 8 : 4); break;
    case PRINT_DOUBLE: __print_number(value.number, 8); break;
    case PRINT_POINTER: __print_number(value.number, 4); break;
    case PRINT_CHARACTER: __print_number(value.number, 1); break;
    default:
        if (value.string == NULL)
            value.string = "(null)";
        /* No more than the precision may be readable. */
        __print_text(value.string, precision >= 0 ? strnlen(value.string, (size_t)precision)
                                                  : strlen(value.string));
        break;
    }
}

/* Text, %% and what is no conversion, one after another, are one argument. */
static bool is_text(enum print_kind kind)
{
    return kind == PRINT_TEXT || kind == PRINT_PERCENT || kind == PRINT_MISTAKEN;
}

static void print_arguments(const char *format, va_list *arguments, bool conversions)
{
    struct print_item item;
    bool in_text = false;
    int32_t width = 0, precision;
    union argument value;

    for (;; format = item.end) {
        __print_parse(format, &item);
        if (is_text(item.kind)) {
            if (conversions && !in_text) {
                __print_byte('%');
                __print_byte('s');
            } else if (!conversions) {
                const char *end = item.kind == PRINT_PERCENT ? item.start + 1 : item.end;

                for (const char *at = item.start; at != end; at++)
                    __print_byte(*at);
            }

            in_text = true;
            continue;
        }

        if (in_text && !conversions)
            __print_byte(0);
        in_text = false;
        if (item.kind == PRINT_END)
            break;
        fetch(&item, arguments, &width, &precision, &value);
        if (item.kind == PRINT_NOTHING)
            continue;

        if (conversions)
            print_conversion(&item, width, precision);
        else
            print_argument(&item, precision, value);
    }

    if (conversions)
        __print_byte(0);
}

int vprintf(const char *restrict format, va_list arguments)
{
    va_list first, second;

    if (*format == 0)
        return 0;

    va_copy(first, arguments);
    va_copy(second, arguments);
    __open_print_sequence();
    print_arguments(format, &first, true);
    print_arguments(format, &second, false);
    __close_print_sequence();
    va_end(first);
    va_end(second);
    return 0;
}

int printf(const char *restrict format, ...)
{
    va_list arguments;
    int result;

    va_start(arguments, format);
    result = vprintf(format, arguments);
    va_end(arguments);
    return result;
}
