/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks_elements.c: functions that write more than their numbers say: elements of several bytes,
 * wide strings, and memory whose address is in a structure. Before the call, as the whole counts as
 * written then, also where the function writes less of it.
 */
#include <string.h>
#include <sys/uio.h>
#include <wchar.h>

#include "veo/checks/shadow.h"
#include "veo/run/checks_gates.h"

enum { LOWEST = 65536, WIDE = 4 };

/* Arguments with the address and the number of elements, and their bytes. */
static const struct {
    const char *name;
    unsigned address, count;
    uint64_t bytes;
} functions[] = {
    {"wmemcpy", 0, 2, WIDE},  {"wmemmove", 0, 2, WIDE},   {"wmemset", 0, 2, WIDE},
    {"wcsncpy", 0, 2, WIDE},  {"wcsxfrm", 0, 2, WIDE},    {"wcsxfrm_l", 0, 2, WIDE},
    {"mbstowcs", 0, 2, WIDE}, {"mbsrtowcs", 0, 2, WIDE},  {"mbsnrtowcs", 0, 3, WIDE},
    {"wcsftime", 0, 1, WIDE}, {"wcsftime_l", 0, 1, WIDE}, {"fgetws", 0, 1, WIDE},
    {"swprintf", 0, 1, WIDE}, {"vswprintf", 0, 1, WIDE},  {"poll", 0, 1, 8},
};

/* Strings: to argument 0 from 1, behind what is there already, and at most argument 2. */
static const struct {
    const char *name;
    bool appends, is_limited;
} strings[] = {
    {"wcscpy", false, false},
    {"wcscat", true, false},
    {"wcsncat", true, true},
};

static const void *pointer(uint64_t address)
{
    return (const void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

static bool is_readable(uint64_t address, uint64_t size)
{
    uint64_t hidden;
    return address >= LOWEST && !ve_shadow_find_hidden(address, size, &hidden);
}

static void written(uint64_t address, uint64_t count, uint64_t bytes)
{
    uint64_t size;
    if (address >= LOWEST && !__builtin_mul_overflow(count, bytes, &size) &&
        address + size > address)
        ve_shadow_define(address, size);
}

/* Characters of a wide string; what is hidden ends it. */
static uint64_t length_of(uint64_t address, uint64_t limit)
{
    uint64_t length = 0;
    while (length < limit && is_readable(address + length * WIDE, WIDE) &&
           ((const wchar_t *)pointer(address))[length] != L'\0')
        length++;
    return length;
}

static void string_written(const struct verun_gate_call *call, bool appends, bool is_limited)
{
    uint64_t limit = is_limited ? call->args[2] : UINT64_MAX;
    uint64_t before = appends ? length_of(call->args[0], UINT64_MAX) : 0;
    written(call->args[0] + before * WIDE, length_of(call->args[1], limit) + 1, WIDE);
}

/* readv(), preadv(): the pieces that argument 1 lists, as many as argument 2. */
static void pieces_written(const struct verun_gate_call *call)
{
    struct iovec piece;
    for (uint64_t i = 0; i < (uint32_t)call->args[2]; i++) {
        uint64_t at = call->args[1] + i * sizeof piece;
        if (!is_readable(at, sizeof piece))
            return;
        memcpy(&piece, pointer(at), sizeof piece);
        written((uint64_t)(uintptr_t)piece.iov_base, piece.iov_len, 1);
    }
}

/* iconv(): pointers to where it writes, and to how much is left there. */
static void conversion_written(const struct verun_gate_call *call)
{
    uint64_t to, left;
    if (!is_readable(call->args[3], sizeof to) || !is_readable(call->args[4], sizeof left))
        return;
    memcpy(&to, pointer(call->args[3]), sizeof to);
    memcpy(&left, pointer(call->args[4]), sizeof left);
    written(to, left, 1);
}

void verun_elements_before(const struct verun_gate_call *call)
{
    const char *name = call->name;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0) {
            written(call->args[functions[i].address], (uint32_t)call->args[functions[i].count],
                    functions[i].bytes);
            return;
        }
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (strcmp(strings[i].name, name) == 0)
            string_written(call, strings[i].appends, strings[i].is_limited);
    if (strcmp(name, "readv") == 0 || strcmp(name, "preadv") == 0)
        pieces_written(call);
    else if (strcmp(name, "iconv") == 0)
        conversion_written(call);
}
