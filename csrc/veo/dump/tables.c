/* SPDX-License-Identifier: BSD-3-Clause */
/* tables.c: lists sections, symbols and relocations. */
#include <inttypes.h>
#include <stdio.h>

#include "veo/dump/file.h"

void vedump_sections(const struct vedump_file *file)
{
    printf("\nsections:\n");
    for (size_t i = 1; i < file->elf.nsections; i++) {
        const Elf64_Shdr *sh = &file->elf.sections[i];
        printf("  %2zu %016" PRIx64 " %8" PRIu64 " bytes %c%c%c %s%s\n", i, sh->sh_addr,
               sh->sh_size, (sh->sh_flags & SHF_ALLOC) != 0 ? 'a' : '-',
               (sh->sh_flags & SHF_WRITE) != 0 ? 'w' : '-',
               (sh->sh_flags & SHF_EXECINSTR) != 0 ? 'x' : '-',
               velink_elf_section_name(&file->elf, i),
               sh->sh_type == SHT_NOBITS ? ", no contents" : "");
    }
}

static const char *type_name(unsigned type)
{
    static const char *const names[] = {
        [STT_NOTYPE] = "",         [STT_OBJECT] = "object", [STT_FUNC] = "func",
        [STT_SECTION] = "section", [STT_FILE] = "file",     [STT_COMMON] = "common",
        [STT_TLS] = "tls",
    };
    return type < sizeof names / sizeof *names ? names[type] : "other";
}

static const char *binding_name(unsigned binding)
{
    return binding == STB_LOCAL ? "local" : binding == STB_WEAK ? "weak" : "global";
}

static const char *place_name(const struct vedump_file *file, unsigned section)
{
    switch (section) {
    case SHN_UNDEF: return "undefined";
    case SHN_ABS: return "absolute";
    case SHN_COMMON: return "common";
    default:
        return section < file->elf.nsections ? velink_elf_section_name(&file->elf, section) : "?";
    }
}

void vedump_symbols(const struct vedump_file *file)
{
    struct vedump_name shown;
    printf("\nsymbols:\n");
    for (size_t i = 1; i < velink_symbol_count(file->symbols); i++) {
        Elf64_Sym symbol = velink_symbol(file->symbols, i);
        printf("  %016" PRIx64 " %8" PRIu64 " %-6s %-7s %s %s\n", symbol.st_value, symbol.st_size,
               binding_name(ELF64_ST_BIND(symbol.st_info)),
               type_name(ELF64_ST_TYPE(symbol.st_info)), place_name(file, symbol.st_shndx),
               vedump_shown(file, vedump_symbol_name(file, i), &shown));
    }
}

void vedump_relocations(const struct vedump_file *file)
{
    for (size_t i = 1; i < file->elf.nsections; i++) {
        const Elf64_Shdr *sh = &file->elf.sections[i];
        if (sh->sh_type != SHT_RELA)
            continue;
        struct velink_bytes table = velink_elf_content(&file->elf, i);
        printf("\nrelocations in %s:\n", velink_elf_section_name(&file->elf, i));
        for (size_t k = 0; k < velink_relocation_count(table); k++) {
            Elf64_Rela relocation = velink_relocation(table, k);
            char text[1100];
            vedump_put_relocation(file, i, &relocation, text, sizeof text);
            printf("  %016" PRIx64 " %s\n", relocation.r_offset, text);
        }
    }
}
