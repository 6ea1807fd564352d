/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of DPU_CHECK: what is wanted, and random texts, which are taken or explained.
 *
 * build: csrc/common/check_options.c
 */
#include "tests/support/check.h"
#include "common/check_options.h"
#include "dpu/checks/checks.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 20000, WORDS_MAX = 40, PROBLEM = 200 };

static bool read_text(struct check_options *options, const char *text, char *problem)
{
    static const struct check_word checks[] = DPU_CHECK_WORDS;
    memset(problem, 0, PROBLEM);
    return check_options_read(options, checks, sizeof checks / sizeof *checks, text, problem,
                              PROBLEM);
}

static void test_words(void)
{
    struct check_options options;
    char problem[PROBLEM];
    CHECK(read_text(&options, NULL, problem) && options.wanted == 0);
    CHECK(read_text(&options, "", problem) && options.wanted == 0);

    CHECK(read_text(&options, "race,dma,exit=255,ignore=a,ignore=b,log=x", problem));
    CHECK(options.wanted == (DPU_CHECK_RACE | DPU_CHECK_DMA) && options.exit_status == 255);
    CHECK(options.ignored_count == 2 && strcmp(options.ignored[1], "b") == 0);
    CHECK(strcmp(options.log, "x") == 0);
    free(options.text);

    /* Without a name all are wanted. */
    CHECK(read_text(&options, "exit=1", problem) && options.wanted == DPU_CHECK_ALL);
    free(options.text);

    CHECK(!read_text(&options, "racing", problem));
    CHECK(strstr(problem, "there is no check 'racing'; there are") != NULL);
    CHECK(strstr(problem, "deadlock") != NULL && options.wanted == 0 && options.text == NULL);
}

static void test_random_texts(void)
{
    static const char *const words[] = {"all",  "race", "exit=", "12",      ",",  "=",
                                        "log=", "/x",   "256",   "ignore=", "-1", "\xff"};
    srand(1);
    for (int i = 0; i < ROUNDS; i++) {
        char text[16 * WORDS_MAX + 1] = "", problem[PROBLEM];
        struct check_options options;
        for (int j = rand() % WORDS_MAX; j > 0; j--)
            strcat(text, words[(size_t)rand() % (sizeof words / sizeof words[0])]);
        bool reads = read_text(&options, text, problem);
        CHECK(reads || (problem[0] != 0 && options.text == NULL && options.wanted == 0));
        CHECK(options.ignored_count <= CHECK_IGNORED_MAX);
        CHECK(options.exit_status >= 0 && options.exit_status <= 255);
        free(options.text);
    }
}

int main(void)
{
    test_words();
    test_random_texts();
    return 0;
}
