/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * printf() and scanf() with arguments of VE code: a list of them is a pointer to their words. A
 * long double has two words at a multiple of 16 bytes.
 */
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "veo/machine/quad.h"
#include "veo/run/special.h"
#include "veo/run/thread.h"

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

/* --- arguments --- */

/* Those that follow the named ones of the function that was called. */
static uint64_t variable_arguments(const struct ve_core *core, unsigned named)
{
    return core->s[VE_S_STACK] + VERUN_FRAME_ARGUMENTS + named * sizeof(uint64_t);
}

static uint64_t next_word(uint64_t *list)
{
    uint64_t word;
    memcpy(&word, pointer(*list), sizeof word);
    *list += sizeof word;
    return word;
}

static long double next_quad(uint64_t *list)
{
    quad value;
    *list = (*list + 15) & ~UINT64_C(15);
    memcpy(&value, pointer(*list), sizeof value);
    *list += sizeof value;
    return (long double)value;
}

/* --- printing --- */

/* One conversion of a format, as the host gets it: stars are replaced by their numbers. */
struct conversion {
    char text[64];
    size_t used;
    char size[3]; /* "", "hh", "h", "l", "ll", "z", "j", "t", "q", "L" */
    char letter;
};

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

/* Reads what follows a '%'; the rest of the format. */
static const char *read_conversion(const char *format, struct conversion *conversion,
                                   uint64_t *list)
{
    size_t nsize = 0;
    *conversion = (struct conversion){.text = "%", .used = 1};
    while (*format != '\0' && strchr("-+ #0'123456789.*", *format) != NULL) {
        if (*format == '*')
            add_number(conversion, (int)(int32_t)next_word(list));
        else
            add(conversion, *format);
        format++;
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

/* The host's printf() with an argument of the type that the conversion has. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static int print_one(FILE *out, const struct conversion *c, uint64_t *list, int written)
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
        if (c->size[0] == 'L')
            return fprintf(out, c->text, next_quad(list));
        word = next_word(list);
        memcpy(&real, &word, sizeof real);
        return fprintf(out, c->text, real);
    case 'n':
        word = next_word(list);
        if (c->size[0] == 'l' || c->size[0] == 'z' || c->size[0] == 'j')
            *(long *)pointer(word) = written;
        else
            *(int *)pointer(word) = written;
        return 0;
    case 's':
    case 'p':
    case 'S': return fprintf(out, c->text, pointer(next_word(list)));
    case 'c':
    case 'C':
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X': return fprintf(out, c->text, next_word(list));
    default: return fputs(c->text, out) == EOF ? -1 : (int)c->used;
    }
}
#pragma GCC diagnostic pop

static int print(FILE *out, const char *format, uint64_t list)
{
    int written = 0;
    int n = 0;
    while (*format != '\0' && n >= 0) {
        struct conversion conversion;
        size_t plain = strcspn(format, "%");
        if (plain != 0) {
            n = fwrite(format, 1, plain, out) == plain ? (int)plain : -1;
            format += plain;
        } else {
            format = read_conversion(format + 1, &conversion, &list);
            n = print_one(out, &conversion, &list, written);
        }
        written += n > 0 ? n : 0;
    }
    return n < 0 ? -1 : written;
}

static bool return_int(struct ve_core *core, int value)
{
    core->s[0] = (uint64_t)(int64_t)value;
    return true;
}

/* Prints into memory that free() releases. NULL, and -1, without memory. */
static char *print_to_memory(const char *format, uint64_t list, int *written)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    *written = -1;
    if (out == NULL)
        return NULL;
    *written = print(out, format, list);
    fclose(out);
    return text;
}

static int print_to(char *to, uint64_t room, const char *format, uint64_t list)
{
    int written;
    char *text = print_to_memory(format, list, &written);
    if (text != NULL && room != 0 && written >= 0) {
        size_t kept = (uint64_t)written < room ? (size_t)written : (size_t)room - 1;
        memcpy(to, text, kept);
        to[kept] = '\0';
    }
    free(text);
    return written;
}

static int print_new(char **to, const char *format, uint64_t list)
{
    int written;
    *to = print_to_memory(format, list, &written);
    return written;
}

bool verun_printf(struct ve_core *core)
{
    return return_int(core, print(stdout, pointer(core->s[0]), variable_arguments(core, 1)));
}

bool verun_vprintf(struct ve_core *core)
{
    return return_int(core, print(stdout, pointer(core->s[0]), core->s[1]));
}

bool verun_fprintf(struct ve_core *core)
{
    return return_int(core,
                      print(pointer(core->s[0]), pointer(core->s[1]), variable_arguments(core, 2)));
}

bool verun_vfprintf(struct ve_core *core)
{
    return return_int(core, print(pointer(core->s[0]), pointer(core->s[1]), core->s[2]));
}

static bool print_to_descriptor(struct ve_core *core, uint64_t list)
{
    int written;
    char *text = print_to_memory(pointer(core->s[1]), list, &written);
    if (text != NULL && written > 0)
        written = dprintf((int)core->s[0], "%s", text);
    free(text);
    return return_int(core, written);
}

bool verun_dprintf(struct ve_core *core)
{
    return print_to_descriptor(core, variable_arguments(core, 2));
}

bool verun_vdprintf(struct ve_core *core)
{
    return print_to_descriptor(core, core->s[2]);
}

bool verun_sprintf(struct ve_core *core)
{
    return return_int(core, print_to(pointer(core->s[0]), UINT64_MAX, pointer(core->s[1]),
                                     variable_arguments(core, 2)));
}

bool verun_vsprintf(struct ve_core *core)
{
    return return_int(core,
                      print_to(pointer(core->s[0]), UINT64_MAX, pointer(core->s[1]), core->s[2]));
}

bool verun_snprintf(struct ve_core *core)
{
    return return_int(core, print_to(pointer(core->s[0]), core->s[1], pointer(core->s[2]),
                                     variable_arguments(core, 3)));
}

bool verun_vsnprintf(struct ve_core *core)
{
    return return_int(core,
                      print_to(pointer(core->s[0]), core->s[1], pointer(core->s[2]), core->s[3]));
}

bool verun_asprintf(struct ve_core *core)
{
    return return_int(
        core, print_new(pointer(core->s[0]), pointer(core->s[1]), variable_arguments(core, 2)));
}

bool verun_vasprintf(struct ve_core *core)
{
    return return_int(core, print_new(pointer(core->s[0]), pointer(core->s[1]), core->s[2]));
}

/* How libc++ ends a program where it would throw. */
bool verun_verbose_abort(struct ve_core *core)
{
    print(stderr, pointer(core->s[0]), variable_arguments(core, 1));
    fputc('\n', stderr);
    abort();
}

/* --- wide characters: a format is printed in bytes, which are then widened --- */

/* Text that free() releases; NULL if there is no memory or a character that the locale lacks. */
static wchar_t *print_wide(const wchar_t *format, uint64_t list)
{
    const size_t size = wcslen(format) * MB_CUR_MAX + 1;
    char *bytes = malloc(size);
    char *text = NULL;
    int written = -1;
    if (bytes != NULL && wcstombs(bytes, format, size) != SIZE_MAX)
        text = print_to_memory(bytes, list, &written);
    free(bytes);

    wchar_t *wide = NULL;
    const size_t count = text != NULL && written >= 0 ? mbstowcs(NULL, text, 0) : SIZE_MAX;
    if (count != SIZE_MAX)
        wide = malloc((count + 1) * sizeof *wide);
    if (wide != NULL)
        mbstowcs(wide, text, count + 1);
    free(text);
    return wide;
}

static bool print_wide_to_file(struct ve_core *core, FILE *out, uint64_t format, uint64_t list)
{
    wchar_t *text = print_wide(pointer(format), list);
    const int written = text != NULL && fputws(text, out) >= 0 ? (int)wcslen(text) : -1;
    free(text);
    return return_int(core, written);
}

/* A text that does not fit is an error. */
static bool print_wide_to(struct ve_core *core, uint64_t list)
{
    wchar_t *text = print_wide(pointer(core->s[2]), list);
    const bool fits = text != NULL && wcslen(text) < core->s[1];
    const int written = fits ? (int)wcslen(text) : -1;
    if (fits)
        wcscpy(pointer(core->s[0]), text);
    free(text);
    return return_int(core, written);
}

bool verun_swprintf(struct ve_core *core)
{
    return print_wide_to(core, variable_arguments(core, 3));
}

bool verun_vswprintf(struct ve_core *core)
{
    return print_wide_to(core, core->s[3]);
}

bool verun_wprintf(struct ve_core *core)
{
    return print_wide_to_file(core, stdout, core->s[0], variable_arguments(core, 1));
}

bool verun_vwprintf(struct ve_core *core)
{
    return print_wide_to_file(core, stdout, core->s[0], core->s[1]);
}

bool verun_fwprintf(struct ve_core *core)
{
    return print_wide_to_file(core, pointer(core->s[0]), core->s[1], variable_arguments(core, 2));
}

bool verun_vfwprintf(struct ve_core *core)
{
    return print_wide_to_file(core, pointer(core->s[0]), core->s[1], core->s[2]);
}

/* --- <err.h> --- */

/* The host's, with the text that a format gives; that may be NULL. Ends the program if asked to. */
static bool warn_of(uint64_t format, uint64_t list, const int *exit_code, bool with_error)
{
    const int error = errno;
    int written;
    char *text = format != 0 ? print_to_memory(pointer(format), list, &written) : NULL;
    errno = error;
    if (with_error && text == NULL)
        warn(NULL);
    else if (with_error)
        warn("%s", text);
    else
        warnx("%s", text != NULL ? text : "");
    free(text);
    if (exit_code != NULL)
        exit(*exit_code);
    return true;
}

#define WARN(name, with_error) \
    bool verun_##name(struct ve_core *core) \
    { \
        return warn_of(core->s[0], variable_arguments(core, 1), NULL, with_error); \
    } \
    bool verun_##name##_list(struct ve_core *core) \
    { \
        return warn_of(core->s[0], core->s[1], NULL, with_error); \
    }
#define ERR(name, with_error) \
    bool verun_##name(struct ve_core *core) \
    { \
        const int code = (int)core->s[0]; \
        return warn_of(core->s[1], variable_arguments(core, 2), &code, with_error); \
    } \
    bool verun_##name##_list(struct ve_core *core) \
    { \
        const int code = (int)core->s[0]; \
        return warn_of(core->s[1], core->s[2], &code, with_error); \
    }

WARN(warn, true)
WARN(warnx, false)
ERR(err, true)
ERR(errx, false)

/* --- scanning: all arguments are pointers; more than a format uses do no harm --- */

enum { SCANNED = 24 };

static int scan(FILE *file, const char *text, const char *format, uint64_t list)
{
    /* As many words as conversions could take: reading further could leave the stack. */
    void *p[SCANNED] = {NULL};
    size_t used = 0;
    for (const char *at = format; *at != '\0'; at++) {
        if (*at != '%')
            continue;
        if (at[1] == '%')
            at++;
        else if (at[1] != '*' && used < SCANNED)
            p[used++] = pointer(next_word(&list));
    }

#define POINTERS \
    p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], \
        p[15], p[16], p[17], p[18], p[19], p[20], p[21], p[22], p[23]
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    return file != NULL ? fscanf(file, format, POINTERS) : sscanf(text, format, POINTERS);
#pragma GCC diagnostic pop
}

bool verun_scanf(struct ve_core *core)
{
    return return_int(core, scan(stdin, NULL, pointer(core->s[0]), variable_arguments(core, 1)));
}

bool verun_vscanf(struct ve_core *core)
{
    return return_int(core, scan(stdin, NULL, pointer(core->s[0]), core->s[1]));
}

bool verun_fscanf(struct ve_core *core)
{
    return return_int(
        core, scan(pointer(core->s[0]), NULL, pointer(core->s[1]), variable_arguments(core, 2)));
}

bool verun_vfscanf(struct ve_core *core)
{
    return return_int(core, scan(pointer(core->s[0]), NULL, pointer(core->s[1]), core->s[2]));
}

bool verun_sscanf(struct ve_core *core)
{
    return return_int(
        core, scan(NULL, pointer(core->s[0]), pointer(core->s[1]), variable_arguments(core, 2)));
}

bool verun_vsscanf(struct ve_core *core)
{
    return return_int(core, scan(NULL, pointer(core->s[0]), pointer(core->s[1]), core->s[2]));
}
