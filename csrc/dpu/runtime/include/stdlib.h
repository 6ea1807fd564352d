/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stdlib.h: numbers from text, division with remainder, ways to end.
 *
 * As the vendor's it has no malloc(), for which there is alloc.h, and no rand(), which programs
 * define themselves.
 */
#ifndef DPU_RUNTIME_STDLIB_H
#define DPU_RUNTIME_STDLIB_H

#include <attributes.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1

typedef struct {
    int quot;
    int rem;
} div_t;

typedef struct {
    long long quot;
    long long rem;
} ldiv_t;

typedef ldiv_t lldiv_t;

/* Both stop the whole DPU with fault 4. */
__attribute__((noreturn)) void abort(void);
__attribute__((noreturn)) void exit(int status);

/* `long` of these has 64 bits, as it has everywhere in a DPU program. */
int atoi(const char *str);
long long atol(const char *str);
long long atoll(const char *str);
long long strtol(const char *__restrict str, char **__restrict end, int base);
long long strtoll(const char *__restrict str, char **__restrict end, int base);
unsigned long long strtoul(const char *__restrict str, char **__restrict end, int base);
unsigned long long strtoull(const char *__restrict str, char **__restrict end, int base);

int abs(int value);
long long labs(long long value);
long long llabs(long long value);
div_t div(int dividend, int divisor);
ldiv_t ldiv(long long dividend, long long divisor);
lldiv_t lldiv(long long dividend, long long divisor);

void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
void *bsearch(const void *key, const void *base, size_t count, size_t size,
              int (*compare)(const void *, const void *));

#ifdef __cplusplus
}
#endif

#endif
