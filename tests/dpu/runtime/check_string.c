/* SPDX-License-Identifier: BSD-3-Clause */
/* The run time's memory and string functions, compared with the host's. */
#include "random_bits.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

void *dpu_memchr(const void *area, int character, size_t size);
int dpu_memcmp(const void *area1, const void *area2, size_t size);
void *dpu_memcpy(void *destination, const void *source, size_t size);
void *dpu_memmove(void *destination, const void *source, size_t size);
void *dpu_memset(void *area, int value, size_t size);
char *dpu_strcat(char *destination, const char *source);
char *dpu_strchr(const char *string, int character);
int dpu_strcmp(const char *string1, const char *string2);
char *dpu_strcpy(char *destination, const char *source);
size_t dpu_strcspn(const char *string, const char *reject);
size_t dpu_strlen(const char *string);
char *dpu_strlwr(char *string);
char *dpu_strncat(char *destination, const char *source, size_t size);
int dpu_strncmp(const char *string1, const char *string2, size_t size);
char *dpu_strncpy(char *destination, const char *source, size_t size);
size_t dpu_strnlen(const char *string, size_t max_len);
char *dpu_strpbrk(const char *string, const char *accept);
char *dpu_strrchr(const char *string, int character);
char *dpu_strrev(char *string);
char *dpu_strsep(char **stringp, const char *delim);
char *dpu_strset(char *string, int character);
char *dpu_strnset(char *string, int character, size_t size);
size_t dpu_strspn(const char *string, const char *accept);
char *dpu_strstr(const char *haystack, const char *needle);
char *dpu_strtok(char *string, const char *delim);
char *dpu_strupr(char *string);
char *dpu_stpcpy(char *destination, const char *source);
char *dpu_stpncpy(char *destination, const char *source, size_t size);
int dpu_strcasecmp(const char *string1, const char *string2);
int dpu_strncasecmp(const char *string1, const char *string2, size_t size);

#define SIZE 160

static char a[SIZE], b[SIZE], c[SIZE], d[SIZE];

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "line %d: %s (\"%s\", \"%s\")\n", __LINE__, #condition, a, b); \
            exit(1); \
        } \
    } while (0)

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

/* Few letters, so that strings have much in common. */
static void random_text(char *text, size_t limit)
{
    size_t length = random_bits() % limit;

    for (size_t i = 0; i < length; i++)
        text[i] = "abAB\xe9"[random_bits() % 5];
    text[length] = 0;
}

static void check_memory(void)
{
    size_t to = random_bits() % 12, from = random_bits() % 12;
    size_t size = random_bits() % (random_bits() % 2 ? 12 : 100);

    for (size_t i = 0; i < SIZE; i++)
        a[i] = b[i] = (char)random_bits();
    memcpy(c, a, SIZE);
    CHECK(dpu_memcpy(c + to, b + from, size) == c + to);
    memcpy(a + to, b + from, size);
    CHECK(memcmp(a, c, SIZE) == 0);
    CHECK(dpu_memmove(c + to, c + from, size) == c + to);
    memmove(a + to, a + from, size);
    CHECK(memcmp(a, c, SIZE) == 0);
    CHECK(dpu_memset(c + to, (int)from * 29, size) == c + to);
    memset(a + to, (int)from * 29, size);
    CHECK(memcmp(a, c, SIZE) == 0);
    c[random_bits() % SIZE] ^= (char)(random_bits() % 2 << 7);
    CHECK(sign(dpu_memcmp(a + to, c + to, size)) == sign(memcmp(a + to, c + to, size)));
    CHECK(dpu_memchr(a, b[0], size) == memchr(a, b[0], size));
}

/* Byte by byte upwards; a text ends before a zero. */
static size_t copy_bytes(volatile char *to, volatile char *from, size_t size, bool is_text)
{
    size_t i;

    for (i = 0; i < size && (!is_text || from[i] != 0); i++)
        to[i] = from[i];
    return i;
}

/* Overlapping areas, where each function goes upwards and reads what it wrote. */
static void check_overlaps(void)
{
    size_t from = 40 + random_bits() % 8, to = from - 24 + random_bits() % 48;
    size_t size = random_bits() % (random_bits() % 2 ? 16 : 64), length;

    for (size_t i = 0; i < SIZE; i++)
        c[i] = d[i] = (char)(random_bits() % 64);
    c[from + 9] = d[from + 9] = 0;

    dpu_memcpy(c + to, c + from, size);
    copy_bytes(d + to, d + from, size, false);
    CHECK(memcmp(c, d, SIZE) == 0);

    dpu_stpncpy(c + to, c + from, size);
    length = copy_bytes(d + to, d + from, size, true);
    memset(d + to + length, 0, size - length);
    CHECK(memcmp(c, d, SIZE) == 0);

    c[100] = d[100] = 0;
    length = strlen(d + from);
    length += copy_bytes(d + from + length, d + from, 20, true);
    d[from + length] = 0;
    dpu_strncat(c + from, c + from, 20);
    CHECK(memcmp(c, d, SIZE) == 0);
}

static void check_pair(void)
{
    size_t n = random_bits() % 20;
    int letter = a[0];

    CHECK(dpu_strlen(a) == strlen(a));
    CHECK(dpu_strnlen(a, n) == strnlen(a, n));
    CHECK(sign(dpu_strcmp(a, b)) == sign(strcmp(a, b)));
    CHECK(sign(dpu_strncmp(a, b, n)) == sign(strncmp(a, b, n)));
    CHECK(sign(dpu_strcasecmp(a, b)) == sign(strcasecmp(a, b)));
    CHECK(sign(dpu_strncasecmp(a, b, n)) == sign(strncasecmp(a, b, n)));
    CHECK(dpu_strchr(b, letter) == strchr(b, letter));
    CHECK(dpu_strrchr(b, letter) == strrchr(b, letter));
    CHECK(dpu_strstr(a, b) == strstr(a, b));
    CHECK(dpu_strspn(a, b) == strspn(a, b));
    CHECK(dpu_strcspn(a, b) == strcspn(a, b));
    CHECK(dpu_strpbrk(a, b) == strpbrk(a, b));
}

static void check_copies(void)
{
    size_t n = random_bits() % 40;

    memset(c, 1, SIZE);
    memset(d, 1, SIZE);
    CHECK(dpu_strcpy(c, a) == c);
    strcpy(d, a);
    CHECK(memcmp(c, d, SIZE) == 0);
    CHECK(dpu_strcat(c, b) == c);
    strcat(d, b);
    CHECK(memcmp(c, d, SIZE) == 0);
    CHECK(dpu_strncat(c, a, n) == c);
    strncat(d, a, n);
    CHECK(memcmp(c, d, SIZE) == 0);
    CHECK(dpu_strncpy(c + 1, b, n) == c + 1);
    strncpy(d + 1, b, n);
    CHECK(memcmp(c, d, SIZE) == 0);
    CHECK(dpu_stpcpy(c, b) - c == stpcpy(d, b) - d);
    CHECK(memcmp(c, d, SIZE) == 0);
    CHECK(dpu_stpncpy(c, a, n) - c == stpncpy(d, a, n) - d);
    CHECK(memcmp(c, d, SIZE) == 0);
}

static void check_words(void)
{
    char *rest_c = c, *rest_d = d, *word_c, *word_d;

    strcpy(c, a);
    strcpy(d, a);
    do {
        word_c = dpu_strsep(&rest_c, b);
        word_d = strsep(&rest_d, b);
        CHECK(word_c == NULL ? word_d == NULL : word_d != NULL && word_c - c == word_d - d);
    } while (word_c != NULL);
    CHECK(memcmp(c, d, strlen(a) + 1) == 0);

    strcpy(c, a);
    strcpy(d, a);
    word_c = dpu_strtok(c, b);
    word_d = strtok(d, b);
    while (word_c != NULL) {
        CHECK(word_d != NULL && word_c - c == word_d - d && strcmp(word_c, word_d) == 0);
        word_c = dpu_strtok(NULL, b);
        word_d = strtok(NULL, b);
    }
    CHECK(word_d == NULL);
}

static void check_changes(void)
{
    size_t length = strlen(a), n = random_bits() % 20;

    strcpy(c, a);
    dpu_strrev(c);
    for (size_t i = 0; i < length; i++)
        CHECK(c[i] == a[length - 1 - i]);
    strcpy(c, a);
    dpu_strupr(c);
    for (size_t i = 0; i < length; i++)
        CHECK(c[i] == (a[i] >= 'a' && a[i] <= 'z' ? a[i] - 32 : a[i]));
    dpu_strlwr(c);
    for (size_t i = 0; i < length; i++)
        CHECK(c[i] == (a[i] >= 'A' && a[i] <= 'Z' ? a[i] + 32 : a[i]));
    strcpy(c, a);
    dpu_strnset(c, '*', n);
    for (size_t i = 0; i < length; i++)
        CHECK(c[i] == (i < n ? '*' : a[i]));
    dpu_strset(c, '#');
    CHECK(strspn(c, "#") == length && strlen(c) == length);
}

int main(int argc, char **argv)
{
    uint64_t count = argument_count(argc, argv);

    for (uint64_t i = 0; i < count; i++) {
        check_memory();
        check_overlaps();
        random_text(a, 30);
        random_text(b, random_bits() % 2 ? 3 : 30);
        check_pair();
        check_copies();
        check_words();
        check_changes();
    }
    return 0;
}
