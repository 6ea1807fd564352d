/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/check_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static bool apply(struct check_options *options, const struct check_word *words, size_t count,
                  const char *word, char *problem, size_t size)
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
                 CHECK_IGNORED_MAX);
        if (*value == 0 || options->ignored_count == CHECK_IGNORED_MAX)
            return false;
        options->ignored[options->ignored_count++] = value;
        return true;
    }

    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i].name, word) == 0) {
            options->wanted |= words[i].value;
            return true;
        }

    int length = snprintf(problem, size, "there is no check '%.80s'; there are", word);
    for (size_t i = 0; i < count && (size_t)length < size; i++)
        length += snprintf(problem + length, size - (size_t)length, "%s %s", i != 0 ? "," : "",
                           words[i].name);
    return false;
}

bool check_options_read(struct check_options *options, const struct check_word *words, size_t count,
                        const char *text, char *problem, size_t size)
{
    *options = (struct check_options){0};
    if (text == NULL || *text == 0)
        return true;

    options->text = strdup(text);
    bool reads = options->text != NULL;
    if (!reads)
        snprintf(problem, size, "out of memory");

    char *rest = options->text;
    while (reads && rest != NULL)
        reads = apply(options, words, count, strsep(&rest, ","), problem, size);
    if (reads && options->wanted == 0)
        options->wanted = words[count - 1].value;
    if (!reads) {
        free(options->text);
        *options = (struct check_options){0};
    }
    return reads;
}
