/* SPDX-License-Identifier: BSD-3-Clause */
/* stdlib_numbers.c: numbers from text, absolute values, division with remainder. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static uint32_t digit_of(char c)
{
    if (isdigit((unsigned char)c))
        return (uint32_t)(c - '0');
    if (isalpha((unsigned char)c))
        return (uint32_t)(tolower((unsigned char)c) - 'a' + 10);
    return UINT32_MAX;
}

struct number {
    uint64_t value; /* of the digits, at most what the type holds */
    bool negative;
    bool overflow;
};

static void parse(const char *str, char **end, int base, bool is_signed, struct number *number)
{
    const char *at = str, *last = str;
    uint64_t value = 0, limit = UINT64_MAX;
    uint32_t digit;

    number->overflow = false;
    while (isspace((unsigned char)*at))
        at++;
    number->negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    if ((base == 0 || base == 16) && at[0] == '0' && (at[1] | 32) == 'x' && digit_of(at[2]) < 16) {
        at += 2;
        base = 16;
    } else if (base == 0) {
        base = *at == '0' ? 8 : 10;
    }
    if (is_signed)
        limit = (uint64_t)INT64_MAX + number->negative;
    for (; (digit = digit_of(*at)) < (uint32_t)base; last = ++at) {
        if (number->overflow || value > (limit - digit) / (uint32_t)base)
            number->overflow = true;
        else
            value = value * (uint32_t)base + digit;
    }
    if (number->overflow) {
        errno = ERANGE;
        value = limit;
    }
    if (end != NULL)
        *end = (char *)(uintptr_t)last;
    number->value = value;
}

long long strtoll(const char *restrict str, char **restrict end, int base)
{
    struct number number;

    parse(str, end, base, true, &number);
    return (long long)(number.negative ? 0u - number.value : number.value);
}

unsigned long long strtoull(const char *restrict str, char **restrict end, int base)
{
    struct number number;

    parse(str, end, base, false, &number);
    /* Too large is the largest, whatever the sign. */
    return number.negative && !number.overflow ? 0u - number.value : number.value;
}

long long strtol(const char *restrict str, char **restrict end, int base)
{
    return strtoll(str, end, base);
}

unsigned long long strtoul(const char *restrict str, char **restrict end, int base)
{
    return strtoull(str, end, base);
}

int atoi(const char *str)
{
    return (int)strtoll(str, NULL, 10);
}

long long atol(const char *str)
{
    return strtoll(str, NULL, 10);
}

long long atoll(const char *str)
{
    return strtoll(str, NULL, 10);
}

int abs(int value)
{
    return value < 0 ? (int)(0u - (unsigned)value) : value;
}

long long llabs(long long value)
{
    return value < 0 ? (long long)(0u - (unsigned long long)value) : value;
}

long long labs(long long value)
{
    return llabs(value);
}

div_t div(int dividend, int divisor)
{
    div_t result = {dividend / divisor, dividend % divisor};

    return result;
}

lldiv_t lldiv(long long dividend, long long divisor)
{
    lldiv_t result;

    result.quot = dividend / divisor;
    result.rem = dividend - result.quot * divisor;
    return result;
}

ldiv_t ldiv(long long dividend, long long divisor)
{
    return lldiv(dividend, divisor);
}
