/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * objects.h: the relocatable files of one link and the symbols that they share.
 *
 * The steps of a link in their order: velink_objects_collect(), velink_objects_place(),
 * velink_objects_resolve(), velink_objects_relocate(). Each returns false with a reason. All by one
 * thread; velink_objects_free() ends it, and leaves alone what went into the library.
 */
#ifndef VELINK_OBJECTS_H
#define VELINK_OBJECTS_H

#include "veo/link/elf_file.h"
#include "veo/link/library.h"
#include "veo/link/names.h"

struct velink_object {
    char name[64];
    struct velink_elf elf;
    struct velink_bytes symbols; /* the symbol table */
    struct velink_bytes strings; /* and its names */
    uint64_t *bases;             /* of sections that are loaded, by index; of others 0 */
    bool *dropped;               /* sections of a group that another object has too */
    uint32_t *slots;             /* of symbols in the table of addresses, plus 1; or 0 */
    uint32_t *pairs;             /* the same, of thread-local symbols */
    uint32_t *globals;           /* of symbols, the number of the global plus 1; or 0 */
};

enum velink_strength {
    VELINK_WEAKLY_USED,
    VELINK_USED,
    VELINK_COMMON,
    VELINK_WEAK,
    VELINK_STRONG,
};

/* A symbol that objects know each other by. */
struct velink_global {
    const char *name;
    enum velink_strength strength;
    uint32_t object; /* that defines it */
    uint32_t index;  /* of the symbol there */
    uint64_t size;
    uint64_t align; /* of a common one */
    bool hidden;
    bool thread_local_one;
    bool known;       /* the address is valid */
    uint64_t address; /* or distance from the thread pointer */
};

struct velink_objects {
    const struct velink_environment *environment;
    struct velink_library *library;
    struct velink_error *error;
    struct velink_object *objects;
    size_t count;
    struct velink_global *globals;
    size_t nglobals;
    struct velink_names names;  /* of globals */
    struct velink_names groups; /* of groups of sections that are there once */
    uint64_t table;             /* address of the table of addresses */
    size_t table_size;
    uint64_t read_only; /* address and size of what is only read after the link */
    uint64_t read_only_size;
    uint64_t tls; /* distance of the thread-local block from the thread pointer */
};

/* Takes in the object, or the members of the archive. */
bool velink_objects_collect(struct velink_objects *all, const char *name,
                            struct velink_bytes image);
/* Copies sections to memory, which becomes the library's. */
bool velink_objects_place(struct velink_objects *all);
/* Gives every symbol its address; what is nowhere is listed in the error. */
bool velink_objects_resolve(struct velink_objects *all);
bool velink_objects_relocate(struct velink_objects *all);
void velink_objects_free(struct velink_objects *all);

#endif
