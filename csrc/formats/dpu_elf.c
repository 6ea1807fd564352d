/* SPDX-License-Identifier: BSD-3-Clause */
#include "formats/dpu_elf.h"

#include "dpu/isa/chip.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define SHT_DPU_ATTRIBUTES (SHT_LOPROC + 3)
#define ATTRIBUTES_FORMAT 'A'
#define ATTRIBUTES_FILE 1
#define ATTRIBUTES_CHIP 5

/* --- segments --- */

/* Finds the memory that an address is in, and the offset; for one beyond its end too. */
static enum dpu_elf_memory memory_at(uint32_t address, uint32_t *offset, uint32_t *limit)
{
    static const struct {
        uint32_t base, size, span;
        enum dpu_elf_memory memory;
    } map[] = {
        {0, DPU_MACHINE_WRAM_ROOM, DPU_ELF_MRAM_BASE, DPU_ELF_WRAM},
        {DPU_ELF_MRAM_BASE, DPU_MACHINE_MRAM, DPU_ELF_MRAM_BASE, DPU_ELF_MRAM},
        {DPU_ELF_IRAM_BASE, 8 * DPU_MACHINE_IRAM, UINT32_C(0x20000000), DPU_ELF_IRAM},
        {DPU_ELF_ATOMIC_BASE, DPU_MACHINE_ATOMIC_BITS, UINT32_C(0x10000000), DPU_ELF_ATOMIC},
    };
    for (size_t i = 0; i < sizeof map / sizeof *map; i++) {
        if (address >= map[i].base && address - map[i].base < map[i].span) {
            *offset = address - map[i].base;
            *limit = map[i].size;
            return map[i].memory;
        }
    }

    *offset = address;
    *limit = UINT32_MAX;
    return DPU_ELF_OTHER;
}

static enum dpu_elf_status take_segment(struct dpu_elf_bytes image, const Elf32_Phdr *ph,
                                        struct dpu_elf_segment *segment)
{
    struct dpu_elf_bytes content;
    uint32_t offset, limit;
    if (ph->p_filesz > ph->p_memsz)
        return DPU_ELF_SEGMENT_TOO_LONG;
    if (!dpu_elf_slice(image, ph->p_offset, ph->p_filesz, &content))
        return DPU_ELF_SEGMENT_OUTSIDE_FILE;

    enum dpu_elf_memory memory = memory_at(ph->p_vaddr, &offset, &limit);
    if (offset > limit || ph->p_memsz > limit - offset)
        return DPU_ELF_SEGMENT_OUTSIDE_MEMORY;
    if (memory == DPU_ELF_IRAM && (offset % 8 != 0 || ph->p_memsz % 8 != 0))
        return DPU_ELF_SEGMENT_MISALIGNED;

    *segment = (struct dpu_elf_segment){
        .memory = memory,
        .offset = offset,
        .size = ph->p_memsz,
        .data = content.size > 0 ? content.data : NULL,
        .data_size = (uint32_t)content.size,
    };
    return DPU_ELF_OK;
}

static enum dpu_elf_status find_segments(struct dpu_elf_bytes image, const Elf32_Ehdr *eh,
                                         struct dpu_elf_bytes *table)
{
    if (eh->e_phnum == 0)
        return DPU_ELF_NO_SEGMENTS;
    if (eh->e_phentsize < sizeof(Elf32_Phdr) ||
        !dpu_elf_slice(image, eh->e_phoff, (uint64_t)eh->e_phnum * eh->e_phentsize, table))
        return DPU_ELF_HEADERS_OUTSIDE_FILE;
    return DPU_ELF_OK;
}

static enum dpu_elf_status read_segments(struct dpu_elf *elf, struct dpu_elf_bytes image,
                                         const Elf32_Ehdr *eh, struct dpu_elf_bytes table)
{
    Elf32_Phdr ph;
    elf->segments = calloc(eh->e_phnum, sizeof *elf->segments);
    if (elf->segments == NULL)
        return DPU_ELF_NO_MEMORY;

    for (size_t i = 0; i < eh->e_phnum; i++) {
        memcpy(&ph, table.data + i * eh->e_phentsize, sizeof ph);
        if (ph.p_type != PT_LOAD || ph.p_memsz == 0)
            continue;

        enum dpu_elf_status status = take_segment(image, &ph, &elf->segments[elf->nsegments]);
        if (status != DPU_ELF_OK)
            return status;

        elf->nsegments++;
    }

    return elf->nsegments > 0 ? DPU_ELF_OK : DPU_ELF_NO_SEGMENTS;
}

/* --- the chip --- */

static uint64_t read_uleb(struct dpu_elf_bytes *from)
{
    uint64_t value = 0;
    for (unsigned shift = 0; from->size > 0; shift += 7) {
        uint8_t byte = *from->data++;
        from->size--;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            break;
    }

    return value;
}

/* NULL if the string has no end. */
static const char *read_string(struct dpu_elf_bytes *from)
{
    const char *text = (const char *)from->data;
    const uint8_t *end = from->size > 0 ? memchr(from->data, 0, from->size) : NULL;
    if (end == NULL)
        return NULL;
    from->size -= (size_t)(end + 1 - from->data);
    from->data = end + 1;
    return text;
}

/* The length at the start of a block, which counts itself and BEFORE bytes ahead of it. */
static bool read_block(struct dpu_elf_bytes *from, size_t before, struct dpu_elf_bytes *block)
{
    uint32_t length;
    if (from->size < sizeof length)
        return false;

    memcpy(&length, from->data, sizeof length);
    if (length < before + sizeof length || length - before > from->size)
        return false;

    *block = (struct dpu_elf_bytes){from->data + sizeof length, length - before - sizeof length};
    from->data += length - before;
    from->size -= length - before;
    return true;
}

/* Attributes: an even tag has a number, an odd one a string. */
static void read_attributes(struct dpu_elf *elf, struct dpu_elf_bytes from)
{
    while (from.size > 0) {
        uint64_t tag = read_uleb(&from);
        if (tag % 2 == 0) {
            read_uleb(&from);
            continue;
        }

        const char *text = read_string(&from);
        if (text == NULL)
            return;

        if (tag == ATTRIBUTES_CHIP && strlen(text) < sizeof elf->chip)
            memcpy(elf->chip, text, strlen(text) + 1);
    }
}

/* A note that is not understood says nothing about the chip, and that is allowed. */
static void read_chip(struct dpu_elf *elf, struct dpu_elf_bytes from)
{
    struct dpu_elf_bytes vendor, file;
    if (from.size == 0 || *from.data != ATTRIBUTES_FORMAT)
        return;

    from.data++;
    from.size--;
    while (read_block(&from, 0, &vendor)) {
        const char *name = read_string(&vendor);
        if (name == NULL || strcmp(name, "upmem") != 0)
            continue;

        while (vendor.size > 0) {
            const uint8_t *start = vendor.data;
            uint64_t tag = read_uleb(&vendor);
            if (!read_block(&vendor, (size_t)(vendor.data - start), &file))
                break;
            if (tag == ATTRIBUTES_FILE)
                read_attributes(elf, file);
        }
    }
}

/* --- symbols --- */

/* True if the section holds what a program keeps for itself. */
static bool is_private_data(const struct dpu_elf_sections *sections, uint16_t index)
{
    if (index >= sections->count)
        return false;
    const Elf32_Shdr sh = dpu_elf_section(sections, index);
    const char *name = dpu_elf_section_name(sections, &sh);
    return strncmp(name, ".data", 5) == 0 && strcmp(name, ".data.__sys_host") != 0;
}

/* False for what is no symbol of the program. */
static bool take_symbol(const struct dpu_elf_sections *sections, struct dpu_elf_bytes names,
                        const Elf32_Sym *sym, struct dpu_elf_symbol *symbol)
{
    unsigned type = ELF32_ST_TYPE(sym->st_info);
    uint32_t offset, limit;
    if (names.data[sym->st_name] == '\0' || sym->st_shndx == SHN_UNDEF || type == STT_SECTION ||
        type == STT_FILE)
        return false;

    bool absolute = sym->st_shndx >= SHN_LORESERVE;
    *symbol = (struct dpu_elf_symbol){
        .name = (const char *)names.data + sym->st_name,
        .value = sym->st_value,
        .size = sym->st_size,
        .kind = type == STT_FUNC     ? DPU_ELF_FUNCTION
                : type == STT_OBJECT ? DPU_ELF_OBJECT
                                     : DPU_ELF_LABEL,
        .memory = absolute ? DPU_ELF_NOWHERE : memory_at(sym->st_value, &offset, &limit),
        .global = ELF32_ST_BIND(sym->st_info) != STB_LOCAL,
        .for_host = !absolute && !is_private_data(sections, sym->st_shndx),
    };
    return true;
}

static enum dpu_elf_status read_symbols(struct dpu_elf *elf, struct dpu_elf_bytes image,
                                        const struct dpu_elf_sections *sections,
                                        const Elf32_Shdr *sh)
{
    struct dpu_elf_bytes table, names;
    Elf32_Sym sym;
    if (!dpu_elf_slice(image, sh->sh_offset, sh->sh_size, &table))
        return DPU_ELF_SECTIONS_OUTSIDE_FILE;
    if (sh->sh_entsize != sizeof sym || sh->sh_link >= sections->count)
        return DPU_ELF_SYMBOLS_MALFORMED;

    const Elf32_Shdr strings = dpu_elf_section(sections, sh->sh_link);
    if (!dpu_elf_slice(image, strings.sh_offset, strings.sh_size, &names))
        return DPU_ELF_SECTIONS_OUTSIDE_FILE;
    if (!dpu_elf_is_string_table(names))
        return DPU_ELF_SYMBOLS_MALFORMED;

    size_t count = table.size / sizeof sym;
    elf->symbols = calloc(count > 0 ? count : 1, sizeof *elf->symbols);
    if (elf->symbols == NULL)
        return DPU_ELF_NO_MEMORY;

    for (size_t i = 0; i < count; i++) {
        memcpy(&sym, table.data + i * sizeof sym, sizeof sym);
        if (sym.st_name >= names.size)
            return DPU_ELF_SYMBOLS_MALFORMED;

        if (take_symbol(sections, names, &sym, &elf->symbols[elf->nsymbols]))
            elf->nsymbols++;
    }

    return DPU_ELF_OK;
}

/* By address, then functions after labels, then the order of the file. */
static int compare_code(const void *left, const void *right)
{
    const struct dpu_elf_symbol *a = *(const struct dpu_elf_symbol *const *)left;
    const struct dpu_elf_symbol *b = *(const struct dpu_elf_symbol *const *)right;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    if ((a->kind == DPU_ELF_FUNCTION) != (b->kind == DPU_ELF_FUNCTION))
        return a->kind == DPU_ELF_FUNCTION ? 1 : -1;
    return a < b ? -1 : a > b;
}

static enum dpu_elf_status index_symbols(struct dpu_elf *elf)
{
    static const char *const known[DPU_ELF_KNOWN_COUNT] = {
#define X(name, symbol) symbol,
        DPU_ELF_KNOWN_SYMBOLS(X)
#undef X
    };
    for (size_t i = 0; i < DPU_ELF_KNOWN_COUNT; i++)
        elf->known[i] = dpu_elf_find(elf, known[i]);

    const struct dpu_elf_symbol *tasklets = elf->known[DPU_ELF_KNOWN_NR_TASKLETS];
    elf->nr_tasklets = tasklets != NULL && tasklets->value < DPU_ELF_TASKLETS_UNKNOWN
                           ? tasklets->value
                           : DPU_ELF_TASKLETS_UNKNOWN;
    elf->code = calloc(elf->nsymbols > 0 ? elf->nsymbols : 1, sizeof *elf->code);
    if (elf->code == NULL)
        return DPU_ELF_NO_MEMORY;

    for (size_t i = 0; i < elf->nsymbols; i++) {
        const struct dpu_elf_symbol *symbol = &elf->symbols[i];
        /* Compilers leave labels within functions, which tell a reader nothing. */
        if (symbol->memory == DPU_ELF_IRAM && (symbol->global || symbol->kind == DPU_ELF_FUNCTION))
            elf->code[elf->ncode++] = symbol;
    }

    qsort(elf->code, elf->ncode, sizeof *elf->code, compare_code);
    return DPU_ELF_OK;
}

/* Takes the chip and the lines from their sections, and finds the first table of symbols. */
static bool take_sections(struct dpu_elf *elf, Elf32_Shdr *symbols)
{
    const struct dpu_elf_sections *sections = &elf->sections;
    bool found = false;
    for (uint32_t i = 0; i < sections->count; i++) {
        const Elf32_Shdr sh = dpu_elf_section(sections, i);
        const char *name = dpu_elf_section_name(sections, &sh);
        struct dpu_elf_bytes content;
        if (sh.sh_type == SHT_SYMTAB && !found) {
            *symbols = sh;
            found = true;
        } else if (sh.sh_type == SHT_DPU_ATTRIBUTES && strcmp(name, ".dpu.attributes") == 0 &&
                   dpu_elf_section_bytes(sections, &sh, &content)) {
            read_chip(elf, content);
        } else if (sh.sh_type == SHT_PROGBITS && strcmp(name, ".debug_line") == 0 &&
                   dpu_elf_section_bytes(sections, &sh, &content)) {
            elf->lines = content.data;
            elf->lines_size = content.size;
        }
    }

    return found;
}

static enum dpu_elf_status read_program(struct dpu_elf *elf, struct dpu_elf_bytes image)
{
    Elf32_Ehdr eh;
    struct dpu_elf_bytes segments;
    enum dpu_elf_status status = dpu_elf_read_header(image, &eh);
    if (status == DPU_ELF_OK)
        status = find_segments(image, &eh, &segments);

    /* Sections are mostly last in a file: of one that is cut off they are what is missing. */
    if (status == DPU_ELF_OK)
        status = dpu_elf_read_sections(&elf->sections, image, &eh);
    if (status == DPU_ELF_OK)
        status = read_segments(elf, image, &eh, segments);
    if (status != DPU_ELF_OK)
        return status;

    elf->entry = eh.e_entry;

    Elf32_Shdr symbols;
    if (!take_sections(elf, &symbols))
        return DPU_ELF_NO_SYMBOL_TABLE;

    status = read_symbols(elf, image, &elf->sections, &symbols);
    return status == DPU_ELF_OK ? index_symbols(elf) : status;
}

/* --- the interface --- */

enum dpu_elf_status dpu_elf_open_image(struct dpu_elf *elf, const void *image, size_t size)
{
    *elf = (struct dpu_elf){0};
    enum dpu_elf_status status = read_program(elf, (struct dpu_elf_bytes){image, size});
    if (status != DPU_ELF_OK)
        dpu_elf_close_image(elf);
    return status;
}

void dpu_elf_close_image(struct dpu_elf *elf)
{
    free(elf->segments);
    free(elf->symbols);
    free(elf->code);
    *elf = (struct dpu_elf){0};
}

bool dpu_elf_copy(const struct dpu_elf_segment *segment, uint32_t offset, void *to, size_t size)
{
    if (offset > segment->size || size > segment->size - offset)
        return false;

    size_t present = offset < segment->data_size ? segment->data_size - offset : 0;
    if (present > size)
        present = size;
    if (present > 0)
        memcpy(to, segment->data + offset, present);
    if (size > present)
        memset((uint8_t *)to + present, 0, size - present);
    return true;
}

const struct dpu_elf_symbol *dpu_elf_find(const struct dpu_elf *elf, const char *name)
{
    const struct dpu_elf_symbol *local = NULL;
    for (size_t i = 0; i < elf->nsymbols; i++) {
        const struct dpu_elf_symbol *symbol = &elf->symbols[i];
        if (strcmp(symbol->name, name) != 0)
            continue;
        if (symbol->global)
            return symbol;

        if (local == NULL)
            local = symbol;
    }

    return local;
}

const struct dpu_elf_symbol *dpu_elf_find_code(const struct dpu_elf *elf, uint32_t pc,
                                               uint32_t *offset)
{
    uint64_t address = DPU_ELF_IRAM_BASE + UINT64_C(8) * pc;
    size_t first = 0, end = elf->ncode; /* those before FIRST begin at ADDRESS or earlier */
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (elf->code[middle]->value <= address)
            first = middle + 1;
        else
            end = middle;
    }

    if (offset != NULL)
        *offset = 0;
    if (first == 0)
        return NULL;

    if (offset != NULL)
        *offset = (uint32_t)((address - elf->code[first - 1]->value) / 8);
    return elf->code[first - 1];
}

#define X(name, class, text) {#name, text, DPU_ELF_CLASS_##class},
static const struct {
    const char *name, *text;
    enum dpu_elf_class class;
} statuses[] = {DPU_ELF_STATUSES(X)};
#undef X

#define NSTATUSES (sizeof statuses / sizeof *statuses)

const char *dpu_elf_status_text(enum dpu_elf_status status)
{
    return (size_t)status < NSTATUSES ? statuses[status].text : "this status does not exist";
}

const char *dpu_elf_status_name(enum dpu_elf_status status)
{
    return (size_t)status < NSTATUSES ? statuses[status].name : "UNKNOWN";
}

enum dpu_elf_class dpu_elf_status_class(enum dpu_elf_status status)
{
    return (size_t)status < NSTATUSES ? statuses[status].class : DPU_ELF_CLASS_SYSTEM;
}
