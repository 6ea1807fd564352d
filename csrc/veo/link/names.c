/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/link/names.h"

#include <stdlib.h>
#include <string.h>

struct velink_name {
    const char *name;
    uint32_t number;
};

static uint64_t hash(const char *name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        h = (h ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return h;
}

/* The slot of a name, or the empty one where it would be. */
static struct velink_name *slot_of(const struct velink_names *names, const char *name)
{
    size_t i = (size_t)hash(name) & (names->capacity - 1);
    while (names->slots[i].name != NULL && strcmp(names->slots[i].name, name) != 0)
        i = (i + 1) & (names->capacity - 1);
    return &names->slots[i];
}

uint32_t velink_names_find(const struct velink_names *names, const char *name)
{
    const struct velink_name *slot = names->capacity != 0 ? slot_of(names, name) : NULL;
    return slot != NULL && slot->name != NULL ? slot->number : VELINK_NO_NUMBER;
}

static bool grow(struct velink_names *names)
{
    struct velink_names larger = {.capacity = names->capacity != 0 ? 2 * names->capacity : 64,
                                  .count = names->count};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL)
        return false;

    for (size_t i = 0; i < names->capacity; i++)
        if (names->slots[i].name != NULL)
            *slot_of(&larger, names->slots[i].name) = names->slots[i];
    free(names->slots);
    *names = larger;
    return true;
}

bool velink_names_add(struct velink_names *names, const char *name, uint32_t number)
{
    if (2 * (names->count + 1) > names->capacity && !grow(names))
        return false;
    *slot_of(names, name) = (struct velink_name){name, number};
    names->count++;
    return true;
}

void velink_names_free(struct velink_names *names)
{
    free(names->slots);
    *names = (struct velink_names){NULL, 0, 0};
}
