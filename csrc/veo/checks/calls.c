/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c: the calls that are under way on a core. */
#include <stdlib.h>

#include "state.h"

/* Deeper calls are counted, not noted; and so far back is looked for where a jump returns to. */
#define CALLS_MAX ((size_t)1 << 16)
#define CALLS_LOOKED_AT 256

void ve_calls_enter(struct ve_checks *checks, uint64_t pc, uint64_t back)
{
    if (checks->depth == checks->capacity) {
        size_t wanted = checks->capacity != 0 ? 2 * checks->capacity : 64;
        struct call *more =
            wanted <= CALLS_MAX ? realloc(checks->calls, wanted * sizeof *more) : NULL;
        if (more == NULL) {
            checks->lost++;
            return;
        }
        checks->calls = more;
        checks->capacity = wanted;
    }
    checks->calls[checks->depth++] = (struct call){pc, back, checks->core->s[VE_S_STACK]};
}

void ve_calls_return(struct ve_checks *checks, uint64_t to)
{
    if (checks->lost != 0) {
        checks->lost--;
        return;
    }
    for (size_t i = 0; i < checks->depth && i < CALLS_LOOKED_AT; i++)
        if (checks->calls[checks->depth - 1 - i].back == to) {
            checks->depth -= i + 1;
            return;
        }
}

size_t ve_checks_depth(const struct ve_checks *checks)
{
    return checks->depth;
}

uint64_t ve_checks_caller(const struct ve_checks *checks, size_t depth)
{
    return depth < checks->depth ? checks->calls[checks->depth - 1 - depth].pc : 0;
}

struct ve_block_place ve_checks_place(const struct ve_checks *checks, uint64_t pc)
{
    struct ve_block_place place = {{pc}};
    for (size_t i = 1, depth = 0; i < VE_BLOCK_CALLS && depth < checks->depth; depth++) {
        uint64_t caller = ve_checks_caller(checks, depth);
        if (caller != 0 && caller != pc)
            place.calls[i++] = caller;
    }
    return place;
}
