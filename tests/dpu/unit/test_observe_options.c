/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPU_PROFILE: what it may say, and what is said of mistakes; and the limit of the file.
 *
 * build: csrc/dpu/lib/observe/options.c csrc/dpu/lib/observe/raw_file.c
 */
#include "tests/support/check.h"
#include "dpu/lib/observe/options.h"
#include "dpu/lib/observe/raw_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_nothing(void)
{
    struct dpulib_observe_options o;
    char problem[100];
    CHECK(dpulib_observe_read(&o, NULL, problem, sizeof problem) && !o.profiles && o.file == NULL);
    CHECK(dpulib_observe_read(&o, "", problem, sizeof problem) && !o.profiles);
}

static void test_all_keys(void)
{
    struct dpulib_observe_options o;
    char problem[100];
    CHECK(dpulib_observe_read(&o, "file=a=b,dpus=3-9,timeline=0,limit=7", problem, sizeof problem));
    CHECK(o.profiles && strcmp(o.file, "a=b") == 0);
    CHECK(o.first == 3 && o.last == 9 && o.events == 0 && o.limit == 7);
    dpulib_observe_options_free(&o);

    CHECK(dpulib_observe_read(&o, "dpus=5,file=x,file=y", problem, sizeof problem));
    CHECK(o.first == 5 && o.last == 5 && strcmp(o.file, "y") == 0 && o.events > 0);
    dpulib_observe_options_free(&o);

    CHECK(dpulib_observe_read(&o, "dpus=all", problem, sizeof problem));
    CHECK(o.profiles && o.file != NULL && o.first == 0 && o.last == UINT32_MAX);
    dpulib_observe_options_free(&o);
}

static void test_mistakes(void)
{
    static const char *const texts[][2] = {
        {"1", "'1' is not key=value"},
        {"file=", "file must be a path"},
        {"file=x,", "'' is not key=value"},
        {"dpus=9-3", "dpus=9-3, but dpus must be a number, two with - between them, or all"},
        {"dpus=-3", "dpus must be"},
        {"dpus=3-", "dpus must be"},
        {"dpus=99999999999", "dpus must be"},
        {"timeline=1e3", "timeline must be a number"},
        {"timeline=10000001", "timeline must be"},
        {"limit=65537", "limit must be"},
        {"fiel=x", "there is no key 'fiel'; there are file, dpus, timeline and limit"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct dpulib_observe_options o;
        char problem[200] = "";
        CHECK(!dpulib_observe_read(&o, texts[i][0], problem, sizeof problem));
        CHECK(strstr(problem, texts[i][1]) != NULL);
        CHECK(!o.profiles && o.file == NULL);
    }
}

static void test_the_limit_of_the_file(void)
{
    char path[] = "/tmp/offchip-raw-XXXXXX";
    int made = mkstemp(path);
    struct dpulib_raw_file file;
    const struct dpulib_raw_part part = {"twelve bytes", 12};
    struct stat status;
    CHECK(made >= 0 && dpulib_raw_open(&file, path, 16 + 24));
    CHECK(dpulib_raw_write(&file, DPULIB_RAW_LAUNCH, &part, 1) && file.dropped == 0);
    CHECK(dpulib_raw_write(&file, DPULIB_RAW_LAUNCH, &part, 1) && file.dropped == 1);
    CHECK(dpulib_raw_write(&file, DPULIB_RAW_SITES, &part, 1) && file.dropped == 1);
    CHECK(fstat(made, &status) == 0 && status.st_size == 16 + 2 * 24);
    dpulib_raw_close(&file);
    CHECK(dpulib_raw_write(&file, DPULIB_RAW_LAUNCH, &part, 1));
    CHECK(!dpulib_raw_open(&file, "/nowhere/at/all", 1) && errno == ENOENT);
    close(made);
    unlink(path);
}

int main(void)
{
    test_nothing();
    test_all_keys();
    test_mistakes();
    test_the_limit_of_the_file();
    return 0;
}
