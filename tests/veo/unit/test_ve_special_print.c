/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/veo/run/special_print.c csrc/veo/run/print_format.c
 *
 * Printing of VE code to memory: what it writes, and that it keeps nothing.
 */
#include "veo/run/special.h"
#include "veo/run/thread.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"

static uint64_t address_of(const void *object)
{
    return (uint64_t)(uintptr_t)object;
}

/* Calls a function with what FIRST has in its registers; further words are in its frame too. */
static int call(bool (*function)(struct ve_core *), const uint64_t *first, size_t count)
{
    uint64_t frame[VERUN_FRAME_ARGUMENTS / sizeof(uint64_t) + 8] = {0};
    struct ve_core *core = aligned_alloc(_Alignof(struct ve_core), sizeof *core);
    CHECK(core != NULL);
    memset(core, 0, sizeof *core);
    memcpy(core->s, first, count * sizeof *first);
    memcpy(frame + VERUN_FRAME_ARGUMENTS / sizeof(uint64_t), first, count * sizeof *first);
    core->s[VE_S_STACK] = address_of(frame);
    CHECK(function(core));
    int result = (int)core->s[0];
    free(core);
    return result;
}

#define CALL(function, ...) \
    call(function, (uint64_t[]){__VA_ARGS__}, sizeof (uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))

static void test_memory_has_the_text_that_fits(void)
{
    const uint64_t format = address_of("%d %s"), text = address_of("text");
    const uint64_t list[] = {(uint64_t)-7, text};
    const char *const kept[] = {[1] = "", [4] = "-7 ", [7] = "-7 tex", [8] = "-7 text"};
    for (uint64_t room = 0; room < sizeof kept / sizeof *kept; room++) {
        if (room != 0 && kept[room] == NULL)
            continue;
        char one[16] = "?", other[16] = "?";
        const char *expected = room != 0 ? kept[room] : "?";
        CHECK(CALL(verun_snprintf, address_of(one), room, format, list[0], text) == 7);
        CHECK(CALL(verun_vsnprintf, address_of(other), room, format, address_of(list)) == 7);
        CHECK(strcmp(one, expected) == 0 && strcmp(other, expected) == 0);
    }

    char one[16] = "", other[16] = "";
    CHECK(CALL(verun_sprintf, address_of(one), format, list[0], text) == 7);
    CHECK(CALL(verun_vsprintf, address_of(other), format, address_of(list)) == 7);
    CHECK(strcmp(one, "-7 text") == 0 && strcmp(other, "-7 text") == 0);
}

static void test_new_memory_is_the_callers(void)
{
    const uint64_t format = address_of("%d %s"), text = address_of("text");
    const uint64_t list[] = {5, text};
    char *one = NULL, *other = NULL;
    CHECK(CALL(verun_asprintf, address_of(&one), format, 5, text) == 6);
    CHECK(CALL(verun_vasprintf, address_of(&other), format, address_of(list)) == 6);
    CHECK(strcmp(one, "5 text") == 0 && strcmp(other, "5 text") == 0);
    free(one);
    free(other);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* 1.5 as a long double of 128 bits, which lies at a multiple of 16 bytes. */
#define LOW UINT64_C(0)
#define HIGH UINT64_C(0x3FFF800000000000)

static void test_positions_name_arguments(void)
{
    static _Alignas(16) const uint64_t quads[] = {7, 0, LOW, HIGH, 9, 0, LOW, HIGH};
    const uint64_t list[] = {5, bits_of(2.5), address_of("text"), (uint64_t)-3, 4};
    const struct {
        const char *format;
        const uint64_t *list;
        const char *text;
    } cases[] = {
        {"%3$s %1$d %2$.1f %1$x", list, "text 5 2.5 5"},
        {"%4$*1$d|%4$-*1$d|", list, "   -3|-3   |"},
        {"%2$.*5$f %%", list, "2.5000 %"},
        {"%2$Lg %1$d %4$.2Lf %3$ld", quads, "1.5 7 1.50 9"},
        {"%d%s", (const uint64_t[]){1, address_of("$")}, "1$"},
        {"$%1$d$", list, "$5$"},
        {"%0$d", list, "%0$d"},
        {"%65$d", list, "%65$d"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64] = "";
        int length = CALL(verun_vsprintf, address_of(text), address_of(cases[i].format),
                          address_of(cases[i].list));
        CHECK(strcmp(text, cases[i].text) == 0);
        CHECK(length == (int)strlen(cases[i].text));
    }
}

int main(void)
{
    test_memory_has_the_text_that_fits();
    test_new_memory_is_the_callers();
    test_positions_name_arguments();
    return 0;
}
