/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * print_format.h: formats of printf() with arguments of VE code: a list of them is a pointer to
 * their words. A long double has two words at a multiple of 16 bytes.
 */
#ifndef OFFCHIP_VERUN_PRINT_FORMAT_H
#define OFFCHIP_VERUN_PRINT_FORMAT_H

#include <stdint.h>
#include <stdio.h>

/* The word that *list points to, which then points behind it. */
uint64_t verun_next_word(uint64_t *list);

/* Prints as vfprintf() does: how many characters, or -1. */
int verun_print(FILE *out, const char *format, uint64_t list);

#endif
