/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/link/missing.h"

#include <stdio.h>
#include <string.h>

void velink_missing_add(struct velink_missing *missing, const char *name)
{
    size_t room = sizeof missing->names - missing->used;
    const char *between = missing->used != 0 ? ", " : "";
    if (velink_names_find(&missing->known, name) != VELINK_NO_NUMBER)
        return;

    velink_names_add(&missing->known, name, 0);
    missing->count++;
    if (strlen(between) + strlen(name) < room)
        missing->used +=
            (size_t)snprintf(missing->names + missing->used, room, "%s%s", between, name);
}

bool velink_missing_end(struct velink_missing *missing, struct velink_error *error)
{
    velink_names_free(&missing->known);
    if (missing->count == 0)
        return true;
    return velink_fail(error, "%zu symbol%s it uses %s nowhere: %s%s", missing->count,
                       missing->count == 1 ? "" : "s", missing->count == 1 ? "is" : "are",
                       missing->names,
                       strlen(missing->names) + 60 > sizeof missing->names ? ", ..." : "");
}
