/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/run/libraries.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/readable_name.h"
#include "formats/dwarf_lines.h"
#include "veo/link/archive.h"
#include "veo/link/elf_file.h"
#include "veo/run/checks.h"
#include "veo/run/finish.h"
#include "veo/run/gates.h"
#include "veo/run/report.h"
#include "veo/run/trace.h"

struct loaded {
    struct velink_library *library;
    unsigned count;
    struct loaded *next; /* loaded before it */
};

/* Entries are taken out under the lock, and freed by nobody: handlers of signals read the list. */
static struct loaded *_Atomic all;
static pthread_mutex_t lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A library that another one needs is loaded meanwhile. */
static void make_lock(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static void enter(void)
{
    pthread_once(&once, make_lock);
    pthread_mutex_lock(&lock);
}

bool verun_recognises(const char *path)
{
    uint8_t start[64 + 60 + 8];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? 0 : read(fd, start, sizeof start);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;

    /* Of an archive, the first member or the table before it says little; its objects do. */
    return velink_is_ve(start, (size_t)n) || velink_is_archive(start, (size_t)n);
}

/* --- what a link asks for --- */

static bool find(void *owner, const char *name, struct velink_named *found)
{
    (void)owner;
    for (const struct loaded *at = atomic_load(&all); at != NULL; at = at->next) {
        const struct velink_named *named = velink_export(at->library, name);
        if (named != NULL) {
            *found = *named;
            return true;
        }
    }

    found->address = verun_thread_variable(name);
    found->thread_local_one = found->address != 0;
    if (found->address == 0)
        found->address = verun_gate_address(name);
    return found->address != 0;
}

/* VEORUN_UNDEFINED; NULL if it is not set. */
static const char *undefined_setting(void)
{
    const char *setting = secure_getenv("VEORUN_UNDEFINED");
    return setting != NULL && *setting != '\0' ? setting : NULL;
}

static uint64_t missing(void *owner, const char *name)
{
    (void)owner;
    return undefined_setting() != NULL ? verun_gate_for_missing(name) : 0;
}

static bool reserve(void *owner, size_t size, size_t align, uint64_t *offset)
{
    (void)owner;
    return verun_reserve(size, align, offset);
}

/* Libraries of NEC's whose functions this process has itself. */
static bool is_served(const char *name)
{
    static const char *const served[] = {
        "libc.so",      "libm.so",       "libpthread.so", "libdl.so",  "librt.so",
        "libsysve.so",  "libveio.so",    "ld-ve.so",      "ld-linux",  "libgcc_s.so",
        "libstdc++.so", "libveohmem.so", "libaveoVE.so",  "libncc.so", "libnc++.so",
        "libc++",       "libveftrace"};
    for (size_t i = 0; i < sizeof served / sizeof *served; i++)
        if (strncmp(name, served[i], strlen(served[i])) == 0)
            return true;
    return false;
}

static bool exists(char *path, size_t size, const char *folder, size_t length, const char *name)
{
    snprintf(path, size, "%.*s/%s", (int)length, folder, name);
    return access(path, R_OK) == 0;
}

/* In the folders of a variable, as the loader of the host has them: nothing is the current one. */
static bool exists_in(const char *variable, const char *name, char *path, size_t size)
{
    const char *folders = secure_getenv(variable);
    bool found = false;
    while (!found && folders != NULL && *folders != '\0') {
        size_t length = strcspn(folders, ":");
        found = length != 0 ? exists(path, size, folders, length, name)
                            : exists(path, size, ".", 1, name);
        folders += length + (folders[length] == ':');
    }
    return found;
}

bool verun_find_code(const char *name, char *path, size_t size)
{
    return strchr(name, '/') == NULL && exists_in("LD_LIBRARY_PATH", name, path, size) &&
           verun_recognises(path);
}

/* In the folder of the file that needs it, and those of VE_LD_LIBRARY_PATH. What is not there is
 * left out: the symbols that are missing then say what was needed of it. */
static bool need(void *owner, const char *name, const char *path, struct velink_error *error)
{
    char file[4096];
    (void)owner;
    if (is_served(name))
        return true;

    const char *slash = strrchr(path, '/');
    bool found = slash != NULL && exists(file, sizeof file, path, (size_t)(slash - path), name);
    if (!found)
        found = exists_in("VE_LD_LIBRARY_PATH", name, file, sizeof file);
    return !found || verun_load(file, error) != NULL;
}

static bool resolve(void *owner, uint64_t function, uint64_t *result)
{
    (void)owner;
    struct verun_thread *thread = verun_thread();
    return thread != NULL && verun_call(thread, function, NULL, 0, result);
}

/* --- libraries --- */

static const struct velink_environment environment = {
    .find = find, .missing = missing, .reserve = reserve, .need = need, .resolve = resolve};

static struct loaded *find_loaded(const char *path, const struct velink_library *library)
{
    struct loaded *at = atomic_load(&all);
    while (at != NULL &&
           (path != NULL ? strcmp(at->library->path, path) != 0 : at->library != library))
        at = at->next;
    return at;
}

static bool call_all(const struct velink_addresses *list, bool backwards,
                     struct velink_error *error)
{
    struct verun_thread *thread = list->count != 0 ? verun_thread() : NULL;
    uint64_t ignored;
    if (list->count != 0 && thread == NULL)
        return velink_fail(error, "out of memory");

    for (size_t i = 0; i < list->count; i++) {
        uint64_t function = list->at[backwards ? list->count - 1 - i : i];
        if (!verun_call(thread, function, NULL, 0, &ignored))
            return velink_fail(error, "a function that it calls when it is loaded failed: %s",
                               ve_fault_text(thread->core->fault.kind));
    }
    return true;
}

static struct loaded *add(struct velink_library *library)
{
    struct loaded *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return NULL;
    *entry = (struct loaded){.library = library, .count = 1, .next = atomic_load(&all)};
    atomic_store(&all, entry);
    return entry;
}

static void remove_entry(struct loaded *entry)
{
    struct loaded *before = atomic_load(&all);
    if (before == entry) {
        atomic_store(&all, entry->next);
        return;
    }
    while (before->next != entry)
        before = before->next;
    before->next = entry->next;
}

/* Code of no function that is known is one with the rest of its library. */
static void trace_place(uint64_t address, struct text *text, uint64_t *low, uint64_t *high)
{
    const struct velink_library *library = verun_library_at(address);
    verun_add_place(text, address, false);
    *low = 0;
    *high = UINT64_MAX;
    if (library == NULL)
        return;

    const struct velink_named *function = velink_function_at(library, address);
    *low = (uint64_t)(uintptr_t)library->memory;
    *high = *low + library->memory_size;
    if (function != NULL) {
        *low = function->address;
        if (function->size != 0)
            *high = function->address + function->size;
    }
}

/* --- for checks --- */

static const char *file_at(uint64_t address)
{
    const struct velink_library *library = verun_library_at(address);
    return library != NULL ? library->path : NULL;
}

static const char *function_at(uint64_t address)
{
    const struct velink_library *library = verun_library_at(address);
    const struct velink_named *function =
        library != NULL ? velink_function_at(library, address) : NULL;
    return function != NULL ? function->name : NULL;
}

static void add_position(struct text *text, uint64_t address)
{
    const struct velink_library *library = verun_library_at(address);
    if (library == NULL)
        return;

    const struct velink_named *function = velink_function_at(library, address);
    const struct velink_source *source = velink_source_at(library, address);
    struct dwarf_line line;
    bool has_line = source != NULL &&
                    dwarf_find_line(source->image, source->size, address - source->bias, &line) &&
                    line.line != 0;
    if (function == NULL && !has_line)
        return;

    text_add(text, " (");
    if (function != NULL) {
        readable_name_add(text, function->name);
        text_add(text, "+0x%llx", (unsigned long long)(address - function->address));
    }
    if (has_line)
        text_add(text, "%s%s:%u", function != NULL ? ", " : "", line.file, line.line);
    text_add(text, ")");
}

static const struct verun_code code = {file_at, function_at, add_position};

static struct velink_library *load(const char *path, struct velink_error *error)
{
    size_t size;
    const char *setting = undefined_setting();
    if (setting != NULL && strcmp(setting, "call") != 0) {
        velink_fail(error, "VEORUN_UNDEFINED=%.80s is not allowed: it takes call", setting);
        return NULL;
    }
    if (!verun_engine_ready(error) || !verun_trace_ready(trace_place, error) ||
        !verun_report_ready(error) || !verun_checks_ready(&code, error))
        return NULL;

    uint8_t *image = velink_map_file(path, &size, error);
    struct velink_library *library =
        image != NULL ? velink_link(path, image, size, &environment, error) : NULL;
    if (library == NULL)
        return NULL;

    struct loaded *entry = add(library);
    bool started = entry != NULL && verun_add_variables(&library->tls);
    if (started && call_all(&library->begin, false, error))
        return library;

    velink_fail(error, "out of memory");
    if (entry != NULL)
        remove_entry(entry);
    verun_remove_variables(&library->tls);
    verun_forget(library);
    ve_code_changed();
    velink_library_free(library);
    return NULL;
}

struct velink_library *verun_load(const char *path, struct velink_error *error)
{
    enter();
    struct loaded *known = find_loaded(path, NULL);
    struct velink_library *library = known != NULL ? known->library : load(path, error);
    if (known != NULL)
        known->count++;
    pthread_mutex_unlock(&lock);
    readable_names(error->text, sizeof error->text);
    return library;
}

void verun_unload(struct velink_library *library)
{
    struct velink_error ignored = {""};
    enter();
    struct loaded *entry = find_loaded(NULL, library);
    if (entry != NULL && --entry->count == 0) {
        verun_finish(library);
        call_all(&library->end, true, &ignored);
        remove_entry(entry);
        verun_remove_variables(&library->tls);
        ve_code_changed(); /* first, as what translates code reads what is current */
        velink_library_free(library);
    }
    pthread_mutex_unlock(&lock);
}

const struct velink_library *verun_library_at(uint64_t address)
{
    for (const struct loaded *at = atomic_load(&all); at != NULL; at = at->next)
        if (velink_contains(at->library, address))
            return at->library;
    return NULL;
}

void verun_add_place(struct text *text, uint64_t address, bool returned)
{
    const struct velink_library *library = verun_library_at(address);
    if (library == NULL)
        return;

    uint64_t at = returned ? address - 1 : address;
    const struct velink_named *function = velink_function_at(library, at);
    const struct velink_source *source = velink_source_at(library, at);
    struct dwarf_line line;
    if (function != NULL)
        text_add(text, " %s+0x%llx", function->name,
                 (unsigned long long)(address - function->address));
    text_add(text, " (%s)", library->path);
    if (source != NULL && dwarf_find_line(source->image, source->size, at - source->bias, &line) &&
        line.line != 0)
        text_add(text, " at %s:%u", line.file, line.line);
}
