/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libdpu -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup
 *
 * Programs as files, from the side of a host that looks into them: sections, symbols, what the run
 * time tells; calls without arguments; damaged sections; and each failing allocation.
 */
#include "tests/dpu/unit/echo_program.h"
#include "tests/support/failing_malloc.h"

#include "dpu_elf.h"
#include "dpu_program.h"

#include <stdbool.h>
#include <unistd.h>

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return allocation_fails() ? NULL : __real_strdup(text);
}

static uint8_t *image;
static size_t size;

#define TELLS(text) CHECK(strstr(dpusoft_last_error_detail(), text) != NULL)

static dpu_elf_file_t open_image(void)
{
    dpu_elf_file_t file = NULL;
    OK(dpu_elf_map(image, (unsigned int)size, &file, "echo"));
    return file;
}

static void test_nothing_is_given(void)
{
    dpu_elf_file_t file = &file;
    struct dpu_program_t program = {0};
    unsigned int n;
    char **names;
    uint8_t *bytes;
    dpu_elf_symbols_t *symbols;

    CHECK_RESULT(dpu_elf_open("x", NULL), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_elf_open(NULL, &file), DPU_ERR_ELF_NO_SUCH_FILE);
    CHECK(file == NULL);
    CHECK_RESULT(dpu_elf_open("/nowhere", &file), DPU_ERR_ELF_NO_SUCH_FILE);
    TELLS("/nowhere");
    CHECK_RESULT(dpu_elf_map(image, 1, NULL, NULL), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_elf_map(NULL, 1, &file, NULL), DPU_ERR_ELF_INVALID_FILE);
    CHECK_RESULT(dpu_elf_map(image, 10, &file, "short"), DPU_ERR_ELF_INVALID_FILE);
    TELLS("short");
    CHECK(file == NULL);

    file = open_image();
    CHECK_RESULT(dpu_elf_get_sections(NULL, &n, &names), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_elf_get_sections(file, NULL, &names), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_elf_get_sections(file, &n, NULL), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_elf_load_section(NULL, ".text", &n, &bytes), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_elf_load_section(file, NULL, &n, &bytes), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_elf_load_section(file, ".text", NULL, &bytes), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_elf_load_section(file, ".text", &n, NULL), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_elf_load_symbols(NULL, ".text", &symbols), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_elf_load_symbols(file, NULL, &symbols), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_elf_load_symbols(file, ".text", NULL), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_load_elf_program_from_memory(NULL, NULL, image, size, &program, 0),
                 DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_load_elf_program_from_memory(&file, NULL, image, size, NULL, 0),
                 DPU_ERR_INTERNAL);
    dpu_elf_close(file);
    CHECK_RESULT(dpu_load_elf_program_from_memory(&file, NULL, NULL, size, &program, 0),
                 DPU_ERR_ELF_INVALID_FILE);
    CHECK_RESULT(
        dpu_load_elf_program_from_memory(&file, NULL, image, (size_t)UINT32_MAX + 1, &program, 0),
        DPU_ERR_ELF_INVALID_FILE);
    CHECK_RESULT(dpu_load_elf_program(&file, NULL, &program, 0), DPU_ERR_ELF_NO_SUCH_FILE);
    TELLS("no file is named");
    CHECK_RESULT(dpu_load_elf_program(&file, "/nowhere", &program, 0), DPU_ERR_ELF_NO_SUCH_FILE);

    dpu_elf_close(NULL);
    dpu_elf_free_symbols(NULL);
    dpu_elf_get_runtime_info(NULL, NULL);
    free_runtime_info(NULL);
}

static void test_sections(void)
{
    dpu_elf_file_t file = open_image();
    unsigned int n = 0;
    char **names;
    OK(dpu_elf_get_sections(file, &n, &names));
    CHECK(n == 7 && strcmp(names[0], ".symtab") == 0 && strcmp(names[3], ".text") == 0);
    free(names);

    uint8_t *bytes;
    OK(dpu_elf_load_section(file, ".data.__sys_host", &n, &bytes));
    CHECK(n == HOST_END - WORDS && bytes[INPUT - WORDS + 16] == (DATA_IN & 0xFF));
    free(bytes);
    OK(dpu_elf_load_section(file, ".mram.noinit", &n, &bytes)); /* none in the file */
    CHECK(n == 0);
    free(bytes);
    CHECK_RESULT(dpu_elf_load_section(file, ".none", &n, &bytes), DPU_ERR_ELF_NO_SUCH_SECTION);
    TELLS("'.none'");

    dpu_elf_symbols_t *symbols;
    OK(dpu_elf_load_symbols(file, ".mram.noinit", &symbols));
    CHECK(symbols->nr_symbols == 3 && strcmp(symbols->map[0].name, "buffer") == 0);
    CHECK(symbols->map[0].value == 0 && symbols->map[0].size == BUFFER_SIZE);
    dpu_elf_free_symbols(symbols);
    OK(dpu_elf_load_symbols(file, ".text", &symbols));
    CHECK(symbols->nr_symbols == 1 && symbols->map[0].value == 0 && symbols->map[0].size == 25);
    dpu_elf_free_symbols(symbols);
    CHECK_RESULT(dpu_elf_load_symbols(file, ".none", &symbols), DPU_ERR_ELF_NO_SUCH_SECTION);
    CHECK(symbols == NULL);
    dpu_elf_close(file);
}

/* A program whose symbols are what a run time has: locks, semaphores, barriers. */
static uint8_t *runtime_image(size_t *bytes)
{
    struct dpu_program p;
    const uint64_t words[] = {STOP, STOP};
    dpu_program_start(&p);
    uint16_t text = dpu_program_section(&p, ".text", SHT_PROGBITS, 0x80000000, words, sizeof words);
    uint16_t data = dpu_program_section(&p, ".data", SHT_NOBITS, 0, NULL, 256);
    dpu_program_segment(&p, text, 0);
    static const char *const names[] = {"__atomic_bit_a", "__atomic_bit_b", "__atomic_bit_c",
                                        "__semaphore_s",  "__barrier_x",    "__barrier_y"};
    for (uint32_t i = 0; i < 6; i++)
        dpu_program_symbol(&p, names[i], 16 * i, 8, STB_GLOBAL, STT_OBJECT, data);
    dpu_program_symbol(&p, "__sys_heap_pointer", 0xE0, 4, STB_GLOBAL, STT_OBJECT, data);
    dpu_program_symbol(&p, "mcount", 0x80000008, 8, STB_GLOBAL, STT_FUNC, text);
    return dpu_program_image(&p, bytes);
}

static void test_run_time(void)
{
    dpu_elf_runtime_info_t info;
    dpu_elf_get_runtime_info(NULL, &info);
    CHECK(info.sys_heap_pointer.value == UINT32_MAX && !info.sys_heap_pointer.exists);
    CHECK(info.mcount.value == 0 && info.barrier_info.nr_symbols == 0);

    size_t bytes;
    uint8_t *program = runtime_image(&bytes);
    dpu_elf_file_t file;
    OK(dpu_elf_map(program, (unsigned int)bytes, &file, NULL));
    free(program); /* the file has a copy */
    dpu_elf_get_runtime_info(file, &info);
    CHECK(info.sys_heap_pointer.exists && info.sys_heap_pointer.value == 0xE0);
    CHECK(info.mcount.exists && info.mcount.value == 1 && info.mcount.size == 1);
    CHECK(info.mutex_info.nr_symbols == 3 && strcmp(info.mutex_info.map[2].name, "c") == 0);
    CHECK(info.semaphore_info.nr_symbols == 1 && info.semaphore_info.map[0].value == 48);
    CHECK(info.barrier_info.nr_symbols == 2 && info.barrier_info.map[1].size == 8);
    free_runtime_info(&info);
    CHECK(info.mutex_info.nr_symbols == 0 && info.mutex_info.map == NULL);

    /* Without memory some are missing, and nothing is lost. */
    for (allocations_left = 0; allocations_left < 20;) {
        long before = allocations_left;
        dpu_elf_get_runtime_info(file, &info);
        free_runtime_info(&info);
        allocations_left = before + 1;
    }
    allocations_left = -1;
    dpu_elf_close(file);
}

static void test_a_program(void)
{
    char path[] = "program-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, image, size) == (ssize_t)size && close(fd) == 0);

    dpu_elf_file_t file = NULL;
    struct dpu_program_t program = {.reference_count = 5};
    OK(dpu_load_elf_program(&file, path, &program, 1 << 22));
    CHECK(program.reference_count == 5 && strcmp(program.program_path, path) == 0);
    bool found = false;
    for (unsigned int i = 0; i < program.symbols->nr_symbols; i++)
        found |= strcmp(program.symbols->map[i].name, "buffer") == 0;
    CHECK(found);
    dpu_elf_close(file);
    dpu_elf_free_symbols(program.symbols);
    free(program.program_path);

    OK(dpu_elf_open(path, &file));
    dpu_elf_close(file);
    unlink(path);
}

/* --- without memory --- */

static dpu_error_t load(void)
{
    dpu_elf_file_t file = NULL;
    struct dpu_program_t program = {0};
    dpu_error_t status =
        dpu_load_elf_program_from_memory(&file, "echo", image, size, &program, 1 << 20);
    if (status == DPU_OK) {
        dpu_elf_close(file);
        dpu_elf_free_symbols(program.symbols);
        free(program.program_path);
    }
    CHECK(status == DPU_OK || file == NULL);
    return status;
}

static dpu_elf_file_t opened;

static dpu_error_t list_sections(void)
{
    unsigned int n;
    char **names = NULL;
    dpu_error_t status = dpu_elf_get_sections(opened, &n, &names);
    free(names);
    return status;
}

static dpu_error_t load_section(void)
{
    unsigned int n;
    uint8_t *bytes = NULL;
    dpu_error_t status = dpu_elf_load_section(opened, ".text", &n, &bytes);
    free(bytes);
    return status;
}

static dpu_error_t load_symbols(void)
{
    dpu_elf_symbols_t *symbols;
    dpu_error_t status = dpu_elf_load_symbols(opened, ".mram.noinit", &symbols);
    dpu_elf_free_symbols(symbols);
    return status;
}

static dpu_error_t map(void)
{
    dpu_elf_file_t file = NULL;
    dpu_error_t status = dpu_elf_map(image, (unsigned int)size, &file, "echo");
    dpu_elf_close(file);
    return status;
}

/* Every allocation fails once: the call says so, and nothing is left. */
static void test_no_memory(void)
{
    dpu_error_t (*const calls[])(void) = {load, list_sections, load_section, load_symbols, map};
    opened = open_image();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        long n = 0;
        for (dpu_error_t status = DPU_ERR_SYSTEM; status != DPU_OK; n++) {
            CHECK(n < 300);
            allocations_left = n;
            status = calls[i]();
            allocations_left = -1;
            if (status != DPU_OK) {
                CHECK_RESULT(status, DPU_ERR_SYSTEM);
                TELLS("memory");
            }
        }
        CHECK(n > 1);
    }
    dpu_elf_close(opened);
}

int main(void)
{
    image = echo_image(&size);
    test_nothing_is_given();
    test_sections();
    test_run_time();
    test_a_program();
    test_no_memory();
    free(image);
    return 0;
}
