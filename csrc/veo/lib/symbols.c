/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries in the worker, and the addresses of their symbols, each asked for once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "veo/lib/host.h"

struct symbol {
    struct symbol *next;
    uint64_t handle;
    uint64_t address;
    char *signature; /* behind the name */
    char name[];
};

enum { BUCKETS = 256 };

static size_t bucket_of(uint64_t handle, const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ handle;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return (size_t)(hash >> 32) % BUCKETS;
}

/* With the symbols lock. */
static uint64_t cached(struct veo_proc_handle *proc, uint64_t handle, const char *name)
{
    if (!proc->symbols)
        return 0;
    for (const struct symbol *s = proc->symbols[bucket_of(handle, name)]; s; s = s->next)
        if (s->handle == handle && strcmp(s->name, name) == 0)
            return s->address;
    return 0;
}

/* Without memory it is simply asked for again. */
static void remember(struct veo_proc_handle *proc, uint64_t handle, const char *name,
                     uint64_t address, const char *signature)
{
    size_t length = strlen(name) + 1;
    size_t size = strlen(signature) + 1;
    struct symbol *symbol = malloc(sizeof *symbol + length + size);
    if (!symbol)
        return;
    *symbol = (struct symbol){.handle = handle, .address = address};
    symbol->signature = memcpy(symbol->name + length, signature, size);
    memcpy(symbol->name, name, length);
    pthread_mutex_lock(&proc->symbols_lock);
    if (!proc->symbols)
        proc->symbols = calloc(BUCKETS, sizeof *proc->symbols);
    if (!proc->symbols || cached(proc, handle, name)) {
        free(symbol);
    } else {
        struct symbol **bucket = &proc->symbols[bucket_of(handle, name)];
        symbol->next = *bucket;
        *bucket = symbol;
    }
    pthread_mutex_unlock(&proc->symbols_lock);
}

static void forget(struct veo_proc_handle *proc, bool all, uint64_t handle)
{
    pthread_mutex_lock(&proc->symbols_lock);
    for (size_t i = 0; proc->symbols && i < BUCKETS; i++) {
        struct symbol **at = &proc->symbols[i];
        while (*at) {
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

void veolib_symbols_forget(struct veo_proc_handle *proc, uint64_t handle)
{
    forget(proc, false, handle);
}

void veolib_symbols_clear(struct veo_proc_handle *proc)
{
    forget(proc, true, 0);
}

static bool name_fits(const char *name, const char *what)
{
    if (!name || !*name) {
        veolib_fail(EINVAL, "no %s name given", what);
        return false;
    }
    if (strlen(name) > VEO_SYMNAME_LEN_MAX) {
        veolib_fail(ENAMETOOLONG, "a %s name has at most %d characters, this one has %zu", what,
                    VEO_SYMNAME_LEN_MAX, strlen(name));
        return false;
    }
    return true;
}

/* Whether a copy of what the worker wrote has the form that veosoft.h gives. */
static bool signature_is_valid(const char *text)
{
    if (*text == '!')
        return true;
    if (!strchr(SIGNATURE_LETTERS "v", *text) || !*text)
        return false;
    for (text++; *text; text += strcspn(text, "\n")) {
        if (*text++ != '\n')
            return false;
        if (strcmp(text, "...") != 0 &&
            (!*text || !strchr(SIGNATURE_LETTERS, *text) || text[1] != ' '))
            return false;
    }
    return true;
}

/*
 * Has the worker look NAME up, in CTX. 0 if it found nothing; ERROR then says why (WIRE_ERROR_SIZE
 * bytes), or is empty if the worker is gone. SIGNATURE, which may be NULL, gets what is known of
 * the symbol.
 */
static uint64_t ask(struct veo_thr_ctxt *ctx, enum wire_op op, uint64_t handle, const char *name,
                    char *error, char signature[WIRE_SIGNATURE_SIZE])
{
    struct veo_proc_handle *proc = ctx->proc;
    struct draft draft;
    uint64_t result = 0;
    error[0] = 0;
    if (signature)
        signature[0] = 0;
    uint64_t block = veolib_wire_get(proc, sizeof(struct wire_text));
    if (!block) {
        strcpy(error, "no memory for the request");
        return 0;
    }
    struct wire_text *text = (struct wire_text *)(uintptr_t)block;
    memcpy(text->text, name, strlen(name) + 1);
    text->error[0] = 0;
    text->signature[0] = 0;
    if (veolib_queue_begin(ctx, &draft)) {
        draft.slot->op = (uint8_t)op;
        draft.slot->target = handle;
        draft.slot->block = text;
        uint64_t id = veolib_queue_publish(ctx, &draft, NULL);
        int state = veolib_queue_wait(ctx, id, &result, CLOCK_NEVER);
        if (state != VEO_COMMAND_OK)
            result = 0;
        if (!veolib_proc_is_dead(proc)) {
            memcpy(error, text->error, WIRE_ERROR_SIZE);
            error[WIRE_ERROR_SIZE - 1] = 0;
        }
        if (result && signature) {
            memcpy(signature, text->signature, WIRE_SIGNATURE_SIZE);
            signature[WIRE_SIGNATURE_SIZE - 1] = 0;
            if (!signature_is_valid(signature))
                signature[0] = 0;
        }
    }
    veolib_wire_put(proc, block);
    return result;
}

VEO_EXPORT uint64_t veo_load_library(struct veo_proc_handle *proc, const char *libname)
{
    char error[WIRE_ERROR_SIZE];
    if (!name_fits(libname, "library") || !veolib_proc_enter(proc))
        return 0;
    uint64_t handle = ask(proc->main, WIRE_LOAD, 0, libname, error, NULL);
    if (!handle)
        veolib_fail(error[0] ? ENOENT : ESRCH, "cannot load '%s': %s", libname,
                    error[0] ? error : "the VE process is gone");
    veolib_proc_leave(proc);
    return handle;
}

VEO_EXPORT int veo_unload_library(struct veo_proc_handle *proc, const uint64_t libhandle)
{
    uint64_t result = 0;
    int rc = -1;
    if (!libhandle) {
        veolib_fail(EINVAL, "0 is no library handle");
        return -1;
    }
    if (!veolib_proc_enter(proc))
        return -1;
    veolib_symbols_forget(proc, libhandle);
    uint64_t id = veolib_queue_simple(proc->main, WIRE_UNLOAD, libhandle, NULL);
    if (id != VEO_REQUEST_ID_INVALID &&
        veolib_queue_wait(proc->main, id, &result, CLOCK_NEVER) == VEO_COMMAND_OK) {
        rc = result ? -1 : 0;
        if ((int)result == WIRE_UNLOAD_BUSY)
            veolib_fail(EBUSY,
                        "the library 0x%llx cannot be unloaded: another context is executing "
                        "one of its functions; wait for that first",
                        (unsigned long long)libhandle);
        else if (rc)
            veolib_fail(EINVAL, "0x%llx is no handle of a loaded library",
                        (unsigned long long)libhandle);
    } else {
        veolib_fail(ESRCH, "the VE process is gone: no library can be unloaded");
    }
    veolib_proc_leave(proc);
    return rc;
}

uint64_t veolib_symbol_address(struct veo_proc_handle *proc, uint64_t handle, const char *name)
{
    char error[WIRE_ERROR_SIZE];
    char signature[WIRE_SIGNATURE_SIZE];
    if (!name_fits(name, "symbol"))
        return 0;
    if (veolib_proc_is_dead(proc)) {
        veolib_fail(ESRCH, "the VE process is gone: no symbol can be looked up in it");
        return 0;
    }
    pthread_mutex_lock(&proc->symbols_lock);
    uint64_t address = cached(proc, handle, name);
    pthread_mutex_unlock(&proc->symbols_lock);
    if (address)
        return address;
    /* Not behind a kernel that is running. */
    address = ask(proc->service, WIRE_SYMBOL, handle, name, error, signature);
    if (address) {
        remember(proc, handle, name, address, signature);
        /* To kernels it is a request of the main context, as with the vendor's library. */
        veolib_queue_remember(proc->main, address);
    } else {
        veolib_fail(error[0] ? ENOENT : ESRCH, "no symbol '%s': %s", name,
                    error[0] ? error : "the VE process is gone");
    }
    return address;
}

VEO_EXPORT uint64_t veo_get_sym(struct veo_proc_handle *proc, uint64_t libhdl, const char *symname)
{
    if (!veolib_proc_enter(proc))
        return 0;
    uint64_t address = veolib_symbol_address(proc, libhdl, symname);
    veolib_proc_leave(proc);
    return address;
}

/* With the symbols lock. */
static const char *signature_of(const struct veo_proc_handle *proc, uint64_t address)
{
    for (size_t i = 0; proc->symbols && i < BUCKETS; i++)
        for (const struct symbol *s = proc->symbols[i]; s; s = s->next)
            if (s->address == address)
                return s->signature;
    return "";
}

VEO_EXPORT size_t veosoft_signature(struct veo_proc_handle *proc, uint64_t address, char *text,
                                    size_t size)
{
    if (text && size)
        text[0] = 0;
    if (!veolib_proc_enter(proc))
        return 0;
    pthread_mutex_lock(&proc->symbols_lock);
    const char *found = signature_of(proc, address);
    size_t length = strlen(found);
    if (text && size > length)
        memcpy(text, found, length + 1);
    pthread_mutex_unlock(&proc->symbols_lock);
    veolib_proc_leave(proc);
    return length;
}
