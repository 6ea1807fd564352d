/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/symbols.h"

#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "ve_offload.h"
#include "veo/lib/args.h"
#include "veo/lib/error.h"
#include "veo/lib/export.h"
#include "veo/lib/process_handle.h"
#include "veo/lib/queue.h"
#include "veo/lib/queue_wait.h"
#include "veo/lib/symbol_table.h"
#include "veo/lib/sync.h"
#include "veosoft.h"

/* --- asking the worker --- */

static bool check_name(const char *name, const char *what)
{
    if (name == NULL || *name == 0) {
        veolib_fail(EINVAL, "the %s name must not be NULL or empty", what);
        return false;
    }
    if (strlen(name) > VEO_SYMNAME_LEN_MAX) {
        veolib_fail(ENAMETOOLONG, "the %s name has %zu characters; at most %d are allowed", what,
                    strlen(name), VEO_SYMNAME_LEN_MAX);
        return false;
    }
    return true;
}

/* How many letters of a type TEXT begins with: two for a pointer to a number, 0 if there is none.
 */
static size_t type_length(const char *text, const char *letters)
{
    if (*text == 0 || strchr(letters, *text) == NULL)
        return 0;
    bool to_number = *text == 'p' && text[1] != 0 && strchr(SIGNATURE_LETTERS, text[1]) != NULL;
    return to_number ? 2 : 1;
}

/* Whether what the worker wrote has the form that veosoft.h describes. TEXT is a copy. */
static bool signature_is_valid(const char *text)
{
    if (*text == '!')
        return true;
    size_t length = type_length(text, SIGNATURE_LETTERS "v");
    if (length == 0)
        return false;

    for (text += length; *text != 0; text += strcspn(text, "\n")) {
        if (*text++ != '\n')
            return false;
        length = type_length(text, SIGNATURE_LETTERS);
        if (strcmp(text, "...") != 0 && (length == 0 || text[length] != ' '))
            return false;
    }
    return true;
}

/* Copies a text that a kernel may have written to. */
static void copy_text(char *to, const char *from, size_t size)
{
    memcpy(to, from, size);
    to[size - 1] = 0;
}

/* Submits a request with its TEXT block, and waits for the result. 0 on failure. */
static uint64_t exchange(struct veo_thr_ctxt *ctx, enum wire_op op, uint64_t handle,
                         struct wire_text *text)
{
    struct draft draft;
    uint64_t result = 0;
    bool begun = ctx->main ? veolib_sync_begin(ctx->proc, &draft) : veolib_queue_begin(ctx, &draft);
    if (!begun)
        return 0;

    draft.slot->op = (uint8_t)op;
    draft.slot->target = handle;
    draft.slot->block = text;
    uint64_t id = veolib_queue_publish(ctx, &draft, NULL);
    int state = veolib_queue_wait(ctx, id, &result, CLOCK_NEVER);
    return state == VEO_COMMAND_OK ? result : 0;
}

/*
 * Has the worker look NAME up, in the queue of CTX. 0 if it found nothing; ERROR then says why, or
 * is empty if the worker is gone. SIGNATURE, which may be NULL, gets what is known of the symbol.
 */
static uint64_t ask(struct veo_thr_ctxt *ctx, enum wire_op op, uint64_t handle, const char *name,
                    char error[WIRE_ERROR_SIZE], char signature[WIRE_SIGNATURE_SIZE])
{
    struct veo_proc_handle *proc = ctx->proc;
    error[0] = 0;
    if (signature != NULL)
        signature[0] = 0;

    uint64_t block = veolib_wire_get(&proc->memory, sizeof(struct wire_text));
    if (block == 0) {
        strcpy(error, "out of memory (request)");
        return 0;
    }
    struct wire_text *text = (struct wire_text *)(uintptr_t)block;
    memcpy(text->text, name, strlen(name) + 1);
    text->error[0] = 0;
    text->signature[0] = 0;

    uint64_t result = exchange(ctx, op, handle, text);
    int said = errno;
    if (!veolib_worker_is_dead(&proc->worker))
        copy_text(error, text->error, WIRE_ERROR_SIZE);
    if (result != 0 && signature != NULL) {
        copy_text(signature, text->signature, WIRE_SIGNATURE_SIZE);
        if (!signature_is_valid(signature))
            signature[0] = 0;
    }
    veolib_wire_put(&proc->memory, block);
    errno = said;
    return result;
}

/* --- libraries --- */

VEO_EXPORT uint64_t veo_load_library(struct veo_proc_handle *proc, const char *libname)
{
    char error[WIRE_ERROR_SIZE];
    if (!check_name(libname, "library") || !veolib_proc_enter(proc))
        return 0;

    errno = 0;
    uint64_t handle = ask(proc->main, WIRE_LOAD, 0, libname, error, NULL);
    if (handle == 0 && errno != ETIMEDOUT)
        veolib_fail(error[0] != 0 ? ENOENT : ESRCH, "cannot load '%s': %s", libname,
                    error[0] != 0 ? error : "the VE process is gone");
    veolib_proc_leave(proc);
    return handle;
}

static void fail_unload(uint64_t handle, int why)
{
    if (why == WIRE_UNLOAD_BUSY)
        veolib_fail(EBUSY,
                    "the library 0x%llx cannot be unloaded: another context is executing one of "
                    "its functions; wait for that first",
                    (unsigned long long)handle);
    else
        veolib_fail(EINVAL, "0x%llx is not the handle of a loaded library",
                    (unsigned long long)handle);
}

/* Submits DRAFT as the unloading of a library, and waits for it. */
static int unload(struct veo_proc_handle *proc, struct draft *draft, uint64_t handle)
{
    uint64_t result = 0;
    draft->slot->op = WIRE_UNLOAD;
    draft->slot->target = handle;
    uint64_t id = veolib_queue_publish(proc->main, draft, NULL);
    if (veolib_queue_wait(proc->main, id, &result, CLOCK_NEVER) != VEO_COMMAND_OK)
        veolib_fail(ESRCH, "the VE process is gone: no library can be unloaded");
    else if (result == 0)
        return 0;
    else
        fail_unload(handle, (int)result);
    return -1;
}

VEO_EXPORT int veo_unload_library(struct veo_proc_handle *proc, const uint64_t libhandle)
{
    struct draft draft;
    int rc = -1;
    if (libhandle == 0) {
        veolib_fail(EINVAL, "0 is not the handle of a loaded library");
        return -1;
    }
    if (!veolib_proc_enter(proc))
        return -1;

    if (veolib_sync_begin(proc, &draft)) {
        veolib_symbols_forget(proc, false, libhandle);
        rc = unload(proc, &draft, libhandle);
    }
    veolib_proc_leave(proc);
    return rc;
}

/* --- symbols --- */

uint64_t veolib_symbol_address(struct veo_proc_handle *proc, uint64_t handle, const char *name)
{
    char error[WIRE_ERROR_SIZE];
    char signature[WIRE_SIGNATURE_SIZE];
    if (!check_name(name, "symbol"))
        return 0;
    if (veolib_worker_is_dead(&proc->worker)) {
        veolib_fail(ESRCH, "the VE process is gone: no symbol can be looked up in it");
        return 0;
    }

    uint64_t address = veolib_symbol_known(proc, handle, name);
    if (address != 0)
        return address;

    /* In the service context: not after a kernel that is running. */
    address = ask(proc->service, WIRE_SYMBOL, handle, name, error, signature);
    if (address == 0) {
        veolib_fail(error[0] != 0 ? ENOENT : ESRCH, "no symbol '%s': %s", name,
                    error[0] != 0 ? error : "the VE process is gone");
        return 0;
    }

    veolib_symbol_remember(proc, handle, name, address, signature);
    /* To kernels it is a request of the main context, as with the vendor's library. */
    veolib_queue_remember(proc->main, address);
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

VEO_EXPORT size_t veosoft_signature(struct veo_proc_handle *proc, uint64_t address, char *text,
                                    size_t size)
{
    if (text != NULL && size > 0)
        text[0] = 0;
    if (!veolib_proc_enter(proc))
        return 0;

    size_t length = veolib_symbol_signature(proc, address, text, size);
    veolib_proc_leave(proc);
    return length;
}
