/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/core/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"
#include "dpu/lib/core/path.h"
#include "dpu/lib/core/verbose.h"

#define PREFIX "DPU_SOFT_" /* nobody else's; DPU_ alone may be a program's own */

extern char **environ;

static const char *const names[] = {
#define NAME(name, values, default, meaning) #name,
    DPULIB_VARIABLES(NAME)
#undef NAME
};

/* Written by constructors alone. */
static char refused[500];

const char *dpulib_setting_name(enum dpulib_variable variable)
{
    return names[variable];
}

const char *dpulib_setting(enum dpulib_variable variable)
{
    const char *value = secure_getenv(names[variable]);
    return value != NULL && *value != 0 ? value : NULL;
}

void dpulib_refuse_setting(enum dpulib_variable variable, const char *why)
{
    char text[sizeof refused];
    const char *value = dpulib_setting(variable);
    snprintf(text, sizeof text, "%s=%.200s cannot be used: %s", names[variable],
             value != NULL ? value : "", why);
    dpulib_log(DPULIB_ERROR, "no DPU can be allocated, as %s", text);
    if (refused[0] == '\0')
        memcpy(refused, text, sizeof refused);
}

const char *dpulib_refused_setting(void)
{
    return refused[0] != '\0' ? refused : NULL;
}

/* Error that opening it for writing would give, or 0. Nothing is created. */
static int find_obstacle(char *path)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return S_ISDIR(status.st_mode) ? EISDIR : access(path, W_OK) != 0 ? errno : 0;
    if (errno != ENOENT)
        return errno;

    char *slash = strrchr(path, '/');
    if (slash != NULL && slash[1] == 0)
        return EISDIR;
    if (slash == path)
        slash++;
    if (slash != NULL)
        *slash = 0;
    return access(slash != NULL ? path : ".", W_OK | X_OK) != 0 ? errno : 0;
}

void dpulib_check_writable(enum dpulib_variable variable, const char *path)
{
    char why[300];
    char *made = dpulib_make_path(path);
    int error = made != NULL ? find_obstacle(made) : ENOMEM;
    free(made);
    snprintf(why, sizeof why, "the file %.200s cannot be written: %s", path, strerror(error));
    if (error != 0)
        dpulib_refuse_setting(variable, why);
}

bool dpulib_is_quiet(void)
{
    const char *value = dpulib_setting(DPULIB_DPU_SOFT_QUIET);
    return value != NULL && strcmp(value, "0") != 0;
}

/* True if it is one of ours; LIST gets those that begin with PREFIX. */
static bool is_known(const char *name, size_t length, struct text *list)
{
    bool known = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(names[i], PREFIX, strlen(PREFIX)) == 0) {
            known = known || (strlen(names[i]) == length && memcmp(names[i], name, length) == 0);
            text_add(list, " %s", names[i]);
        }
    return known;
}

__attribute__((constructor)) static void tell_of_unknown_names(void)
{
    char list[200];
    for (char **at = environ; at != NULL && *at != NULL; at++) {
        size_t length = strcspn(*at, "=");
        struct text known = text_new(list, sizeof list);
        if (strncmp(*at, PREFIX, strlen(PREFIX)) == 0 && !is_known(*at, length, &known))
            dpulib_log(DPULIB_WARNING, "%.*s changes nothing: the variables that begin so are%s",
                       (int)length, *at, list);
    }
}
