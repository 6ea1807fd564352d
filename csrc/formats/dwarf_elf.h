/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dwarf_elf.h: the debug sections of an ELF file, the limit on the work that reading them takes,
 * and the first reason for giving up.
 *
 * The file is not trusted: its sections are read through cursors (dwarf_cursor.h), references in it
 * are followed a bounded number of times, and each piece of work takes steps from a budget that
 * grows with the size of the file only. So no file makes the reader crash or run forever.
 *
 * A struct dwarf is used by one thread. It points into the image, which must stay, and owns an
 * index that dwarf_close() frees. Section and table numbers in comments are those of the DWARF 5
 * standard.
 */
#ifndef OFFCHIP_DWARF_ELF_H
#define OFFCHIP_DWARF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/symbol.h"
#include "formats/dwarf_signature.h"

#define DWARF_SECTIONS(X) \
    X(INFO, "info") \
    X(ABBREV, "abbrev") \
    X(STR, "str") \
    X(LINE_STR, "line_str") \
    X(STR_OFFSETS, "str_offsets") \
    X(ADDR, "addr") \
    X(RANGES, "ranges") \
    X(RNGLISTS, "rnglists") \
    X(LOC, "loc") \
    X(LOCLISTS, "loclists") \
    X(TYPES, "types") \
    X(LINE, "line")

enum dwarf_section {
#define X(id, name) DWARF_##id,
    DWARF_SECTIONS(X)
#undef X
        DWARF_NSECTIONS
};

struct dwarf {
    struct {
        const uint8_t *data;
        size_t size;
    } section[DWARF_NSECTIONS];
    uint64_t steps; /* that may still be made */
    /* The first reason for giving up; result is DWARF_FOUND as long as there is none. */
    enum dwarf_lookup result;
    char *why;
    /* Where the abbreviation with a given code starts, for the table read last. */
    size_t *abbrev;
    size_t nabbrev;
    uint64_t abbrev_table;
    bool abbrev_known;
};

/* Finds the sections; a file that cannot be read is reported through dwarf_fail(). */
bool dwarf_open(struct dwarf *d, const uint8_t *image, size_t size, char *why)
    OFFCHIP_SYMBOL(dwarf_open);
void dwarf_close(struct dwarf *d) OFFCHIP_SYMBOL(dwarf_close);
/* Takes N steps; false, after dwarf_fail(), once the budget is spent. */
bool dwarf_step(struct dwarf *d, uint64_t n) OFFCHIP_SYMBOL(dwarf_step);
/* Notes the reason if it is the first; returns false. */
bool dwarf_fail(struct dwarf *d, enum dwarf_lookup result, const char *format, ...)
    OFFCHIP_SYMBOL(dwarf_fail) __attribute__((format(printf, 3, 4)));

#endif
