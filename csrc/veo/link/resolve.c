/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses of symbols, and what relocations write. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "veo/link/missing.h"
#include "veo/link/objects.h"
#include "veo/link/relocate.h"

/* --- symbols --- */

/* Meaning of a symbol of an object. */
struct meaning {
    uint64_t address; /* or distance from the thread pointer */
    uint64_t size;
    bool thread_local_one;
    bool defined; /* in a section that is loaded, or elsewhere */
};

/* Meaning of a symbol that the object itself defines. */
static struct meaning own_meaning(const struct velink_objects *all,
                                  const struct velink_object *object, const Elf64_Sym *symbol)
{
    struct meaning meaning = {.size = symbol->st_size};
    if (symbol->st_shndx == SHN_ABS) {
        meaning.address = symbol->st_value;
        meaning.defined = true;
    } else if (symbol->st_shndx < object->elf.nsections) {
        const Elf64_Shdr *sh = &object->elf.sections[symbol->st_shndx];
        uint64_t base = object->bases[symbol->st_shndx];
        meaning.address = base + symbol->st_value;
        /* Sections of debug info, which are not loaded, refer to each other by offsets. */
        meaning.defined = base != 0 || (sh->sh_flags & SHF_ALLOC) == 0;
        meaning.thread_local_one = (sh->sh_flags & SHF_TLS) != 0;
        if (meaning.thread_local_one)
            meaning.address += all->tls - (uint64_t)(uintptr_t)all->library->tls.image;
    }

    return meaning;
}

static struct meaning meaning_of(const struct velink_objects *all,
                                 const struct velink_object *object, size_t index)
{
    Elf64_Sym symbol = velink_symbol(object->symbols, index);
    if (object->globals[index] == 0)
        return own_meaning(all, object, &symbol);

    const struct velink_global *global = &all->globals[object->globals[index] - 1];
    return (struct meaning){.address = global->address,
                            .size = global->size,
                            .thread_local_one = global->thread_local_one,
                            .defined = global->known};
}

/* For messages. */
static const char *name_of(const struct velink_object *object, size_t index)
{
    Elf64_Sym symbol = velink_symbol(object->symbols, index);
    return ELF64_ST_TYPE(symbol.st_info) == STT_SECTION && symbol.st_shndx < object->elf.nsections
               ? velink_elf_section_name(&object->elf, symbol.st_shndx)
               : velink_string(object->strings, symbol.st_name);
}

/* Gives a global that no object defines the address that the environment knows. */
static void find_elsewhere(struct velink_objects *all, struct velink_global *global,
                           struct velink_missing *missing)
{
    const struct velink_environment *environment = all->environment;
    struct velink_named found = {.name = global->name};
    if (strcmp(global->name, "_GLOBAL_OFFSET_TABLE_") == 0 ||
        strcmp(global->name, "__dso_handle") == 0) {
        global->address = all->table;
        global->known = true;
    } else if (environment->find(environment->owner, global->name, &found)) {
        global->address = found.address;
        global->thread_local_one = found.thread_local_one;
        global->known = true;
    } else if (global->strength == VELINK_WEAKLY_USED) {
        global->known = true; /* its address is 0 */
    } else {
        global->address = environment->missing(environment->owner, global->name);
        global->known = global->address != 0;
        if (!global->known)
            velink_missing_add(missing, global->name);
    }
}

bool velink_objects_resolve(struct velink_objects *all)
{
    struct velink_missing missing = {.count = 0};
    for (size_t i = 0; i < all->nglobals; i++) {
        struct velink_global *global = &all->globals[i];
        if (global->strength >= VELINK_WEAK) {
            const struct velink_object *object = &all->objects[global->object];
            Elf64_Sym symbol = velink_symbol(object->symbols, global->index);
            struct meaning meaning = own_meaning(all, object, &symbol);
            global->address = meaning.address;
            global->thread_local_one = meaning.thread_local_one;
            global->known = meaning.defined;
        } else if (global->strength == VELINK_COMMON) {
            global->known = true;
        } else {
            find_elsewhere(all, global, &missing);
        }
    }

    return velink_missing_end(&missing, all->error);
}

/* --- relocations --- */

/* A section that is being relocated. */
struct place {
    const struct velink_object *object;
    const char *section;
    uint8_t *content;
    uint64_t address; /* 0 for debug info, which is not loaded */
    uint64_t size;
};

static uint64_t *slot_at(const struct velink_objects *all, uint32_t slot)
{
    return (uint64_t *)(uintptr_t)(all->table + (slot - 1) * sizeof(uint64_t));
}

/* The address of the slot that holds VALUE. */
static uint64_t fill_slot(const struct velink_objects *all, uint32_t slot, uint64_t value)
{
    *slot_at(all, slot) = value;
    return (uint64_t)(uintptr_t)slot_at(all, slot);
}

/* Modules are told by the distance of their blocks from the thread pointer. */
static uint64_t fill_pair(const struct velink_objects *all, uint32_t slot, uint64_t module,
                          uint64_t offset)
{
    fill_slot(all, slot + 1, offset);
    return fill_slot(all, slot, module);
}

static bool value_of(const struct velink_objects *all, const struct place *place,
                     const Elf64_Rela *rela, const struct meaning *meaning, enum velink_value kind,
                     uint64_t *value)
{
    size_t index = ELF64_R_SYM(rela->r_info);
    const struct velink_object *object = place->object;
    const struct meaning symbol = *meaning;
    uint64_t addend = (uint64_t)rela->r_addend;
    uint64_t at = place->address + rela->r_offset;
    bool own = symbol.thread_local_one && symbol.address - all->tls <= all->library->tls.size;
    uint64_t module = own ? all->tls : 0;
    switch (kind) {
    case VELINK_NOTHING: *value = 0; return true;
    case VELINK_ADDRESS: *value = symbol.address + addend; return true;
    case VELINK_DISTANCE: *value = symbol.address + addend - at; return true;
    case VELINK_SLOT_OFFSET:
        *value = fill_slot(all, object->slots[index], symbol.address) + addend - all->table;
        return true;
    case VELINK_FROM_TABLE: *value = symbol.address + addend - all->table; return true;
    case VELINK_PAIR_DISTANCE:
        *value =
            fill_pair(all, object->pairs[index], module, symbol.address - module) + addend - at;
        return true;
    case VELINK_MODULE_PAIR_DISTANCE:
        *value = fill_pair(all, object->pairs[index], module, 0) + addend - at;
        return true;
    case VELINK_THREAD_SLOT_DISTANCE:
        *value = fill_slot(all, object->slots[index], symbol.address) + addend - at;
        return true;
    case VELINK_FROM_THREAD: *value = symbol.address + addend; return true;
    case VELINK_IN_MODULE: *value = symbol.address + addend - module; return true;
    case VELINK_MODULE: *value = module; return true;
    case VELINK_IN_FILE:
    case VELINK_CONTENT:
    case VELINK_RESOLVED: break; /* not in objects */
    }

    return false;
}

static bool needs_thread_local(enum velink_value kind)
{
    return kind == VELINK_PAIR_DISTANCE || kind == VELINK_THREAD_SLOT_DISTANCE ||
           kind == VELINK_FROM_THREAD || kind == VELINK_MODULE;
}

static bool relocate(const struct velink_objects *all, const struct place *place,
                     const Elf64_Rela *rela)
{
    uint64_t number = ELF64_R_TYPE(rela->r_info);
    const struct velink_relocation_type *type = velink_relocation_type(number);
    size_t index = ELF64_R_SYM(rela->r_info);
    uint64_t value = 0;
    if (index >= velink_symbol_count(place->object->symbols) && index != 0)
        return velink_fail(all->error,
                           "a relocation of section %s of %s is for a symbol that is not there",
                           place->section, place->object->name);

    struct meaning symbol = meaning_of(all, place->object, index);
    if (type == NULL || !value_of(all, place, rela, &symbol, type->value, &value))
        return velink_fail(all->error,
                           "section %s of %s has a relocation of type %llu, which is "
                           "none for objects",
                           place->section, place->object->name, (unsigned long long)number);
    if (rela->r_offset > place->size ||
        velink_field_size(type->field) > place->size - rela->r_offset)
        return velink_fail(all->error, "a relocation of section %s of %s is beyond its end",
                           place->section, place->object->name);
    if (place->address == 0 && !symbol.defined)
        return true; /* debug info of what was left out */
    if (needs_thread_local(type->value) && !symbol.thread_local_one)
        return velink_fail(all->error,
                           "%.200s is used as a thread-local variable (%s), and is none",
                           name_of(place->object, index), type->name);
    if (!velink_write_field(place->content + rela->r_offset, type->field, value))
        return velink_fail(all->error, "%s: %.200s is too far away for %s", place->object->name,
                           name_of(place->object, index), type->name);
    return true;
}

/* The section that a table of relocations is for; false if they are not applied. */
static bool find_place(const struct velink_object *object, size_t table, struct place *place)
{
    size_t section = object->elf.sections[table].sh_info;
    if (section >= object->elf.nsections || object->dropped[section])
        return false;

    const Elf64_Shdr *sh = &object->elf.sections[section];
    const char *name = velink_elf_section_name(&object->elf, section);
    *place = (struct place){.object = object, .section = name, .address = object->bases[section]};
    if (place->address != 0) {
        place->content = (uint8_t *)(uintptr_t)place->address;
        place->size = sh->sh_size;
        return true;
    }

    /* The image is this link's own, and only read after it. */
    struct velink_bytes content = velink_elf_content(&object->elf, section);
    place->content = (uint8_t *)(uintptr_t)content.data;
    place->size = content.size;
    return strncmp(name, ".debug_", 7) == 0 && (sh->sh_flags & SHF_COMPRESSED) == 0 &&
           content.size != 0;
}

static bool relocate_object(const struct velink_objects *all, const struct velink_object *object)
{
    struct place place;
    for (size_t i = 1; i < object->elf.nsections; i++) {
        if (object->elf.sections[i].sh_type != SHT_RELA || !find_place(object, i, &place))
            continue;
        struct velink_bytes table = velink_elf_content(&object->elf, i);
        for (size_t r = 0; r < velink_relocation_count(table); r++) {
            Elf64_Rela rela = velink_relocation(table, r);
            if (!relocate(all, &place, &rela))
                return false;
        }
    }

    return true;
}

bool velink_objects_relocate(struct velink_objects *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (!relocate_object(all, &all->objects[i]))
            return false;
    if (all->read_only_size != 0)
        mprotect((void *)(uintptr_t)all->read_only, all->read_only_size, PROT_READ);
    return true;
}
