/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs against libdpu's C API, each a CASE of one executable. They are compiled with the
 * installed headers.
 */
#ifndef DPU_CASES_H
#define DPU_CASES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dpu.h>
#include <dpu_management.h>
#include <dpu_program.h>
#include <dpusoft.h>

#include "tests/support/case.h"

#define CHECK_TRUE(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s: failed: %s (%s)\n", __FILE__, __LINE__, __func__, \
                    #condition, dpusoft_last_error_detail()); \
            exit(1); \
        } \
    } while (0)

#define CHECK_EQUAL(seen, wanted) \
    do { \
        long long seen_ = (long long)(seen); \
        long long wanted_ = (long long)(wanted); \
        if (seen_ != wanted_) { \
            fprintf(stderr, "%s:%d: %s: %s is %lld, not %lld (%s)\n", __FILE__, __LINE__, \
                    __func__, #seen, seen_, wanted_, dpusoft_last_error_detail()); \
            exit(1); \
        } \
    } while (0)

#define CHECK_OK(call) CHECK_EQUAL(call, DPU_OK)
/* The last call that failed said so. */
#define CHECK_DETAIL(part) CHECK_TRUE(strstr(dpusoft_last_error_detail(), part) != NULL)

/*
 * Work of the program, by the value that its variable `cmd` starts with. It counts in `counter`
 * how often it was launched, which is in register 1 at the end; register 5 is CLOCKS_PER_SEC.
 */
enum command {
    COUNT,
    ASSERT,       /* fault 3 */
    BAD_LOAD,     /* of WRAM at 0x20000 */
    BAD_TRANSFER, /* beyond the end of WRAM */
    SPIN,         /* forever */
    LOOP,         /* `loops` times around, then as COUNT */
};
#define PC_OF_FAULT 12
#define PC_OF_SPIN 20

struct program {
    enum command command;
    uint32_t loops;
    int tasklets;       /* -1: it does not say */
    const char *chip;   /* NULL: it does not say */
    uint32_t mram_size; /* bytes of `mbuf` that are in the file */
    uint8_t *image;
    size_t size;
};

/* Makes the image, which free() frees. */
void make_program(struct program *program);
/* Loads such a program. */
void load_command(struct dpu_set_t set, enum command command);
void load_loop(struct dpu_set_t set, uint32_t loops);
/* Writes one to a file of the working folder. */
void write_program(const char *path, enum command command);

/* A register of tasklet 0. */
uint32_t read_register(struct dpu_set_t dpu, uint32_t number);
uint32_t read_counter(struct dpu_set_t dpu);
struct dpusoft_report read_report(struct dpu_set_t dpu);
struct dpu_set_t first_dpu(struct dpu_set_t set);
struct dpu_set_t allocate(uint32_t count, const char *profile);
double seconds_now(void);

#endif
