/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/symbol_table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "veo/lib/process_handle.h"

struct symbol {
    struct symbol *next;
    uint64_t handle;
    uint64_t address;
    char *signature; /* after the name */
    char name[];
};

enum { BUCKETS = 256 };

static size_t bucket_of(uint64_t handle, const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ handle;
    for (; *name != 0; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return (size_t)(hash >> 32) % BUCKETS;
}

/* --- with the lock --- */

/* 0 if it is not known. */
static uint64_t find(struct veo_proc_handle *proc, uint64_t handle, const char *name)
{
    if (proc->symbols == NULL)
        return 0;
    for (const struct symbol *s = proc->symbols[bucket_of(handle, name)]; s != NULL; s = s->next)
        if (s->handle == handle && strcmp(s->name, name) == 0)
            return s->address;
    return 0;
}

/* Takes SYMBOL over; frees it if it is known already, or without memory. */
static void insert(struct veo_proc_handle *proc, struct symbol *symbol)
{
    if (proc->symbols == NULL)
        proc->symbols = calloc(BUCKETS, sizeof *proc->symbols);
    if (proc->symbols == NULL || find(proc, symbol->handle, symbol->name) != 0) {
        free(symbol);
        return;
    }

    struct symbol **bucket = &proc->symbols[bucket_of(symbol->handle, symbol->name)];
    symbol->next = *bucket;
    *bucket = symbol;
}

static const struct symbol *at_address(const struct veo_proc_handle *proc, uint64_t address)
{
    for (size_t i = 0; proc->symbols != NULL && i < BUCKETS; i++)
        for (const struct symbol *s = proc->symbols[i]; s != NULL; s = s->next)
            if (s->address == address)
                return s;
    return NULL;
}

/* --- the same, taking it --- */

uint64_t veolib_symbol_known(struct veo_proc_handle *proc, uint64_t handle, const char *name)
{
    pthread_mutex_lock(&proc->symbols_lock);
    uint64_t address = find(proc, handle, name);
    pthread_mutex_unlock(&proc->symbols_lock);
    return address;
}

void veolib_symbol_remember(struct veo_proc_handle *proc, uint64_t handle, const char *name,
                            uint64_t address, const char *signature)
{
    size_t length = strlen(name) + 1;
    size_t size = strlen(signature) + 1;
    struct symbol *symbol = malloc(sizeof *symbol + length + size);
    if (symbol == NULL)
        return;
    *symbol = (struct symbol){.handle = handle, .address = address};
    symbol->signature = memcpy(symbol->name + length, signature, size);
    memcpy(symbol->name, name, length);

    pthread_mutex_lock(&proc->symbols_lock);
    insert(proc, symbol);
    pthread_mutex_unlock(&proc->symbols_lock);
}

void veolib_symbols_forget(struct veo_proc_handle *proc, bool all, uint64_t handle)
{
    pthread_mutex_lock(&proc->symbols_lock);
    for (size_t i = 0; proc->symbols != NULL && i < BUCKETS; i++) {
        struct symbol **at = &proc->symbols[i];
        while (*at != NULL) {
            struct symbol *s = *at;
            if (all || s->handle == handle) {
                *at = s->next;
                free(s);
            } else {
                at = &s->next;
            }
        }
    }

    if (all) {
        free(proc->symbols);
        proc->symbols = NULL;
    }
    pthread_mutex_unlock(&proc->symbols_lock);
}

static size_t copy_text(const char *found, char *text, size_t size)
{
    size_t length = strlen(found);
    if (text != NULL && size > length)
        memcpy(text, found, length + 1);
    return length;
}

size_t veolib_symbol_signature(struct veo_proc_handle *proc, uint64_t address, char *text,
                               size_t size)
{
    pthread_mutex_lock(&proc->symbols_lock);
    const struct symbol *symbol = at_address(proc, address);
    size_t length = copy_text(symbol != NULL ? symbol->signature : "", text, size);
    pthread_mutex_unlock(&proc->symbols_lock);
    return length;
}

size_t veolib_symbol_name(struct veo_proc_handle *proc, uint64_t address, char *text, size_t size)
{
    pthread_mutex_lock(&proc->symbols_lock);
    const struct symbol *symbol = at_address(proc, address);
    size_t length = copy_text(symbol != NULL ? symbol->name : "", text, size);
    pthread_mutex_unlock(&proc->symbols_lock);
    return length;
}
