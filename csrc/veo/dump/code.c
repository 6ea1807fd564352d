/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * code.c: lists instructions, as clang's assembler reads them, with labels, lines of sources and
 * relocations as comments.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dwarf_lines.h"
#include "veo/dump/file.h"
#include "veo/isa/instruction.h"

/* A section that is listed, and how far that is. */
struct listing {
    const struct vedump_file *file;
    const struct vedump_what *what;
    size_t section;
    uint64_t address; /* of the section */
    Elf64_Rela *relocations;
    size_t nrelocations;
    size_t next;  /* relocation */
    size_t table; /* section of them */
    struct dwarf_line line;
    FILE *source; /* of the line, if it is in the current folder */
};

static int by_offset(const void *left, const void *right)
{
    uint64_t a = ((const Elf64_Rela *)left)->r_offset;
    uint64_t b = ((const Elf64_Rela *)right)->r_offset;
    return a < b ? -1 : a > b;
}

/* Takes the relocations of the section, in their order. Without memory there are none. */
static void take_relocations(struct listing *listing)
{
    const struct velink_elf *elf = &listing->file->elf;
    for (size_t i = 1; i < elf->nsections && listing->what->relocations; i++) {
        if (elf->sections[i].sh_type != SHT_RELA || elf->sections[i].sh_info != listing->section)
            continue;
        struct velink_bytes table = velink_elf_content(elf, i);
        size_t count = velink_relocation_count(table);
        Elf64_Rela *more =
            realloc(listing->relocations, (listing->nrelocations + count + 1) * sizeof *more);
        if (more == NULL)
            return;
        for (size_t k = 0; k < count; k++)
            more[listing->nrelocations + k] = velink_relocation(table, k);
        listing->relocations = more;
        listing->table = i;
        listing->nrelocations += count;
    }
    if (listing->nrelocations != 0)
        qsort(listing->relocations, listing->nrelocations, sizeof *listing->relocations, by_offset);
}

static void put_labels(const struct listing *listing, uint64_t offset)
{
    const struct vedump_file *file = listing->file;
    uint64_t value = listing->address + offset;
    const struct vedump_label *label = vedump_label_at(file, listing->section, value);
    const struct vedump_label *end = file->labels + file->nlabels;
    struct vedump_name shown;
    for (; label != NULL && label < end && label->section == listing->section &&
           label->value == value;
         label++)
        printf("\n%016" PRIx64 " <%s>:\n", value, vedump_shown(file, label->name, &shown));
}

/* The text of a line of the source, which is read once more only to go back. */
static void put_source(struct listing *listing, bool same_file, uint32_t before)
{
    char text[512];
    const struct dwarf_line *line = &listing->line;
    uint32_t at = before;
    if (!same_file || line->line <= before) {
        if (listing->source != NULL)
            fclose(listing->source);
        listing->source = fopen(line->file, "r");
        at = 0;
    }
    while (listing->source != NULL && at < line->line &&
           fgets(text, sizeof text, listing->source) != NULL) {
        bool whole = strchr(text, '\n') != NULL;
        at += whole;
        if (at == line->line || (!whole && at + 1 == line->line)) {
            text[strcspn(text, "\r\n")] = '\0';
            printf("  %s", text);
            break;
        }
    }
}

static void put_line(struct listing *listing, uint64_t offset)
{
    struct velink_bytes image = listing->file->elf.image;
    struct dwarf_line line;
    if (!dwarf_find_line(image.data, image.size, listing->file->bases[listing->section] + offset,
                         &line))
        return;

    bool same_file = strcmp(line.file, listing->line.file) == 0;
    uint32_t before = listing->line.line;
    if (line.line == 0 || (same_file && line.line == before))
        return;
    listing->line = line;
    printf("# %s:%" PRIu32, line.file, line.line);
    if (listing->what->source)
        put_source(listing, same_file, before);
    printf("\n");
}

/* "  # <f+0x10>" for a branch to there. */
static void put_target(const struct listing *listing, uint64_t word, uint64_t offset)
{
    struct ve_instruction instruction;
    if (!ve_decode(word, &instruction))
        return;
    switch (instruction.operation) {
    case VE_OP_BR_L:
    case VE_OP_BR_W:
    case VE_OP_BR_D:
    case VE_OP_BR_S: break;
    default: return;
    }

    struct vedump_name shown;
    uint64_t value = listing->address + offset + (uint64_t)(int64_t)instruction.displacement;
    const struct vedump_label *label = vedump_label_at(listing->file, listing->section, value);
    if (label == NULL)
        printf("  # 0x%" PRIx64, value);
    else if (label->value == value)
        printf("  # <%s>", vedump_shown(listing->file, label->name, &shown));
    else
        printf("  # <%s+0x%" PRIx64 ">", vedump_shown(listing->file, label->name, &shown),
               value - label->value);
}

static void put_relocations(struct listing *listing, uint64_t end)
{
    while (listing->next < listing->nrelocations &&
           listing->relocations[listing->next].r_offset - listing->address < end) {
        const Elf64_Rela *relocation = &listing->relocations[listing->next++];
        char text[1100];
        vedump_put_relocation(listing->file, listing->table, relocation, text, sizeof text);
        printf("%34s# %" PRIx64 ": %s\n", "", relocation->r_offset, text);
    }
}

static void list_section(struct listing *listing)
{
    struct velink_bytes content = velink_elf_content(&listing->file->elf, listing->section);
    printf("\ninstructions of %s:\n",
           velink_elf_section_name(&listing->file->elf, listing->section));
    for (uint64_t at = 0; at + 8 <= content.size; at += 8) {
        uint64_t word;
        char text[200];
        memcpy(&word, content.data + at, sizeof word);
        ve_disassemble(word, text, sizeof text);
        put_labels(listing, at);
        if (listing->what->lines || listing->what->source)
            put_line(listing, at);
        printf("%8" PRIx64 ": %016" PRIx64 "  %s", listing->address + at, word, text);
        put_target(listing, word, at);
        printf("\n");
        put_relocations(listing, at + 8);
    }
}

void vedump_code(const struct vedump_file *file, const struct vedump_what *what)
{
    for (size_t i = 1; i < file->elf.nsections; i++) {
        if ((file->elf.sections[i].sh_flags & SHF_EXECINSTR) == 0 ||
            velink_elf_content(&file->elf, i).size == 0)
            continue;
        struct listing listing = {
            .file = file, .what = what, .section = i, .address = vedump_address(file, i)};
        take_relocations(&listing);
        list_section(&listing);
        free(listing.relocations);
        if (listing.source != NULL)
            fclose(listing.source);
    }
}
