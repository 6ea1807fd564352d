/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h: numbers by name. Names are kept as pointers and must stay. One thread. */
#ifndef VELINK_NAMES_H
#define VELINK_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct velink_names {
    struct velink_name *slots;
    size_t capacity;
    size_t count;
};

#define VELINK_NO_NUMBER UINT32_MAX

/* The number of a name; VELINK_NO_NUMBER if it has none. */
uint32_t velink_names_find(const struct velink_names *names, const char *name);

/* Gives a new name a number. False without memory. */
bool velink_names_add(struct velink_names *names, const char *name, uint32_t number);

void velink_names_free(struct velink_names *names);

#endif
