/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the sections of objects lie in memory: what is only read, then what is written. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "veo/link/objects.h"
#include "veo/link/relocate.h"

enum { PAGE = 4096, SLOT = 8 };
/* Of one library; more is taken for a damaged file. */
#define MEMORY_MAX (UINT64_C(1) << 36)
#define ALIGN_MAX (UINT64_C(1) << 24)

/* Parts of the memory, in their order. */
enum part { READ, WRITTEN, THREADS, PARTS };

struct layout {
    uint64_t size[PARTS];
    uint64_t align[PARTS];
};

static bool is_loaded(const struct velink_object *object, size_t section)
{
    const Elf64_Shdr *sh = &object->elf.sections[section];
    return (sh->sh_flags & SHF_ALLOC) != 0 && !object->dropped[section] && sh->sh_type != SHT_GROUP;
}

static enum part part_of(const Elf64_Shdr *sh)
{
    if ((sh->sh_flags & SHF_TLS) != 0)
        return THREADS;
    return (sh->sh_flags & SHF_WRITE) != 0 ? WRITTEN : READ;
}

/* Takes SIZE bytes of a part. False if that is too much. */
static bool take(struct layout *layout, enum part part, uint64_t size, uint64_t align,
                 uint64_t *offset)
{
    if (align == 0)
        align = 1;
    if ((align & (align - 1)) != 0 || align > ALIGN_MAX || size > MEMORY_MAX)
        return false;

    *offset = (layout->size[part] + align - 1) & ~(align - 1);
    layout->size[part] = *offset + size;
    if (align > layout->align[part])
        layout->align[part] = align;
    return layout->size[part] <= MEMORY_MAX;
}

/* Sections with content go before those without, so that the image of threads is short. */
static bool take_sections(struct velink_objects *all, struct layout *layout, bool empty)
{
    for (size_t o = 0; o < all->count; o++) {
        struct velink_object *object = &all->objects[o];
        for (size_t i = 1; i < object->elf.nsections; i++) {
            const Elf64_Shdr *sh = &object->elf.sections[i];
            if (!is_loaded(object, i) || (sh->sh_type == SHT_NOBITS) != empty)
                continue;
            if (!empty && velink_elf_content(&object->elf, i).size != sh->sh_size)
                return velink_fail(all->error, "section %s of %s is not all in the file",
                                   velink_elf_section_name(&object->elf, i), object->name);
            if (!take(layout, part_of(sh), sh->sh_size, sh->sh_addralign, &object->bases[i]))
                return velink_fail(all->error,
                                   "section %s of %s is too large or has a bad alignment",
                                   velink_elf_section_name(&object->elf, i), object->name);
        }
    }

    return true;
}

static bool take_commons(struct velink_objects *all, struct layout *layout)
{
    for (size_t i = 0; i < all->nglobals; i++) {
        struct velink_global *global = &all->globals[i];
        if (global->strength == VELINK_COMMON &&
            !take(layout, WRITTEN, global->size, global->align, &global->address))
            return velink_fail(all->error, "the variable %.200s is too large", global->name);
    }

    return true;
}

/* --- the table of addresses --- */

static uint32_t next_slot(struct velink_objects *all, unsigned count)
{
    uint32_t slot = (uint32_t)(all->table_size / SLOT) + 1;
    all->table_size += count * (size_t)SLOT;
    return slot;
}

/* Slots for the symbols whose addresses code reads. */
static void take_slots(struct velink_objects *all)
{
    all->table_size = 3 * SLOT; /* which a table starts with */
    for (size_t o = 0; o < all->count; o++) {
        struct velink_object *object = &all->objects[o];
        for (size_t i = 1; i < object->elf.nsections; i++) {
            if (object->elf.sections[i].sh_type != SHT_RELA)
                continue;
            struct velink_bytes table = velink_elf_content(&object->elf, i);
            for (size_t r = 0; r < velink_relocation_count(table); r++) {
                Elf64_Rela rela = velink_relocation(table, r);
                const struct velink_relocation_type *type =
                    velink_relocation_type(ELF64_R_TYPE(rela.r_info));
                size_t symbol = ELF64_R_SYM(rela.r_info);
                if (type == NULL || symbol >= velink_symbol_count(object->symbols))
                    continue;
                if ((type->value == VELINK_PAIR_DISTANCE ||
                     type->value == VELINK_MODULE_PAIR_DISTANCE) &&
                    object->pairs[symbol] == 0)
                    object->pairs[symbol] = next_slot(all, 2);
                if ((type->value == VELINK_SLOT_OFFSET ||
                     type->value == VELINK_THREAD_SLOT_DISTANCE) &&
                    object->slots[symbol] == 0)
                    object->slots[symbol] = next_slot(all, 1);
            }
        }
    }
}

/* --- memory --- */

/* Copies sections to where they now lie; offsets become addresses. */
static void copy_sections(struct velink_objects *all, const uint64_t start[PARTS])
{
    for (size_t o = 0; o < all->count; o++) {
        struct velink_object *object = &all->objects[o];
        for (size_t i = 1; i < object->elf.nsections; i++) {
            if (!is_loaded(object, i))
                continue;
            struct velink_bytes content = velink_elf_content(&object->elf, i);
            object->bases[i] += start[part_of(&object->elf.sections[i])];
            if (content.size > 0)
                memcpy((void *)(uintptr_t)object->bases[i], content.data, content.size);
        }
    }

    for (size_t i = 0; i < all->nglobals; i++)
        if (all->globals[i].strength == VELINK_COMMON)
            all->globals[i].address += start[WRITTEN];
}

/* The content of the thread-local block is kept behind what is only read. */
static void note_threads(struct velink_objects *all, const struct layout *layout, uint64_t image,
                         uint64_t image_size)
{
    struct velink_library *library = all->library;
    library->tls = (struct velink_tls){
        .image = (const void *)(uintptr_t)image,
        .image_size = (size_t)image_size,
        .size = (size_t)layout->size[THREADS],
        .offset = all->tls,
    };
}

bool velink_objects_place(struct velink_objects *all)
{
    struct layout layout = {.align = {PAGE, PAGE, 1}};
    uint64_t table = 0;
    take_slots(all);
    if (!take_sections(all, &layout, false))
        return false;

    uint64_t thread_image = layout.size[THREADS];
    if (!take_sections(all, &layout, true) || !take_commons(all, &layout) ||
        !take(&layout, WRITTEN, all->table_size, SLOT, &table))
        return velink_fail(all->error, "it is too large");
    if (layout.size[THREADS] != 0 &&
        !all->environment->reserve(all->environment->owner, (size_t)layout.size[THREADS],
                                   (size_t)layout.align[THREADS], &all->tls))
        return velink_fail(all->error, "there is no room for %llu bytes of thread-local variables",
                           (unsigned long long)layout.size[THREADS]);

    /* Alignments beyond a page are met by the start of the memory. */
    uint64_t align =
        layout.align[READ] > layout.align[WRITTEN] ? layout.align[READ] : layout.align[WRITTEN];
    uint64_t written = (layout.size[READ] + align - 1) & ~(align - 1);
    uint64_t threads = written + ((layout.size[WRITTEN] + PAGE - 1) & ~(uint64_t)(PAGE - 1));
    uint64_t size = threads + layout.size[THREADS] + PAGE + align;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return velink_fail(all->error, "there is no memory for its %llu bytes",
                           (unsigned long long)size);
    all->library->memory = memory;
    all->library->memory_size = (size_t)size;

    uint64_t base = ((uint64_t)(uintptr_t)memory + align - 1) & ~(align - 1);
    const uint64_t start[PARTS] = {base, base + written, base + threads};
    all->table = start[WRITTEN] + table;
    all->read_only = base;
    all->read_only_size = written;
    copy_sections(all, start);
    note_threads(all, &layout, start[THREADS], thread_image);
    return true;
}
