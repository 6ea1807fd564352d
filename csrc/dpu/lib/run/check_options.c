/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/run/check_options.h"

#include "dpu/checks/checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint32_t value;
} names[] = {
#define X(identifier, name, value) {name, value},
    DPU_CHECK_LIST(X)
#undef X
        {"all", DPU_CHECK_ALL},
};

static const char *value_of(const char *word, const char *key)
{
    size_t length = strlen(key);
    return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static bool read_status(const char *text, int *status)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != 0 || value > 255)
        return false;
    *status = (int)value;
    return true;
}

/* False with a problem. */
static bool apply(struct dpulib_check_options *options, const char *word, char *problem,
                  size_t size)
{
    const char *value;
    if ((value = value_of(word, "exit")) != NULL) {
        snprintf(problem, size, "exit=%.80s, but exit must be a status from 0 to 255", value);
        return read_status(value, &options->exit_status);
    }
    if ((value = value_of(word, "log")) != NULL) {
        snprintf(problem, size, "log= must have a path");
        options->log = value;
        return *value != 0;
    }
    if ((value = value_of(word, "ignore")) != NULL) {
        snprintf(problem, size, "ignore= must have a function, and %d at most can be given",
                 DPULIB_IGNORED_MAX);
        if (*value == 0 || options->ignored_count == DPULIB_IGNORED_MAX)
            return false;
        options->ignored[options->ignored_count++] = value;
        return true;
    }

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, word) == 0) {
            options->wanted |= names[i].value;
            return true;
        }

    int length = snprintf(problem, size, "there is no check '%.80s'; there are", word);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && (size_t)length < size; i++)
        length += snprintf(problem + length, size - (size_t)length, "%s %s", i != 0 ? "," : "",
                           names[i].name);
    return false;
}

bool dpulib_check_options_read(struct dpulib_check_options *options, const char *text,
                               char *problem, size_t size)
{
    *options = (struct dpulib_check_options){0};
    if (text == NULL || *text == 0)
        return true;

    options->text = strdup(text);
    bool reads = options->text != NULL;
    if (!reads)
        snprintf(problem, size, "out of memory");

    char *rest = options->text;
    while (reads && rest != NULL)
        reads = apply(options, strsep(&rest, ","), problem, size);
    if (reads && options->wanted == 0)
        options->wanted = DPU_CHECK_ALL;
    if (!reads) {
        free(options->text);
        *options = (struct dpulib_check_options){0};
    }
    return reads;
}
