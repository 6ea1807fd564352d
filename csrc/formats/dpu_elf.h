/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_elf.h: reads DPU programs: what is to be loaded where, symbols, and what the run time of a
 * program tells its host. Any bytes may be given; a file that is no program gets a status.
 *
 * A program is an ELF32 little-endian file for machine 245. Its addresses say which memory is
 * meant: WRAM from 0, MRAM from 0x08000000, IRAM from 0x80000000 (8 bytes per instruction, of
 * which 48 bits count), atomic bits from 0xF0000000.
 *
 * All functions may be called from any thread; an open file is not changed by any of them.
 */
#ifndef OFFCHIP_DPU_ELF_H
#define OFFCHIP_DPU_ELF_H

#include "formats/dpu_elf_sections.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DPU_ELF_MRAM_BASE UINT32_C(0x08000000)
#define DPU_ELF_IRAM_BASE UINT32_C(0x80000000)
#define DPU_ELF_ATOMIC_BASE UINT32_C(0xF0000000)
/* Number of tasklets of a program that does not say: more than there are. */
#define DPU_ELF_TASKLETS_UNKNOWN 255

enum dpu_elf_memory {
    DPU_ELF_NOWHERE, /* an absolute symbol: its value is a number and not an address */
    DPU_ELF_WRAM,
    DPU_ELF_MRAM,
    DPU_ELF_IRAM,
    DPU_ELF_ATOMIC,
    DPU_ELF_OTHER, /* none of the DPU's: debug information, registers in a core dump */
};

/* Some bytes to load. Those of DPU_ELF_ATOMIC and DPU_ELF_OTHER have no memory to go to. */
struct dpu_elf_segment {
    enum dpu_elf_memory memory;
    uint32_t offset;     /* in that memory: bytes; for IRAM too, where it is a multiple of 8 */
    uint32_t size;       /* in memory: bytes; what DATA has not is 0 */
    const uint8_t *data; /* in the image; NULL without any */
    uint32_t data_size;
};

enum dpu_elf_kind { DPU_ELF_FUNCTION, DPU_ELF_OBJECT, DPU_ELF_LABEL };

struct dpu_elf_symbol {
    const char *name; /* in the image */
    uint32_t value;   /* as in the file: 0x08000000 is the first byte of MRAM */
    uint32_t size;
    enum dpu_elf_kind kind;
    enum dpu_elf_memory memory;
    bool global;
    /* True if the host sees it: all but absolute numbers and what programs keep in WRAM for
     * themselves, which is everything in .data* but .data.__sys_host. */
    bool for_host;
};

/* X(name, symbol): what the run time of a program and its host agree on. */
#define DPU_ELF_KNOWN_SYMBOLS(X) \
    X(NR_TASKLETS, "NR_TASKLETS") \
    X(STDOUT_BUFFER, "__stdout_buffer") \
    X(STDOUT_SIZE, "__stdout_buffer_size") \
    X(STDOUT_STATE, "__stdout_buffer_state") \
    X(OPEN_PRINT, "__open_print_sequence") \
    X(CLOSE_PRINT, "__close_print_sequence") \
    X(MRAM_END, "__sys_used_mram_end") \
    X(CLOCKS_PER_SEC, "CLOCKS_PER_SEC") \
    X(PERFCOUNTER_END, "perfcounter_end_value") \
    X(MCOUNT, "mcount") \
    X(RET_MCOUNT, "ret_mcount") \
    X(THREAD_PROFILING, "thread_profiling") \
    X(ERROR_STORAGE, "error_storage") \
    X(STACK_TABLE, "__sys_thread_stack_table_ptr") \
    X(RUNTIME_COSTS, "__sys_runtime_costs") \
    X(CACHE, "__sys_cached_mram")

enum dpu_elf_known {
#define X(name, symbol) DPU_ELF_KNOWN_##name,
    DPU_ELF_KNOWN_SYMBOLS(X)
#undef X
        DPU_ELF_KNOWN_COUNT
};

#define DPU_ELF_CHIP_MAX 16

/* An open program. Its pointers go into the image and into memory that dpu_elf_close_image() frees.
 */
struct dpu_elf {
    uint32_t entry;
    uint32_t nr_tasklets;        /* 0 to 255, DPU_ELF_TASKLETS_UNKNOWN without NR_TASKLETS */
    char chip[DPU_ELF_CHIP_MAX]; /* "v1A" from .dpu.attributes; "" if it does not say */
    size_t nsegments, nsymbols;
    struct dpu_elf_segment *segments; /* in the order of the file: of two, the later one wins */
    struct dpu_elf_symbol *symbols;   /* in the order of the file, named ones only */
    const struct dpu_elf_symbol *known[DPU_ELF_KNOWN_COUNT]; /* NULL if there is none */
    /* Symbols in IRAM by address; of several at one address the functions last. */
    size_t ncode;
    const struct dpu_elf_symbol **code;
    /* The table of lines, for dpu_lines_find(); NULL if there is none. */
    const uint8_t *lines;
    size_t lines_size;
    struct dpu_elf_sections sections; /* of the image */
};

/*
 * Opens a program. SIZE bytes at IMAGE are only read, need no alignment and must stay until
 * dpu_elf_close_image(). For anything but DPU_ELF_OK *elf is empty, and closing it is allowed but
 * not needed. Takes time and memory in proportion to SIZE.
 */
enum dpu_elf_status dpu_elf_open_image(struct dpu_elf *elf, const void *image, size_t size);
/* Frees what *elf owns and empties it. */
void dpu_elf_close_image(struct dpu_elf *elf);

/* Copies SIZE bytes from OFFSET of a segment, as they are in memory: with 0 where it has no
 * data. False, and nothing done, if the segment ends before. */
bool dpu_elf_copy(const struct dpu_elf_segment *segment, uint32_t offset, void *to, size_t size);

/* The symbol of that name, a global one rather than a local one; NULL if there is none. */
const struct dpu_elf_symbol *dpu_elf_find(const struct dpu_elf *elf, const char *name);
/*
 * The symbol that an instruction belongs to: the last one in IRAM that does not begin after it.
 * PC and *OFFSET, which may be NULL, count instructions. NULL if all begin later.
 */
const struct dpu_elf_symbol *dpu_elf_find_code(const struct dpu_elf *elf, uint32_t pc,
                                               uint32_t *offset);

/* Text of a status, a sentence without a full stop; never NULL. */
const char *dpu_elf_status_text(enum dpu_elf_status status);
/* Its name such as "NOT_ELF"; never NULL. */
const char *dpu_elf_status_name(enum dpu_elf_status status);
enum dpu_elf_class dpu_elf_status_class(enum dpu_elf_status status);

#endif
