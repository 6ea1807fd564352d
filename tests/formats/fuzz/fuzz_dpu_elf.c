/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/formats/dpu_elf*.c csrc/formats/lines.c
 *
 * Fuzz target: the reader of DPU programs. An input is a file; whatever it holds, the reader keeps
 * its contract.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dpu_elf.h"
#include "formats/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "contract broken: %s\n", what);
        abort();
    }
}

static void check_segment(const struct dpu_elf_segment *s)
{
    static const uint64_t limits[] = {
        [DPU_ELF_WRAM] = 0x40000, [DPU_ELF_MRAM] = 0x4000000,   [DPU_ELF_IRAM] = 0x8000,
        [DPU_ELF_ATOMIC] = 256,   [DPU_ELF_OTHER] = UINT32_MAX,
    };
    uint8_t last = 1;
    require(s->memory > DPU_ELF_NOWHERE && s->memory <= DPU_ELF_OTHER, "a memory that exists");
    require((uint64_t)s->offset + s->size <= limits[s->memory], "a segment within its memory");
    require(s->size > 0 && s->data_size <= s->size, "no more data than there is room");
    require((s->data != NULL) == (s->data_size > 0), "data if there are any");
    require(s->memory != DPU_ELF_IRAM || (s->offset | s->size) % 8 == 0, "whole instructions");
    for (uint32_t i = 0; i < s->data_size; i += 997)
        require(dpu_elf_copy(s, i, &last, 1) && last == s->data[i], "data can be read");
    require(dpu_elf_copy(s, s->size - 1, &last, 1), "the last byte can be read");
    require(s->data_size == s->size || last == 0, "what is not in the file is 0");
    require(!dpu_elf_copy(s, s->size, &last, 1), "no byte more can be read");
}

static void check_symbols(const struct dpu_elf *elf)
{
    uint32_t offset;
    for (size_t i = 0; i < elf->nsymbols && i < 64; i++) {
        const struct dpu_elf_symbol *s = &elf->symbols[i], *found;
        require(s->name[0] != '\0', "symbols have names");
        require(s->memory >= DPU_ELF_NOWHERE && s->memory <= DPU_ELF_OTHER, "a memory");
        require(!s->for_host || s->memory != DPU_ELF_NOWHERE, "no number for the host");
        found = dpu_elf_find(elf, s->name);
        require(found != NULL && strcmp(found->name, s->name) == 0, "symbols are found");
        require(found->global || !s->global, "global ones first");
    }
    for (size_t i = 0; i < elf->ncode; i++) {
        const struct dpu_elf_symbol *s = elf->code[i];
        uint32_t pc = (s->value - DPU_ELF_IRAM_BASE + 7) / 8;
        require(i == 0 || elf->code[i - 1]->value <= s->value, "code is in order");
        const struct dpu_elf_symbol *found = dpu_elf_find_code(elf, pc, &offset);
        require(found != NULL && found->value >= s->value, "code is found");
        require(offset == (DPU_ELF_IRAM_BASE + UINT64_C(8) * pc - found->value) / 8, "its offset");
    }
    for (size_t i = 0; i < DPU_ELF_KNOWN_COUNT; i++)
        require(elf->known[i] == NULL ||
                    (elf->known[i] >= elf->symbols && elf->known[i] < elf->symbols + elf->nsymbols),
                "known symbols are symbols");
}

static int is_in_lines(const struct dpu_elf *elf, const char *text)
{
    const uint8_t *start = (const uint8_t *)text, *end = elf->lines + elf->lines_size;
    return start >= elf->lines && start < end && memchr(start, 0, (size_t)(end - start)) != NULL;
}

static void check_lines(const struct dpu_elf *elf)
{
    struct dpu_line line;
    for (uint32_t pc = 0; pc < 8; pc++) {
        if (!dpu_lines_find(elf->lines, elf->lines_size, DPU_ELF_IRAM_BASE + 8 * pc, &line)) {
            require(line.file == NULL && line.folder == NULL, "nothing that was not found");
            continue;
        }
        require(line.line != 0 && is_in_lines(elf, line.file), "a file, and a line that is not 0");
        require(line.folder == NULL || is_in_lines(elf, line.folder), "a folder of the table");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A block of its own size, so that the sanitizer sees a read beyond the file. */
    uint8_t *image = malloc(size != 0 ? size : 1);
    if (image == NULL)
        return 0;
    if (size != 0)
        memcpy(image, data, size);
    struct dpu_elf elf;
    memset(&elf, 0x55, sizeof elf);
    enum dpu_elf_status status = dpu_elf_open_image(&elf, image, size);
    require(status != DPU_ELF_NO_MEMORY, "memory in proportion to the file");
    require(strcmp(dpu_elf_status_name(status), "UNKNOWN") != 0, "a status that exists");
    if (status == DPU_ELF_OK) {
        require(elf.nsegments > 0 && elf.nr_tasklets <= DPU_ELF_TASKLETS_UNKNOWN, "a program");
        require(memchr(elf.chip, 0, sizeof elf.chip) != NULL, "the chip's name is terminated");
        for (size_t i = 0; i < elf.nsegments; i++)
            check_segment(&elf.segments[i]);
        check_symbols(&elf);
        check_lines(&elf);
        dpu_elf_close_image(&elf);
    }
    require(elf.segments == NULL && elf.symbols == NULL && elf.code == NULL, "it is empty");
    free(image);
    return 0;
}
