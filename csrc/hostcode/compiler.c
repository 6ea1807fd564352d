/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostcode/compiler.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hostcode/unseen_process.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Code of a library that is checked is checked too. */
#if defined(__SANITIZE_ADDRESS__)
#define CHECKS "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"
#else
#define CHECKS "-fno-sanitize=undefined"
#endif

/* -O1 allocates registers, and does little else; the code is for this processor. */
#define FLAGS \
    "-O1", "-march=native", "-std=gnu11", "-ffreestanding", "-fPIC", "-shared", "-nostdlib", "-w", \
        "-fsigned-char", "-frounding-math", "-ffp-contract=off", "-fno-strict-aliasing", \
        "-fvisibility=hidden", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", CHECKS

#define NICE 10

/* --- finding --- */

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* NAME in a folder of PATH; as it is if it has a slash. */
static bool find_program(const char *name, char *path, size_t size)
{
    if (strchr(name, '/') != NULL)
        return (size_t)snprintf(path, size, "%s", name) < size && is_program(path);

    const char *folders = secure_getenv("PATH");
    while (folders != NULL && *folders != 0) {
        size_t length = strcspn(folders, ":");
        /* An empty or relative folder would be wherever the program is now. */
        if (*folders == '/' &&
            (size_t)snprintf(path, size, "%.*s/%s", (int)length, folders, name) < size &&
            is_program(path))
            return true;
        folders += length + (folders[length] == ':');
    }

    return false;
}

/* Splits COMMAND, whose first word becomes a path. */
static bool take_command(struct host_compiler *c, const char *command)
{
    char words[sizeof c->text / 2], *rest = words;
    if ((size_t)snprintf(words, sizeof words, "%s", command) >= sizeof words)
        return false;

    size_t used = 0;
    uint32_t count = 0;
    for (char *word; (word = strsep(&rest, " \t")) != NULL;) {
        if (*word == 0)
            continue;
        if (count == HOST_COMPILER_WORDS - 1)
            return false;

        char *place = c->text + used;
        size_t room = sizeof c->text - used;
        if (count == 0 ? !find_program(word, place, room)
                       : (size_t)snprintf(place, room, "%s", word) >= room)
            return false;
        c->words[count++] = place;
        used += strlen(place) + 1;
    }

    c->words[count] = NULL;
    return count > 0;
}

/* Features that -march=native looks at. Asking is slow where a hypervisor answers. */
static char processor[400];
static pthread_once_t processor_once = PTHREAD_ONCE_INIT;

static void describe_processor(void)
{
    const size_t size = sizeof processor;
    size_t used =
        (size_t)snprintf(processor, size, "%lx %lx", getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
#if defined(__x86_64__)
    static const uint32_t leaves[][2] = {{0, 0}, {1, 0}, {7, 0}, {7, 1}, {0x80000001, 0}};
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves && used < size; i++) {
        uint32_t a = 0, b = 0, c = 0, d = 0;
        __get_cpuid_count(leaves[i][0], leaves[i][1], &a, &b, &c, &d);
        /* Of leaf 1, ebx says on which core this runs, and bit 27 of ecx what the system set. */
        b = leaves[i][0] == 1 ? 0 : b;
        used += (size_t)snprintf(processor + used, size - used, " %x %x %x %x", a, b, c, d);
    }
#else
    (void)used;
#endif
}

static void make_stamp(struct host_compiler *c)
{
    static const char *const flags[] = {FLAGS};
    struct stat status = {0};
    pthread_once(&processor_once, describe_processor);
    stat(c->words[0], &status);
    size_t size = sizeof c->stamp;
    size_t used =
        (size_t)snprintf(c->stamp, size, "%lld %lld %lld.%09ld %s", (long long)status.st_ino,
                         (long long)status.st_size, (long long)status.st_mtim.tv_sec,
                         status.st_mtim.tv_nsec, processor);
    for (uint32_t i = 0; c->words[i] != NULL && used < size; i++)
        used += (size_t)snprintf(c->stamp + used, size - used, " %s", c->words[i]);
    for (size_t i = 0; i < sizeof flags / sizeof *flags && used < size; i++)
        used += (size_t)snprintf(c->stamp + used, size - used, " %s", flags[i]);
}

/*
 * Of the folder that packages are in, where LIBRARY is dpu/lib/libdpu.so: a program in C that has
 * this library may have neither a compiler nor a Python on PATH.
 */
bool host_compiler_find_beside(struct host_compiler *c, const char *library)
{
    const char *end = strrchr(library, '/');
    int length = end != NULL ? (int)(end - library) : 0;
    if (*library != '/' ||
        (size_t)snprintf(c->text, sizeof c->text, "%.*s/../../ziglang/zig", length, library) >=
            sizeof c->text ||
        !is_program(c->text))
        return false;

    c->words[0] = c->text;
    c->words[1] = "cc";
    c->words[2] = NULL;
    return true;
}

static bool find_zig(struct host_compiler *c)
{
    static const char here;
    Dl_info info;
    return (dladdr(&here, &info) != 0 && host_compiler_find_beside(c, info.dli_fname)) ||
           take_command(c, "zig cc") || take_command(c, "python3 -P -m ziglang cc");
}

bool host_compiler_find(struct host_compiler *c, const char *variable)
{
    static const char *const candidates[] = {"gcc", "clang", "cc"};
    if (getauxval(AT_SECURE) != 0)
        return false;

    const char *chosen = secure_getenv(variable);
    bool found = chosen != NULL && take_command(c, chosen);
    for (size_t i = 0; chosen == NULL && !found && i < sizeof candidates / sizeof *candidates; i++)
        found = take_command(c, candidates[i]);
    found = found || (chosen == NULL && find_zig(c));
    if (found)
        make_stamp(c);
    c->nice = NICE;
    return found;
}

/* --- running --- */

bool host_compiler_run(const struct host_compiler *c, const char *source, const char *result,
                       int64_t limit_ns)
{
    static const char *const flags[] = {FLAGS};
    const char *words[HOST_COMPILER_WORDS + sizeof flags / sizeof *flags + 4];
    uint32_t count = 0;
    for (; c->words[count] != NULL; count++)
        words[count] = c->words[count];
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        words[count++] = flags[i];
    words[count++] = "-o";
    words[count++] = result;
    words[count++] = source;
    words[count] = NULL;

    return host_unseen_run(words, c->nice, limit_ns);
}
