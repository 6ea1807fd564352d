/* SPDX-License-Identifier: BSD-3-Clause */
/* string.h: memory and strings of the WRAM. */
#ifndef DPU_RUNTIME_STRING_H
#define DPU_RUNTIME_STRING_H

#include <attributes.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void *memchr(const void *area, int character, size_t size);
int memcmp(const void *area1, const void *area2, size_t size);
void *memcpy(void *__restrict destination, const void *__restrict source, size_t size);
void *memmove(void *destination, const void *source, size_t size);
void *memset(void *area, int value, size_t size);

char *strcat(char *__restrict destination, const char *__restrict source);
char *strchr(const char *string, int character);
int strcmp(const char *string1, const char *string2);
char *strcpy(char *__restrict destination, const char *__restrict source);
size_t strcspn(const char *string, const char *reject);
/* A copy on the heap (mem_alloc), which cannot be freed. */
char *strdup(const char *string);
char *strerror(int number);
size_t strlen(const char *string);
char *strlwr(char *string);
char *strncat(char *__restrict destination, const char *__restrict source, size_t size);
int strncmp(const char *string1, const char *string2, size_t size);
char *strncpy(char *__restrict destination, const char *__restrict source, size_t size);
char *strndup(const char *string, size_t size);
size_t strnlen(const char *string, size_t max_len);
char *strpbrk(const char *string, const char *accept);
char *strrchr(const char *string, int character);
char *strrev(char *string);
char *strsep(char **__restrict stringp, const char *__restrict delim);
char *strset(char *string, int character);
char *strnset(char *string, int character, size_t size);
size_t strspn(const char *string, const char *accept);
char *strstr(const char *haystack, const char *needle);
char *strtok(char *__restrict string, const char *__restrict delim);
char *strtok_r(char *__restrict string, const char *__restrict delim, char **__restrict saveptr);
char *strupr(char *string);
size_t strxfrm(char *__restrict destination, const char *__restrict source, size_t size);
int strcoll(const char *string1, const char *string2);
char *stpcpy(char *__restrict destination, const char *__restrict source);
char *stpncpy(char *__restrict destination, const char *__restrict source, size_t size);
int strcasecmp(const char *string1, const char *string2);
int strncasecmp(const char *string1, const char *string2, size_t size);

/*
 * The same where one side, or both, are in MRAM, of any alignment and size. Bytes that share an
 * 8-byte word with others are read and written back: two tasklets must not do so at once.
 */
void __memset_mram(__mram_ptr void *area, int value, size_t size);
void __memcpy_wm(void *destination, const __mram_ptr void *source, size_t size);
void __memcpy_mw(__mram_ptr void *destination, const void *source, size_t size);
void __memcpy_mm(__mram_ptr void *destination, const __mram_ptr void *source, size_t size);
void __memmove_mm(__mram_ptr void *destination, const __mram_ptr void *source, size_t size);

/* As with the vendor's compiler, the usual names do for pointers into MRAM too. */
#if defined __DPU__ && !defined __dpu_cache_size__
#include <string_overloads.h>
#endif

#ifdef __cplusplus
}
#endif

#endif
