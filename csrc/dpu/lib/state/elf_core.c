/* SPDX-License-Identifier: BSD-3-Clause */
/* elf_core.c: core files: the memories and registers of a DPU as an ELF file. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/programs/elf_file.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/machine/machine.h"
#include "dpu_checkpoint.h"
#include "dpu_debug.h"
#include "dpu_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REGISTERS_BASE UINT32_C(0xA0000000)

enum { NONE, TEXT, DATA, MRAM, REGISTERS, SYMBOLS, STRINGS, NAMES, SECTIONS };
enum { MEMORIES = REGISTERS };
static const char names[] = "\0.text\0.data\0.mram\0.regs\0.symtab\0.strtab\0.shstrtab";

struct part {
    const void *bytes;
    uint32_t size, address, flags;
};

/* The place of each name in names. */
static uint32_t name_of(uint32_t section)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < section; i++)
        at += (uint32_t)strlen(names + at) + 1;
    return at;
}

/* The sections of a core file have other numbers, and some of the program's are in none of them. */
static void move_symbol(Elf32_Sym *symbol)
{
    const uint32_t value = symbol->st_value;
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE)
        return;

    if (value >= DPU_ELF_ATOMIC_BASE)
        symbol->st_shndx = SHN_ABS;
    else if ((value & DPU_ELF_IRAM_BASE) != 0)
        symbol->st_shndx = TEXT;
    else
        symbol->st_shndx = (value & DPU_ELF_MRAM_BASE) != 0 ? MRAM : DATA;
}

/* Finds the symbols of a program, and their names. */
static bool find_symbols(const struct dpu_elf_sections *all, Elf32_Shdr *table,
                         struct dpu_elf_bytes *symbols, struct dpu_elf_bytes *strings)
{
    for (uint32_t i = 1; i < all->count; i++) {
        *table = dpu_elf_section(all, i);
        const Elf32_Shdr text = dpu_elf_section(all, table->sh_link);
        if (table->sh_type == SHT_SYMTAB && dpu_elf_section_bytes(all, table, symbols) &&
            dpu_elf_section_bytes(all, &text, strings))
            return true;
    }

    return false;
}

/* The symbols of the program EXE, which may be NULL. False if out of memory. */
static bool copy_symbols(const struct dpulib_elf_file *exe, Elf32_Shdr *sections, uint8_t **symbols,
                         const uint8_t **strings)
{
    Elf32_Shdr table;
    struct dpu_elf_bytes from, text;
    if (exe == NULL || !find_symbols(&exe->elf.sections, &table, &from, &text)) {
        *strings = (const uint8_t *)names;
        sections[STRINGS].sh_size = 1;
        return true;
    }

    const uint32_t count = (uint32_t)(from.size / sizeof(Elf32_Sym));
    *symbols = calloc((size_t)count + 1, sizeof(Elf32_Sym));
    if (*symbols == NULL)
        return false;

    for (uint32_t i = 0; i < count; i++) {
        Elf32_Sym symbol;
        memcpy(&symbol, from.data + i * sizeof symbol, sizeof symbol);
        move_symbol(&symbol);
        memcpy(*symbols + i * sizeof symbol, &symbol, sizeof symbol);
    }

    *strings = text.data;
    sections[SYMBOLS].sh_size = count * (uint32_t)sizeof(Elf32_Sym);
    sections[SYMBOLS].sh_info = table.sh_info <= count ? table.sh_info : 0;
    sections[STRINGS].sh_size = (Elf32_Word)text.size;
    return true;
}

static bool write_all(int fd, const void *bytes, size_t size, uint64_t offset)
{
    const uint8_t *from = bytes;
    while (size > 0) {
        ssize_t done = pwrite(fd, from, size, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;

        from += done;
        size -= (size_t)done;
        offset += (uint64_t)done;
    }

    return true;
}

/* All but where they are in the file. */
static void describe_sections(const struct part *parts, Elf32_Shdr *sections)
{
    for (uint32_t i = TEXT; i < SECTIONS; i++) {
        sections[i].sh_name = name_of(i);
        sections[i].sh_addralign = 8;
    }

    for (uint32_t i = TEXT; i <= MEMORIES; i++) {
        sections[i].sh_type = SHT_PROGBITS;
        sections[i].sh_flags = parts[i].flags;
        sections[i].sh_addr = parts[i].address;
        sections[i].sh_size = parts[i].size;
    }

    sections[SYMBOLS].sh_type = SHT_SYMTAB;
    sections[SYMBOLS].sh_link = STRINGS;
    sections[SYMBOLS].sh_entsize = sizeof(Elf32_Sym);
    sections[STRINGS].sh_type = sections[NAMES].sh_type = SHT_STRTAB;
    sections[NAMES].sh_size = sizeof names;
}

/* Writes what sections have from *AT on, which becomes their end, and notes where each begins. */
static bool write_contents(int fd, const void *const *contents, Elf32_Shdr *sections, uint32_t *at)
{
    for (uint32_t i = TEXT; i < SECTIONS; i++) {
        *at = (*at + 7) & ~7u;
        sections[i].sh_offset = *at;
        if (!write_all(fd, contents[i], sections[i].sh_size, *at))
            return false;

        *at += sections[i].sh_size;
    }

    return true;
}

static Elf32_Phdr segment_of(const Elf32_Shdr *section)
{
    return (Elf32_Phdr){
        .p_type = PT_LOAD,
        .p_offset = section->sh_offset,
        .p_vaddr = section->sh_addr,
        .p_paddr = section->sh_addr,
        .p_filesz = section->sh_size,
        .p_memsz = section->sh_size,
        .p_flags = (section->sh_flags & SHF_EXECINSTR) != 0 ? PF_R | PF_X : PF_R | PF_W,
        .p_align = 8,
    };
}

/* Sizes of SYMBOLS and STRINGS are in SECTIONS already. */
static bool write_core(int fd, const struct part *parts, Elf32_Shdr *sections,
                       const uint8_t *symbols, const uint8_t *strings)
{
    Elf32_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_CORE,
        .e_machine = EM_DPU,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof header,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf32_Phdr),
        .e_phnum = MEMORIES,
        .e_shentsize = sizeof(Elf32_Shdr),
        .e_shnum = SECTIONS,
        .e_shstrndx = NAMES,
    };
    Elf32_Phdr segments[MEMORIES];
    const void *contents[SECTIONS] = {[SYMBOLS] = symbols, [STRINGS] = strings, [NAMES] = names};
    for (uint32_t i = TEXT; i <= MEMORIES; i++)
        contents[i] = parts[i].bytes;

    describe_sections(parts, sections);
    uint32_t at = (uint32_t)(sizeof header + sizeof segments);
    if (!write_contents(fd, contents, sections, &at))
        return false;

    for (uint32_t i = TEXT; i <= MEMORIES; i++)
        segments[i - TEXT] = segment_of(&sections[i]);
    header.e_shoff = (at + 7) & ~7u;
    return write_all(fd, sections, SECTIONS * sizeof *sections, header.e_shoff) &&
           write_all(fd, segments, sizeof segments, header.e_phoff) &&
           write_all(fd, &header, sizeof header, 0);
}

DPU_EXPORT dpu_error_t dpu_elf_create_core_dump(const char *exe_path, const char *core_file_path,
                                                uint8_t *wram, uint8_t *mram, uint8_t *iram,
                                                uint8_t *context, uint32_t wram_size,
                                                uint32_t mram_size, uint32_t iram_size,
                                                uint32_t context_size)
{
    const struct part parts[MEMORIES + 1] = {
        [TEXT] = {iram, iram != NULL ? iram_size : 0, DPU_ELF_IRAM_BASE, SHF_ALLOC | SHF_EXECINSTR},
        [DATA] = {wram, wram != NULL ? wram_size : 0, 0, SHF_ALLOC | SHF_WRITE},
        [MRAM] = {mram, mram != NULL ? mram_size : 0, DPU_ELF_MRAM_BASE, SHF_ALLOC | SHF_WRITE},
        [REGISTERS] = {context, context != NULL ? context_size : 0, REGISTERS_BASE,
                       SHF_ALLOC | SHF_WRITE},
    };
    if (core_file_path == NULL)
        return dpulib_fail(DPU_ERR_ELF_NO_SUCH_FILE, "no file is named");
    if (parts[TEXT].size > DPU_MACHINE_IRAM * 8 || parts[DATA].size > DPU_MACHINE_WRAM_ROOM ||
        parts[MRAM].size > DPU_MACHINE_MRAM || parts[REGISTERS].size > DPU_MACHINE_MRAM)
        return dpulib_fail(DPU_ERR_INVALID_BUFFER_SIZE, "a DPU has no memories of these sizes");

    dpu_elf_file_t opened = NULL;
    if (exe_path != NULL) {
        dpu_error_t status = dpu_elf_open(exe_path, &opened);
        if (status != DPU_OK)
            return status;
    }

    Elf32_Shdr sections[SECTIONS] = {0};
    uint8_t *symbols = NULL;
    const uint8_t *strings = NULL;
    dpu_error_t status = DPU_OK;
    int fd = open(core_file_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        status = dpulib_fail(DPU_ERR_ELF_NO_SUCH_FILE, "%s: %s", core_file_path, strerror(errno));
    else if (!copy_symbols(opened, sections, &symbols, &strings))
        status = dpulib_fail(DPU_ERR_SYSTEM, "out of memory (symbols)");
    else if (!write_core(fd, parts, sections, symbols, strings))
        status = dpulib_fail(DPU_ERR_SYSTEM, "%s: %s", core_file_path, strerror(errno));
    if (fd >= 0 && close(fd) != 0 && status == DPU_OK)
        status = dpulib_fail(DPU_ERR_SYSTEM, "%s: %s", core_file_path, strerror(errno));
    free(symbols);
    dpu_elf_close(opened);
    return status;
}

DPU_EXPORT dpu_error_t dpu_create_core_dump(struct dpu_rank_t *rank, const char *exe_path,
                                            const char *core_file_path,
                                            struct dpu_context_t *context, uint8_t *wram,
                                            uint8_t *mram, uint8_t *iram, uint32_t wram_size,
                                            uint32_t mram_size, uint32_t iram_size)
{
    dpu_error_t status = dpulib_check_rank(rank);
    if (status != DPU_OK)
        return status;
    if (context == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "context must not be NULL");

    struct dpu_context_t registers = *context;
    registers.info.iram_size = 0;
    registers.info.mram_size = 0;
    registers.info.wram_size = 0;
    registers.iram = NULL;
    registers.mram = NULL;
    registers.wram = NULL;
    uint8_t *serialized = NULL;
    uint32_t size = dpu_checkpoint_get_serialized_context_size(&registers);
    status = dpu_checkpoint_serialize(&registers, &serialized, &size);
    if (status == DPU_OK)
        status = dpu_elf_create_core_dump(exe_path, core_file_path, wram, mram, iram, serialized,
                                          wram_size, mram_size, iram_size, size);
    free(serialized);
    return status;
}
