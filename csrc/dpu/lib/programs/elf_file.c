/* SPDX-License-Identifier: BSD-3-Clause */
/* elf_file.c: the functions of dpu_elf.h that read. */
#include "dpu/lib/programs/elf_file.h"

#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/programs/image.h"
#include "dpu_elf.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* --- files --- */

static dpu_error_t open_image(uint8_t *image, size_t size, const char *name, dpu_elf_file_t *file)
{
    struct dpulib_elf_file *made = calloc(1, sizeof *made);
    if (made == NULL) {
        free(image);
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (program)");
    }

    enum dpu_elf_status status = dpu_elf_open_image(&made->elf, image, size);
    if (status != DPU_ELF_OK) {
        free(made);
        free(image);
        return dpulib_elf_fail(status, name);
    }

    made->image = image;
    *file = made;
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpu_elf_open(const char *path, dpu_elf_file_t *file)
{
    if (file == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "file must not be NULL");

    *file = NULL;
    uint8_t *image;
    size_t size;
    if (path == NULL)
        return dpulib_fail(DPU_ERR_ELF_NO_SUCH_FILE, "no file is named");
    if (dpulib_read_file(path, &image, &size) != DPU_OK)
        return DPU_ERR_ELF_NO_SUCH_FILE;
    return open_image(image, size, path, file);
}

DPU_EXPORT dpu_error_t dpu_elf_map(uint8_t *memory, unsigned int size, dpu_elf_file_t *file,
                                   const char *filename_or_null)
{
    if (file == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "file must not be NULL");

    *file = NULL;
    uint8_t *image = memory != NULL ? malloc((size_t)size + 1) : NULL;
    if (image == NULL)
        return dpulib_fail(memory != NULL ? DPU_ERR_SYSTEM : DPU_ERR_ELF_INVALID_FILE,
                           memory != NULL ? "out of memory (program)" : "memory must not be NULL");

    memcpy(image, memory, size);
    return open_image(image, size, filename_or_null, file);
}

DPU_EXPORT void dpu_elf_close(dpu_elf_file_t file)
{
    struct dpulib_elf_file *opened = file;
    if (opened == NULL)
        return;
    dpu_elf_close_image(&opened->elf);
    free(opened->image);
    free(opened);
}

/* --- sections --- */

static bool find_section(const struct dpulib_elf_file *file, const char *name, uint32_t *index)
{
    const struct dpu_elf_sections *sections = &file->elf.sections;
    for (*index = 1; *index < sections->count; (*index)++) {
        const Elf32_Shdr section = dpu_elf_section(sections, *index);
        if (section.sh_type != SHT_NULL &&
            strcmp(dpu_elf_section_name(sections, &section), name) == 0)
            return true;
    }
    return false;
}

static dpu_error_t no_such_section(const char *name)
{
    return dpulib_fail(DPU_ERR_ELF_NO_SUCH_SECTION, "the file has no section '%s'", name);
}

DPU_EXPORT dpu_error_t dpu_elf_get_sections(dpu_elf_file_t file, unsigned int *nr_sections,
                                            char ***sections)
{
    const struct dpulib_elf_file *opened = file;
    if (opened == NULL || nr_sections == NULL || sections == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "file, nr_sections and sections must not be NULL");

    const struct dpu_elf_sections *all = &opened->elf.sections;
    unsigned int count = 0;
    char **names = calloc((size_t)all->count + 1, sizeof *names);
    if (names == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (names of sections)");

    for (uint32_t i = 1; i < all->count; i++) {
        const Elf32_Shdr section = dpu_elf_section(all, i);
        names[count++] = (char *)(uintptr_t)dpu_elf_section_name(all, &section);
    }

    *nr_sections = count;
    *sections = names;
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpu_elf_load_section(dpu_elf_file_t file, const char *name,
                                            unsigned int *size, uint8_t **buffer)
{
    const struct dpulib_elf_file *opened = file;
    if (opened == NULL || name == NULL || size == NULL || buffer == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "file, name, size and buffer must not be NULL");

    uint32_t index;
    if (!find_section(opened, name, &index))
        return no_such_section(name);

    const Elf32_Shdr section = dpu_elf_section(&opened->elf.sections, index);
    struct dpu_elf_bytes bytes = {NULL, 0};
    bool present = dpu_elf_section_bytes(&opened->elf.sections, &section, &bytes);
    if (!present && section.sh_type != SHT_NOBITS)
        return dpulib_fail(DPU_ERR_ELF_INVALID_FILE, "the section '%s' is not all in the file",
                           name);

    /* One without bytes in the file, such as stacks, may pretend any size. */
    *size = (unsigned int)bytes.size;
    *buffer = malloc((size_t)*size + 1);
    if (*buffer == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (section '%s')", name);
    if (present)
        memcpy(*buffer, bytes.data, bytes.size);
    return DPU_OK;
}

/* --- symbols --- */

/* The address as its memory counts it: from 0, for IRAM in instructions. */
static uint32_t local_address(uint32_t address)
{
    if ((address & DPU_ELF_IRAM_BASE) != 0)
        return (address & ~DPU_ELF_IRAM_BASE) >> 3;
    return address & ~DPU_ELF_MRAM_BASE;
}

static uint32_t local_size(uint32_t address, uint32_t size)
{
    return (address & DPU_ELF_IRAM_BASE) != 0 ? size >> 3 : size;
}

/* Takes what was there once it is full. */
static bool add_symbol(dpu_elf_symbols_t *list, const char *name, uint32_t value, uint32_t size)
{
    if ((list->nr_symbols & (list->nr_symbols - 1)) == 0) {
        size_t room = list->nr_symbols != 0 ? (size_t)list->nr_symbols * 2 : 1;
        dpu_elf_symbol_t *larger = realloc(list->map, room * sizeof *larger);
        if (larger == NULL)
            return false;
        list->map = larger;
    }

    char *copy = strdup(name);
    if (copy == NULL)
        return false;

    list->map[list->nr_symbols++] = (dpu_elf_symbol_t){copy, value, size};
    return true;
}

static void empty(dpu_elf_symbols_t *list)
{
    for (unsigned int i = 0; i < list->nr_symbols; i++)
        free(list->map[i].name);
    free(list->map);
    *list = (dpu_elf_symbols_t){0, NULL};
}

DPU_EXPORT void dpu_elf_free_symbols(dpu_elf_symbols_t *symbols)
{
    if (symbols != NULL)
        empty(symbols);
    free(symbols);
}

/* Adds the named symbols of a table whose section has a number; false if out of memory. */
static bool collect_from(const struct dpu_elf_sections *sections, const Elf32_Shdr *table,
                         uint32_t wanted, dpu_elf_symbols_t *list)
{
    const Elf32_Shdr strings = dpu_elf_section(sections, table->sh_link);
    struct dpu_elf_bytes symbols, names;
    if (!dpu_elf_section_bytes(sections, table, &symbols) ||
        !dpu_elf_section_bytes(sections, &strings, &names))
        return true;

    for (size_t at = 0; at + sizeof(Elf32_Sym) <= symbols.size; at += sizeof(Elf32_Sym)) {
        Elf32_Sym symbol;
        memcpy(&symbol, symbols.data + at, sizeof symbol);
        if (symbol.st_shndx != wanted || symbol.st_name >= names.size ||
            names.data[symbol.st_name] == 0 ||
            memchr(names.data + symbol.st_name, 0, names.size - symbol.st_name) == NULL)
            continue;
        if (!add_symbol(list, (const char *)names.data + symbol.st_name,
                        local_address(symbol.st_value),
                        local_size(symbol.st_value, symbol.st_size)))
            return false;
    }

    return true;
}

static bool collect(const struct dpulib_elf_file *file, uint32_t wanted, dpu_elf_symbols_t *list)
{
    const struct dpu_elf_sections *sections = &file->elf.sections;
    for (uint32_t i = 1; i < sections->count; i++) {
        const Elf32_Shdr table = dpu_elf_section(sections, i);
        if (table.sh_type == SHT_SYMTAB && !collect_from(sections, &table, wanted, list))
            return false;
    }
    return true;
}

DPU_EXPORT dpu_error_t dpu_elf_load_symbols(dpu_elf_file_t file, const char *name,
                                            dpu_elf_symbols_t **symbols)
{
    const struct dpulib_elf_file *opened = file;
    if (opened == NULL || name == NULL || symbols == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "file, name and symbols must not be NULL");

    *symbols = NULL;
    uint32_t index;
    if (!find_section(opened, name, &index))
        return no_such_section(name);

    dpu_elf_symbols_t *list = calloc(1, sizeof *list);
    if (list == NULL || !collect(opened, index, list)) {
        dpu_elf_free_symbols(list);
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (symbols of '%s')", name);
    }

    *symbols = list;
    return DPU_OK;
}

/* --- run time --- */

/* FILE may be NULL, which has no symbols. */
static void fill_item(const struct dpulib_elf_file *file, const char *name, uint32_t otherwise,
                      dpu_elf_runtime_info_item_t *item)
{
    const struct dpu_elf_symbol *symbol = file != NULL ? dpu_elf_find(&file->elf, name) : NULL;
    item->value = otherwise;
    if (symbol != NULL)
        *item = (dpu_elf_runtime_info_item_t){local_address(symbol->value),
                                              local_size(symbol->value, symbol->size), true};
}

/* Adds the symbols whose names begin with PREFIX, without it. False if out of memory. */
static bool fill_list(const struct dpulib_elf_file *file, const char *prefix,
                      dpu_elf_symbols_t *list)
{
    const size_t length = strlen(prefix);
    for (size_t i = 0; i < file->elf.nsymbols; i++) {
        const struct dpu_elf_symbol *symbol = &file->elf.symbols[i];
        if (strncmp(symbol->name, prefix, length) == 0 &&
            !add_symbol(list, symbol->name + length, local_address(symbol->value), symbol->size))
            return false;
    }
    return true;
}

DPU_EXPORT void dpu_elf_get_runtime_info(dpu_elf_file_t file, dpu_elf_runtime_info_t *info)
{
    const struct dpulib_elf_file *opened = file;
    if (info == NULL)
        return;
    memset(info, 0, sizeof *info);

    const struct {
        const char *name;
        dpu_elf_runtime_info_item_t *item;
        uint32_t otherwise;
    } items[] = {
        {"__sys_heap_pointer_reset", &info->sys_heap_pointer_reset, UINT32_MAX},
        {"__sys_heap_pointer", &info->sys_heap_pointer, UINT32_MAX},
        {"__sys_wq_table", &info->sys_wq_table, UINT32_MAX},
        {"__sys_thread_stack_table_ptr", &info->sys_stack_table, UINT32_MAX},
        {"__stdout_buffer", &info->printf_buffer, UINT32_MAX},
        {"__stdout_buffer_state", &info->printf_state, UINT32_MAX},
        {"__sys_end", &info->sys_end, UINT32_MAX},
        {"mcount", &info->mcount, 0},
        {"ret_mcount", &info->ret_mcount, 0},
        {"thread_profiling", &info->thread_profiling, 0},
        {"NR_TASKLETS", &info->nr_threads, UINT32_MAX},
        {"perfcounter_end_value", &info->perfcounter_end_value, UINT32_MAX},
        {"__open_print_sequence", &info->open_print_sequence, UINT32_MAX},
        {"__close_print_sequence", &info->close_print_sequence, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
        fill_item(opened, items[i].name, items[i].otherwise, items[i].item);

    /* Without memory, some are missing. */
    if (opened != NULL && fill_list(opened, "__atomic_bit_", &info->mutex_info) &&
        fill_list(opened, "__semaphore_", &info->semaphore_info))
        (void)fill_list(opened, "__barrier_", &info->barrier_info);
}

DPU_EXPORT void free_runtime_info(dpu_elf_runtime_info_t *runtime_info)
{
    if (runtime_info == NULL)
        return;
    empty(&runtime_info->mutex_info);
    empty(&runtime_info->semaphore_info);
    empty(&runtime_info->barrier_info);
}
