/* SPDX-License-Identifier: BSD-3-Clause */
/* The rest of the library, and every header together; failures has the lines that went wrong. */
#include <alloc.h>
#include <assert.h>
#include <attributes.h>
#include <barrier.h>
#include <built_ins.h>
#include <ctype.h>
#include <defs.h>
#include <dpuruntime.h>
#include <errno.h>
#include <handshake.h>
#include <inttypes.h>
#include <limits.h>
#include <mram.h>
#include <mram_unaligned.h>
#include <mutex.h>
#include <mutex_pool.h>
#include <perfcounter.h>
#include <profiling.h>
#include <rwlock.h>
#include <sem.h>
#include <seqread.h>
#include <soft_cache.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sysdef.h>
#include <vmutex.h>
#include <wramfifo.h>

__host uint32_t failures[64];
__host uint32_t failure_count, checks;
static uint32_t numbers[100];

#define CHECK(condition) \
    do { \
        checks++; \
        if (!(condition) && failure_count < 64) \
            failures[failure_count++] = __LINE__; \
    } while (0)

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void check_instructions(void)
{
    volatile uint32_t a = 0x8001f0ff, b = 0x12f00380;
    uint32_t r;

    __builtin_add_rrr(r, a, b);
    CHECK(r == a + b);
    __builtin_andn_rrr(r, a, b);
    CHECK(r == (~a & b));
    __builtin_rol_rri(r, a, 4);
    CHECK(r == 0x001f0ff8);
    __builtin_ror_rri(r, a, 32);
    CHECK(r == a);
    __builtin_lsl_add_rrri(r, b, a, 3);
    CHECK(r == b + (a << 3));
    __builtin_mul_sl_sl_rrr(r, a, b);
    CHECK(r == (uint32_t)(-1 * -128));
    __builtin_mul_ul_ul_rrr(r, a, b);
    CHECK(r == 255 * 128);
    __builtin_mul_sh_ul_rrr(r, a, b);
    CHECK(r == (uint32_t)(-16 * 128));
    __builtin_clz_rr(r, 0);
    CHECK(r == 32);
    __builtin_cls_rr(r, 0);
    CHECK(r == 31);
    __builtin_cao_rr(r, a);
    CHECK(r == 14);
    __builtin_cmpb4_rrr(r, 0x11223344, 0x11003300);
    CHECK(r == 0x01000100);
    __builtin_extsb_rr(r, a);
    CHECK(r == 0xffffffff);
}

static void check_numbers(void)
{
    char *end;

    CHECK(atoi(" -42x") == -42 && atol("123456789012") == 123456789012ll);
    CHECK(strtol("0x7fz", &end, 0) == 127 && *end == 'z');
    CHECK(strtol("077", NULL, 0) == 63 && strtol("zz", NULL, 36) == 35 * 36 + 35);
    errno = 0;
    CHECK(strtoll("9223372036854775808", NULL, 10) == INT64_MAX && errno == ERANGE);
    errno = 0;
    CHECK(strtoll("-9223372036854775808", NULL, 10) == INT64_MIN && errno == 0);
    CHECK(strtoull("18446744073709551615", NULL, 10) == UINT64_MAX && errno == 0);
    CHECK(strtoull("18446744073709551616", NULL, 10) == UINT64_MAX && errno == ERANGE);
    CHECK(abs(-5) == 5 && llabs(-5000000000ll) == 5000000000ll);
    CHECK(div(-7, 2).quot == -3 && div(-7, 2).rem == -1);
    CHECK(lldiv(-70000000000ll, 3).rem == -1 && ldiv(9, 4).quot == 2);
    for (uint32_t i = 0; i < 100; i++)
        numbers[i] = (i * 7919) % 1009;
    qsort(numbers, 100, sizeof(uint32_t), by_value);
    for (uint32_t i = 1; i < 100; i++)
        CHECK(numbers[i - 1] <= numbers[i]);
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t key = (i * 7919) % 1009, *found = bsearch(&key, numbers, 100, 4, by_value);
        CHECK(found != NULL && *found == key);
    }
    uint32_t missing = 5000;
    CHECK(bsearch(&missing, numbers, 100, 4, by_value) == NULL);
}

static void check_strings(void)
{
    char text[64], *rest, *word;

    CHECK(strcmp(strdup("copied"), "copied") == 0);
    CHECK(strcmp(strndup("copied", 3), "cop") == 0);
    CHECK(strcmp(strerror(EINVAL), "Invalid argument") == 0);
    strcpy(text, "one,two;;three");
    word = strtok_r(text, ",;", &rest);
    CHECK(strcmp(word, "one") == 0);
    word = strtok_r(NULL, ",;", &rest);
    CHECK(strcmp(word, "two") == 0);
    word = strtok_r(NULL, ",;", &rest);
    CHECK(strcmp(word, "three") == 0);
    CHECK(strtok_r(NULL, ",;", &rest) == NULL);
    CHECK(toupper('q') == 'Q' && isxdigit('f') && !isxdigit('g') && isspace('\v'));
}

int main(void)
{
    if (me() != 0)
        return 0;
    mem_reset();
    check_instructions();
    check_numbers();
    check_strings();
    errno = 0;
    CHECK(buddy_alloc(8) == NULL && errno == EINVAL);
    buddy_init(1024);
    errno = 0;
    CHECK(buddy_alloc(1025) == NULL && errno == EINVAL);
    uint8_t *whole = buddy_alloc(1000);
    CHECK(whole != NULL && buddy_alloc(1) == NULL && errno == ENOMEM);
    errno = 0;
    buddy_free(whole + 1);
    CHECK(errno == EINVAL);
    buddy_free(whole + 512);
    errno = 0;
    buddy_free(whole);
    CHECK(errno == EINVAL);
    CHECK(buddy_alloc(1024) == whole);
    buddy_reset();
    CHECK(buddy_realloc(NULL, 3) != NULL);
    CHECK(check_stack() > 0);
    return 0;
}
