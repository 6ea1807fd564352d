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

/* True if what the worker wrote has the form that veosoft.h describes. TEXT is a copy. */
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

/* A request's block with NAME; 0 without memory. */
static uint64_t new_text(struct veo_proc_handle *proc, const char *name)
{
    uint64_t block = veolib_wire_get(&proc->memory, sizeof(struct wire_text));
    if (block == 0)
        return 0;
    struct wire_text *text = (struct wire_text *)(uintptr_t)block;
    memcpy(text->text, name, strlen(name) + 1);
    text->error[0] = 0;
    text->signature[0] = 0;
    return block;
}

/* Has the service context look up a symbol, and waits for its address. 0 on failure. */
static uint64_t exchange(struct veo_thr_ctxt *service, uint64_t handle, struct wire_text *text)
{
    struct draft draft;
    uint64_t result = 0;
    if (!veolib_queue_begin(service, &draft))
        return 0;

    draft.slot->op = WIRE_SYMBOL;
    draft.slot->target = handle;
    draft.slot->block = text;
    uint64_t id = veolib_queue_publish(service, &draft, NULL);
    int state = veolib_queue_wait(service, id, &result, CLOCK_NEVER);
    return state == VEO_COMMAND_OK ? result : 0;
}

/*
 * Has the worker look NAME up. 0 if it found nothing; ERROR then says why, or is empty if the
 * worker is gone. SIGNATURE gets what is known of the symbol.
 */
static uint64_t ask(struct veo_proc_handle *proc, uint64_t handle, const char *name,
                    char error[WIRE_ERROR_SIZE], char signature[WIRE_SIGNATURE_SIZE])
{
    error[0] = 0;
    signature[0] = 0;
    uint64_t block = new_text(proc, name);
    if (block == 0) {
        strcpy(error, "out of memory (request)");
        return 0;
    }

    struct wire_text *text = (struct wire_text *)(uintptr_t)block;
    uint64_t result = exchange(proc->service, handle, text);
    if (!veolib_worker_is_dead(&proc->worker))
        copy_text(error, text->error, WIRE_ERROR_SIZE);
    if (result != 0) {
        copy_text(signature, text->signature, WIRE_SIGNATURE_SIZE);
        if (!signature_is_valid(signature))
            signature[0] = 0;
    }
    veolib_wire_put(&proc->memory, block);
    return result;
}

/* --- libraries --- */

/* True if the same call was left before its end; *LATE is then what is left of it. */
static bool take_late(struct veo_proc_handle *proc, const char *name, uint64_t handle,
                      struct late_request *late)
{
    pthread_mutex_lock(&proc->symbols_lock);
    bool same =
        proc->late.there && proc->late.handle == handle && strcmp(proc->late.name, name) == 0;
    *late = same ? proc->late : (struct late_request){.handle = handle};
    proc->late.there = proc->late.there && !same;
    pthread_mutex_unlock(&proc->symbols_lock);
    if (!same)
        strcpy(late->name, name);
    return same;
}

/* Keeps it for the next call. One that was kept before has ended, as this came after it. */
static void keep_late(struct veo_proc_handle *proc, const struct late_request *late)
{
    uint64_t result;
    pthread_mutex_lock(&proc->symbols_lock);
    struct late_request old = proc->late;
    proc->late = *late;
    proc->late.there = true;
    pthread_mutex_unlock(&proc->symbols_lock);

    if (old.there && veolib_queue_peek(proc->main, old.id, &result) != VEO_COMMAND_UNFINISHED &&
        old.block != 0)
        veolib_wire_put(&proc->memory, old.block);
    veolib_fail(EINPROGRESS, "the library's own code still runs in the main context");
}

/* Submits it. False if it cannot be (error set). */
static bool submit_late(struct veo_proc_handle *proc, enum wire_op op, struct late_request *late)
{
    struct draft draft;
    if (!veolib_sync_begin(proc, &draft))
        return false;

    draft.slot->op = (uint8_t)op;
    draft.slot->target = late->handle;
    draft.slot->block = (struct wire_text *)(uintptr_t)late->block;
    if (op == WIRE_UNLOAD)
        veolib_symbols_forget(proc, false, late->handle);
    late->id = veolib_queue_publish(proc->main, &draft, NULL);
    atomic_store(&proc->loading, late->id + 1);
    return true;
}

static bool begin_load(struct veo_proc_handle *proc, struct late_request *late)
{
    late->block = new_text(proc, late->name);
    if (late->block == 0) {
        veolib_fail(ENOMEM, "cannot load '%s': out of memory (request)", late->name);
        return false;
    }
    if (submit_late(proc, WIRE_LOAD, late))
        return true;

    int said = errno;
    veolib_wire_put(&proc->memory, late->block);
    if (said != ETIMEDOUT)
        veolib_fail(ESRCH, "cannot load '%s': the VE process is gone", late->name);
    return false;
}

/* Leaves out the name, which errors of dlopen() often begin with. */
static const char *without_name(const char *error, const char *name)
{
    size_t length = strlen(name);
    bool has_name = strncmp(error, name, length) == 0 && strncmp(error + length, ": ", 2) == 0;
    return has_name ? error + length + 2 : error;
}

static uint64_t end_load(struct veo_proc_handle *proc, const struct late_request *late)
{
    char error[WIRE_ERROR_SIZE] = "";
    uint64_t handle;
    int state = veolib_sync_result(proc->main, late->id, &handle);
    if (state == VEO_COMMAND_UNFINISHED) {
        keep_late(proc, late);
        return 0;
    }

    if (!veolib_worker_is_dead(&proc->worker))
        copy_text(error, ((struct wire_text *)(uintptr_t)late->block)->error, WIRE_ERROR_SIZE);
    veolib_wire_put(&proc->memory, late->block);
    if (state == VEO_COMMAND_OK && handle != 0)
        return handle;
    veolib_fail(error[0] != 0 ? ENOENT : ESRCH, "cannot load '%s': %s", late->name,
                error[0] != 0 ? without_name(error, late->name) : "the VE process is gone");
    return 0;
}

VEO_EXPORT uint64_t veo_load_library(struct veo_proc_handle *proc, const char *libname)
{
    struct late_request late;
    if (!check_name(libname, "library") || !veolib_proc_enter(proc))
        return 0;

    uint64_t handle = 0;
    if (take_late(proc, libname, 0, &late) || begin_load(proc, &late))
        handle = end_load(proc, &late);
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

static int end_unload(struct veo_proc_handle *proc, const struct late_request *late)
{
    uint64_t result;
    int state = veolib_sync_result(proc->main, late->id, &result);
    if (state == VEO_COMMAND_UNFINISHED)
        keep_late(proc, late);
    else if (state != VEO_COMMAND_OK)
        veolib_fail(ESRCH, "the VE process is gone: no library can be unloaded");
    else if (result == 0)
        return 0;
    else
        fail_unload(late->handle, (int)result);
    return -1;
}

VEO_EXPORT int veo_unload_library(struct veo_proc_handle *proc, const uint64_t libhandle)
{
    struct late_request late;
    int rc = -1;
    if (libhandle == 0) {
        veolib_fail(EINVAL, "0 is not the handle of a loaded library");
        return -1;
    }
    if (!veolib_proc_enter(proc))
        return -1;

    if (take_late(proc, "", libhandle, &late) || submit_late(proc, WIRE_UNLOAD, &late))
        rc = end_unload(proc, &late);
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

    /* In the service context: not after a kernel that is running. But the loader's lock is held
     * while a library's own code runs in it. */
    if (!veolib_sync_below(proc, atomic_load(&proc->loading)))
        return 0;
    address = ask(proc, handle, name, error, signature);
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
