/* SPDX-License-Identifier: BSD-3-Clause */
/* checks_heap.c: malloc() and its kin of code that is checked. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "veo/checks/blocks.h"
#include "veo/checks/shadow.h"
#include "veo/run/checks_gates.h"

enum { ALIGN = 16 };

enum function {
    MALLOC,
    CALLOC,
    REALLOC,
    REALLOC_ARRAY,
    ALIGNED,
    ALIGNED_SECOND, /* the alignment is the second argument */
    PAGES,
    POSIX_ALIGNED,
    FREE,
    USABLE
};

static const struct {
    const char *name;
    enum function function;
} functions[] = {
    {"malloc", MALLOC},
    {"calloc", CALLOC},
    {"realloc", REALLOC},
    {"reallocarray", REALLOC_ARRAY},
    {"aligned_alloc", ALIGNED},
    {"memalign", ALIGNED},
    {"valloc", PAGES},
    {"posix_memalign", POSIX_ALIGNED},
    {"free", FREE},
    {"malloc_usable_size", USABLE},
    {"_Znwm", MALLOC},
    {"_Znam", MALLOC},
    {"_ZnwmRKSt9nothrow_t", MALLOC},
    {"_ZnamRKSt9nothrow_t", MALLOC},
    {"_ZnwmSt11align_val_t", ALIGNED_SECOND},
    {"_ZnamSt11align_val_t", ALIGNED_SECOND},
    {"_ZdlPv", FREE},
    {"_ZdaPv", FREE},
    {"_ZdlPvm", FREE},
    {"_ZdaPvm", FREE},
    {"_ZdlPvRKSt9nothrow_t", FREE},
    {"_ZdaPvRKSt9nothrow_t", FREE},
    {"_ZdlPvSt11align_val_t", FREE},
    {"_ZdaPvSt11align_val_t", FREE},
    {"_ZdlPvmSt11align_val_t", FREE},
    {"_ZdaPvmSt11align_val_t", FREE},
};

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

static struct ve_block_place here(const struct verun_gate_call *call)
{
    return ve_checks_place(call->checks, ve_checks_gate_pc(call->checks));
}

static bool is_power_of_two(uint64_t number)
{
    return number != 0 && (number & (number - 1)) == 0;
}

/* False if the host's function is to do it, and to fail as it does. */
static bool take(const struct verun_gate_call *call, uint64_t size, uint64_t align)
{
    const struct ve_block_place place = here(call);
    if (!is_power_of_two(align))
        return false;
    uint64_t address = ve_blocks_take(size, align > ALIGN ? align : ALIGN, &place);
    if (address != 0)
        call->core->s[0] = address;
    return address != 0;
}

static bool take_zeros(const struct verun_gate_call *call, uint64_t count, uint64_t size)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || !take(call, bytes, ALIGN))
        return false;
    memset(pointer(call->core->s[0]), 0, bytes);
    ve_shadow_define(call->core->s[0], bytes);
    return true;
}

/* A block is freed twice, or none starts there: told, and not done. */
static bool give_back(const struct verun_gate_call *call, uint64_t address)
{
    const struct ve_block_place place = here(call);
    enum ve_blocks_result result = address != 0 ? ve_blocks_free(address, &place) : VE_BLOCKS_OTHER;
    if (result == VE_BLOCKS_NO_START || result == VE_BLOCKS_TWICE)
        verun_checks_tell_gate(call, VE_FINDING_FREED, VE_CHECK_BOUNDS, address, 0, 0);
    return result != VE_BLOCKS_OTHER;
}

static bool move_block(const struct verun_gate_call *call, uint64_t old, uint64_t size)
{
    uint64_t old_size;
    bool is_ours = ve_blocks_size(old, &old_size);
    if (old != 0 && !is_ours && ve_blocks_contain(old)) {
        verun_checks_tell_gate(call, VE_FINDING_FREED, VE_CHECK_BOUNDS, old, 0, 0);
        call->core->s[0] = 0;
        return true;
    }
    if (!is_ours && old != 0)
        old_size = malloc_usable_size(pointer(old)); /* of strdup() and its like */
    if (!take(call, size, ALIGN))
        return false;
    if (old == 0)
        return true;

    uint64_t kept = old_size < size ? old_size : size;
    memcpy(pointer(call->core->s[0]), pointer(old), kept);
    ve_shadow_copy(call->core->s[0], old, kept);
    if (!is_ours) {
        ve_shadow_define(call->core->s[0], kept);
        free(pointer(old));
        return true;
    }
    return give_back(call, old);
}

static bool take_posix(const struct verun_gate_call *call)
{
    uint64_t align = call->args[1];
    if (!is_power_of_two(align) || align < sizeof(void *) || !take(call, call->args[2], align))
        return false;
    memcpy(pointer(call->args[0]), &call->core->s[0], sizeof call->core->s[0]);
    call->core->s[0] = 0;
    return true;
}

static bool usable_size(const struct verun_gate_call *call)
{
    uint64_t size;
    bool is_ours = ve_blocks_size(call->args[0], &size);
    if (is_ours)
        call->core->s[0] = size;
    return is_ours;
}

bool verun_heap_call(const struct verun_gate_call *call)
{
    const uint64_t *a = call->args;
    uint64_t bytes;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, call->name) != 0)
            continue;
        switch (functions[i].function) {
        case MALLOC: return take(call, a[0], ALIGN);
        case CALLOC: return take_zeros(call, a[0], a[1]);
        case REALLOC: return move_block(call, a[0], a[1]);
        case REALLOC_ARRAY:
            return !__builtin_mul_overflow(a[1], a[2], &bytes) && move_block(call, a[0], bytes);
        case ALIGNED: return take(call, a[1], a[0]);
        case ALIGNED_SECOND: return take(call, a[0], a[1]);
        case PAGES: return take(call, a[0], 4096);
        case POSIX_ALIGNED: return take_posix(call);
        case FREE: return give_back(call, a[0]);
        case USABLE: return usable_size(call);
        }
    }
    return false;
}

/* getline() and getdelim() call realloc(): their buffer becomes one of the host's. */
void verun_heap_before(const struct verun_gate_call *call)
{
    uint64_t buffer, size;
    if ((strcmp(call->name, "getline") != 0 && strcmp(call->name, "getdelim") != 0) ||
        call->args[0] == 0)
        return;
    memcpy(&buffer, pointer(call->args[0]), sizeof buffer);
    void *copy = ve_blocks_size(buffer, &size) ? malloc(size != 0 ? size : 1) : NULL;
    if (copy == NULL)
        return;
    memcpy(copy, pointer(buffer), size);
    memcpy(pointer(call->args[0]), &copy, sizeof copy);
    give_back(call, buffer);
}
