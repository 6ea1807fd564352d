/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of C++ in texts.
 *
 * build: csrc/common/readable_name.c
 */
#include "common/readable_name.h"

#include <dlfcn.h>
#include <string.h>

#include "tests/support/check.h"

static char text[200];

static const char *readable(const char *of, size_t size)
{
    snprintf(text, sizeof text, "%s", of);
    readable_names(text, size);
    return text;
}

#define CHECK_TEXT(of, expected) CHECK(strcmp(readable(of, sizeof text), expected) == 0)

static void test_names_in_a_text_are_replaced(void)
{
    CHECK_TEXT("#0 _Z3sumPdi+0x8 (a.o)\n#1 _ZN1a1bEv", "#0 sum(double*, int)+0x8 (a.o)\n#1 a::b()");
    CHECK_TEXT("nowhere: _Z1fv, _ZTV1A.", "nowhere: f(), vtable for A.");
    CHECK_TEXT("_Z1fv.omp_outlined ends", "f() [clone .omp_outlined] ends");
}

static void test_other_words_stay(void)
{
    CHECK_TEXT("", "");
    CHECK_TEXT("main x_Z1fv i _Z _Znonsense $_Z1fv lib_Z1fv.so",
               "main x_Z1fv i _Z _Znonsense $_Z1fv lib_Z1fv.so");
    CHECK_TEXT("no name at all: i, f.", "no name at all: i, f.");
}

static void test_what_does_not_fit_is_cut_off(void)
{
    CHECK(strcmp(readable("a _Z3sumPdi", 12), "a sum(doubl") == 0);
    CHECK(strcmp(readable("a _Z3sumPdi b", 14), "a sum(double*") == 0);
}

int main(void)
{
    test_other_words_stay();
    if (dlopen("libstdc++.so.6", RTLD_LAZY) == NULL)
        return 0; /* names stay as they are */

    test_names_in_a_text_are_replaced();
    test_what_does_not_fit_is_cut_off();
    return 0;
}
