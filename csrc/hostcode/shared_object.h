/* SPDX-License-Identifier: BSD-3-Clause */
/* shared_object.h: compiled code in memory. */
#ifndef OFFCHIP_SHARED_OBJECT_H
#define OFFCHIP_SHARED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

struct host_object {
    const void *symbol; /* what was asked for */
    void *handle;
    int file;
    size_t size; /* bytes of the shared object */
};

/*
 * Loads a shared object from memory, which may be freed afterwards, and finds a symbol of it. False
 * if it is not one, or has no such symbol.
 */
bool host_object_load(struct host_object *object, const void *data, size_t size,
                      const char *symbol);
void host_object_unload(struct host_object *object);

#endif
