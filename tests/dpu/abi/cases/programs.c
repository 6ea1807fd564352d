/* SPDX-License-Identifier: BSD-3-Clause */
/* Loading programs, and what is known of them. */
#include "cases.h"

#include <unistd.h>

static dpu_error_t load_from_memory(struct dpu_set_t set, struct program program)
{
    make_program(&program);
    dpu_error_t status = dpu_load_from_memory(set, program.image, program.size, NULL);
    free(program.image);
    return status;
}

static const struct program plain = {.command = COUNT, .tasklets = 1, .mram_size = 64};

CASE(programs_come_from_files_and_memory)
{
    struct dpu_set_t set = allocate(3, NULL), dpu = first_dpu(set);
    struct dpu_program_t *program = NULL;
    write_program("count.dpu", COUNT);
    CHECK_OK(dpu_load(set, "count.dpu", &program));
    CHECK_TRUE(program == dpu_get_program(dpu.dpu));
    CHECK_TRUE(program->program_path[0] == '/');
    CHECK_EQUAL(program->nr_threads_enabled, 1);
    CHECK_EQUAL(program->printf_buffer_address, -1);
    CHECK_EQUAL(program->mcount_address, -1);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    CHECK_EQUAL(read_counter(dpu), 1);
    /* Loading again writes the variables again. */
    CHECK_OK(dpu_load(set, "./count.dpu", NULL));
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    CHECK_EQUAL(read_counter(dpu), 1);
    struct program other = plain;
    make_program(&other);
    struct dpu_incbin_t incbin = {other.image, other.size, "inside"};
    CHECK_OK(dpu_load_from_incbin(dpu, &incbin, &program));
    CHECK_TRUE(strcmp(program->program_path, "inside") == 0);
    CHECK_OK(dpu_load_from_memory(set, other.image, other.size, &program));
    CHECK_TRUE(program->program_path == NULL);
    free(other.image);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    CHECK_EQUAL(read_counter(dpu), 1);
    CHECK_OK(dpu_free(set));
    CHECK_TRUE(unlink("count.dpu") == 0);
}

CASE(a_program_lives_while_somebody_has_it)
{
    struct dpu_set_t set = allocate(1, NULL);
    struct dpu_program_t *program;
    struct dpu_symbol_t symbol;
    struct program made = plain;
    make_program(&made);
    CHECK_OK(dpu_load_from_memory(set, made.image, made.size, &program));
    free(made.image);
    dpu_take_program_ref(program);
    CHECK_OK(dpu_free(set));
    CHECK_OK(dpu_get_symbol(program, "cmd", &symbol));
    dpu_free_program(program);
}

CASE(symbols_are_those_of_the_host)
{
    struct dpu_set_t set = allocate(1, NULL);
    struct dpu_program_t *program;
    struct dpu_symbol_t symbol;
    struct program made = plain;
    make_program(&made);
    CHECK_OK(dpu_load_from_memory(set, made.image, made.size, &program));
    free(made.image);
    static const struct {
        const char *name;
        uint32_t address, size;
    } wanted[] = {
        {"cmd", 0x40, 4},
        {"wbuf", 0x50, 64},
        {"mbuf", 0x08000100, 4096},
        {"__bootstrap", 0x80000000, 16},
        {"__sys_used_mram_end", 0x08010000, (64 << 20) - 0x10000},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        CHECK_OK(dpu_get_symbol(program, wanted[i].name, &symbol));
        CHECK_EQUAL(symbol.address, wanted[i].address);
        CHECK_EQUAL(symbol.size, wanted[i].size);
    }
    static const char *const unknown[] = {"plain", "NR_TASKLETS", "nope", "", "cm", "cmdx"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        CHECK_EQUAL(dpu_get_symbol(program, unknown[i], &symbol), DPU_ERR_UNKNOWN_SYMBOL);
    CHECK_EQUAL(dpu_get_symbol(program, "plain", &symbol), DPU_ERR_UNKNOWN_SYMBOL);
    CHECK_DETAIL("__host");
    CHECK_EQUAL(dpu_get_symbol(program, NULL, &symbol), DPU_ERR_UNKNOWN_SYMBOL);
    CHECK_EQUAL(dpu_get_symbol(NULL, "cmd", &symbol), DPU_ERR_NO_PROGRAM_LOADED);
    bool seen = false;
    for (unsigned i = 0; i < program->symbols->nr_symbols; i++) {
        CHECK_TRUE(strcmp(program->symbols->map[i].name, "plain") != 0);
        seen = seen || strcmp(program->symbols->map[i].name, "mbuf") == 0;
    }
    CHECK_TRUE(seen);
    CHECK_OK(dpu_free(set));
}

static uint32_t clock_of(const char *profile)
{
    struct dpu_set_t set = allocate(1, profile);
    load_command(set, COUNT);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    uint32_t clock = read_register(first_dpu(set), 5);
    CHECK_OK(dpu_free(set));
    return clock;
}

CASE(the_clock_is_written_into_the_program)
{
    CHECK_EQUAL(clock_of("backend=simulator"), 500000000);
    CHECK_EQUAL(clock_of(NULL), 350000000);
    CHECK_EQUAL(clock_of("chipId=9"), 400000000);
    CHECK_EQUAL(clock_of("backend=cas,fckFrequency=267"), 267000000);
}

CASE(programs_of_the_wrong_kind_are_refused)
{
    struct dpu_set_t set = allocate(1, NULL), small = allocate(1, "chipId=9"),
                     large = allocate(1, "chipId=8");
    struct program program = plain;
    program.tasklets = 24;
    CHECK_OK(load_from_memory(set, program));
    CHECK_EQUAL(load_from_memory(small, program), DPU_ERR_TOO_MANY_TASKLETS);
    CHECK_DETAIL("16");
    program.tasklets = 25;
    CHECK_EQUAL(load_from_memory(set, program), DPU_ERR_TOO_MANY_TASKLETS);
    program.tasklets = -1;
    CHECK_EQUAL(load_from_memory(set, program), DPU_ERR_TOO_MANY_TASKLETS);
    CHECK_DETAIL("NR_TASKLETS");
    program.tasklets = 16;
    CHECK_OK(load_from_memory(small, program));
    program.chip = "v1A";
    CHECK_OK(load_from_memory(set, program));
    CHECK_EQUAL(load_from_memory(small, program), DPU_ERR_ELF_INVALID_FILE);
    CHECK_DETAIL("chipId");
    program.chip = "v1B";
    CHECK_OK(load_from_memory(small, program));
    CHECK_EQUAL(load_from_memory(large, program), DPU_ERR_ELF_INVALID_FILE);
    CHECK_DETAIL("v1B");
    CHECK_OK(dpu_free(large));
    /* Nobody chose a chip. */
    CHECK_OK(load_from_memory(set, program));
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    program.chip = "v9Z";
    CHECK_EQUAL(load_from_memory(set, program), DPU_ERR_ELF_INVALID_FILE);
    program.chip = NULL;
    program.mram_size = 13; /* not a multiple of 8 */
    CHECK_OK(load_from_memory(set, program));
    /* The program that was loaded before is still there. */
    program.tasklets = 77;
    CHECK_EQUAL(load_from_memory(set, program), DPU_ERR_TOO_MANY_TASKLETS);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    CHECK_OK(dpu_free(set));
    CHECK_OK(dpu_free(small));
}

CASE(no_part_of_a_program_is_taken_for_one)
{
    struct dpu_set_t set = allocate(1, NULL);
    struct program program = plain;
    make_program(&program);
    for (size_t size = 0; size < program.size; size++) {
        uint8_t *part = malloc(size + 1);
        memcpy(part, program.image, size);
        dpu_error_t status = dpu_load_from_memory(set, part, size, NULL);
        /* The last bytes are names of sections. */
        CHECK_TRUE(status == DPU_ERR_ELF_INVALID_FILE || status == DPU_ERR_ELF_NO_SUCH_SECTION);
        CHECK_TRUE(dpusoft_last_error_detail()[0] != 0);
        free(part);
    }
    program.image[18] = 3;
    CHECK_EQUAL(dpu_load_from_memory(set, program.image, program.size, NULL),
                DPU_ERR_ELF_INVALID_FILE);
    free(program.image);
    CHECK_EQUAL(dpu_load_from_memory(set, NULL, 100, NULL), DPU_ERR_ELF_INVALID_FILE);
    CHECK_EQUAL(dpu_load_from_incbin(set, NULL, NULL), DPU_ERR_ELF_INVALID_FILE);
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_NO_PROGRAM_LOADED);
    CHECK_OK(dpu_free(set));
}

/* As with the vendor: a transfer needs a program in one DPU, a launch in each. */
CASE(dpus_without_a_program_take_part_in_transfers)
{
    struct dpu_set_t set = allocate(3, NULL), dpu;
    uint32_t values[3] = {11, 12, 13}, index, value = 0;
    struct dpu_symbol_t counter;

    DPU_FOREACH(set, dpu, index)
    {
        CHECK_OK(dpu_prepare_xfer(dpu, &values[index]));
        if (index != 1)
            continue;
        load_command(dpu, COUNT);
        CHECK_OK(dpu_get_symbol(dpu_get_program(dpu_from_set(dpu)), "counter", &counter));
    }
    CHECK_OK(dpu_push_xfer(set, DPU_XFER_TO_DPU, "counter", 0, 4, DPU_XFER_DEFAULT));
    DPU_FOREACH(set, dpu, index)
    {
        CHECK_OK(dpu_copy_from_symbol(dpu, counter, 0, &value, 4));
        CHECK_EQUAL(value, values[index]);
    }
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_NO_PROGRAM_LOADED);
    CHECK_DETAIL("has no program");
    CHECK_OK(dpu_free(set));
}

CASE(files_that_cannot_be_read)
{
    struct dpu_set_t set = allocate(1, NULL);
    CHECK_EQUAL(dpu_load(set, "there-is-no-such-file", NULL), DPU_ERR_SYSTEM);
    CHECK_DETAIL("there-is-no-such-file");
    CHECK_EQUAL(dpu_load(set, "", NULL), DPU_ERR_SYSTEM);
    CHECK_EQUAL(dpu_load(set, NULL, NULL), DPU_ERR_SYSTEM);
    CHECK_EQUAL(dpu_load(set, "/", NULL), DPU_ERR_SYSTEM);
    CHECK_EQUAL(dpu_load(set, "/dev/zero", NULL), DPU_ERR_SYSTEM);
    FILE *file = fopen("text", "w");
    CHECK_TRUE(file != NULL && fclose(file) == 0);
    CHECK_EQUAL(dpu_load(set, "text", NULL), DPU_ERR_ELF_INVALID_FILE);
    file = fopen("text", "w");
    CHECK_TRUE(file != NULL && fputs("no program\n", file) > 0 && fclose(file) == 0);
    CHECK_EQUAL(dpu_load(set, "text", NULL), DPU_ERR_ELF_INVALID_FILE);
    CHECK_TRUE(unlink("text") == 0);
    CHECK_OK(dpu_free(set));
}

CASE(errors_have_the_texts_of_the_vendor)
{
    static const struct {
        uint32_t code;
        const char *text;
    } wanted[] = {
        {0, "success"},
        {5, "invalid action for this dpu set"},
        {14, "invalid parallel transfer (should be to/from WRAM)"},
        {23, "dpu is in fault"},
        {42, "scatter/gather transfer unsupported symbol (must be a mram symbol)"},
        {43, "unknown error"},
        {0x7FFFFFFF, "unknown error"},
        {0x80010015, "asynchronous operation error (launch_rank): invalid memory transfer "
                     "(0x10015)"},
        {0x80120002, "asynchronous operation error (callback): system error (0x120002)"},
        {0x80990001, "asynchronous operation error (unknown job type): internal error (0x990001)"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        char *text = (char *)(uintptr_t)dpu_error_to_string((dpu_error_t)wanted[i].code);
        CHECK_TRUE(strcmp(text, wanted[i].text) == 0);
        free(text);
    }
}
