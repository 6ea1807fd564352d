/* SPDX-License-Identifier: BSD-3-Clause */
#include "formats/dwarf_elf.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/host_machine.h"

/* The scan of a sane file takes less than a step a byte: an attribute has a byte, or nearly. */
#define STEPS_AT_LEAST (UINT64_C(1) << 20)
#define STEPS_PER_BYTE 4
/* Longer than the name of any section that is looked for. */
#define MAX_NAME 32
/* The Vector Engine. */
#define EM_VE 251

bool dwarf_fail(struct dwarf *d, enum dwarf_lookup result, const char *format, ...)
{
    if (d->result != DWARF_FOUND)
        return false;

    d->result = result;
    va_list args;
    va_start(args, format);
    vsnprintf(d->why, DWARF_WHY, format, args);
    va_end(args);
    return false;
}

bool dwarf_step(struct dwarf *d, uint64_t n)
{
    if (d->steps >= n) {
        d->steps -= n;
        return true;
    }
    d->steps = 0;
    return dwarf_fail(d, DWARF_MALFORMED, "the debug information does not come to an end");
}

static bool read_header(struct dwarf *d, const uint8_t *image, size_t size, Elf64_Ehdr *eh)
{
    if (size < sizeof *eh || memcmp(image, ELFMAG, SELFMAG) != 0 || image[EI_CLASS] != ELFCLASS64 ||
        image[EI_DATA] != ELFDATA2LSB)
        return dwarf_fail(d, DWARF_MALFORMED, "the file is not a 64-bit little-endian ELF file");

    memcpy(eh, image, sizeof *eh);
    if (eh->e_machine != HOST_MACHINE && eh->e_machine != EM_VE)
        return dwarf_fail(d, DWARF_MALFORMED, "the file is for another machine (ELF number %u)",
                          (unsigned)eh->e_machine);
    if (eh->e_type != ET_DYN && eh->e_type != ET_EXEC)
        return dwarf_fail(d, DWARF_UNSUPPORTED, "the file is not a shared object or an executable");
    return true;
}

static bool read_section(const uint8_t *image, size_t size, const Elf64_Ehdr *eh, uint64_t index,
                         Elf64_Shdr *sh)
{
    uint64_t at;
    if (eh->e_shentsize < sizeof *sh || __builtin_mul_overflow(index, eh->e_shentsize, &at) ||
        __builtin_add_overflow(at, eh->e_shoff, &at) || at > size || size - at < sizeof *sh)
        return false;
    memcpy(sh, image + at, sizeof *sh);
    return true;
}

static bool inside(const Elf64_Shdr *sh, size_t size)
{
    return sh->sh_type != SHT_NOBITS && sh->sh_offset <= size &&
           sh->sh_size <= size - sh->sh_offset;
}

/* Files the section if it is one of ours; false if it is and cannot be used. */
static bool take_section(struct dwarf *d, const uint8_t *image, size_t size, const Elf64_Shdr *sh,
                         const char *name)
{
    static const char *const names[DWARF_NSECTIONS] = {
#define X(id, text) text,
        DWARF_SECTIONS(X)
#undef X
    };
    bool old_style = strncmp(name, ".zdebug_", 8) == 0;
    if (!old_style && strncmp(name, ".debug_", 7) != 0)
        return true;

    name += old_style ? 8 : 7;
    for (size_t i = 0; i < DWARF_NSECTIONS; i++) {
        if (strcmp(name, names[i]) != 0)
            continue;
        if (sh->sh_type == SHT_NOBITS || d->section[i].data != NULL)
            return true;

        if (old_style || (sh->sh_flags & SHF_COMPRESSED) != 0)
            return dwarf_fail(d, DWARF_UNSUPPORTED,
                              "the file has compressed debug information; link without -gz");
        if (!inside(sh, size))
            return dwarf_fail(d, DWARF_MALFORMED, "a debug section ends beyond the file");

        d->section[i].data = image + sh->sh_offset;
        d->section[i].size = (size_t)sh->sh_size;
        return true;
    }

    return true;
}

static bool read_sections(struct dwarf *d, const uint8_t *image, size_t size, const Elf64_Ehdr *eh)
{
    Elf64_Shdr first, names, sh;
    if (eh->e_shoff == 0)
        return true;
    if (!read_section(image, size, eh, 0, &first))
        return dwarf_fail(d, DWARF_MALFORMED, "the section headers are beyond the file");

    /* Numbers that do not fit into the ELF header are in the first section's. */
    uint64_t count = eh->e_shnum != 0 ? eh->e_shnum : first.sh_size;
    uint64_t names_index = eh->e_shstrndx != SHN_XINDEX ? eh->e_shstrndx : first.sh_link;
    if (!read_section(image, size, eh, names_index, &names) || !inside(&names, size))
        return dwarf_fail(d, DWARF_MALFORMED, "the section names are beyond the file");

    for (uint64_t i = 1; i < count; i++) {
        if (!dwarf_step(d, 1))
            return false;
        if (!read_section(image, size, eh, i, &sh))
            return dwarf_fail(d, DWARF_MALFORMED, "the section headers are beyond the file");
        if (sh.sh_name >= names.sh_size)
            continue;

        const uint8_t *name = image + names.sh_offset + sh.sh_name;
        uint64_t room = names.sh_size - sh.sh_name;
        if (memchr(name, 0, room < MAX_NAME ? (size_t)room : MAX_NAME) == NULL)
            continue;
        if (!take_section(d, image, size, &sh, (const char *)name))
            return false;
    }

    return true;
}

bool dwarf_open(struct dwarf *d, const uint8_t *image, size_t size, char *why)
{
    memset(d, 0, sizeof *d);
    d->why = why;
    d->result = DWARF_FOUND;
    d->steps = STEPS_AT_LEAST + (uint64_t)size * STEPS_PER_BYTE;
    Elf64_Ehdr eh;
    if (!read_header(d, image, size, &eh) || !read_sections(d, image, size, &eh))
        return false;

    if (d->section[DWARF_INFO].size == 0 || d->section[DWARF_ABBREV].size == 0)
        return dwarf_fail(d, DWARF_NO_DEBUG_INFO,
                          "the file has no debug information; compile with -g");
    return true;
}

void dwarf_close(struct dwarf *d)
{
    free(d->abbrev);
    d->abbrev = NULL;
}
