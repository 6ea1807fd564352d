/* SPDX-License-Identifier: BSD-3-Clause */
/* For C tests: byte buffers, and ELF files made of named sections. */
#ifndef OFFCHIP_TESTS_ELF_BUILDER_H
#define OFFCHIP_TESTS_ELF_BUILDER_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"

struct bytes {
    uint8_t *data;
    size_t size, room;
};

static inline void bytes_add(struct bytes *b, const void *data, size_t size)
{
    if (b->size + size > b->room) {
        b->room = 2 * (b->size + size);
        b->data = realloc(b->data, b->room);
        CHECK(b->data != NULL);
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline void bytes_number(struct bytes *b, uint64_t value, size_t size)
{
    CHECK(size <= 8); /* and little-endian, as everything here */
    bytes_add(b, &value, size);
}

static inline void bytes_uleb(struct bytes *b, uint64_t value)
{
    do {
        bytes_number(b, (value & 0x7f) | (value > 0x7f ? 0x80 : 0), 1);
        value >>= 7;
    } while (value != 0);
}

static inline void bytes_ulebs(struct bytes *b, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes_uleb(b, values[i]);
}
#define ULEBS(b, ...) \
    bytes_ulebs(b, (const uint64_t[]){__VA_ARGS__}, \
                sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static inline void bytes_string(struct bytes *b, const char *text)
{
    bytes_add(b, text, strlen(text) + 1);
}

static inline void bytes_free(struct bytes *b)
{
    free(b->data);
    *b = (struct bytes){0};
}

/* --- ELF --- */

#define ELF_MAX_SECTIONS 16

struct elf {
    struct {
        char name[32];
        struct bytes content;
        uint32_t type;
        uint64_t flags;
    } section[ELF_MAX_SECTIONS];
    size_t nsections;
    uint16_t type, machine;
};

/* The section, made when first asked for. */
static inline struct bytes *elf_section(struct elf *e, const char *name)
{
    size_t i = 0;
    while (i < e->nsections && strcmp(e->section[i].name, name) != 0)
        i++;
    if (i == e->nsections) {
        CHECK(i < ELF_MAX_SECTIONS && strlen(name) < sizeof e->section[i].name);
        memset(&e->section[i], 0, sizeof e->section[i]);
        memcpy(e->section[i].name, name, strlen(name) + 1);
        e->section[i].type = SHT_PROGBITS;
        e->nsections++;
    }
    return &e->section[i].content;
}

/* The file; in a block of exactly its size, so that a sanitizer sees a read beyond it. */
static inline uint8_t *elf_image(const struct elf *e, size_t *size)
{
    struct bytes file = {0}, names = {0};
    Elf64_Ehdr eh = {0};
    Elf64_Shdr sh[ELF_MAX_SECTIONS + 2] = {0};
    memcpy(eh.e_ident, ELFMAG, SELFMAG);
    eh.e_ident[EI_CLASS] = ELFCLASS64;
    eh.e_ident[EI_DATA] = ELFDATA2LSB;
    eh.e_ident[EI_VERSION] = EV_CURRENT;
    eh.e_type = e->type != 0 ? e->type : ET_DYN;
    eh.e_machine = e->machine != 0 ? e->machine : EM_X86_64;
    eh.e_shentsize = sizeof *sh;
    eh.e_shnum = (uint16_t)(e->nsections + 2);
    eh.e_shstrndx = (uint16_t)(e->nsections + 1);
    bytes_add(&file, &eh, sizeof eh);
    bytes_string(&names, "");
    for (size_t i = 0; i < e->nsections; i++) {
        sh[i + 1].sh_name = (uint32_t)names.size;
        sh[i + 1].sh_type = e->section[i].type;
        sh[i + 1].sh_flags = e->section[i].flags;
        sh[i + 1].sh_offset = file.size;
        sh[i + 1].sh_size = e->section[i].content.size;
        bytes_string(&names, e->section[i].name);
        if (e->section[i].content.size > 0)
            bytes_add(&file, e->section[i].content.data, e->section[i].content.size);
    }
    Elf64_Shdr *last = &sh[e->nsections + 1];
    last->sh_name = (uint32_t)names.size;
    last->sh_type = SHT_STRTAB;
    bytes_string(&names, ".shstrtab");
    last->sh_offset = file.size;
    last->sh_size = names.size;
    bytes_add(&file, names.data, names.size);
    eh.e_shoff = file.size;
    bytes_add(&file, sh, (e->nsections + 2) * sizeof *sh);
    memcpy(file.data, &eh, sizeof eh);
    uint8_t *image = malloc(file.size);
    CHECK(image != NULL);
    memcpy(image, file.data, file.size);
    *size = file.size;
    bytes_free(&file);
    bytes_free(&names);
    return image;
}

static inline void elf_free(struct elf *e)
{
    for (size_t i = 0; i < e->nsections; i++)
        bytes_free(&e->section[i].content);
    *e = (struct elf){0};
}

#endif
