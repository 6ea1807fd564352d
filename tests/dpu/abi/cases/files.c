/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs as files: dpu_elf.h, dpu_loader.h, and programs of the caller's own. */
#include "cases.h"

#include <dpu_checkpoint.h>
#include <dpu_custom.h>
#include <dpu_debug.h>
#include <dpu_elf.h>
#include <dpu_loader.h>
#include <dpu_memory.h>

#define MRAM_ALL (64u << 20)

static bool has_section(dpu_elf_file_t file, const char *name)
{
    unsigned int count;
    char **sections;
    CHECK_OK(dpu_elf_get_sections(file, &count, &sections));
    bool found = false;
    for (unsigned int i = 0; i < count; i++)
        found = found || strcmp(sections[i], name) == 0;
    free(sections);
    return found;
}

static const dpu_elf_symbol_t *symbol_of(const dpu_elf_symbols_t *symbols, const char *name)
{
    for (unsigned int i = 0; i < symbols->nr_symbols; i++)
        if (strcmp(symbols->map[i].name, name) == 0)
            return &symbols->map[i];
    return NULL;
}

static void check_contents(dpu_elf_file_t file)
{
    unsigned int size = 0;
    uint8_t *bytes;
    dpu_elf_symbols_t *symbols;
    CHECK_TRUE(has_section(file, ".text"));
    CHECK_TRUE(!has_section(file, ".nothing"));
    CHECK_OK(dpu_elf_load_section(file, ".text", &size, &bytes));
    CHECK_TRUE(size > 0 && size % 8 == 0);
    free(bytes);
    CHECK_EQUAL(dpu_elf_load_section(file, ".nothing", &size, &bytes), DPU_ERR_ELF_NO_SUCH_SECTION);
    CHECK_DETAIL(".nothing");
    /* In instructions, and in bytes. */
    CHECK_OK(dpu_elf_load_symbols(file, ".text", &symbols));
    CHECK_EQUAL(symbol_of(symbols, "main")->value, 2);
    CHECK_EQUAL(symbol_of(symbols, "__bootstrap")->size, 2);
    CHECK_TRUE(symbol_of(symbols, "cmd") == NULL);
    dpu_elf_free_symbols(symbols);
    CHECK_OK(dpu_elf_load_symbols(file, ".data.__sys_host", &symbols));
    CHECK_EQUAL(symbol_of(symbols, "counter")->size, 4);
    dpu_elf_free_symbols(symbols);
    CHECK_EQUAL(dpu_elf_load_symbols(file, "", &symbols), DPU_ERR_ELF_NO_SUCH_SECTION);
    CHECK_TRUE(symbols == NULL);
    dpu_elf_runtime_info_t info;
    dpu_elf_get_runtime_info(file, &info);
    CHECK_TRUE(info.nr_threads.exists && info.nr_threads.value == 1);
    CHECK_TRUE(!info.mcount.exists && info.mcount.value == 0);
    CHECK_TRUE(!info.printf_buffer.exists && info.printf_buffer.value == UINT32_MAX);
    free_runtime_info(&info);
}

CASE(files_show_their_sections_and_symbols)
{
    dpu_elf_file_t file;
    write_program("files.dpu", COUNT);
    CHECK_OK(dpu_elf_open("files.dpu", &file));
    check_contents(file);
    dpu_elf_close(file);

    struct program program = {.command = COUNT, .tasklets = 1, .mram_size = 64};
    make_program(&program);
    CHECK_OK(dpu_elf_map(program.image, (unsigned)program.size, &file, NULL));
    memset(program.image, 0xFF, program.size); /* it is a copy */
    check_contents(file);
    dpu_elf_close(file);
    CHECK_EQUAL(dpu_elf_map(program.image, (unsigned)program.size, &file, "x"),
                DPU_ERR_ELF_INVALID_FILE);
    CHECK_TRUE(file == NULL);
    free(program.image);
    CHECK_EQUAL(dpu_elf_open("not there", &file), DPU_ERR_ELF_NO_SUCH_FILE);
    CHECK_EQUAL(dpu_elf_open(NULL, &file), DPU_ERR_ELF_NO_SUCH_FILE);
    CHECK_EQUAL(dpu_elf_map(NULL, 4, &file, NULL), DPU_ERR_ELF_INVALID_FILE);
    dpu_elf_close(NULL);
    dpu_elf_free_symbols(NULL);
    free_runtime_info(NULL);
}

static dpu_error_t count_from_40(dpu_loader_env_t env, void *content, dpu_mem_max_addr_t address,
                                 dpu_mem_max_size_t size, bool init)
{
    (void)env;
    uint32_t *words = content;
    CHECK_TRUE(init);
    for (uint32_t i = 0; i < size; i++)
        if ((address + i) * 4 == 0x44)
            words[i] = 40;
    return DPU_OK;
}

static dpu_error_t refuse(dpu_loader_env_t env, void *content, dpu_mem_max_addr_t address,
                          dpu_mem_max_size_t size, bool init)
{
    (void)env, (void)content, (void)address, (void)size, (void)init;
    return DPU_ERR_CORRUPTED_MEMORY;
}

/* A program that the caller reads, writes into the DPUs and tells the library of. */
static struct dpu_program_t *read_program(dpu_elf_file_t *file)
{
    struct dpu_program_t *program = malloc(sizeof *program);
    CHECK_TRUE(program != NULL);
    dpu_init_program_ref(program);
    write_program("own.dpu", COUNT);
    CHECK_OK(dpu_load_elf_program(file, "own.dpu", program, MRAM_ALL / 2));
    return program;
}

CASE(callers_load_programs_of_their_own)
{
    struct dpu_set_t set = allocate(3, NULL), dpu;
    dpu_elf_file_t file;
    struct dpu_program_t *program = read_program(&file), *common;
    CHECK_EQUAL(program->nr_threads_enabled, 1);
    CHECK_EQUAL(strcmp(program->program_path, "own.dpu"), 0);
    struct dpu_symbol_t symbol;
    CHECK_OK(dpu_get_symbol(program, "counter", &symbol));
    CHECK_EQUAL(symbol.address, 0x44);
    CHECK_EQUAL(dpu_get_symbol(program, "plain", &symbol), DPU_ERR_UNKNOWN_SYMBOL);

    struct _dpu_loader_context_t context;
    dpu_loader_fill_rank_context(&context, set.list.ranks[0]);
    context.patch_wram = count_from_40;
    CHECK_OK(dpu_elf_load(file, &context));
    CHECK_TRUE(context.nr_of_instructions > 10 && context.nr_of_wram_words > 10);
    CHECK_TRUE(context.nr_of_mram_bytes == 64);
    CHECK_EQUAL(dpu_get_common_program(&set, &common), DPU_ERR_NO_PROGRAM_LOADED);
    DPU_FOREACH(set, dpu)
    {
        dpu_set_program(dpu.dpu, program);
        dpu_take_program_ref(program);
    }
    CHECK_OK(dpu_get_common_program(&set, &common));
    CHECK_TRUE(common == program);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_FOREACH(set, dpu)
    CHECK_EQUAL(read_counter(dpu), 41);

    /* One of them again. */
    dpu = first_dpu(set);
    dpu_loader_fill_dpu_context(&context, dpu.dpu);
    CHECK_OK(dpu_elf_load(file, &context));
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    CHECK_EQUAL(read_counter(dpu), 1);
    context.patch_iram = refuse;
    CHECK_EQUAL(dpu_elf_load(file, &context), DPU_ERR_CORRUPTED_MEMORY);
    CHECK_EQUAL(dpu_elf_load(NULL, &context), DPU_ERR_INTERNAL);
    CHECK_EQUAL(dpu_elf_load(file, NULL), DPU_ERR_INTERNAL);

    /* A fault is told without the names of functions. */
    uint32_t command = ASSERT;
    CHECK_OK(dpu_copy_to(dpu, "cmd", 0, &command, sizeof(command)));
    CHECK_EQUAL(dpu_launch(dpu, DPU_SYNCHRONOUS), DPU_ERR_DPU_FAULT);
    CHECK_DETAIL("assert failed");

    /* Two DPUs give their references up here, the last one when it is freed. */
    load_command(dpu, COUNT);
    CHECK_EQUAL(dpu_get_common_program(&set, &common), DPU_ERR_DIFFERENT_DPU_PROGRAMS);
    CHECK_EQUAL(program->reference_count, 2);
    CHECK_OK(dpu_free(set));
    dpu_elf_close(file);
}

CASE(programs_of_callers_are_refused_as_others_are)
{
    dpu_elf_file_t file;
    struct dpu_program_t program = {0};
    uint8_t bytes[64] = "no program";
    CHECK_EQUAL(dpu_load_elf_program(&file, "not there", &program, MRAM_ALL),
                DPU_ERR_ELF_NO_SUCH_FILE);
    CHECK_EQUAL(
        dpu_load_elf_program_from_memory(&file, NULL, bytes, sizeof(bytes), &program, MRAM_ALL),
        DPU_ERR_ELF_INVALID_FILE);
    CHECK_TRUE(file == NULL && program.symbols == NULL);
    CHECK_EQUAL(dpu_load_elf_program_from_memory(&file, NULL, NULL, 0, &program, MRAM_ALL),
                DPU_ERR_ELF_INVALID_FILE);
    CHECK_EQUAL(dpu_load_elf_program(NULL, "x", &program, MRAM_ALL), DPU_ERR_ELF_NO_SUCH_FILE);
    dpu_set_program(NULL, &program);
}

CASE(core_files_are_programs_to_read)
{
    struct dpu_set_t set = allocate(1, NULL), dpu = first_dpu(set);
    write_program("dumped.dpu", ASSERT);
    CHECK_OK(dpu_load(set, "dumped.dpu", NULL));
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_DPU_FAULT);
    struct dpu_context_t context;
    CHECK_OK(dpu_checkpoint_save(dpu, DPU_CHECKPOINT_INTERNAL, &context));
    static uint8_t wram[1 << 16];
    CHECK_OK(dpu_copy_from_wram_for_dpu(dpu.dpu, (dpuword_t *)(void *)wram, 0, sizeof(wram) / 4));
    CHECK_OK(dpu_create_core_dump(set.list.ranks[0], "dumped.dpu", "core", &context, wram, NULL,
                                  NULL, sizeof(wram), 0, 0));

    dpu_elf_file_t core;
    unsigned int size;
    uint8_t *bytes;
    CHECK_OK(dpu_elf_open("core", &core));
    CHECK_OK(dpu_elf_load_section(core, ".data", &size, &bytes));
    CHECK_TRUE(size == sizeof(wram) && memcmp(bytes, wram, size) == 0);
    free(bytes);
    struct dpu_context_t again;
    CHECK_OK(dpu_elf_load_section(core, ".regs", &size, &bytes));
    CHECK_OK(dpu_checkpoint_deserialize(bytes, size, &again));
    CHECK_TRUE(again.bkp_fault && again.bkp_fault_id == 3 && again.pcs[0] == context.pcs[0]);
    free(bytes);
    dpu_elf_symbols_t *symbols;
    CHECK_OK(dpu_elf_load_symbols(core, ".text", &symbols));
    CHECK_EQUAL(symbol_of(symbols, "main")->value, 2);
    dpu_elf_free_symbols(symbols);
    dpu_elf_close(core);

    CHECK_EQUAL(dpu_elf_create_core_dump("not there", "core", wram, NULL, NULL, NULL, 4, 0, 0, 0),
                DPU_ERR_ELF_NO_SUCH_FILE);
    CHECK_EQUAL(
        dpu_elf_create_core_dump(NULL, "no/such/folder", wram, NULL, NULL, NULL, 4, 0, 0, 0),
        DPU_ERR_ELF_NO_SUCH_FILE);
    CHECK_EQUAL(dpu_elf_create_core_dump(NULL, "core", wram, NULL, NULL, NULL, 1 << 19, 0, 0, 0),
                DPU_ERR_INVALID_BUFFER_SIZE);
    CHECK_OK(dpu_elf_create_core_dump(NULL, "core", wram, NULL, NULL, NULL, 8, 0, 0, 0));
    CHECK_OK(dpu_elf_open("core", &core));
    dpu_elf_close(core);
    dpu_checkpoint_free(&context);
    dpu_checkpoint_free(&again);
    CHECK_OK(dpu_free(set));
}

CASE(custom_commands_reset_or_do_nothing)
{
    struct dpu_set_t set = allocate(2, NULL), dpu = first_dpu(set);
    struct dpu_rank_t *rank = set.list.ranks[0];
    bool done, fault;
    load_command(set, ASSERT);
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_DPU_FAULT);
    CHECK_OK(dpu_custom_for_dpu(dpu.dpu, DPU_COMMAND_CUSTOM_LABEL, (void *)(uintptr_t)"label"));
    CHECK_OK(dpu_status(dpu, &done, &fault));
    CHECK_TRUE(fault);
    CHECK_OK(dpu_custom_for_dpu(dpu.dpu, DPU_COMMAND_DPU_SOFT_RESET, NULL));
    CHECK_OK(dpu_status(dpu, &done, &fault));
    CHECK_TRUE(!fault);
    CHECK_OK(dpu_status(set, &done, &fault));
    CHECK_TRUE(fault);
    CHECK_OK(dpu_custom_for_rank(rank, DPU_COMMAND_ALL_SOFT_RESET, NULL));
    CHECK_OK(dpu_status(set, &done, &fault));
    CHECK_TRUE(!fault);
    CHECK_OK(dpu_custom_for_rank(rank, DPU_COMMAND_EVENT_START, NULL));
    CHECK_EQUAL(dpu_custom_for_rank(rank, (dpu_custom_command_t)99, NULL), DPU_ERR_INTERNAL);
    CHECK_TRUE(dpu_custom_for_rank(NULL, DPU_COMMAND_EVENT_END, NULL) != DPU_OK);
    CHECK_TRUE(dpu_custom_for_dpu(NULL, DPU_COMMAND_EVENT_END, NULL) != DPU_OK);

    CHECK_OK(dpu_save_context_for_rank(rank));
    CHECK_OK(dpu_restore_context_for_rank(rank));
    CHECK_OK(dpu_restore_mux_context_for_rank(rank));
    CHECK_OK(dpu_set_debug_slice_info(rank, 7, 0, 0, 0));
    CHECK_EQUAL(dpu_set_debug_slice_info(rank, 8, 0, 0, 0), DPU_ERR_INTERNAL);
    CHECK_OK(dpu_free(set));
    CHECK_TRUE(dpu_save_context_for_rank(rank) != DPU_OK);
}
