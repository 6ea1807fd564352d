/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/link/library.h"

#include <fcntl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "veo/link/archive.h"
#include "veo/link/elf_file.h"
#include "veo/link/load.h"
#include "veo/link/objects.h"

uint8_t *velink_map_file(const char *path, size_t *size, struct velink_error *error)
{
    struct stat status = {0};
    uint8_t *image = MAP_FAILED;
    /* Not to be held up by what somebody has put in the file's place. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *size = 0;
    if (fd < 0) {
        velink_fail(error, "cannot open it: %s", strerror(errno));
        return NULL;
    }

    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
        image = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    close(fd);
    if (image == MAP_FAILED) {
        velink_fail(error, "it is no file that can be read");
        return NULL;
    }

    *size = (size_t)status.st_size;
    return image;
}

/* --- what was found --- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct velink_named *)a)->name, ((const struct velink_named *)b)->name);
}

static int by_address(const void *a, const void *b)
{
    uint64_t first = ((const struct velink_named *)a)->address;
    uint64_t second = ((const struct velink_named *)b)->address;
    return (first > second) - (first < second);
}

static void sort_names(struct velink_library *library)
{
    if (library->nexports > 1)
        qsort(library->exports, library->nexports, sizeof *library->exports, by_name);
    if (library->nfunctions > 1)
        qsort(library->functions, library->nfunctions, sizeof *library->functions, by_address);
}

const struct velink_named *velink_export(const struct velink_library *library, const char *name)
{
    struct velink_named key = {.name = name};
    return library->nexports == 0 ? NULL
                                  : bsearch(&key, library->exports, library->nexports,
                                            sizeof *library->exports, by_name);
}

bool velink_contains(const struct velink_library *library, uint64_t address)
{
    return address - (uint64_t)(uintptr_t)library->memory < library->memory_size;
}

const struct velink_named *velink_function_at(const struct velink_library *library,
                                              uint64_t address)
{
    const struct velink_named *found = NULL;
    size_t low = 0;
    size_t high = library->nfunctions;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (library->functions[middle].address <= address) {
            found = &library->functions[middle];
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    bool inside = found != NULL && (address - found->address < found->size || found->size == 0);
    return inside ? found : NULL;
}

const struct velink_source *velink_source_at(const struct velink_library *library, uint64_t address)
{
    for (size_t i = 0; i < library->nsources; i++)
        if (address >= library->sources[i].low && address < library->sources[i].high)
            return &library->sources[i];
    return NULL;
}

/* --- objects --- */

/* Adds the addresses in a section such as .init_array, whose entries were relocated. */
static bool take_addresses(struct velink_addresses *list, const uint64_t *at, size_t count)
{
    uint64_t *larger = realloc(list->at, (list->count + count + 1) * sizeof *larger);
    if (larger == NULL)
        return false;
    list->at = larger;
    for (size_t i = 0; i < count; i++)
        if (at[i] != 0 && at[i] != UINT64_MAX)
            list->at[list->count++] = at[i];
    return true;
}

/* The priority in a name such as ".init_array.101"; the highest for one without. */
static unsigned priority_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name && dot[1] >= '0' && dot[1] <= '9'
               ? (unsigned)strtoul(dot + 1, NULL, 10)
               : 65536;
}

/* Those with a low number first, of equal ones in the order of the objects. */
static bool take_functions(const struct velink_objects *all, uint32_t kind, const char *prefix,
                           struct velink_addresses *list)
{
    for (unsigned from = 0; from <= 65536;) {
        unsigned next = 65537;
        for (size_t o = 0; o < all->count; o++) {
            const struct velink_object *object = &all->objects[o];
            for (size_t i = 1; i < object->elf.nsections; i++) {
                const char *name = velink_elf_section_name(&object->elf, i);
                bool wanted = object->elf.sections[i].sh_type == kind ||
                              strncmp(name, prefix, strlen(prefix)) == 0;
                if (!wanted || object->bases[i] == 0 ||
                    object->elf.sections[i].sh_type == SHT_NOBITS ||
                    object->bases[i] % sizeof(uint64_t) != 0)
                    continue;
                unsigned priority = priority_of(name);
                if (priority > from && priority < next)
                    next = priority;
                if (priority == from &&
                    !take_addresses(list, (const uint64_t *)(uintptr_t)object->bases[i],
                                    (size_t)object->elf.sections[i].sh_size / sizeof(uint64_t)))
                    return velink_fail(all->error, "out of memory");
            }
        }
        from = next;
    }

    return true;
}

/* Makes the debug info of an object readable as that of a shared object at address 0. */
static void take_source(struct velink_library *library, const struct velink_object *object)
{
    struct velink_source source = {
        .image = object->elf.image.data, .size = object->elf.image.size, .low = UINT64_MAX};
    for (size_t i = 1; i < object->elf.nsections; i++) {
        uint64_t base = object->bases[i];
        const Elf64_Shdr *sh = &object->elf.sections[i];
        if (base == 0 || (sh->sh_flags & SHF_EXECINSTR) == 0)
            continue;
        source.low = base < source.low ? base : source.low;
        source.high = base + sh->sh_size > source.high ? base + sh->sh_size : source.high;
    }

    uint16_t type = ET_DYN;
    memcpy((uint8_t *)(uintptr_t)source.image + offsetof(Elf64_Ehdr, e_type), &type, sizeof type);
    if (source.high > source.low)
        library->sources[library->nsources++] = source;
}

static bool take_names(const struct velink_objects *all)
{
    struct velink_library *library = all->library;
    size_t nsymbols = 0;
    for (size_t o = 0; o < all->count; o++)
        nsymbols += velink_symbol_count(all->objects[o].symbols);
    library->exports = calloc(all->nglobals + 1, sizeof *library->exports);
    library->functions = calloc(nsymbols + 1, sizeof *library->functions);
    library->sources = calloc(all->count + 1, sizeof *library->sources);
    if (library->exports == NULL || library->functions == NULL || library->sources == NULL)
        return velink_fail(all->error, "out of memory");

    for (size_t i = 0; i < all->nglobals; i++) {
        const struct velink_global *global = &all->globals[i];
        if (global->strength < VELINK_COMMON || !global->known || global->hidden)
            continue;
        Elf64_Sym symbol = velink_symbol(all->objects[global->object].symbols, global->index);
        library->exports[library->nexports++] =
            (struct velink_named){.name = global->name,
                                  .address = global->address,
                                  .size = global->size,
                                  .function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC,
                                  .thread_local_one = global->thread_local_one};
    }

    for (size_t o = 0; o < all->count; o++) {
        const struct velink_object *object = &all->objects[o];
        for (size_t i = 1; i < velink_symbol_count(object->symbols); i++) {
            Elf64_Sym symbol = velink_symbol(object->symbols, i);
            uint64_t base =
                symbol.st_shndx < object->elf.nsections ? object->bases[symbol.st_shndx] : 0;
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || base == 0)
                continue;
            library->functions[library->nfunctions++] =
                (struct velink_named){.name = velink_string(object->strings, symbol.st_name),
                                      .address = base + symbol.st_value,
                                      .size = symbol.st_size,
                                      .function = true};
        }
        take_source(library, object);
    }

    return true;
}

static bool link_objects(struct velink_objects *all, const char *name)
{
    struct velink_library *library = all->library;
    return velink_objects_collect(all, name,
                                  (struct velink_bytes){library->image, library->image_size}) &&
           velink_objects_place(all) && velink_objects_resolve(all) &&
           velink_objects_relocate(all) &&
           take_functions(all, SHT_INIT_ARRAY, ".ctors", &library->begin) &&
           take_functions(all, SHT_FINI_ARRAY, ".dtors", &library->end) && take_names(all);
}

/* --- libraries --- */

struct velink_library *velink_link(const char *path, uint8_t *image, size_t size,
                                   const struct velink_environment *environment,
                                   struct velink_error *error)
{
    struct velink_library *library = calloc(1, sizeof *library);
    char *copy = strdup(path);
    if (library == NULL || copy == NULL) {
        free(library);
        free(copy);
        munmap(image, size);
        velink_fail(error, "out of memory");
        return NULL;
    }

    Elf64_Ehdr header = {.e_type = ET_NONE};
    *library = (struct velink_library){.path = copy, .image = image, .image_size = size};
    if (velink_is_ve(image, size))
        memcpy(&header, image, sizeof header);

    bool done = false;
    const char *name = strrchr(path, '/');
    if (header.e_type == ET_DYN || header.e_type == ET_EXEC) {
        done = velink_load(library, environment, error);
    } else if (header.e_type == ET_REL || velink_is_archive(image, size)) {
        struct velink_objects all = {
            .environment = environment, .library = library, .error = error};
        done = link_objects(&all, name != NULL ? name + 1 : path);
        velink_objects_free(&all);
    } else {
        velink_fail(error, "it is no object, archive, shared object or executable for the Vector "
                           "Engine");
    }

    if (done) {
        sort_names(library);
        return library;
    }
    velink_library_free(library);
    return NULL;
}

void velink_library_free(struct velink_library *library)
{
    if (library->memory != NULL)
        munmap(library->memory, library->memory_size);
    munmap(library->image, library->image_size);
    free(library->exports);
    free(library->functions);
    free(library->sources);
    free(library->begin.at);
    free(library->end.at);
    free(library->path);
    free(library);
}
