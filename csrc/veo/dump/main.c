/* SPDX-License-Identifier: BSD-3-Clause */
/* ve-objdump: lists what is in files of VE code: objects, libraries, programs, and archives. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "veo/dump/file.h"
#include "veo/link/archive.h"
#include "veo/link/library.h"

/* Archives may be members of archives, no deeper than a link takes them. */
enum { DEPTH = 3 };

static const char usage[] =
    "usage: ve-objdump OPTION... FILE...\n"
    "Lists objects, libraries and programs for the Vector Engine, and archives of them.\n"
    "  -d, --disassemble     instructions, as clang's assembler reads them\n"
    "  -l, --line-numbers    the same with the lines of sources that they are of\n"
    "  -S, --source          the same with the lines' text, of sources in the current folder\n"
    "  -r, --reloc           relocations; with instructions, behind these\n"
    "  -h, --section-headers sections\n"
    "  -t, --syms            symbols\n"
    "  -x, --all-headers     sections, symbols and relocations\n"
    "  -C, --demangle        names of C++ as sources have them\n"
    "      --help            this text\n"
    "Example: ve-objdump -dl kernel.o\n";

static bool fail(const char *path, const char *reason)
{
    fprintf(stderr, "ve-objdump: %s: %s\n", path, reason);
    return false;
}

static bool list_file(const char *name, struct velink_bytes image, const struct vedump_what *what)
{
    struct vedump_file file;
    struct velink_error error = {""};
    if (!vedump_open(&file, image, &error))
        return fail(name, error.text);

    file.readable = what->readable;
    printf("%s: file format elf64-ve\n", name);
    if (what->sections)
        vedump_sections(&file);
    if (what->symbols)
        vedump_symbols(&file);
    if (what->relocations && !what->code)
        vedump_relocations(&file);
    if (what->code)
        vedump_code(&file, what);
    printf("\n");
    vedump_close(&file);
    return true;
}

static bool list(const char *name, struct velink_bytes image, const struct vedump_what *what,
                 int depth)
{
    if (!velink_is_archive(image.data, image.size))
        return list_file(name, image, what);
    if (depth == DEPTH)
        return fail(name, "archives are in archives too deep");

    struct velink_archive archive;
    struct velink_member member;
    struct velink_error error = {""};
    bool done = true;
    velink_archive_open(&archive, image);
    while (velink_archive_next(&archive, &member, &error)) {
        char inner[600];
        snprintf(inner, sizeof inner, "%.500s(%s)", name, member.name);
        done = list(inner, member.content, what, depth + 1) && done;
    }
    return error.text[0] == '\0' ? done : fail(name, error.text);
}

static bool list_path(const char *path, const struct vedump_what *what)
{
    size_t size;
    struct velink_error error = {""};
    uint8_t *image = velink_map_file(path, &size, &error);
    if (image == NULL)
        return fail(path, error.text);
    bool done = list(path, (struct velink_bytes){image, size}, what, 0);
    munmap(image, size);
    return done;
}

/* False for an option that there is not. */
static bool take_option(int option, struct vedump_what *what)
{
    switch (option) {
    case 'S': what->source = what->code = true; return true;
    case 'l': what->lines = what->code = true; return true;
    case 'd': what->code = true; return true;
    case 'r': what->relocations = true; return true;
    case 'h': what->sections = true; return true;
    case 't': what->symbols = true; return true;
    case 'x': what->sections = what->symbols = what->relocations = true; return true;
    case 'C': what->readable = true; return true;
    default: return false;
    }
}

int main(int argc, char *argv[])
{
    static const struct option options[] = {{"disassemble", no_argument, NULL, 'd'},
                                            {"line-numbers", no_argument, NULL, 'l'},
                                            {"source", no_argument, NULL, 'S'},
                                            {"reloc", no_argument, NULL, 'r'},
                                            {"section-headers", no_argument, NULL, 'h'},
                                            {"headers", no_argument, NULL, 'h'},
                                            {"syms", no_argument, NULL, 't'},
                                            {"all-headers", no_argument, NULL, 'x'},
                                            {"demangle", no_argument, NULL, 'C'},
                                            {"help", no_argument, NULL, 'H'},
                                            {NULL, 0, NULL, 0}};
    struct vedump_what what = {.code = false};
    int option;
    while ((option = getopt_long(argc, argv, "dlSrhtxC", options, NULL)) != -1) {
        if (option == 'H')
            return fputs(usage, stdout) < 0;
        if (!take_option(option, &what)) {
            fputs(usage, stderr);
            return 2;
        }
    }
    if (optind == argc || !(what.code || what.sections || what.symbols || what.relocations)) {
        fputs(usage, stderr);
        return 2;
    }

    bool done = true;
    for (int i = optind; i < argc; i++)
        done = list_path(argv[i], &what) && done;
    if (fflush(stdout) != 0 || ferror(stdout))
        done = fail("standard output", strerror(errno));
    return done ? 0 : 1;
}
