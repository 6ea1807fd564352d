/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dwarf_print FILE SYMBOL...: a line each with what the debug information says of the function,
 * "FOUND d(id...)" or another result with its reason. A symbol given as =NAME is looked up by name
 * only, one as @SYMBOL by address only.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/dwarf_signature.h"

/* The files are the test's own, made by a compiler a moment ago: they are taken as sound. */
static uint64_t symbol_address(const uint8_t *image, const char *name)
{
    const Elf64_Ehdr *eh = (const Elf64_Ehdr *)(const void *)image;
    const Elf64_Shdr *sh = (const Elf64_Shdr *)(const void *)(image + eh->e_shoff);
    for (unsigned i = 0; i < eh->e_shnum; i++) {
        if (sh[i].sh_type != SHT_SYMTAB && sh[i].sh_type != SHT_DYNSYM)
            continue;
        const Elf64_Sym *sym = (const Elf64_Sym *)(const void *)(image + sh[i].sh_offset);
        const char *names = (const char *)image + sh[sh[i].sh_link].sh_offset;
        for (uint64_t k = 0; k < sh[i].sh_size / sizeof *sym; k++)
            if (ELF64_ST_TYPE(sym[k].st_info) == STT_FUNC && sym[k].st_shndx != SHN_UNDEF &&
                strcmp(names + sym[k].st_name, name) == 0)
                return sym[k].st_value;
    }
    return 0;
}

static void print(const uint8_t *image, size_t size, const char *symbol)
{
    static const char *const results[] = {"FOUND",       "NO_DEBUG_INFO", "NOT_DESCRIBED",
                                          "UNSUPPORTED", "MALFORMED",     "AMBIGUOUS"};
    struct dwarf_signature signature;
    char why[DWARF_WHY];
    const char *name = symbol + (*symbol == '=' || *symbol == '@');
    uint64_t address = *symbol == '=' ? 0 : symbol_address(image, name);
    enum dwarf_lookup got = dwarf_find_signature(NULL, image, size, address,
                                                 *symbol == '@' ? NULL : name, &signature, why);
    if (got != DWARF_FOUND)
        printf("%s %s\n", results[got], why);
    else
        printf("FOUND %c(%s%s)\n", signature.ret, signature.args, signature.variadic ? "..." : "");
}

int main(int argc, char **argv)
{
    struct stat st;
    int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &st) != 0) {
        fprintf(stderr, "usage: dwarf_print FILE SYMBOL...\n");
        return 2;
    }
    size_t size = (size_t)st.st_size;
    const uint8_t *image = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (image == MAP_FAILED) {
        perror(argv[1]);
        return 2;
    }
    for (int i = 2; i < argc; i++)
        print(image, size, argv[i]);
    return 0;
}
