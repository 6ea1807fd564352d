/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/worker/classes.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "formats/dwarf_signature.h"
#include "veo/run/libraries.h"
#include "veo/worker/crash.h"
#include "veo/worker/loaded_file.h"

enum { RECENT = 16, BUCKETS = 256 };

struct entry {
    struct veow_classes classes;
    struct entry *next;
};

/* A file with what was read of its debug info. */
struct read_file {
    const void *file;
    struct dwarf_index *index;
    struct read_file *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *buckets[BUCKETS];
static struct read_file *read_files;
static _Atomic uint64_t generation = 1;

static unsigned hash(uint64_t address)
{
    return (unsigned)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* The text of veosoft_signature(); NULL without memory. */
static char *describe(const struct dwarf_signature *signature)
{
    char buffer[WIRE_SIGNATURE_SIZE];
    struct text text = text_new(buffer, sizeof buffer);
    text_add(&text, "%c%.1s", signature->ret, &signature->ret_pointee);
    for (unsigned i = 0; i < signature->nargs; i++)
        text_add(&text, "\n%c%.1s %s", signature->args[i], &signature->pointees[i],
                 signature->names[i]);
    if (signature->variadic)
        text_add(&text, "\n...");
    return strdup(buffer);
}
_Static_assert(WIRE_SIGNATURE_SIZE > 2 + DWARF_SIGNATURE_ARGS * (4 + DWARF_SIGNATURE_NAME) + 5,
               "all names fit");

static char *describe_refusal(const char *why)
{
    char buffer[WIRE_SIGNATURE_SIZE];
    struct text text = text_new(buffer, sizeof buffer);
    text_add(&text, "!%s", why);
    return strdup(buffer);
}

/* The index of a file, by what stands for it as long as it is loaded; NULL without memory. */
static struct dwarf_index *index_of(const void *file)
{
    struct read_file *known = read_files;
    while (known != NULL && known->file != file)
        known = known->next;
    if (known != NULL)
        return known->index;

    known = calloc(1, sizeof *known);
    if (known == NULL)
        return NULL;
    *known = (struct read_file){file, dwarf_index_new(), read_files};
    read_files = known;
    return known->index;
}

static void forget_files(void)
{
    while (read_files != NULL) {
        struct read_file *file = read_files;
        read_files = file->next;
        dwarf_index_free(file->index);
        free(file);
    }
}

/* Takes over what debug info says of a function. */
static void take_signature(struct veow_classes *classes, const struct dwarf_signature *signature)
{
    classes->known = true;
    classes->signature = describe(signature);
    classes->ret = signature->ret;
    for (unsigned i = 0; i < signature->nargs; i++) {
        uint64_t kind = signature->args[i] == 'f'   ? WIRE_KIND_FLOAT
                        : signature->args[i] == 'd' ? WIRE_KIND_DOUBLE
                                                    : WIRE_KIND_INTEGER;
        classes->kinds[i / 32] |= kind << i % 32 * 2;
    }
}

/* Notes why debug info does not help, and whether the function can be called without it. */
static void take_refusal(struct veow_classes *classes, enum dwarf_lookup found, const char *why)
{
    bool unreadable = strstr(why, "compressed") != NULL || strstr(why, "split") != NULL;
    if (found == DWARF_UNSUPPORTED && !unreadable)
        classes->signature = describe_refusal(why);

    /* Callers who state the types know what the debug info leaves open. */
    classes->refused = (found == DWARF_UNSUPPORTED || found == DWARF_AMBIGUOUS) && !unreadable;
    snprintf(classes->why, sizeof classes->why, "%s", why);
}

/* The same of VE code, whose debug info was relocated when it was linked. */
static void look_up_ve(struct veow_classes *classes, const struct velink_library *library)
{
    struct dwarf_signature signature;
    char why[DWARF_WHY] = "it is not in the code of its file";
    enum dwarf_lookup found = DWARF_NOT_DESCRIBED;
    const struct velink_source *source = velink_source_at(library, classes->address);
    const struct velink_named *function = velink_function_at(library, classes->address);
    if (source != NULL)
        found = dwarf_find_signature(index_of(source->image), source->image, source->size,
                                     classes->address - source->bias,
                                     function != NULL ? function->name : NULL, &signature, why);
    if (found == DWARF_FOUND)
        take_signature(classes, &signature);
    else
        take_refusal(classes, found, why);
}

static void look_up(struct veow_classes *classes)
{
    Dl_info info;
    const struct velink_library *library = verun_library_at(classes->address);
    if (library != NULL) {
        look_up_ve(classes, library);
        return;
    }

    struct veow_file file;
    const struct link_map *map = veow_file_of(classes->address, &info);
    if (map == NULL) {
        snprintf(classes->why, sizeof classes->why, "it is in no loaded file");
        return;
    }
    if (!veow_file_map(map, &file)) {
        snprintf(classes->why, sizeof classes->why, "its file cannot be read");
        return;
    }

    struct dwarf_signature signature;
    char why[DWARF_WHY];
    const char *symbol =
        (uint64_t)(uintptr_t)info.dli_saddr == classes->address ? info.dli_sname : NULL;
    enum dwarf_lookup found =
        dwarf_find_signature(index_of(map), file.image, file.size, classes->address - map->l_addr,
                             symbol, &signature, why);
    veow_file_unmap(&file);

    if (found == DWARF_FOUND)
        take_signature(classes, &signature);
    else
        take_refusal(classes, found, why);
}

struct veow_classes *veow_classes_of(uint64_t address)
{
    static _Thread_local struct {
        uint64_t generation;
        struct veow_classes *classes;
    } recent[RECENT];
    static struct veow_classes nothing = {.warned = true};
    unsigned h = hash(address);
    uint64_t now = atomic_load_explicit(&generation, memory_order_acquire);
    struct veow_classes *known = recent[h % RECENT].classes;
    if (recent[h % RECENT].generation == now && known->address == address)
        return known;

    pthread_mutex_lock(&lock);
    struct entry *entry = buckets[h % BUCKETS];
    while (entry != NULL && entry->classes.address != address)
        entry = entry->next;
    if (entry == NULL && (entry = calloc(1, sizeof *entry)) != NULL) {
        entry->classes.address = address;
        look_up(&entry->classes);
        entry->next = buckets[h % BUCKETS];
        buckets[h % BUCKETS] = entry;
    }

    pthread_mutex_unlock(&lock);
    if (entry == NULL)
        return &nothing;

    recent[h % RECENT].generation = now;
    recent[h % RECENT].classes = &entry->classes;
    return &entry->classes;
}

void veow_classes_signature(uint64_t address, char text[WIRE_SIGNATURE_SIZE])
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    text[0] = 0;
    const struct velink_library *library = verun_library_at(address);
    if (library != NULL && velink_function_at(library, address) == NULL)
        return;
    /* Debug info is not searched for what is no function. */
    if (dladdr1((const void *)(uintptr_t)address, &info, (void **)&symbol, RTLD_DL_SYMENT) &&
        symbol != NULL && ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
        return;

    const struct veow_classes *classes = veow_classes_of(address);
    if (classes->signature != NULL)
        snprintf(text, WIRE_SIGNATURE_SIZE, "%s", classes->signature);
}

/* Another library may come to the same addresses. Entries stay allocated, as a context may be
 * using one at this moment; they are small and unloading is rare. */
void veow_classes_forget(void)
{
    static struct entry *old;
    pthread_mutex_lock(&lock);
    forget_files();
    for (unsigned i = 0; i < BUCKETS; i++) {
        while (buckets[i] != NULL) {
            struct entry *entry = buckets[i];
            buckets[i] = entry->next;
            entry->next = old;
            old = entry;
        }
    }

    atomic_fetch_add(&generation, 1);
    pthread_mutex_unlock(&lock);
}

void veow_classes_warn(struct veow_classes *classes, bool kinds_given)
{
    char where[256];
    pthread_mutex_lock(&lock);
    bool first = !classes->warned;
    classes->warned = true;
    pthread_mutex_unlock(&lock);
    if (!first)
        return;

    veow_describe(classes->address, where, sizeof where);
    fprintf(
        stderr,
        "[VE] WARNING: %s is called %s, and its result is taken for an integer, because %s%s\n",
        where, kinds_given ? "as its caller's setters say" : "with integer arguments", classes->why,
        strstr(classes->why, "-g") == NULL ? "; compile it with -g to have its types known" : "");
}
