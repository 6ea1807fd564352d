/* SPDX-License-Identifier: BSD-3-Clause */
/* Printing by the run time, decoded as the host library does, and compared with the host's own. */
#include "random_bits.h"

#include "log_decode.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define BUFFER_SIZE 1024
#define PRINTF_OVERFLOW 5

int dpu_printf(const char *format, ...);
int dpu_puts(const char *text);
int dpu_putchar(int c);

extern struct {
    volatile uint32_t write_pointer;
    volatile uint32_t has_wrapped;
} __stdout_buffer_state;
extern uint8_t __atomic_bit___stdout_buffer_lock;

__attribute__((aligned(8))) unsigned char __stdout_buffer[BUFFER_SIZE];
extern const unsigned int __stdout_buffer_size;
const unsigned int __stdout_buffer_size = BUFFER_SIZE;

static bool fault_expected;
static char decoded[65536];
static size_t decoded_size;

__attribute__((noreturn)) void host_fault(int number);
void host_dma(void *wram, void *mram, uintptr_t bytes, int to_mram);

/* A fault ends the DPU, and so this process unless it is expected, as one last check. */
void host_fault(int number)
{
    if (number == PRINTF_OVERFLOW && fault_expected)
        exit(0);
    fprintf(stderr, "fault %d\n", number);
    exit(1);
}

void host_dma(void *wram, void *mram, uintptr_t bytes, int to_mram)
{
    ptrdiff_t at = (unsigned char *)mram - __stdout_buffer;

    if (bytes == 0 || bytes > 2048 || bytes % 8 != 0 || (uintptr_t)wram % 8 != 0 || at % 8 != 0 ||
        at < 0 || (size_t)at + bytes > BUFFER_SIZE) {
        fprintf(stderr, "DMA of %zu bytes at %td\n", (size_t)bytes, at);
        exit(1);
    }
    if (to_mram)
        memcpy(mram, wram, bytes);
    else
        memcpy(wram, mram, bytes);
}

static bool collect(void *argument, const char *text, size_t size)
{
    (void)argument;
    if (decoded_size + size >= sizeof(decoded))
        return false;
    memcpy(decoded + decoded_size, text, size);
    decoded_size += size;
    decoded[decoded_size] = 0;
    return true;
}

static void clear(void)
{
    __stdout_buffer_state.write_pointer = 0;
    __stdout_buffer_state.has_wrapped = 0;
    __atomic_bit___stdout_buffer_lock = 0;
    decoded_size = 0;
    decoded[0] = 0;
    memset(__stdout_buffer, 0xa5, sizeof(__stdout_buffer));
}

static void expect_text(const char *format, const char *wanted)
{
    uint32_t size = __stdout_buffer_state.write_pointer;

    if (size % 8 != 0 || __stdout_buffer_state.has_wrapped ||
        dpu_log_decode(__stdout_buffer, size, collect, NULL) != DPU_LOG_OK ||
        strcmp(decoded, wanted) != 0) {
        fprintf(stderr, "format \"%s\": \"%s\", not \"%s\" (%u bytes)\n", format, decoded, wanted,
                size);
        exit(1);
    }
}

/* One format of one or two conversions with the arguments that fit. */
#define CHECK(format, ...) \
    do { \
        char wanted_[4096]; \
        const char *format_ = (format); \
        clear(); \
        dpu_printf(format_, __VA_ARGS__); \
        snprintf(wanted_, sizeof(wanted_), format_, __VA_ARGS__); \
        expect_text(format_, wanted_); \
    } while (0)

static void append_number(char *format, uint32_t limit)
{
    sprintf(format + strlen(format), "%u", (unsigned)(random_bits() % limit));
}

/* Text, and a conversion without its letter. */
static void start_format(char *format, const char *flags, bool precision)
{
    static const char *const texts[] = {"",   "x",      "value: ", "100%% of ",
                                        "%%", "a\nb\t", "[",       "%%%%"};

    strcpy(format, texts[random_bits() % 8]);
    strcat(format, "%");
    for (size_t i = 0; flags[i] != 0; i++)
        if (random_bits() % 3 == 0)
            strncat(format, &flags[i], 1);
    if (random_bits() % 2)
        append_number(format, 40);
    if (precision && random_bits() % 2) {
        strcat(format, ".");
        if (random_bits() % 4)
            append_number(format, 30);
    }
}

static double random_double(void)
{
    uint64_t bits = random_bits();
    double value;

    if (random_bits() % 4)
        bits = (bits & 0x800fffffffffffffu) | (1000 + random_bits() % 46) << 52;
    memcpy(&value, &bits, 8);
    return value;
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
#pragma GCC diagnostic ignored "-Wformat-zero-length"

static void check_random(void)
{
    static const char *const strings[] = {"", "a", "some text", "a longer text than the width is",
                                          "%d inside"};
    char format[256], letter[2] = "";
    uint64_t i = random_width();
    double real = random_double();
    const char *string = strings[random_bits() % 5];
    int character = (int)('!' + random_bits() % 90);

    letter[0] = "di"[random_bits() % 2];
    start_format(format, "-+ 0", true);
    CHECK(strcat(format, letter), (int)i);
    start_format(format, "-+ 0", true);
    CHECK(strcat(strcat(format, random_bits() % 2 ? "l" : "ll"), letter), (long)i);
    start_format(format, "-+ 0", true);
    CHECK(strcat(strcat(format, random_bits() % 2 ? "h" : "hh"), letter), (int)i);
    letter[0] = "uxXo"[random_bits() % 4];
    start_format(format, letter[0] == 'u' ? "-0" : "-0#", true);
    CHECK(strcat(format, letter), (unsigned)i);
    start_format(format, letter[0] == 'u' ? "-0" : "-0#", true);
    CHECK(strcat(strcat(format, random_bits() % 2 ? "l" : "j"), letter), (unsigned long)i);
    start_format(format, letter[0] == 'u' ? "-0" : "-0#", true);
    CHECK(strcat(strcat(format, random_bits() % 2 ? "h" : "hh"), letter), (unsigned)i);
    letter[0] = "feEgGaA"[random_bits() % 7];
    start_format(format, "-+ 0#", true);
    CHECK(strcat(format, letter), real);
    start_format(format, "-", false);
    CHECK(strcat(format, "c"), character);
    start_format(format, "-", true);
    CHECK(strcat(format, "s"), string);
    start_format(format, "-", false);
    strcat(format, "s and %");
    CHECK(strcat(format, "d%ld%c!"), string, (int)i, (long)i, 'y');
}

static void check_fixed(void)
{
    char wanted[8192], text[2000];

    CHECK("%*d|%-*d|%.*f|%*.*s|", 7, 42, 7, 42, 3, 1.5, 10, 2, "abcdef");
    CHECK("%*d", -5, 3);
    CHECK("%.*d", -1, 3);
    CHECK("%.3s", (const char[]){'a', 'b', 'c'});
    CHECK("%d%%", 5);
    CHECK("nothing%s", "");
    CHECK("%d %ld %d", 1, 2L, 3);
    CHECK("%F", 1.25);
    CHECK("%Lf", (long double)0);
    CHECK("%%", 0);
    CHECK("plain", 0);
    CHECK("", 0);

    /* Sizes of the DPU that are not those of the host. */
    clear();
    dpu_printf("%zu %td %i %p %s %lc", 7, -3, -9, 0x1234, (char *)NULL, 'k');
    expect_text("sizes", "7 -3 -9 0x1234 (null) k");
    clear();
    dpu_printf("%b %lb|", 5, 5UL << 32);
    expect_text("bits",
                "10100000000000000000000000000000 0000000000000000000000000000000010100000000"
                "000000000000000000000|");
    clear();
    dpu_printf("%d %y %", 5);
    expect_text("mistaken", "5 %y %");
    clear();
    dpu_printf("a%nb", NULL);
    expect_text("%n", "ab");

    clear();
    dpu_puts("a line");
    dpu_putchar('c');
    dpu_putchar('\n');
    dpu_puts("");
    expect_text("puts", "a line\nc\n\n");

    /* Records up to the last byte of the buffer: the NUL and the terminators are 6 bytes. */
    for (size_t size = 1; size <= BUFFER_SIZE - 4; size++) {
        clear();
        memset(text, 'x', size);
        text[size] = 0;
        dpu_printf("%s", text);
        expect_text("long", text);
    }
    /* Text that does not fit goes on at the start; the newest record is there as a whole. */
    clear();
    wanted[0] = 0;
    for (int i = 0; !__stdout_buffer_state.has_wrapped; i++) {
        sprintf(wanted, "record number %d", i);
        dpu_printf("record number %d", i);
        if (i > 100) {
            fprintf(stderr, "the buffer does not wrap\n");
            exit(1);
        }
    }
    if (__stdout_buffer_state.write_pointer >= 64) {
        fprintf(stderr, "write pointer %u after wrapping\n", __stdout_buffer_state.write_pointer);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static char text[BUFFER_SIZE];
    uint64_t count = argument_count(argc, argv);

    check_fixed();
    for (uint64_t i = 0; i < count; i++)
        check_random();

    clear();
    fault_expected = true;
    memset(text, 'x', BUFFER_SIZE - 3);
    dpu_printf("%s", text);
    fprintf(stderr, "a record larger than the buffer is no fault\n");
    return 1;
}
