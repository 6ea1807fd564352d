/* SPDX-License-Identifier: BSD-3-Clause */
/* printf() and scanf() with arguments of VE code. */
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "veo/run/print_format.h"
#include "veo/run/special.h"
#include "veo/run/thread.h"

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

/* Those that follow the named ones of the function that was called. */
static uint64_t variable_arguments(const struct ve_core *core, unsigned named)
{
    return core->s[VE_S_STACK] + VERUN_FRAME_ARGUMENTS + named * sizeof(uint64_t);
}

/* --- printing --- */

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
    *written = verun_print(out, format, list);
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
    return return_int(core, verun_print(stdout, pointer(core->s[0]), variable_arguments(core, 1)));
}

bool verun_vprintf(struct ve_core *core)
{
    return return_int(core, verun_print(stdout, pointer(core->s[0]), core->s[1]));
}

bool verun_fprintf(struct ve_core *core)
{
    return return_int(
        core, verun_print(pointer(core->s[0]), pointer(core->s[1]), variable_arguments(core, 2)));
}

bool verun_vfprintf(struct ve_core *core)
{
    return return_int(core, verun_print(pointer(core->s[0]), pointer(core->s[1]), core->s[2]));
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
    verun_print(stderr, pointer(core->s[0]), variable_arguments(core, 1));
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
            p[used++] = pointer(verun_next_word(&list));
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
