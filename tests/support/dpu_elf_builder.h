/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For C tests: DPU programs, and files that are nearly DPU programs. The file is: header, program
 * headers, section headers, contents; so that what is cut off first is content.
 */
#ifndef OFFCHIP_TESTS_DPU_ELF_BUILDER_H
#define OFFCHIP_TESTS_DPU_ELF_BUILDER_H

#include "tests/support/elf_builder.h"

#define DPU_MAX_SECTIONS 12
#define DPU_MAX_SEGMENTS 8

enum dpu_section {
    DPU_SECTION_NULL,
    DPU_SECTION_SYMTAB,
    DPU_SECTION_STRTAB,
    DPU_SECTION_SHSTRTAB,
    DPU_SECTION_FIRST, /* of those that a test adds */
};

/* The headers are as dpu_program_start() and the functions after it leave them; a test changes
 * what it likes before it asks for the image. */
struct dpu_program {
    Elf32_Ehdr header;
    Elf32_Phdr segment[DPU_MAX_SEGMENTS]; /* p_offset: from the end of the section headers */
    Elf32_Shdr section[DPU_MAX_SECTIONS]; /* sh_offset likewise */
    size_t nsegments, nsections;
    struct bytes symbols, strings, names, content;
};

static inline void dpu_program_start(struct dpu_program *p)
{
    *p = (struct dpu_program){0};
    memcpy(p->header.e_ident, ELFMAG, SELFMAG);
    p->header.e_ident[EI_CLASS] = ELFCLASS32;
    p->header.e_ident[EI_DATA] = ELFDATA2LSB;
    p->header.e_ident[EI_VERSION] = EV_CURRENT;
    p->header.e_type = ET_EXEC;
    p->header.e_machine = 245;
    p->header.e_version = EV_CURRENT;
    p->header.e_entry = 0x80000000;
    p->header.e_flags = 0x2800000;
    p->header.e_ehsize = sizeof(Elf32_Ehdr);
    p->header.e_phentsize = sizeof(Elf32_Phdr);
    p->header.e_shentsize = sizeof(Elf32_Shdr);
    p->header.e_shstrndx = DPU_SECTION_SHSTRTAB;
    bytes_string(&p->names, "");
    bytes_string(&p->strings, "");
    bytes_add(&p->symbols, &(Elf32_Sym){0}, sizeof(Elf32_Sym));
    p->nsections = DPU_SECTION_FIRST;
    static const char *const names[] = {"", ".symtab", ".strtab", ".shstrtab"};
    for (size_t i = 1; i < DPU_SECTION_FIRST; i++) {
        p->section[i].sh_name = (uint32_t)p->names.size;
        p->section[i].sh_type = SHT_STRTAB;
        bytes_string(&p->names, names[i]);
    }
    p->section[DPU_SECTION_SYMTAB].sh_type = SHT_SYMTAB;
    p->section[DPU_SECTION_SYMTAB].sh_entsize = sizeof(Elf32_Sym);
    p->section[DPU_SECTION_SYMTAB].sh_link = DPU_SECTION_STRTAB;
}

/* The index of a new section, which has SIZE bytes at DATA; NULL for one without contents. */
static inline uint16_t dpu_program_section(struct dpu_program *p, const char *name, uint32_t type,
                                           uint32_t address, const void *data, uint32_t size)
{
    CHECK(p->nsections < DPU_MAX_SECTIONS);
    Elf32_Shdr *sh = &p->section[p->nsections];
    *sh = (Elf32_Shdr){
        .sh_name = (uint32_t)p->names.size,
        .sh_type = type,
        .sh_addr = address,
        .sh_offset = (uint32_t)p->content.size,
        .sh_size = size,
    };
    bytes_string(&p->names, name);
    if (data != NULL)
        bytes_add(&p->content, data, size);
    return (uint16_t)p->nsections++;
}

/* A segment of a section's contents, with more bytes in memory. */
static inline Elf32_Phdr *dpu_program_segment(struct dpu_program *p, uint16_t section,
                                              uint32_t more)
{
    CHECK(p->nsegments < DPU_MAX_SEGMENTS);
    const Elf32_Shdr *sh = &p->section[section];
    uint32_t size = sh->sh_type == SHT_NOBITS ? 0 : sh->sh_size;
    Elf32_Phdr *ph = &p->segment[p->nsegments++];
    *ph = (Elf32_Phdr){
        .p_type = PT_LOAD,
        .p_offset = sh->sh_offset,
        .p_vaddr = sh->sh_addr,
        .p_paddr = sh->sh_addr,
        .p_filesz = size,
        .p_memsz = size + more,
    };
    return ph;
}

static inline void dpu_program_symbol(struct dpu_program *p, const char *name, uint32_t value,
                                      uint32_t size, int bind, int type, uint16_t section)
{
    Elf32_Sym sym = {
        .st_name = (uint32_t)p->strings.size,
        .st_value = value,
        .st_size = size,
        .st_info = (unsigned char)ELF32_ST_INFO(bind, type),
        .st_shndx = section,
    };
    bytes_string(&p->strings, name);
    bytes_add(&p->symbols, &sym, sizeof sym);
}

/* The file, in a block of exactly its size; frees what *P holds. */
static inline uint8_t *dpu_program_image(struct dpu_program *p, size_t *size)
{
    struct bytes *tables[] = {&p->symbols, &p->strings, &p->names};
    uint32_t start = (uint32_t)(sizeof p->header + p->nsegments * sizeof *p->segment +
                                p->nsections * sizeof *p->section);
    for (size_t i = 0; i < 3; i++) {
        Elf32_Shdr *sh = &p->section[DPU_SECTION_SYMTAB + i];
        sh->sh_offset = (uint32_t)p->content.size;
        if (sh->sh_size == 0)
            sh->sh_size = (uint32_t)tables[i]->size;
        bytes_add(&p->content, tables[i]->data, tables[i]->size);
        bytes_free(tables[i]);
    }
    p->header.e_phnum = (uint16_t)p->nsegments;
    p->header.e_phoff = sizeof p->header;
    p->header.e_shnum = (uint16_t)p->nsections;
    p->header.e_shoff = (uint32_t)(p->header.e_phoff + p->nsegments * sizeof *p->segment);
    for (size_t i = 0; i < p->nsegments; i++)
        p->segment[i].p_offset += start;
    for (size_t i = 1; i < p->nsections; i++)
        p->section[i].sh_offset += start;
    struct bytes file = {0};
    bytes_add(&file, &p->header, sizeof p->header);
    bytes_add(&file, p->segment, p->nsegments * sizeof *p->segment);
    bytes_add(&file, p->section, p->nsections * sizeof *p->section);
    bytes_add(&file, p->content.data, p->content.size);
    bytes_free(&p->content);
    uint8_t *image = malloc(file.size);
    CHECK(image != NULL);
    memcpy(image, file.data, file.size);
    *size = file.size;
    bytes_free(&file);
    return image;
}

#endif
