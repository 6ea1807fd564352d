/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/link/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "veo/link/archive.h"

/* --- symbols that objects share --- */

static enum velink_strength strength_of(const struct velink_object *object, const Elf64_Sym *symbol)
{
    bool weak = ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
    bool gone = symbol->st_shndx < object->elf.nsections && object->dropped[symbol->st_shndx];
    if (symbol->st_shndx == SHN_UNDEF || gone)
        return weak ? VELINK_WEAKLY_USED : VELINK_USED;
    if (symbol->st_shndx == SHN_COMMON)
        return VELINK_COMMON;
    return weak ? VELINK_WEAK : VELINK_STRONG;
}

/* The global of a name, which is added if it is new. NULL without memory. */
static struct velink_global *global_of(struct velink_objects *all, const char *name)
{
    uint32_t number = velink_names_find(&all->names, name);
    if (number != VELINK_NO_NUMBER)
        return &all->globals[number];

    if ((all->nglobals & (all->nglobals - 1)) == 0) {
        size_t room = all->nglobals != 0 ? 2 * all->nglobals : 1;
        struct velink_global *larger = realloc(all->globals, room * sizeof *larger);
        if (larger == NULL)
            return NULL;
        all->globals = larger;
    }
    if (!velink_names_add(&all->names, name, (uint32_t)all->nglobals))
        return NULL;
    all->globals[all->nglobals] = (struct velink_global){.name = name};
    return &all->globals[all->nglobals++];
}

/* Notes what an object says of a global: the strongest definition counts. */
static bool enter(struct velink_objects *all, uint32_t number, uint32_t index,
                  const Elf64_Sym *symbol)
{
    const struct velink_object *object = &all->objects[number];
    const char *name = velink_string(object->strings, symbol->st_name);
    enum velink_strength strength = strength_of(object, symbol);
    struct velink_global *global = *name != '\0' ? global_of(all, name) : NULL;
    if (*name == '\0')
        return true;
    if (global == NULL)
        return velink_fail(all->error, "out of memory");

    object->globals[index] = (uint32_t)(global - all->globals) + 1;
    if (strength == VELINK_STRONG && global->strength == VELINK_STRONG)
        return velink_fail(all->error, "%.200s is defined in both %s and %s", name,
                           all->objects[global->object].name, object->name);
    if (strength == VELINK_COMMON && global->strength == VELINK_COMMON) {
        global->size = symbol->st_size > global->size ? symbol->st_size : global->size;
        global->align = symbol->st_value > global->align ? symbol->st_value : global->align;
        return true;
    }

    global->hidden = global->hidden || ELF64_ST_VISIBILITY(symbol->st_other) == STV_HIDDEN ||
                     ELF64_ST_VISIBILITY(symbol->st_other) == STV_INTERNAL;
    if (strength < global->strength)
        return true;
    if (strength == global->strength && strength == VELINK_WEAK)
        return true;
    global->strength = strength;
    global->object = number;
    global->index = index;
    global->size = symbol->st_size;
    global->align = strength == VELINK_COMMON ? symbol->st_value : 1;
    global->thread_local_one = ELF64_ST_TYPE(symbol->st_info) == STT_TLS;
    return true;
}

/* --- objects --- */

/* Marks the sections of groups that an earlier object has. */
static bool drop_groups(struct velink_objects *all, struct velink_object *object)
{
    for (size_t i = 1; i < object->elf.nsections; i++) {
        if (object->elf.sections[i].sh_type != SHT_GROUP)
            continue;

        Elf64_Sym symbol = velink_symbol(object->symbols, object->elf.sections[i].sh_info);
        const char *name = velink_string(object->strings, symbol.st_name);
        struct velink_bytes words = velink_elf_content(&object->elf, i);
        uint32_t word = 0;
        if (words.size >= sizeof word)
            memcpy(&word, words.data, sizeof word);
        if ((word & GRP_COMDAT) == 0 || *name == '\0')
            continue;

        if (velink_names_find(&all->groups, name) == VELINK_NO_NUMBER) {
            if (!velink_names_add(&all->groups, name, 0))
                return velink_fail(all->error, "out of memory");
            continue;
        }
        for (size_t at = sizeof word; at + sizeof word <= words.size; at += sizeof word) {
            memcpy(&word, words.data + at, sizeof word);
            if (word < object->elf.nsections)
                object->dropped[word] = true;
        }
    }

    return true;
}

static bool find_symbols(struct velink_object *object, struct velink_error *error)
{
    for (size_t i = 1; i < object->elf.nsections; i++) {
        if (object->elf.sections[i].sh_type != SHT_SYMTAB)
            continue;
        object->symbols = velink_elf_content(&object->elf, i);
        object->strings = velink_elf_content(&object->elf, object->elf.sections[i].sh_link);
    }

    size_t nsymbols = velink_symbol_count(object->symbols) + 1;
    object->bases = calloc(object->elf.nsections + 1, sizeof *object->bases);
    object->dropped = calloc(object->elf.nsections + 1, sizeof *object->dropped);
    object->slots = calloc(nsymbols, sizeof *object->slots);
    object->pairs = calloc(nsymbols, sizeof *object->pairs);
    object->globals = calloc(nsymbols, sizeof *object->globals);
    if (object->bases == NULL || object->dropped == NULL || object->slots == NULL ||
        object->pairs == NULL || object->globals == NULL)
        return velink_fail(error, "out of memory");
    return true;
}

static void free_object(struct velink_object *object)
{
    velink_elf_close(&object->elf);
    free(object->bases);
    free(object->dropped);
    free(object->slots);
    free(object->pairs);
    free(object->globals);
}

static bool enter_symbols(struct velink_objects *all, uint32_t number)
{
    struct velink_object *object = &all->objects[number];
    if (!drop_groups(all, object))
        return false;

    for (size_t i = 1; i < velink_symbol_count(object->symbols); i++) {
        Elf64_Sym symbol = velink_symbol(object->symbols, i);
        if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && !enter(all, number, (uint32_t)i, &symbol))
            return false;
    }

    return true;
}

static bool add_object(struct velink_objects *all, const char *name, struct velink_bytes image)
{
    struct velink_object *larger = realloc(all->objects, (all->count + 1) * sizeof *all->objects);
    if (larger == NULL)
        return velink_fail(all->error, "out of memory");
    all->objects = larger;

    struct velink_object *object = &all->objects[all->count];
    *object = (struct velink_object){.symbols = {image.data, 0}, .strings = {image.data, 0}};
    snprintf(object->name, sizeof object->name, "%s", name);
    if (!velink_elf_open(&object->elf, image, all->error))
        return velink_fail(all->error, "%s", name);
    if (object->elf.header.e_type != ET_REL || !find_symbols(object, all->error)) {
        free_object(object);
        return velink_fail(all->error, "%s is no relocatable object", name);
    }

    all->count++;
    return enter_symbols(all, (uint32_t)all->count - 1);
}

/* --- members that are taken when something needs them --- */

/* True if an object defines a symbol that is missing so far. */
static bool is_needed(const struct velink_objects *all, struct velink_bytes image)
{
    struct velink_error ignored = {""};
    struct velink_object object = {.symbols = {image.data, 0}, .strings = {image.data, 0}};
    bool needed = false;
    if (!velink_elf_open(&object.elf, image, &ignored))
        return false;

    if (find_symbols(&object, &ignored)) {
        for (size_t i = 1; i < velink_symbol_count(object.symbols) && !needed; i++) {
            Elf64_Sym symbol = velink_symbol(object.symbols, i);
            const char *name = velink_string(object.strings, symbol.st_name);
            if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || symbol.st_shndx == SHN_UNDEF)
                continue;
            uint32_t number = velink_names_find(&all->names, name);
            needed = number != VELINK_NO_NUMBER && all->globals[number].strength == VELINK_USED;
        }
    }
    free_object(&object);
    return needed;
}

static bool has_object(const struct velink_objects *all, const uint8_t *image)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->objects[i].elf.image.data == image)
            return true;
    return false;
}

/* Takes what is needed of an archive within the archive; *MORE is set if that was anything. */
static bool take_needed(struct velink_objects *all, struct velink_bytes image, bool *more)
{
    struct velink_archive archive;
    struct velink_member member;
    velink_archive_open(&archive, image);
    while (velink_archive_next(&archive, &member, all->error)) {
        if (!velink_is_ve(member.content.data, member.content.size) ||
            has_object(all, member.content.data) || !is_needed(all, member.content))
            continue;
        if (!add_object(all, member.name, member.content))
            return false;
        *more = true;
    }

    return all->error->text[0] == '\0';
}

static bool collect_archive(struct velink_objects *all, struct velink_bytes image)
{
    struct velink_archive archive;
    struct velink_member member;
    velink_archive_open(&archive, image);
    while (velink_archive_next(&archive, &member, all->error))
        if (!velink_is_archive(member.content.data, member.content.size) &&
            !add_object(all, member.name, member.content))
            return false;

    for (bool more = true; more && all->error->text[0] == '\0';) {
        more = false;
        velink_archive_open(&archive, image);
        while (velink_archive_next(&archive, &member, all->error))
            if (velink_is_archive(member.content.data, member.content.size) &&
                !take_needed(all, member.content, &more))
                return false;
    }

    return all->error->text[0] == '\0';
}

bool velink_objects_collect(struct velink_objects *all, const char *name, struct velink_bytes image)
{
    if (!velink_is_archive(image.data, image.size))
        return add_object(all, name, image);
    if (!collect_archive(all, image))
        return false;
    return all->count > 0 || velink_fail(all->error, "the archive has no object");
}

void velink_objects_free(struct velink_objects *all)
{
    for (size_t i = 0; i < all->count; i++)
        free_object(&all->objects[i]);
    free(all->objects);
    free(all->globals);
    velink_names_free(&all->names);
    velink_names_free(&all->groups);
}
