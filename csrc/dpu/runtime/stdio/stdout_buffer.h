/* SPDX-License-Identifier: BSD-3-Clause */
/* stdout_buffer.h: the records that printing writes, from which the host makes text again. */
#ifndef DPU_RUNTIME_STDOUT_BUFFER_H
#define DPU_RUNTIME_STDOUT_BUFFER_H

#include <stddef.h>
#include <stdint.h>

/* Between the two, this tasklet writes one record; others wait. Its end is padded to 8 bytes. */
void __open_print_sequence(void);
void __close_print_sequence(void);

void __print_byte(int byte);
/* SIZE bytes and a 0. */
void __print_text(const char *text, size_t size);
/* A string and its 0; what follows it is returned. */
const char *__print_string(const char *text);
/* SIZE bytes, 1 to 4, of a number, lowest first. */
void __print_word(uint32_t number, size_t size);
/* SIZE bytes, 1 to 8. */
void __print_number(uint64_t number, size_t size);

#endif
