/* SPDX-License-Identifier: BSD-3-Clause */
/* print_format.c: conversions are handed to the host's fprintf() one by one. */
#include "veo/run/print_format.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "veo/machine/quad.h"

/* The highest position of an argument, as in "%2$d". */
#define POSITIONS 64

/* --- arguments --- */

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

uint64_t verun_next_word(uint64_t *list)
{
    uint64_t word;
    memcpy(&word, pointer(*list), sizeof word);
    *list += sizeof word;
    return word;
}

static uint64_t place_of_quad(uint64_t list)
{
    return (list + 15) & ~UINT64_C(15);
}

static long double next_quad(uint64_t *list)
{
    quad value;
    *list = place_of_quad(*list);
    memcpy(&value, pointer(*list), sizeof value);
    *list += sizeof value;
    return (long double)value;
}

/* Arguments of a format: one after the other, or, if it has positions, any of them. */
struct arguments {
    uint64_t next;
    uint64_t first;
    bool is_quad[POSITIONS]; /* of those with a position */
};

/* Where the argument of a position is, or the next one for 0. */
static uint64_t *find_argument(struct arguments *arguments, uint32_t position)
{
    if (position == 0)
        return &arguments->next;
    arguments->next = arguments->first;
    for (uint32_t i = 0; i < position - 1; i++)
        arguments->next = arguments->is_quad[i] ? place_of_quad(arguments->next) + sizeof(quad)
                                                : arguments->next + sizeof(uint64_t);
    return &arguments->next;
}

/* --- conversions --- */

/* One conversion of a format, as the host gets it: stars are replaced by their numbers. */
struct conversion {
    char text[64];
    size_t used;
    char size[3]; /* "", "hh", "h", "l", "ll", "z", "j", "t", "q", "L" */
    char letter;
    uint32_t position; /* of its argument, from 1 on; 0: the next one */
};

static bool takes_quad(const struct conversion *conversion)
{
    return conversion->size[0] == 'L' && conversion->letter != '\0' &&
           strchr("aAeEfFgG", conversion->letter) != NULL;
}

static void add(struct conversion *conversion, char letter)
{
    if (conversion->used < sizeof conversion->text - 1)
        conversion->text[conversion->used++] = letter;
    conversion->text[conversion->used] = '\0';
}

static void add_number(struct conversion *conversion, int number)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%d", number);
    for (const char *at = digits; *at != '\0'; at++)
        add(conversion, *at);
}

/* The position that a text begins with, as "12$", and how long that is; 0 for none. */
static uint32_t read_position(const char *text, size_t *length)
{
    uint32_t position = 0;
    *length = 0;
    while (isdigit((unsigned char)text[*length]) && position <= POSITIONS)
        position = position * 10 + (uint32_t)(text[(*length)++] - '0');
    bool is_one = *length > 0 && text[*length] == '$' && position > 0 && position <= POSITIONS;
    *length = is_one ? *length + 1 : 0;
    return is_one ? position : 0;
}

/*
 * Reads what follows a '%'; the rest of the format. ARGUMENTS has the numbers that stars stand for;
 * NULL: these are not looked at.
 */
static const char *read_conversion(const char *format, struct conversion *conversion,
                                   struct arguments *arguments)
{
    size_t nsize = 0, length;
    *conversion = (struct conversion){.text = "%", .used = 1};
    conversion->position = read_position(format, &length);
    format += length;
    while (*format != '\0' && strchr("-+ #0'123456789.*", *format) != NULL) {
        if (*format != '*') {
            add(conversion, *format++);
            continue;
        }
        uint32_t position = read_position(++format, &length);
        format += length;
        if (arguments != NULL) {
            uint64_t word = verun_next_word(find_argument(arguments, position));
            add_number(conversion, (int)(int32_t)word);
        }
    }
    while (*format != '\0' && strchr("hlLqjzt", *format) != NULL) {
        if (nsize < sizeof conversion->size - 1)
            conversion->size[nsize++] = *format;
        add(conversion, *format++);
    }
    conversion->letter = *format;
    if (*format == '\0')
        return format;
    add(conversion, *format);
    return format + 1;
}

/* The arguments of a format: which of those with a position have two words. */
static struct arguments arguments_of(const char *format, uint64_t list)
{
    struct arguments arguments = {.next = list, .first = list};
    while ((format = strchr(format, '%')) != NULL) {
        struct conversion conversion;
        format = read_conversion(format + 1, &conversion, NULL);
        if (conversion.position != 0)
            arguments.is_quad[conversion.position - 1] |= takes_quad(&conversion);
    }
    return arguments;
}

/* --- printing --- */

/* The host's printf() with an argument of the type that the conversion has. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static int print_one(FILE *out, const struct conversion *c, struct arguments *arguments,
                     int written)
{
    double real;
    uint64_t word;
    switch (c->letter) {
    case '%': return fputc('%', out) == EOF ? -1 : 1;
    case 'm': return fprintf(out, "%m");
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
        if (takes_quad(c))
            return fprintf(out, c->text, next_quad(find_argument(arguments, c->position)));
        word = verun_next_word(find_argument(arguments, c->position));
        memcpy(&real, &word, sizeof real);
        return fprintf(out, c->text, real);
    case 'n':
        word = verun_next_word(find_argument(arguments, c->position));
        if (c->size[0] == 'l' || c->size[0] == 'z' || c->size[0] == 'j')
            *(long *)pointer(word) = written;
        else
            *(int *)pointer(word) = written;
        return 0;
    case 's':
    case 'p':
    case 'S':
        word = verun_next_word(find_argument(arguments, c->position));
        return fprintf(out, c->text, pointer(word));
    case 'c':
    case 'C':
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        word = verun_next_word(find_argument(arguments, c->position));
        return fprintf(out, c->text, word);
    default: return fputs(c->text, out) == EOF ? -1 : (int)c->used;
    }
}
#pragma GCC diagnostic pop

int verun_print(FILE *out, const char *format, uint64_t list)
{
    struct arguments arguments = {.next = list, .first = list};
    if (strchr(format, '$') != NULL)
        arguments = arguments_of(format, list);

    int written = 0;
    int n = 0;
    while (*format != '\0' && n >= 0) {
        struct conversion conversion;
        size_t plain = strcspn(format, "%");
        if (plain != 0) {
            n = fwrite(format, 1, plain, out) == plain ? (int)plain : -1;
            format += plain;
        } else {
            format = read_conversion(format + 1, &conversion, &arguments);
            n = print_one(out, &conversion, &arguments, written);
        }
        written += n > 0 ? n : 0;
    }
    return n < 0 ? -1 : written;
}
