/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/formats/dwarf*.c
 *
 * Fuzz target: the readers of signatures and of lines. An input is a file, then 16 bytes with the
 * symbol to look for, then 8 with its address. Whatever they hold, the reader keeps its contract.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dwarf_lines.h"
#include "formats/dwarf_signature.h"

#define SYMBOL_BYTES 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "contract broken: %s\n", what);
        abort();
    }
}

static void require_plain(const char *text, size_t size)
{
    require(memchr(text, 0, size) != NULL, "a text that ends");
    for (; *text != '\0'; text++)
        require(*text >= ' ' && *text <= '~', "plain text");
}

static void look_up(struct dwarf_index *index, const uint8_t *image, size_t size, uint64_t address,
                    const char *symbol)
{
    static struct dwarf_signature s, again;
    char why[DWARF_WHY];
    memset(&s, 0x55, sizeof s);
    memset(why, 0x55, sizeof why);
    enum dwarf_lookup got = dwarf_find_signature(NULL, image, size, address, symbol, &s, why);
    require(got >= DWARF_FOUND && got <= DWARF_AMBIGUOUS, "a result that exists");
    require((got == DWARF_FOUND) == (why[0] == '\0'), "a reason, if and only if there is need");
    require(s.nargs <= DWARF_SIGNATURE_ARGS, "at most 256 arguments");
    require(memchr(s.args, 0, sizeof s.args) == s.args + s.nargs, "a letter an argument");
    require(strspn(s.args, "bBhHiIlLpfd") == s.nargs, "letters of the alphabet");
    require(s.ret != '\0' && strchr("vbBhHiIlLpfd", s.ret) != NULL, "a result of the alphabet");
    require_plain(why, sizeof why);
    if (index != NULL && got == DWARF_FOUND) {
        require(dwarf_find_signature(index, image, size, address, symbol, &again, why) == got,
                "the same by what was read before");
        require(memcmp(&s, &again, sizeof s) == 0, "the same signature");
    }
    for (unsigned i = 0; i < s.nargs; i++)
        require_plain(s.names[i], sizeof s.names[i]);
}

static void look_up_line(const uint8_t *image, size_t size, uint64_t address)
{
    struct dwarf_line line;
    memset(&line, 0x55, sizeof line);
    if (!dwarf_find_line(image, size, address, &line))
        return;
    require_plain(line.file, sizeof line.file);
    require(line.file[0] != '\0', "a file with a name");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char symbol[SYMBOL_BYTES + 1] = "";
    uint64_t address = 0;
    if (size < SYMBOL_BYTES + sizeof address)
        return 0;
    size -= SYMBOL_BYTES + sizeof address;
    memcpy(symbol, data + size, SYMBOL_BYTES);
    memcpy(&address, data + size + SYMBOL_BYTES, sizeof address);
    /* A block of its own size, so that the sanitizer sees a read beyond the file. */
    uint8_t *image = malloc(size != 0 ? size : 1);
    if (image == NULL)
        return 0;
    memcpy(image, data, size);
    struct dwarf_index *index = dwarf_index_new();
    look_up(index, image, size, address, symbol);
    look_up(index, image, size, address, NULL);
    look_up(index, image, size, 0, symbol); /* by name alone */
    dwarf_index_free(index);
    look_up_line(image, size, address);
    free(image);
    return 0;
}
