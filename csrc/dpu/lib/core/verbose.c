/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verbose.c: messages on stderr.
 *
 * UPMEM_VERBOSE has words with commas between them. A word that is a level, or module:level, is
 * how much is shown: W or 1, I or 2, D or 3, V or 4. "-" and folders say where UPMEM's library
 * writes them, and other modules are its own; any other word is a slip, and told. Errors and
 * warnings are always shown.
 */
#include "dpu/lib/core/verbose.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static atomic_uint shown = DPULIB_WARNING;

static unsigned level_of_word(const char *word, size_t length)
{
    const char *colon = memchr(word, ':', length);
    if (colon != NULL) {
        if (colon - word != 3 || memcmp(word, "api", 3) != 0)
            return 0;
        length -= 4;
        word = colon + 1;
    }
    if (length != 1)
        return 0;

    switch (toupper((unsigned char)*word)) {
    case 'W':
    case '1': return DPULIB_WARNING;
    case 'I':
    case '2': return DPULIB_INFO;
    case 'D':
    case 'V':
    case '3':
    case '4': return DPULIB_DEBUG;
    default: return 0;
    }
}

static bool is_slip(const char *word, size_t length)
{
    char name[PATH_MAX];
    struct stat there;
    if (length == 0 || length >= sizeof name || (length == 1 && *word == '-'))
        return false;
    memcpy(name, word, length);
    name[length] = 0;
    bool is_folder = stat(name, &there) == 0 && S_ISDIR(there.st_mode);
    bool is_module = strchr(name, ':') != NULL && strncmp(name, "api:", 4) != 0;
    return !is_folder && !is_module;
}

__attribute__((constructor)) static void set_up(void)
{
    const char *text = secure_getenv("UPMEM_VERBOSE");
    unsigned level = DPULIB_WARNING;
    while (text != NULL && *text != 0) {
        size_t length = strcspn(text, ",");
        unsigned asked = level_of_word(text, length);
        if (asked == 0 && is_slip(text, length))
            dpulib_log(DPULIB_WARNING,
                       "UPMEM_VERBOSE has '%.*s', which is neither a folder nor a level: W, I, D, "
                       "V, or api:I for this library alone",
                       (int)length, text);
        level = asked > level ? asked : level;
        text += length + (text[length] == ',');
    }

    atomic_store(&shown, level);
}

void dpulib_log(enum dpulib_level level, const char *format, ...)
{
    if ((unsigned)level > atomic_load_explicit(&shown, memory_order_relaxed))
        return;

    char date[32];
    struct tm now;
    time_t seconds = time(NULL);
    localtime_r(&seconds, &now);
    strftime(date, sizeof date, "%Y-%m-%d|%H:%M:%S", &now);

    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    fprintf(stderr, "api:%c:%s: %s\n", "EWID"[level], date, text);
}

/* Never 0. */
static unsigned digest_of(const char *text)
{
    unsigned digest = 2166136261;
    for (; *text != 0; text++)
        digest = (digest ^ (unsigned char)*text) * 16777619;
    return digest | 1;
}

void dpulib_log_once(struct dpulib_told *told, enum dpulib_level level, const char *format, ...)
{
    int error = errno;
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    unsigned digest = digest_of(text);
    for (int i = 0; i < DPULIB_TOLD_MAX; i++) {
        unsigned there = 0;
        bool is_new = atomic_compare_exchange_strong(&told->digests[i], &there, digest);
        if (is_new)
            dpulib_log(level, "%s%s", text,
                       i + 1 < DPULIB_TOLD_MAX ? "" : " (others of this kind are not told)");
        if (is_new || there == digest)
            break;
    }

    errno = error;
}
