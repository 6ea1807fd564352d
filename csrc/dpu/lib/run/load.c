/* SPDX-License-Identifier: BSD-3-Clause */
/* load.c: bringing a program from a file or from memory into DPUs. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/observe/recorder.h"
#include "dpu/lib/programs/image.h"
#include "dpu/lib/programs/program.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/configuration.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/run/checks.h"
#include "dpu/lib/schedule/submit.h"
#include "dpu_program.h"
#include "dpusoft.h"
#include "formats/dpu_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096

/* How many bytes from AT on are zeros, or are not, up to the end of a page of MRAM or further. */
static uint32_t find_run(const struct dpu_elf_segment *segment, uint32_t at, bool *zeros)
{
    static const uint8_t page[PAGE];
    uint32_t end = at;
    while (end < segment->data_size) {
        uint32_t part = PAGE - (segment->offset + end) % PAGE;
        part = part < segment->data_size - end ? part : segment->data_size - end;
        bool zero = memcmp(segment->data + end, page, part) == 0;
        if (end > at && zero != *zeros)
            break;
        *zeros = zero;
        end += part;
    }

    return end - at;
}

/* Pages of zeros, as large arrays have, take no memory. */
static bool write_mram(struct dpu_machine *machine, const struct dpu_elf_segment *segment)
{
    bool fits = true, zeros = false;
    for (uint32_t at = 0; fits && at < segment->data_size;) {
        uint32_t size = find_run(segment, at, &zeros);
        fits =
            zeros ? dpu_machine_clear_mram(machine, segment->offset + at, size)
                  : dpu_machine_write_mram(machine, segment->offset + at, segment->data + at, size);
        at += size;
    }

    uint32_t rest = segment->size - segment->data_size;
    return fits && dpu_machine_clear_mram(machine, segment->offset + segment->data_size, rest);
}

static bool write_wram(struct dpu_machine *machine, const struct dpu_elf_segment *segment)
{
    static const uint8_t zeros[PAGE];
    bool fits = dpu_machine_write_wram(machine, segment->offset, segment->data, segment->data_size);
    for (uint32_t at = segment->data_size; fits && at < segment->size;) {
        uint32_t part = segment->size - at < PAGE ? segment->size - at : PAGE;
        fits = dpu_machine_write_wram(machine, segment->offset + at, zeros, part);
        at += part;
    }
    return fits;
}

static dpu_error_t too_much_mram(uint32_t used, uint32_t size)
{
    return dpulib_fail(DPU_ERR_INVALID_MRAM_ACCESS,
                       "variables of the program take %u bytes of MRAM, and this chip has %u; the "
                       "profile key softMramMiB sets how much",
                       used, size);
}

static dpu_error_t does_not_fit(const struct dpu_machine *machine,
                                const struct dpu_elf_segment *segment)
{
    if (segment->memory == DPU_ELF_IRAM)
        return dpulib_fail(DPU_ERR_INVALID_IRAM_ACCESS,
                           "the program has %u instructions, and IRAM of this chip %u; the "
                           "profile key softIramInstructions sets how many",
                           (segment->offset + segment->size) / 8, dpu_machine_iram_size(machine));
    if (segment->memory == DPU_ELF_MRAM)
        return too_much_mram(segment->offset + segment->size, dpu_machine_mram_size(machine));
    return dpulib_fail(DPU_ERR_INVALID_WRAM_ACCESS,
                       "variables and stacks of the program take %u bytes, and WRAM of this chip "
                       "has %u; the profile key softWramKiB sets how much",
                       segment->offset + segment->size, dpu_machine_wram_size(machine));
}

static dpu_error_t write_segment(struct dpu_t *dpu, const struct dpu_elf_segment *segment,
                                 const uint64_t *words)
{
    struct dpu_machine *machine = dpu->machine;
    bool fits = true;
    switch (segment->memory) {
    case DPU_ELF_IRAM:
        fits = dpu_machine_write_iram(machine, segment->offset / 8, words, segment->size / 8);
        break;
    case DPU_ELF_WRAM: fits = write_wram(machine, segment); break;
    case DPU_ELF_MRAM: fits = write_mram(machine, segment); break;
    case DPU_ELF_NOWHERE:
    case DPU_ELF_ATOMIC:
    case DPU_ELF_OTHER: break;
    }

    if (!fits)
        return does_not_fit(machine, segment);
    return DPU_OK;
}

static dpu_error_t load(struct dpu_t *dpu, void *argument)
{
    struct dpulib_program *program = argument;
    const struct dpu_elf *elf = &program->elf;
    dpu_error_t status = DPU_OK;
    dpulib_record_load(dpu);

    /* Whatever it was doing. */
    dpu_machine_clear_fault(dpu->machine);
    const uint64_t *words = program->iram;
    for (size_t i = 0; i < elf->nsegments && status == DPU_OK; i++) {
        status = write_segment(dpu, &elf->segments[i], words);
        if (elf->segments[i].memory == DPU_ELF_IRAM)
            words += elf->segments[i].size / sizeof *words;
    }

    const struct dpu_elf_symbol *clock = elf->known[DPU_ELF_KNOWN_CLOCKS_PER_SEC];
    if (status == DPU_OK && clock != NULL && clock->memory == DPU_ELF_WRAM) {
        uint32_t frequency = dpulib_clock(&dpu->rank->configuration);
        dpu_machine_write_wram(dpu->machine, clock->value, &frequency, sizeof frequency);
    }

    memset(&dpu->result, 0, sizeof dpu->result);
    dpu->status = DPUSOFT_NEVER_LAUNCHED;
    dpu->stuck = dpu->recalled = false;
    free(dpu->breakpoints);
    dpu->breakpoints = NULL;

    /* After a failure it has neither program. */
    struct dpu_program_t *new = status == DPU_OK ? &program->public : NULL;
    dpu_take_program_ref(new);
    dpulib_lock();
    struct dpu_program_t *old = dpu->program;
    dpu->program = new;
    dpu->in_fault = false;
    dpulib_unlock();

    dpu_free_program(old);
    dpulib_checks_load(dpu);
    return status;
}

static dpu_error_t check_chip(struct dpu_set_t set, const struct dpu_elf *elf)
{
    const struct dpu_elf_symbol *end = elf->known[DPU_ELF_KNOWN_MRAM_END];
    dpu_error_t status = DPU_OK;
    dpulib_lock();
    status = dpulib_check_set_locked(set);
    for (uint32_t i = 0; status == DPU_OK && i < dpulib_set_ranks(&set); i++) {
        const struct dpu_rank_t *rank = dpulib_set_rank(&set, i);
        uint32_t threads = rank->description->hw.dpu.nr_of_threads;
        const char *chip = dpulib_chip(&rank->configuration).name;
        uint32_t mram = rank->description->hw.memories.mram_size;
        if (elf->nr_tasklets == DPU_ELF_TASKLETS_UNKNOWN)
            status = dpulib_fail(DPU_ERR_TOO_MANY_TASKLETS,
                                 "the program does not say how many tasklets it has: it has no "
                                 "symbol NR_TASKLETS");
        else if (elf->nr_tasklets > threads)
            status = dpulib_fail(DPU_ERR_TOO_MANY_TASKLETS,
                                 "the program has %u tasklets, a %s chip runs %u; compile it with "
                                 "-DNR_TASKLETS=%u or fewer",
                                 elf->nr_tasklets, chip, threads, threads);
        /* A v1A chip has all that a v1B one has: where none was chosen, programs for both run. */
        else if (elf->chip[0] != 0 && strcmp(elf->chip, chip) != 0 &&
                 (rank->configuration.chip_given || strcmp(elf->chip, "v1B") != 0))
            status = dpulib_fail(DPU_ERR_ELF_INVALID_FILE,
                                 "the program was built for a %s chip, and this is a %s; the "
                                 "profile key chipId chooses it (above 8: v1B)",
                                 elf->chip, chip);
        else if (elf->known[DPU_ELF_KNOWN_CACHE] != NULL &&
                 rank->configuration.machine.cache_kib == 0)
            status = dpulib_fail(DPU_ERR_ELF_INVALID_FILE,
                                 "the program was built for a chip with a cache of MRAM, and this "
                                 "one has none; the profile key softCacheKiB sets its size");
        /* Variables without values are in no segment. */
        else if (end != NULL && end->memory == DPU_ELF_MRAM &&
                 end->value - DPU_ELF_MRAM_BASE > mram)
            status = too_much_mram(end->value - DPU_ELF_MRAM_BASE, mram);
    }

    dpulib_unlock();
    return status;
}

/* IMAGE belongs to this function. */
static dpu_error_t load_image(struct dpu_set_t set, uint8_t *image, size_t size, const char *path,
                              struct dpu_program_t **program)
{
    struct dpulib_program *made;
    dpu_error_t status = dpulib_program_create(image, size, path, &made);
    if (status != DPU_OK)
        return status;

    status = check_chip(set, &made->elf);
    if (status == DPU_OK) {
        struct dpulib_spec spec = {.run = load, .argument = made, .bytes = size};
        status = dpulib_submit(set, &spec, false);
    }
    if (status == DPU_OK && program != NULL)
        *program = &made->public;
    dpu_free_program(&made->public);
    return status;
}

DPU_EXPORT dpu_error_t dpu_load(struct dpu_set_t dpu_set, const char *binary_path,
                                struct dpu_program_t **program)
{
    uint8_t *image;
    size_t size;
    dpu_error_t status = dpulib_check_set(dpu_set);
    if (status != DPU_OK)
        return status;

    char *path = binary_path != NULL ? realpath(binary_path, NULL) : NULL;
    if (path == NULL)
        return dpulib_cannot_read(binary_path, errno);

    status = dpulib_read_file(path, &image, &size);
    if (status == DPU_OK)
        status = load_image(dpu_set, image, size, path, program);
    free(path);
    return status;
}

static dpu_error_t load_copy(struct dpu_set_t set, const uint8_t *buffer, size_t size,
                             const char *path, struct dpu_program_t **program)
{
    dpu_error_t status = dpulib_check_set(set);
    if (status != DPU_OK)
        return status;
    if (buffer == NULL)
        return dpulib_fail(DPU_ERR_ELF_INVALID_FILE, "the program must not be NULL");

    uint8_t *image = malloc(size + 1);
    if (image == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (program)");

    memcpy(image, buffer, size);
    return load_image(set, image, size, path, program);
}

DPU_EXPORT dpu_error_t dpu_load_from_memory(struct dpu_set_t dpu_set, uint8_t *buffer,
                                            size_t buffer_size, struct dpu_program_t **program)
{
    return load_copy(dpu_set, buffer, buffer_size, NULL, program);
}

DPU_EXPORT dpu_error_t dpu_load_from_incbin(struct dpu_set_t dpu_set, struct dpu_incbin_t *incbin,
                                            struct dpu_program_t **program)
{
    if (incbin == NULL)
        return dpulib_fail(DPU_ERR_ELF_INVALID_FILE, "the program must not be NULL");
    return load_copy(dpu_set, incbin->buffer, incbin->size, incbin->path, program);
}
