/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/link/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "veo/link/elf_file.h"
#include "veo/link/missing.h"
#include "veo/link/relocate.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { PAGE = 4096, LOWEST = 1 << 16 };
#define MEMORY_MAX (UINT64_C(1) << 36)

/* Values of the dynamic section. Addresses are those of the file. */
struct dynamic {
    uint64_t value[DT_NUM];
    uint64_t gnu_hash;
    uint64_t needed[64];
    size_t nneeded;
};

struct load {
    struct velink_elf elf;
    struct velink_library *library;
    const struct velink_environment *environment;
    struct velink_error *error;
    uint64_t bias; /* memory is higher by this than addresses of the file */
    uint64_t low, high;
    struct dynamic dynamic;
    struct velink_bytes symbols; /* up to the end of the memory: tables do not say their size */
    struct velink_bytes strings;
    struct velink_missing missing;
};

/* --- memory --- */

/* The memory of an address of the file; false if it is not all there. */
static bool memory_at(const struct load *load, uint64_t address, uint64_t size,
                      struct velink_bytes *part)
{
    uint64_t memory = (uint64_t)(uintptr_t)load->library->memory;
    struct velink_bytes all = {load->library->memory, load->library->memory_size};
    return velink_slice(all, address + load->bias - memory, size, part);
}

static struct velink_bytes memory_from(const struct load *load, uint64_t address)
{
    struct velink_bytes part = {load->library->memory, 0};
    if (address >= load->low && address < load->high)
        memory_at(load, address, load->high - address, &part);
    return part;
}

static bool measure(struct load *load)
{
    load->low = UINT64_MAX;
    for (size_t i = 0; i < load->elf.nsegments; i++) {
        const Elf64_Phdr *ph = &load->elf.segments[i];
        struct velink_bytes content;
        if (ph->p_type != PT_LOAD || ph->p_memsz == 0)
            continue;
        if (ph->p_filesz > ph->p_memsz || ph->p_memsz > MEMORY_MAX ||
            ph->p_vaddr > UINT64_MAX - ph->p_memsz ||
            !velink_slice(load->elf.image, ph->p_offset, ph->p_filesz, &content))
            return velink_fail(load->error, "segment %zu is not all in the file", i);
        load->low = ph->p_vaddr < load->low ? ph->p_vaddr : load->low;
        load->high =
            ph->p_vaddr + ph->p_memsz > load->high ? ph->p_vaddr + ph->p_memsz : load->high;
    }

    if (load->low >= load->high)
        return velink_fail(load->error, "it has no segment to load");
    load->low &= ~(uint64_t)(PAGE - 1);
    if (load->high - load->low > MEMORY_MAX)
        return velink_fail(load->error, "its segments are too far apart");
    return true;
}

static bool map_segments(struct load *load)
{
    struct velink_library *library = load->library;
    bool fixed = load->elf.header.e_type == ET_EXEC;
    if (!measure(load))
        return false;

    size_t size = (size_t)(load->high - load->low);
    void *want = fixed ? (void *)(uintptr_t)load->low : NULL; // NOLINT(performance-no-int-to-ptr)
    if (fixed && load->low < LOWEST)
        return velink_fail(load->error, "it wants to be at address 0x%llx, which is kept free",
                           (unsigned long long)load->low);

    void *memory = mmap(
        want, size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (fixed ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (memory != MAP_FAILED && fixed && memory != want) {
        munmap(memory, size);
        memory = MAP_FAILED;
    }
    if (memory == MAP_FAILED)
        return velink_fail(load->error, "there is no memory for its %zu bytes at 0x%llx", size,
                           (unsigned long long)load->low);

    library->memory = memory;
    library->memory_size = size;
    load->bias = (uint64_t)(uintptr_t)memory - load->low;
    for (size_t i = 0; i < load->elf.nsegments; i++) {
        const Elf64_Phdr *ph = &load->elf.segments[i];
        if (ph->p_type == PT_LOAD && ph->p_memsz != 0)
            memcpy(library->memory + (ph->p_vaddr - load->low), load->elf.image.data + ph->p_offset,
                   ph->p_filesz);
    }

    return true;
}

/* --- the dynamic section --- */

static void read_dynamic(struct load *load)
{
    struct velink_bytes table = {load->library->memory, 0};
    for (size_t i = 0; i < load->elf.nsegments; i++)
        if (load->elf.segments[i].p_type == PT_DYNAMIC)
            memory_at(load, load->elf.segments[i].p_vaddr, load->elf.segments[i].p_memsz, &table);

    struct dynamic *dynamic = &load->dynamic;
    for (size_t at = 0; at + sizeof(Elf64_Dyn) <= table.size; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        memcpy(&entry, table.data + at, sizeof entry);
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_NEEDED &&
            dynamic->nneeded < sizeof dynamic->needed / sizeof *dynamic->needed)
            dynamic->needed[dynamic->nneeded++] = entry.d_un.d_val;
        if (entry.d_tag == DT_GNU_HASH)
            dynamic->gnu_hash = entry.d_un.d_val;
        if (entry.d_tag > 0 && entry.d_tag < DT_NUM)
            dynamic->value[entry.d_tag] = entry.d_un.d_val;
    }

    load->symbols = memory_from(load, dynamic->value[DT_SYMTAB]);
    load->strings = memory_from(load, dynamic->value[DT_STRTAB]);
    if (load->dynamic.value[DT_SYMTAB] == 0)
        load->symbols.size = 0;
    if (dynamic->value[DT_STRSZ] < load->strings.size)
        load->strings.size = (size_t)dynamic->value[DT_STRSZ];
}

static uint32_t word_at(struct velink_bytes bytes, uint64_t index)
{
    uint32_t word = 0;
    if (index < bytes.size / sizeof word)
        memcpy(&word, bytes.data + index * sizeof word, sizeof word);
    return word;
}

/* The number of symbols, which only the tables for looking them up know. */
static size_t count_symbols(const struct load *load)
{
    size_t most = velink_symbol_count(load->symbols);
    size_t in_file = load->elf.image.size / sizeof(uint32_t);
    most = most < in_file ? most : in_file;
    struct velink_bytes hash = memory_from(load, load->dynamic.value[DT_HASH]);
    size_t count = 0;
    if (load->dynamic.value[DT_HASH] != 0) {
        count = word_at(hash, 1);
        return count < most ? count : most;
    }

    /* Buckets, then a chain for each, whose last word is odd. */
    hash = memory_from(load, load->dynamic.gnu_hash);
    uint64_t buckets = 4 + 2 * (uint64_t)word_at(hash, 2);
    uint64_t nbuckets = word_at(hash, 0);
    uint64_t first = word_at(hash, 1);
    for (uint64_t i = 0; i < nbuckets && i < in_file; i++) {
        uint32_t last = word_at(hash, buckets + i);
        count = last >= count ? (size_t)last + 1 : count;
    }
    uint64_t chains = buckets + nbuckets;
    while (count > first && count < most && count > 0 &&
           (word_at(hash, chains + count - 1 - first) & 1) == 0 &&
           chains + count - 1 - first < hash.size / sizeof(uint32_t))
        count++;
    return load->dynamic.gnu_hash != 0 && count < most ? count : 0;
}

static bool load_needed(const struct load *load)
{
    const struct velink_environment *environment = load->environment;
    for (size_t i = 0; i < load->dynamic.nneeded; i++) {
        const char *name = velink_string(load->strings, load->dynamic.needed[i]);
        if (*name != '\0' &&
            !environment->need(environment->owner, name, load->library->path, load->error))
            return velink_fail(load->error, "%.100s, which it needs, cannot be loaded", name);
    }

    return true;
}

/* --- relocations --- */

static bool find_symbol(struct load *load, size_t index, struct velink_named *found)
{
    Elf64_Sym symbol = velink_symbol(load->symbols, index);
    const struct velink_environment *environment = load->environment;
    *found = (struct velink_named){.name = velink_string(load->strings, symbol.st_name),
                                   .size = symbol.st_size,
                                   .thread_local_one = ELF64_ST_TYPE(symbol.st_info) == STT_TLS};
    if (index == 0)
        return true;
    if (symbol.st_shndx != SHN_UNDEF) {
        found->address = symbol.st_value + (symbol.st_shndx == SHN_ABS ? 0
                                            : found->thread_local_one  ? load->library->tls.offset
                                                                       : load->bias);
        return true;
    }

    const char *name = found->name;
    if (environment->find(environment->owner, name, found))
        return true;
    if (ELF64_ST_BIND(symbol.st_info) == STB_WEAK)
        return true;
    found->address = environment->missing(environment->owner, name);
    if (found->address == 0)
        velink_missing_add(&load->missing, name);
    return true;
}

static bool copy_content(struct load *load, size_t index, uint8_t *to)
{
    Elf64_Sym symbol = velink_symbol(load->symbols, index);
    const char *name = velink_string(load->strings, symbol.st_name);
    struct velink_named found = {.name = name};
    struct velink_bytes room;
    if (!load->environment->find(load->environment->owner, name, &found)) {
        velink_missing_add(&load->missing, name);
        return true;
    }

    if (!memory_at(load, (uint64_t)(uintptr_t)to - load->bias, symbol.st_size, &room))
        return velink_fail(load->error, "%.200s is beyond the end of its segment", name);
    /* Variables of the host do not say their size; they are pointers and numbers. */
    uint64_t most = found.size != 0 ? found.size : sizeof(uint64_t);
    memcpy(to, (const void *)(uintptr_t)found.address,
           symbol.st_size < most ? symbol.st_size : most);
    return true;
}

static bool relocate(struct load *load, const Elf64_Rela *rela)
{
    uint64_t number = ELF64_R_TYPE(rela->r_info);
    const struct velink_relocation_type *type = velink_relocation_type(number);
    size_t index = ELF64_R_SYM(rela->r_info);
    uint64_t addend = (uint64_t)rela->r_addend;
    struct velink_bytes place;
    struct velink_named symbol;
    if (type == NULL)
        return velink_fail(load->error, "it has a relocation of the unknown type %llu",
                           (unsigned long long)number);
    if (!memory_at(load, rela->r_offset, velink_field_size(type->field), &place) ||
        index > velink_symbol_count(load->symbols) || !find_symbol(load, index, &symbol))
        return velink_fail(load->error, "a relocation (%s) is beyond the end of the file",
                           type->name);

    uint64_t value = 0;
    uint8_t *at = (uint8_t *)(uintptr_t)place.data;
    uint64_t tls = load->library->tls.offset;
    bool own = symbol.thread_local_one && symbol.address - tls <= load->library->tls.size;
    switch (type->value) {
    case VELINK_NOTHING: return true;
    case VELINK_ADDRESS: value = symbol.address + addend; break;
    case VELINK_DISTANCE: value = symbol.address + addend - (rela->r_offset + load->bias); break;
    case VELINK_IN_FILE: value = load->bias + addend; break;
    case VELINK_CONTENT: return copy_content(load, index, at);
    case VELINK_RESOLVED:
        if (!load->environment->resolve(load->environment->owner, load->bias + addend, &value))
            return velink_fail(load->error, "a function that chooses another one failed");
        break;
    case VELINK_MODULE: value = index == 0 || own ? tls : 0; break;
    case VELINK_IN_MODULE: value = symbol.address + addend - (own ? tls : 0); break;
    case VELINK_FROM_THREAD: value = (index == 0 ? tls : symbol.address) + addend; break;
    case VELINK_SLOT_OFFSET:
    case VELINK_FROM_TABLE:
    case VELINK_PAIR_DISTANCE:
    case VELINK_MODULE_PAIR_DISTANCE:
    case VELINK_THREAD_SLOT_DISTANCE:
        return velink_fail(load->error, "%s is no relocation of a linked file", type->name);
    }

    if (!velink_write_field(at, type->field, value))
        return velink_fail(load->error, "%.200s is too far away for %s", symbol.name, type->name);
    return true;
}

static bool relocate_table(struct load *load, uint64_t address, uint64_t size)
{
    struct velink_bytes table = {load->library->memory, 0};
    if (address == 0 || size == 0)
        return true;
    if (size > load->elf.image.size || !memory_at(load, address, size, &table))
        return velink_fail(load->error, "its table of relocations is beyond the end of the file");

    for (size_t i = 0; i < velink_relocation_count(table); i++) {
        Elf64_Rela rela = velink_relocation(table, i);
        if (!relocate(load, &rela))
            return false;
    }
    return true;
}

/* --- what the library keeps --- */

static bool reserve_threads(struct load *load)
{
    struct velink_bytes image = {load->library->memory, 0};
    for (size_t i = 0; i < load->elf.nsegments; i++) {
        const Elf64_Phdr *ph = &load->elf.segments[i];
        struct velink_tls *tls = &load->library->tls;
        if (ph->p_type != PT_TLS || ph->p_memsz == 0)
            continue;
        if (ph->p_filesz > ph->p_memsz || ph->p_memsz > MEMORY_MAX ||
            (ph->p_align & (ph->p_align - 1)) != 0 ||
            !memory_at(load, ph->p_vaddr, ph->p_filesz, &image))
            return velink_fail(load->error, "its thread-local segment is damaged");
        if (!load->environment->reserve(load->environment->owner, (size_t)ph->p_memsz,
                                        (size_t)(ph->p_align != 0 ? ph->p_align : 1), &tls->offset))
            return velink_fail(load->error, "there is no room for its thread-local variables");
        tls->image = image.data;
        tls->image_size = image.size;
        tls->size = (size_t)ph->p_memsz;
    }

    return true;
}

static bool take_array(struct load *load, struct velink_addresses *list, unsigned single,
                       unsigned array, unsigned array_size)
{
    const struct dynamic *dynamic = &load->dynamic;
    struct velink_bytes part = {load->library->memory, 0};
    if (dynamic->value[array] != 0 && dynamic->value[array_size] <= load->elf.image.size)
        memory_at(load, dynamic->value[array], dynamic->value[array_size], &part);
    list->at = calloc(part.size / sizeof(uint64_t) + 1, sizeof *list->at);
    if (list->at == NULL)
        return velink_fail(load->error, "out of memory");

    if (dynamic->value[single] != 0)
        list->at[list->count++] = dynamic->value[single] + load->bias;
    for (size_t at = 0; at + sizeof(uint64_t) <= part.size; at += sizeof(uint64_t)) {
        uint64_t address;
        memcpy(&address, part.data + at, sizeof address);
        if (address != 0 && address != UINT64_MAX)
            list->at[list->count++] = address;
    }
    return true;
}

/* Adds the functions of a table to those that have addresses. */
static void take_names(struct load *load, struct velink_bytes symbols, struct velink_bytes strings,
                       size_t count, bool exported)
{
    struct velink_library *library = load->library;
    for (size_t i = 1; i < count; i++) {
        Elf64_Sym symbol = velink_symbol(symbols, i);
        unsigned type = ELF64_ST_TYPE(symbol.st_info);
        struct velink_named named = {.name = velink_string(strings, symbol.st_name),
                                     .size = symbol.st_size,
                                     .function = type == STT_FUNC,
                                     .thread_local_one = type == STT_TLS};
        if (symbol.st_shndx == SHN_UNDEF || *named.name == '\0')
            continue;
        named.address =
            symbol.st_value + (named.thread_local_one ? library->tls.offset : load->bias);
        if (exported && ELF64_ST_BIND(symbol.st_info) != STB_LOCAL)
            library->exports[library->nexports++] = named;
        if (named.function && !exported)
            library->functions[library->nfunctions++] = named;
    }
}

static bool take_all_names(struct load *load)
{
    struct velink_library *library = load->library;
    struct velink_bytes symbols = {load->library->memory, 0};
    struct velink_bytes strings = symbols;
    for (size_t i = 1; i < load->elf.nsections; i++) {
        if (load->elf.sections[i].sh_type != SHT_SYMTAB)
            continue;
        symbols = velink_elf_content(&load->elf, i);
        strings = velink_elf_content(&load->elf, load->elf.sections[i].sh_link);
    }

    size_t ndynamic = count_symbols(load);
    size_t nstatic = velink_symbol_count(symbols);
    library->exports = calloc(ndynamic + 1, sizeof *library->exports);
    library->functions = calloc(ndynamic + nstatic + 1, sizeof *library->functions);
    library->sources = calloc(1, sizeof *library->sources);
    if (library->exports == NULL || library->functions == NULL || library->sources == NULL)
        return velink_fail(load->error, "out of memory");

    take_names(load, load->symbols, load->strings, ndynamic, true);
    if (nstatic != 0)
        take_names(load, symbols, strings, nstatic, false);
    else
        take_names(load, load->symbols, load->strings, ndynamic, false);
    library->sources[library->nsources++] = (struct velink_source){.image = load->elf.image.data,
                                                                   .size = load->elf.image.size,
                                                                   .bias = load->bias,
                                                                   .low = load->low + load->bias,
                                                                   .high = load->high + load->bias};
    return true;
}

static bool load_file(struct load *load)
{
    struct velink_library *library = load->library;
    const struct velink_bytes image = {library->image, library->image_size};
    if (!velink_elf_open(&load->elf, image, load->error) || !map_segments(load))
        return false;

    read_dynamic(load);
    const uint64_t *value = load->dynamic.value;
    bool relocated = load_needed(load) && reserve_threads(load) &&
                     relocate_table(load, value[DT_RELA], value[DT_RELASZ]) &&
                     relocate_table(load, value[DT_JMPREL], value[DT_PLTRELSZ]);
    if (!velink_missing_end(&load->missing, load->error) || !relocated)
        return false;

    library->entry = load->elf.header.e_entry != 0 ? load->elf.header.e_entry + load->bias : 0;
    struct velink_bytes headers;
    uint64_t headers_at = load->low + load->elf.header.e_phoff;
    if (memory_at(load, headers_at, load->elf.nsegments * sizeof(Elf64_Phdr), &headers)) {
        library->headers = headers_at + load->bias;
        library->nheaders = load->elf.nsegments;
    }
    return take_array(load, &library->begin, DT_INIT, DT_INIT_ARRAY, DT_INIT_ARRAYSZ) &&
           take_array(load, &library->end, DT_FINI, DT_FINI_ARRAY, DT_FINI_ARRAYSZ) &&
           take_all_names(load);
}

bool velink_load(struct velink_library *library, const struct velink_environment *environment,
                 struct velink_error *error)
{
    struct load *load = calloc(1, sizeof *load);
    if (load == NULL)
        return velink_fail(error, "out of memory");

    *load = (struct load){.library = library, .environment = environment, .error = error};
    bool done = load_file(load);
    velink_elf_close(&load->elf);
    free(load);
    return done;
}
