/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of OpenMP in the environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "veo/run/openmp.h"

uint32_t verun_openmp_setting(const char *name, uint32_t low, uint32_t high, uint32_t otherwise)
{
    const char *text = secure_getenv(name);
    char *end;
    if (text == NULL || *text == '\0')
        return otherwise;

    /* Numbers for inner levels may follow; they have the first one's. */
    long value = strtol(text, &end, 10);
    if (end != text && (*end == '\0' || *end == ',') && value >= (long)low && value <= (long)high)
        return (uint32_t)value;
    fprintf(stderr, "[VE] WARNING: %s=%.80s is ignored: it takes a number from %u to %u\n", name,
            text, low, high);
    return otherwise;
}

static const char *const kinds[] = {
    [VERUN_STATIC] = "static",
    [VERUN_DYNAMIC] = "dynamic",
    [VERUN_GUIDED] = "guided",
    [VERUN_AUTO] = "auto",
};

struct verun_schedule verun_openmp_schedule(void)
{
    const char *text = secure_getenv("OMP_SCHEDULE");
    const struct verun_schedule otherwise = {VERUN_STATIC, 0};
    if (text == NULL || *text == '\0')
        return otherwise;

    const char *colon = strchr(text, ':'); /* after "monotonic", "nonmonotonic" */
    const char *name = colon != NULL ? colon + 1 : text;
    for (unsigned kind = VERUN_STATIC; kind <= VERUN_AUTO; kind++) {
        size_t length = strlen(kinds[kind]);
        char *end = NULL;
        if (strncasecmp(name, kinds[kind], length) != 0)
            continue;
        long chunk = name[length] == ',' ? strtol(&name[length + 1], &end, 10) : 0;
        if (name[length] == '\0' || (end != NULL && *end == '\0' && chunk > 0))
            return (struct verun_schedule){kind, (uint64_t)chunk};
    }
    fprintf(stderr,
            "[VE] WARNING: OMP_SCHEDULE=%.80s is ignored: it takes static, dynamic, guided "
            "or auto, and a comma and a number of iterations\n",
            text);
    return otherwise;
}
