/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/observe/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BY_DEFAULT "dpu-%p.profile"
#define NAME_MAX_LENGTH 4000

static bool read_number(const char *text, char stop, uint32_t most, uint32_t *number,
                        const char **rest)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || value > most || (*end != 0 && *end != stop))
        return false;
    *number = (uint32_t)value;
    *rest = end;
    return true;
}

static bool read_dpus(struct dpulib_observe_options *options, const char *value)
{
    if (strcmp(value, "all") == 0) {
        options->first = 0;
        options->last = UINT32_MAX;
        return true;
    }
    if (!read_number(value, '-', UINT32_MAX - 1, &options->first, &value))
        return false;

    options->last = options->first;
    if (*value == 0)
        return true;
    return read_number(value + 1, 0, UINT32_MAX - 1, &options->last, &value) &&
           options->last >= options->first;
}

static bool replace(char **text, const char *value)
{
    size_t length = strlen(value);
    if (length == 0 || length > NAME_MAX_LENGTH)
        return false;

    char *copy = strdup(value);
    free(*text);
    *text = copy;
    return copy != NULL;
}

/* False for a bad value; then *WANTED says what it must be. */
static bool apply(struct dpulib_observe_options *options, const char *key, const char *value,
                  const char **wanted)
{
    const char *rest;
    if (strcmp(key, "file") == 0) {
        *wanted = "a path";
        return replace(&options->file, value);
    }
    if (strcmp(key, "dpus") == 0) {
        *wanted = "a number, two with - between them, or all";
        return read_dpus(options, value);
    }
    if (strcmp(key, "timeline") == 0) {
        *wanted = "a number up to 10000000";
        return read_number(value, 0, DPULIB_OBSERVE_EVENTS_MAX, &options->events, &rest);
    }
    if (strcmp(key, "limit") == 0) {
        *wanted = "a number of MiB up to 65536";
        return read_number(value, 0, DPULIB_OBSERVE_LIMIT_MAX, &options->limit, &rest);
    }

    *wanted = NULL;
    return false;
}

static bool read_pairs(struct dpulib_observe_options *options, char *rest, char *problem,
                       size_t size)
{
    while (rest != NULL) {
        const char *wanted = NULL;
        char *key = strsep(&rest, ","), *value = strchr(key, '=');
        if (value == NULL) {
            snprintf(problem, size, "'%.80s' is not key=value", key);
            return false;
        }

        *value++ = 0;
        if (apply(options, key, value, &wanted))
            continue;
        if (wanted != NULL)
            snprintf(problem, size, "%s=%.80s, but %s must be %s", key, value, key, wanted);
        else
            snprintf(problem, size,
                     "there is no key '%.80s'; there are file, dpus, timeline and limit", key);
        return false;
    }

    return true;
}

bool dpulib_observe_read(struct dpulib_observe_options *options, const char *text, char *problem,
                         size_t size)
{
    *options = (struct dpulib_observe_options){.last = 63, .events = 20000, .limit = 256};
    if (text == NULL || *text == 0)
        return true;

    char *copy = strdup(text);
    bool reads = copy != NULL && read_pairs(options, copy, problem, size);
    if (copy == NULL)
        snprintf(problem, size, "out of memory");
    free(copy);

    options->profiles = reads;
    if (reads && options->file == NULL)
        reads = replace(&options->file, FILE_BY_DEFAULT);
    if (!reads)
        dpulib_observe_options_free(options);
    return reads;
}

void dpulib_observe_options_free(struct dpulib_observe_options *options)
{
    free(options->file);
    *options = (struct dpulib_observe_options){0};
}
