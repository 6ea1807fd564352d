/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * raw_file.h: the file that a profile is kept in, of which `python -m dpu.profile` makes reports
 * (dpu/profile/raw.py reads it).
 *
 * Little-endian. A header: "dpuprof\n", the version and the process id (u32 each). Then records:
 * a kind and the bytes that follow (u32 each); these are structures below, with what comes after
 * them, and zeros up to a multiple of 8. Records of unknown kinds may be skipped.
 */
#ifndef OFFCHIP_DPU_LIB_RAW_FILE_H
#define OFFCHIP_DPU_LIB_RAW_FILE_H

#include "dpu/profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DPULIB_RAW_VERSION 2

enum dpulib_raw_kind {
    DPULIB_RAW_PROGRAM = 1,   /* then the path, the ELF file and the options */
    DPULIB_RAW_LAUNCH = 2,    /* of a DPU */
    DPULIB_RAW_EVENTS = 3,    /* then struct dpu_profile_event, as many as there are */
    DPULIB_RAW_OPERATION = 4, /* of the host */
    DPULIB_RAW_SITES = 5,     /* then struct dpulib_raw_site, as many as there are */
    DPULIB_RAW_END = 6,
    DPULIB_RAW_CALLS = 7,  /* then struct dpulib_raw_call, as many as there are */
    DPULIB_RAW_ENDING = 8, /* of a launch of a DPU that did not complete; then the text */
};

struct dpulib_raw_program {
    uint32_t program; /* its number: 1, 2, ... */
    uint32_t path_size, image_size;
    uint32_t clock_hz; /* of the DPUs that it runs on */
    /* DPU_MACHINE_NUMBERS of these, as in a profile: "softMaxCycles=0,softPipelineCycles=11". */
    uint32_t options_size;
    uint32_t reserved;
};

/* With as many tasklets as the DPU has, and at least DPU_MACHINE_THREADS. */
struct dpulib_raw_launch {
    uint64_t operation; /* number of the host's launch that it was part of */
    uint32_t dpu, program;
    struct dpu_profile_launch launch;
};

struct dpulib_raw_ending {
    uint64_t operation;
    uint32_t dpu, size; /* of the text, which says where and why */
};

struct dpulib_raw_events {
    uint64_t operation;
    uint32_t dpu, program;
    uint64_t count, dropped;
};

struct dpulib_raw_operation {
    uint64_t number;     /* of a launch; 0 for others */
    uint64_t begin, end; /* nanoseconds of this host since the profile began */
    uint64_t modelled;   /* nanoseconds on hardware; 0 if that is not modelled */
    uint64_t bytes, cycles, instructions;
    uint32_t dpus, what; /* enum dpulib_raw_operation_kind */
};

enum dpulib_raw_operation_kind {
    DPULIB_RAW_LAUNCHES = 0, /* then enum dpulib_move */
    DPULIB_RAW_OTHER = 100,
};

struct dpulib_raw_site {
    uint64_t instructions, issue, spin, dma, sleep;
    uint32_t pc, thread;
};

struct dpulib_raw_sites {
    uint32_t program, dpus; /* that were merged */
    uint64_t count;
};

struct dpulib_raw_call {
    uint64_t count, instructions, issue, spin, dma, sleep;
    uint32_t site, target;
};

struct dpulib_raw_calls {
    uint32_t program, reserved;
    uint64_t count;
};

struct dpulib_raw_end {
    uint64_t dropped; /* records that the limit of the file left out */
};

/* A part of a record. */
struct dpulib_raw_part {
    const void *data;
    size_t size;
};

struct dpulib_raw_file {
    int file; /* -1: not open */
    uint64_t size, limit;
    uint64_t dropped;
};

/* Opens PATH, which is emptied. False, with errno, if that fails. */
bool dpulib_raw_open(struct dpulib_raw_file *file, const char *path, uint64_t limit);
/* Writes a record of some parts. False, with errno, if that fails: then the file is closed. A
 * record beyond the limit is counted and not written, which is no failure. */
bool dpulib_raw_write(struct dpulib_raw_file *file, enum dpulib_raw_kind kind,
                      const struct dpulib_raw_part *parts, size_t count);
void dpulib_raw_close(struct dpulib_raw_file *file);

#endif
