/* SPDX-License-Identifier: BSD-3-Clause */
/* log_decode.c: conversions are parsed and put together anew before printf()
 * sees them. */
#include "log_decode.h"

#include <stdio.h>
#include <string.h>

struct decoder {
    const uint8_t *next, *end;
    dpu_log_sink *sink;
    void *argument;
};

/* One conversion, from its % up to the next one or the end of the list. */
struct conversion {
    const char *text;
    size_t length;
    char flags[6]; /* each of -+ #0 at most once, terminated */
    int width;
    int precision; /* -1: none */
    bool wide;     /* l */
    int narrow;    /* how many h */
    char letter;   /* 0 if this is no conversion */
};

static bool give(struct decoder *d, const char *text, size_t size)
{
    return size == 0 || d->sink(d->argument, text, size);
}

static bool give_spaces(struct decoder *d, size_t count)
{
    static const char spaces[] = "                                ";
    while (count > 0) {
        size_t some = count < sizeof spaces - 1 ? count : sizeof spaces - 1;
        if (!give(d, spaces, some))
            return false;

        count -= some;
    }

    return true;
}

/* --- parsing --- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads a number, which stays just above the limit when it is too large. */
static int parse_number(const char **at, const char *end)
{
    int value = 0;
    for (; *at < end && is_digit(**at); (*at)++)
        if (value <= DPU_LOG_FIELD_MAX)
            value = value * 10 + (**at - '0');
    return value;
}

static void parse_flags(struct conversion *c, const char **at, const char *end)
{
    size_t count = 0;
    for (; *at < end && **at != '\0' && strchr("-+ #0", **at) != NULL; (*at)++)
        if (memchr(c->flags, **at, count) == NULL)
            c->flags[count++] = **at;
    c->flags[count] = '\0';
}

static void parse_lengths(struct conversion *c, const char **at, const char *end)
{
    for (; *at < end && **at != '\0' && strchr("hlLqjzt", **at) != NULL; (*at)++) {
        c->wide |= **at == 'l';
        c->narrow += **at == 'h';
    }
}

/* TEXT begins with a %. What does not parse has no letter. */
static void parse_conversion(struct conversion *c, const char *text, size_t length)
{
    const char *at = text + 1, *end = text + length;
    *c = (struct conversion){.text = text, .length = length, .precision = -1};
    parse_flags(c, &at, end);
    c->width = parse_number(&at, end);
    if (at < end && *at == '.') {
        at++;
        c->precision = parse_number(&at, end);
    }

    parse_lengths(c, &at, end);
    if (at + 1 == end)
        c->letter = *at;
}

/* --- arguments --- */

static bool take(struct decoder *d, void *value, size_t size)
{
    if ((size_t)(d->end - d->next) < size)
        return false;
    memcpy(value, d->next, size);
    d->next += size;
    return true;
}

/* Room for the widest field, and for a double of 309 digits with the longest
 * precision. */
#define FIELD_SIZE (DPU_LOG_FIELD_MAX + 400)
#define FORMAT_SIZE 16

/* Makes the format for printf(), which has the lengths of the host and not
 * those of the DPU. */
static void host_format(char format[FORMAT_SIZE], const struct conversion *c, const char *lengths)
{
    snprintf(format, FORMAT_SIZE, "%%%s*.*%s%c", c->flags, lengths, c->letter);
}

#define GIVE_FORMATTED(d, c, lengths, value) \
    do { \
        char format_[FORMAT_SIZE], field_[FIELD_SIZE]; \
        host_format(format_, c, lengths); \
        int size_ = snprintf(field_, sizeof field_, format_, (c)->width, (c)->precision, value); \
        return give(d, field_, (size_t)size_) ? DPU_LOG_OK : DPU_LOG_STOPPED; \
    } while (0)

static enum dpu_log_status decode_integer(struct decoder *d, const struct conversion *c)
{
    if (c->wide) {
        long long value;
        if (!take(d, &value, sizeof value))
            return DPU_LOG_TRUNCATED;

        GIVE_FORMATTED(d, c, "ll", value);
    }

    int value;
    if (!take(d, &value, sizeof value))
        return DPU_LOG_TRUNCATED;

    GIVE_FORMATTED(d, c, c->narrow == 0 ? "" : c->narrow == 1 ? "h" : "hh", value);
}

static enum dpu_log_status decode_double(struct decoder *d, const struct conversion *c)
{
    double value;
    if (!take(d, &value, sizeof value))
        return DPU_LOG_TRUNCATED;
    GIVE_FORMATTED(d, c, "", value);
}

static enum dpu_log_status decode_pointer(struct decoder *d, const struct conversion *c)
{
    uint32_t value;
    if (!take(d, &value, sizeof value))
        return DPU_LOG_TRUNCATED;
    GIVE_FORMATTED(d, c, "", (void *)(uintptr_t)value);
}

static enum dpu_log_status decode_binary(struct decoder *d)
{
    uint32_t value;
    char digits[32];
    if (!take(d, &value, sizeof value))
        return DPU_LOG_TRUNCATED;
    for (int i = 0; i < 32; i++)
        digits[i] = (char)('0' + (value >> i & 1));
    return give(d, digits, sizeof digits) ? DPU_LOG_OK : DPU_LOG_STOPPED;
}

/* A string may be longer than any field, and a character may be NUL. */
static enum dpu_log_status give_padded(struct decoder *d, const struct conversion *c,
                                       const char *text, size_t size)
{
    size_t width = (size_t)c->width, padding = width > size ? width - size : 0;
    bool left = strchr(c->flags, '-') != NULL;
    bool given = (left || give_spaces(d, padding)) && give(d, text, size) &&
                 (!left || give_spaces(d, padding));
    return given ? DPU_LOG_OK : DPU_LOG_STOPPED;
}

static enum dpu_log_status decode_character(struct decoder *d, const struct conversion *c)
{
    char value;
    if (!take(d, &value, sizeof value))
        return DPU_LOG_TRUNCATED;
    return give_padded(d, c, &value, 1);
}

static enum dpu_log_status decode_string(struct decoder *d, const struct conversion *c)
{
    const char *text = (const char *)d->next;
    const uint8_t *nul = memchr(d->next, 0, (size_t)(d->end - d->next));
    if (nul == NULL)
        return DPU_LOG_TRUNCATED;

    size_t size = (size_t)(nul - d->next);
    d->next = nul + 1;
    if (c->precision >= 0 && size > (size_t)c->precision)
        size = (size_t)c->precision;
    return give_padded(d, c, text, size);
}

static enum dpu_log_status decode_unknown(struct decoder *d, const struct conversion *c)
{
    size_t left = (size_t)(d->end - d->next);
    d->next += left < 4 ? left : 4;
    return give(d, c->text, c->length) ? DPU_LOG_OK : DPU_LOG_STOPPED;
}

static enum dpu_log_status decode_conversion(struct decoder *d, const struct conversion *c)
{
    if (c->width > DPU_LOG_FIELD_MAX || c->precision > DPU_LOG_FIELD_MAX)
        return DPU_LOG_FIELD;

    switch (c->letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o': return decode_integer(d, c);
    case 'e':
    case 'E':
    case 'f': return decode_double(d, c);
    case 'g':
    case 'G':
    case 'a':
    case 'A': return c->wide ? decode_double(d, c) : decode_unknown(d, c);
    case 'p': return decode_pointer(d, c);
    case 'b': return decode_binary(d);
    case 'c': return decode_character(d, c);
    case 's': return decode_string(d, c);
    default: return decode_unknown(d, c);
    }
}

/* --- records --- */

/* The conversions of a record are at d->next, where there is a %. */
static enum dpu_log_status decode_record(struct decoder *d)
{
    const char *at = (const char *)d->next;
    const uint8_t *nul = memchr(d->next, 0, (size_t)(d->end - d->next));
    if (nul == NULL)
        return DPU_LOG_TRUNCATED;

    const char *end = (const char *)nul;
    d->next = nul + 1;
    while (at < end) {
        const char *following = memchr(at + 1, '%', (size_t)(end - at - 1));
        if (following == NULL)
            following = end;
        struct conversion c;
        parse_conversion(&c, at, (size_t)(following - at));
        enum dpu_log_status status = decode_conversion(d, &c);
        if (status != DPU_LOG_OK)
            return status;

        at = following;
    }

    return DPU_LOG_OK;
}

enum dpu_log_status dpu_log_decode(const uint8_t *bytes, size_t size, dpu_log_sink *sink,
                                   void *argument)
{
    struct decoder d = {.next = bytes, .end = bytes + size, .sink = sink, .argument = argument};
    while (d.next < d.end) {
        d.next = memchr(d.next, '%', (size_t)(d.end - d.next));
        if (d.next == NULL)
            break;
        enum dpu_log_status status = decode_record(&d);
        if (status != DPU_LOG_OK)
            return status;
    }

    return DPU_LOG_OK;
}
