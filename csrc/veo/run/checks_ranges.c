/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks_ranges.c: what functions of the host read and write, as letters with numbers of arguments:
 *
 *     rAL   reads L bytes at A                  wAL   writes L bytes at A
 *     RALM  reads L * M bytes at A              kAL   wrote as many bytes at A as it returned
 *     sA    reads the string at A               KAL   wrote L times what it returned at A
 *     qAL   the same, of L bytes at most        zA    wrote as many characters at A, and a 0
 *     cABL  copies L bytes from B to A          nAL   the same, L bytes at most
 *     tAB   copies the string at B to A         gA    wrote a string at A, unless it returned 0
 *     uAB   appends it to the string at A       xA    reads nothing else: A has no meaning
 *     vABL  the same, L bytes of it at most     oALM  puts L elements of M bytes at A in order
 */
#include <string.h>

#include "veo/checks/shadow.h"
#include "veo/run/checks_gates.h"

enum { LOWEST = 65536 };

static const struct {
    const char *name, *ranges;
} functions[] = {
    {"memcpy", "c012"},
    {"memmove", "c012"},
    {"mempcpy", "c012"},
    {"bcopy", "c102"},
    {"memset", "w02"},
    {"bzero", "w01"},
    {"explicit_bzero", "w01"},
    {"memcmp", "r02r12"},
    {"bcmp", "r02r12"},
    {"strlen", "s0"},
    {"strnlen", "q01"},
    {"strcpy", "t01"},
    {"stpcpy", "t01"},
    {"strcat", "u01"},
    {"strncat", "v012"},
    {"strncpy", "q12w02"},
    {"strcmp", "s0s1"},
    {"strncmp", "q02q12"},
    {"strcasecmp", "s0s1"},
    {"strchr", "s0"},
    {"strrchr", "s0"},
    {"strstr", "s0s1"},
    {"strspn", "s0s1"},
    {"strcspn", "s0s1"},
    {"strpbrk", "s0s1"},
    {"strdup", "s0"},
    {"strndup", "q01"},
    {"puts", "s0"},
    {"fputs", "s0"},
    {"perror", "s0"},
    {"getenv", "s0"},
    {"atoi", "s0"},
    {"atol", "s0"},
    {"atoll", "s0"},
    {"atof", "s0"},
    {"fopen", "s0s1"},
    {"remove", "s0"},
    {"unlink", "s0"},
    {"fwrite", "R012"},
    {"write", "r12"},
    {"pwrite", "r12"},
    {"read", "k12"},
    {"pread", "k12"},
    {"fread", "K01"},
    {"fgets", "g0"},
    {"printf", "s0"},
    {"fprintf", "s1"},
    {"dprintf", "s1"},
    {"sprintf", "s1z0"},
    {"snprintf", "s2n01"},
    {"vprintf", "s0"},
    {"vfprintf", "s1"},
    {"vdprintf", "s1"},
    {"vsprintf", "s1z0"},
    {"vsnprintf", "s2n01"},
    {"qsort", "o012"},
    {"qsort_r", "o012"},
    {"putchar", "x0"},
    {"pthread_mutex_lock", "x0"},
    {"pthread_mutex_unlock", "x0"},
    {"fclose", "x0"},
    {"fflush", "x0"},
    {"fputc", "x0"},
    {"putc", "x0"},
    {"setenv", "s0s1"},
};

const char *verun_ranges_of(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].ranges;
    return NULL;
}

/* --- looking --- */

static void reads(const struct verun_gate_call *call, uint64_t address, uint64_t size)
{
    uint64_t undefined;
    if (ve_checks_range(call->checks, call->name, address, size, false) && size != 0 &&
        ve_shadow_find_undefined(address, size, &undefined)) {
        verun_checks_tell_gate(call, VE_FINDING_CONTENT, VE_CHECK_UNINITIALISED, undefined, 1, 0);
        ve_shadow_define(address, size);
    }
}

uint64_t verun_string_bytes(uint64_t address, uint64_t limit)
{
    uint64_t hidden, length = 0;
    if (address < LOWEST)
        return 1;
    while (length < limit) {
        uint64_t at = address + length++;
        if (ve_shadow_find_hidden(at, 1, &hidden) || *(const char *)(uintptr_t)at == '\0')
            break;
    }
    return length;
}

static void copies(const struct verun_gate_call *call, uint64_t to, uint64_t from, uint64_t size)
{
    ve_checks_range(call->checks, call->name, from, size, false);
    ve_checks_range(call->checks, call->name, to, size, true);
}

/* At most LIMIT bytes of the string FROM and a 0 behind that at TO. */
static void appends(const struct verun_gate_call *call, uint64_t to, uint64_t from, uint64_t limit)
{
    uint64_t before = verun_string_bytes(to, UINT64_MAX), size = verun_string_bytes(from, limit);
    reads(call, to, before);
    if (!ve_checks_range(call->checks, call->name, from, size, false))
        return;
    bool is_cut = size == 0 || *(const char *)(uintptr_t)(from + size - 1) != '\0';
    ve_checks_range(call->checks, call->name, to + before - 1, size + is_cut, true);
}

/* Letters have as many numbers behind them. */
static size_t numbers_of(char letter)
{
    return strchr("Rcvo", letter) != NULL ? 3 : strchr("szgx", letter) != NULL ? 1 : 2;
}

void verun_ranges_before(const struct verun_gate_call *call, const char *ranges)
{
    for (const char *r = ranges; *r != '\0'; r += 1 + numbers_of(*r)) {
        uint64_t a = call->args[r[1] - '0'];
        uint64_t b = numbers_of(*r) > 1 ? call->args[r[2] - '0'] : 0;
        uint64_t c = numbers_of(*r) > 2 ? call->args[r[3] - '0'] : 0;
        switch (*r) {
        case 'r': reads(call, a, b); break;
        case 'R': reads(call, a, b * c); break;
        case 'o': ve_checks_range(call->checks, call->name, a, b * c, true); break;
        case 's': reads(call, a, verun_string_bytes(a, UINT64_MAX)); break;
        case 'q': reads(call, a, verun_string_bytes(a, b)); break;
        case 'w': ve_checks_range(call->checks, call->name, a, b, true); break;
        case 'c': copies(call, a, b, c); break;
        case 't': copies(call, a, b, verun_string_bytes(b, UINT64_MAX)); break;
        case 'u': appends(call, a, b, UINT64_MAX); break;
        case 'v': appends(call, a, b, c); break;
        default: break;
        }
    }
}

static void wrote(const struct verun_gate_call *call, uint64_t address, uint64_t size)
{
    if (size != 0 && address >= LOWEST &&
        ve_checks_range(call->checks, call->name, address, size, true))
        ve_shadow_define(address, size);
}

void verun_ranges_after(const struct verun_gate_call *call, const char *ranges)
{
    int64_t result = (int64_t)call->core->s[0];
    uint64_t count = result > 0 ? (uint64_t)result : 0;
    for (const char *r = ranges; *r != '\0'; r += 1 + numbers_of(*r)) {
        uint64_t a = call->args[r[1] - '0'];
        uint64_t b = numbers_of(*r) > 1 ? call->args[r[2] - '0'] : 0;
        uint64_t c = numbers_of(*r) > 2 ? call->args[r[3] - '0'] : 0;
        switch (*r) {
        case 'w': ve_shadow_define(a, b); break;
        case 'c': ve_shadow_copy(a, b, c); break;
        case 't': ve_shadow_define(a, verun_string_bytes(a, UINT64_MAX)); break;
        case 'u':
        case 'v': ve_shadow_define(a, verun_string_bytes(a, UINT64_MAX)); break;
        case 'o': ve_shadow_define(a, b * c); break; /* padding moves, too: not followed */
        case 'k': wrote(call, a, count); break;
        case 'K': wrote(call, a, count * b); break;
        case 'z': wrote(call, a, result >= 0 ? count + 1 : 0); break;
        case 'n': wrote(call, a, result < 0 ? 0 : count + 1 < b ? count + 1 : b); break;
        case 'g': wrote(call, a, result != 0 ? verun_string_bytes(a, UINT64_MAX) : 0); break;
        default: break;
        }
    }
}
