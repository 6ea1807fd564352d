/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text that DPU programs print, decoded from the records that their printf() leaves.
 *
 * build: csrc/dpu/lib/log/log_decode.c
 */
#include "tests/support/check.h"
#include "dpu/lib/log/log_decode.h"

#include <string.h>

static struct {
    char text[16384];
    size_t size, limit, pieces;
} seen;

static bool keep(void *argument, const char *text, size_t size)
{
    CHECK(argument == &seen && size > 0 && seen.size + size < sizeof seen.text);
    memcpy(seen.text + seen.size, text, size);
    seen.size += size;
    seen.pieces++;
    return seen.pieces < seen.limit;
}

static enum dpu_log_status decode(const void *bytes, size_t size)
{
    /* A block of its own size, so that a sanitizer sees a read beyond it. */
    uint8_t *log = malloc(size != 0 ? size : 1);
    CHECK(log != NULL);
    memcpy(log, bytes, size);
    memset(&seen, 0, sizeof seen);
    seen.limit = SIZE_MAX;
    enum dpu_log_status status = dpu_log_decode(log, size, keep, &seen);
    free(log);
    return status;
}

static void check(const char *log, size_t size, enum dpu_log_status status, const char *text)
{
    enum dpu_log_status got = decode(log, size);
    if (got == status && seen.size == strlen(text) && memcmp(seen.text, text, seen.size) == 0)
        return;
    fprintf(stderr, "%.20s: status %d, not %d; text \"%.*s\", not \"%s\"\n", log, (int)got,
            (int)status, (int)seen.size, seen.text, text);
    abort();
}

/* Literals have a NUL more than is meant. */
#define GIVES(log, text) check(log, sizeof(log) - 1, DPU_LOG_OK, text)
#define FAILS(log, status, text) check(log, sizeof(log) - 1, DPU_LOG_##status, text)

static void test_integers(void)
{
    GIVES("", "");
    GIVES("%d\0\377\377\377\377\0", "-1");
    GIVES("%i\0\0\0\0\200\0", "-2147483648");
    GIVES("%u\0\377\377\377\377\0", "4294967295");
    GIVES("%x\0\170\126\064\022\0", "12345678");
    GIVES("%#X\0\253\315\0\0", "0XCDAB");
    GIVES("%o\0\10\0\0\0\0", "10");
    GIVES("%5d|\0", "%5d|"); /* nothing may follow the letter */
    GIVES("%5d\0\7\0\0\0", "    7");
    GIVES("%-5d\0\7\0\0\0", "7    ");
    GIVES("%05d\0\7\0\0\0", "00007");
    GIVES("%+.3d\0\7\0\0\0", "+007");
    GIVES("% d\0\7\0\0\0", " 7");
    GIVES("%hd\0\377\377\377\177", "-1");
    GIVES("%hhd\0\170\126\064\022", "120");
    GIVES("%hu\0\377\377\377\177", "65535");
    GIVES("%zu\0\7\0\0\0", "7");
}

static void test_wide_integers(void)
{
    GIVES("%ld\0\377\377\377\377\377\377\377\377", "-1");
    GIVES("%lld\0\0\0\0\0\0\0\0\200", "-9223372036854775808");
    GIVES("%lu\0\377\377\377\377\377\377\377\377", "18446744073709551615");
    GIVES("%16lx\0\1\0\0\0\2\0\0\0", "       200000001");
    GIVES("%hld\0\377\377\377\177\0\0\0\0", "2147483647"); /* l wins */
}

static void test_pointers_and_bits(void)
{
    GIVES("%p\0\0\0\0\0", "(nil)");
    GIVES("%p\0\20\0\0\10", "0x8000010");
    GIVES("%b\0\5\0\0\200", "10100000000000000000000000000001");
    /* Of a wide one only the low half is printed; zeros after it are skipped. */
    GIVES("%lb\0\1\0\0\0\0\0\0\0", "10000000000000000000000000000000");
}

static void test_text(void)
{
    GIVES("%s\0hello\n\0", "hello\n");
    GIVES("%s\0\0", "");
    GIVES("%s\0a%db\0", "a%db"); /* an argument is not looked into */
    GIVES("%6s%-6s%.2s\0one\0two\0three\0", "   onetwo   th");
    GIVES("%c%3c%-3c\0abc", "a  bc  ");
    CHECK(decode("%c\0\0", 4) == DPU_LOG_OK && seen.size == 1 && seen.text[0] == '\0');
    GIVES("skipped%s\0read\0", "read");
    GIVES("%s\0one \0\0\0%s\0two\0\0\0\0", "one two");
    GIVES("%s%d%s\0x=\0\52\0\0\0\n\0", "x=42\n");
}

static void test_doubles(void)
{
    GIVES("%f\0\0\0\0\0\0\0\370\277", "-1.500000");
    GIVES("%8.2f\0\0\0\0\0\0\0\370\277", "   -1.50");
    GIVES("%e\0\0\0\0\0\0\0\370\277", "-1.500000e+00");
    GIVES("%E\0\0\0\0\0\0\0\360\177", "INF");
    GIVES("%lf\0\0\0\0\0\0\0\360\77", "1.000000");
    /* The program's side prints what else there is with an l. */
    GIVES("%lg\0\0\0\0\0\0\0\370\277", "-1.5");
    GIVES("%lG\0\0\0\0\0\0\0\360\177", "INF");
    GIVES("%la\0\0\0\0\0\0\0\360\77", "0x1p+0");
    GIVES("%g\0\0\0\0\0\0\0\370\277", "%g");
}

static void test_what_is_no_conversion_prints_itself(void)
{
    GIVES("%y\0\1\2\3\4", "%y");
    GIVES("%n\0\1\2\3\4", "%n");
    GIVES("%*d\0\1\0\0\0\2\0\0\0", "%*d");
    GIVES("%%\0", "%%");
    GIVES("%%\0\0\0\0\0%s\0x\0\0\0\0", "%%"); /* each % has 4 bytes, of what follows too */
    GIVES("%.\0\1\2\3\4%s\0x\0", "%.x");
}

static void test_a_log_that_ends_early(void)
{
    FAILS("%s\0ok\0%d", TRUNCATED, "ok");
    FAILS("%d\0\1\2\3", TRUNCATED, "");
    FAILS("%ld\0\1\2\3\4\5\6\7", TRUNCATED, "");
    FAILS("%f\0\1\2\3\4", TRUNCATED, "");
    FAILS("%p\0\1", TRUNCATED, "");
    FAILS("%b\0\1\2\3", TRUNCATED, "");
    FAILS("%c\0", TRUNCATED, "");
    FAILS("%s\0no end", TRUNCATED, "");
    GIVES("%y\0\1", "%y"); /* these are not printed anyway */
}

static void test_widest_fields(void)
{
    CHECK(decode("%4095d\0\1\0\0\0", 11) == DPU_LOG_OK && seen.size == 4095);
    CHECK(decode("%4095s\0x\0", 9) == DPU_LOG_OK && seen.size == 4095);
    CHECK(decode("%.4095f\0\377\377\377\377\377\377\357\177", 16) == DPU_LOG_OK);
    CHECK(seen.size == 309 + 1 + 4095);
    FAILS("%s\0before\0%4096d\0\0\0\0\0", FIELD, "before");
    FAILS("%.4096d\0\0\0\0\0", FIELD, "");
    FAILS("%99999999999999999999d\0\0\0\0\0", FIELD, "");
}

static void test_a_sink_that_stops(void)
{
    static const uint8_t log[] = "%s%d%5s%-5s%b%y%c\0one\0\1\0\0\0a\0b\0\1\0\0\0\0\0\0\0c";
    size_t pieces;
    CHECK(decode(log, sizeof log) == DPU_LOG_OK);
    pieces = seen.pieces;
    CHECK(pieces == 9); /* padding is a piece of its own */
    for (size_t limit = 1; limit <= pieces; limit++) {
        memset(&seen, 0, sizeof seen);
        seen.limit = limit;
        CHECK(dpu_log_decode(log, sizeof log, keep, &seen) == DPU_LOG_STOPPED);
        CHECK(seen.pieces == limit);
    }
}

/* As a program would leave them: many records of random integers, against printf() here. */
static void test_many_records(uint64_t *state)
{
    static uint8_t log[4096];
    static char expected[16384];
    size_t size = 0, length = 0;
    while (size + 32 <= sizeof log) {
        uint64_t value = check_random(state) >> check_random_below(state, 64);
        bool wide = check_random_below(state, 2) != 0;
        size_t start = size;
        size += (size_t)sprintf((char *)log + size, wide ? "%%s%%lu" : "%%s%%d") + 1;
        memcpy(log + size, "v=", 3);
        size += 3;
        memcpy(log + size, &value, wide ? 8 : 4);
        size += wide ? 8 : 4;
        while ((size - start) % 8 != 0)
            log[size++] = 0;
        if (wide)
            length += (size_t)sprintf(expected + length, "v=%lu", value);
        else
            length += (size_t)sprintf(expected + length, "v=%d", (int)value);
    }
    CHECK(decode(log, size) == DPU_LOG_OK);
    CHECK(seen.size == length && memcmp(seen.text, expected, length) == 0);
}

int main(void)
{
    uint64_t state = check_seed(20);
    test_integers();
    test_wide_integers();
    test_pointers_and_bits();
    test_text();
    test_doubles();
    test_what_is_no_conversion_prints_itself();
    test_a_log_that_ends_early();
    test_widest_fields();
    test_a_sink_that_stops();
    for (int i = 0; i < 20; i++)
        test_many_records(&state);
    return 0;
}
