/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
/*
 * build: csrc/dispatch/loader.c csrc/dispatch/veo_table.c -Wl,--wrap=calloc,--wrap=realpath,--wrap=strdup tsan
 *
 * The loader: what is found, what is missing, what fails, and that nothing is left behind.
 */
/* clang-format on */
#include "dispatch/veo_table.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "tests/support/check.h"

#define LIBM "/lib/x86_64-linux-gnu/libm.so.6"
#define LIBM64 "/lib64/libm.so.6"

static const char *libm_path(void)
{
    return access(LIBM, R_OK) == 0 ? LIBM : LIBM64;
}

/* --- failing allocations --- */

static bool calloc_fails, realpath_fails, strdup_fails;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
char *__real_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);

void *__wrap_calloc(size_t n, size_t size)
{
    return calloc_fails ? NULL : __real_calloc(n, size);
}

char *__wrap_realpath(const char *path, char *resolved)
{
    return realpath_fails ? NULL : __real_realpath(path, resolved);
}

char *__wrap_strdup(const char *text)
{
    return strdup_fails ? NULL : __real_strdup(text);
}

/* --- tests --- */

struct math_table {
    double (*cos)(double);
    double (*nowhere)(double);
    double (*floor)(double);
    double (*absent)(double);
};

static const char *const names[] = {"cos", "nowhere", "floor", "absent"};

static void test_found_and_missing(void)
{
    struct math_table table, optional;
    struct offchip_library lib;

    CHECK(offchip_library_open(libm_path(), names, 4, &table, names, 4, &optional, &lib) == 2);
    CHECK(table.cos != NULL && table.cos(0.0) == 1.0);
    CHECK(table.floor != NULL && table.floor(2.5) == 2.0);
    CHECK(table.nowhere == NULL && table.absent == NULL);
    CHECK(optional.cos == table.cos && optional.absent == NULL);
    CHECK(lib.missing_count == 2 && lib.optional_count == 2);
    CHECK(strcmp(offchip_library_missing(&lib, 0), "nowhere") == 0);
    CHECK(strcmp(offchip_library_missing(&lib, 1), "absent") == 0);
    CHECK(offchip_library_missing(&lib, 2) == NULL);
    CHECK(strstr(lib.path, "libm") != NULL);
    CHECK(lib.error[0] == '\0');
    offchip_library_close(&lib);
    CHECK(lib.handle == NULL && lib.path == NULL && offchip_library_missing(&lib, 0) == NULL);
    offchip_library_close(&lib);
}

static void test_nothing_asked_for(void)
{
    struct offchip_library lib;

    CHECK(offchip_library_open(libm_path(), NULL, 0, NULL, NULL, 0, NULL, &lib) == 0);
    CHECK(strcmp(lib.path, "") == 0);
    offchip_library_close(&lib);
}

static void test_failures(void)
{
    static const char *const paths[] = {NULL, "libm.so.6", "", "/does/not/exist.so", "/"};
    struct math_table table;
    struct offchip_library lib;

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        memset(&table, 0xff, sizeof table);
        CHECK(offchip_library_open(paths[i], names, 4, &table, NULL, 0, NULL, &lib) == -1);
        CHECK(lib.error[0] != '\0' && lib.handle == NULL && lib.missing_count == 0);
        CHECK(table.cos == NULL && table.absent == NULL);
        offchip_library_close(&lib);
    }
}

static void test_no_memory_for_the_names(void)
{
    struct math_table table;
    struct offchip_library lib;

    calloc_fails = true;
    CHECK(offchip_library_open(libm_path(), names, 4, &table, NULL, 0, NULL, &lib) == -1);
    calloc_fails = false;
    CHECK(strcmp(lib.error, "Cannot allocate memory") == 0);
    CHECK(lib.handle == NULL && lib.missing_count == 0 && table.cos == NULL);
    offchip_library_close(&lib);
}

/* With a file that has no real name any more, its name as it was is the path. */
static void test_no_real_path(void)
{
    struct math_table table;
    struct offchip_library lib;

    realpath_fails = true;
    CHECK(offchip_library_open(libm_path(), names, 4, &table, NULL, 0, NULL, &lib) == 2);
    realpath_fails = false;
    CHECK(strcmp(lib.path, libm_path()) == 0);
    offchip_library_close(&lib);
}

static void test_no_memory_for_the_path(void)
{
    struct math_table table, optional;
    struct offchip_library lib;

    realpath_fails = strdup_fails = true;
    CHECK(offchip_library_open(libm_path(), names, 4, &table, names, 4, &optional, &lib) == -1);
    realpath_fails = strdup_fails = false;
    CHECK(strcmp(lib.error, "Cannot allocate memory") == 0);
    CHECK(lib.handle == NULL && table.cos == NULL && optional.cos == NULL);
    offchip_library_close(&lib);
}

static void test_table_of_a_foreign_library(void)
{
    struct veo_table veo;
    struct veosoft_table soft;
    struct offchip_library lib;

    CHECK(veo_table_open(libm_path(), &veo, &soft, &lib) == VEO_SYMBOL_COUNT);
    CHECK(lib.optional_count == 0 && veo.veo_api_version == NULL && soft.veosoft_version == NULL);
    CHECK(strcmp(offchip_library_missing(&lib, 0), "veo_api_version") == 0);
    offchip_library_close(&lib);
    const char *const *name = veosoft_symbol_names;
#define NEXT(symbol) CHECK(strcmp(*name++, #symbol) == 0);
    VEOSOFT_SYMBOLS(NEXT)
#undef NEXT
    CHECK(name == veosoft_symbol_names + VEOSOFT_SYMBOL_COUNT);
}

static void *open_and_close(void *path)
{
    for (int i = 0; i < 50; i++) {
        struct math_table table;
        struct offchip_library lib;

        CHECK(offchip_library_open(path, names, 4, &table, NULL, 0, NULL, &lib) == 2);
        CHECK(table.cos(0.0) == 1.0);
        offchip_library_close(&lib);
        CHECK(offchip_library_open("/does/not/exist", names, 4, &table, NULL, 0, NULL, &lib) == -1);
        CHECK(strstr(lib.error, "/does/not/exist") != NULL);
    }
    return NULL;
}

static void test_threads_with_a_library_each(void)
{
    pthread_t threads[4];

    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, open_and_close, (void *)(uintptr_t)libm_path()) ==
              0);
    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(void)
{
    test_found_and_missing();
    test_nothing_asked_for();
    test_failures();
    test_no_memory_for_the_names();
    test_no_real_path();
    test_no_memory_for_the_path();
    test_table_of_a_foreign_library();
    test_threads_with_a_library_each();
    return 0;
}
