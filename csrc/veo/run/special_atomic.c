/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations that no instruction does: of 16 bytes, and of whole structures. One lock. */
#include <pthread.h>
#include <string.h>

#include "veo/run/special.h"

typedef unsigned __int128 wide;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

static void copy(uint64_t to, uint64_t from, uint64_t size)
{
    pthread_mutex_lock(&lock);
    memcpy(pointer(to), pointer(from), size);
    pthread_mutex_unlock(&lock);
}

/* *RESULT = *OBJECT, then *OBJECT = *VALUE. The result may be the value. */
static void exchange(void *object, const void *value, void *result, size_t size)
{
    uint8_t *o = object;
    const uint8_t *v = value;
    uint8_t *r = result;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < size; i++) {
        uint8_t old = o[i];
        o[i] = v[i];
        r[i] = old;
    }
    pthread_mutex_unlock(&lock);
}

static bool compare(void *object, void *expected, const void *value, size_t size)
{
    pthread_mutex_lock(&lock);
    bool same = memcmp(object, expected, size) == 0;
    if (same)
        memcpy(object, value, size);
    else
        memcpy(expected, object, size);
    pthread_mutex_unlock(&lock);
    return same;
}

/* --- any size: it comes first, and all values by their addresses --- */

bool verun_atomic_load(struct ve_core *core)
{
    copy(core->s[2], core->s[1], core->s[0]);
    return true;
}

bool verun_atomic_store(struct ve_core *core)
{
    copy(core->s[1], core->s[2], core->s[0]);
    return true;
}

bool verun_atomic_exchange(struct ve_core *core)
{
    exchange(pointer(core->s[1]), pointer(core->s[2]), pointer(core->s[3]), core->s[0]);
    return true;
}

bool verun_atomic_compare_exchange(struct ve_core *core)
{
    core->s[0] = compare(pointer(core->s[1]), pointer(core->s[2]), pointer(core->s[3]), core->s[0]);
    return true;
}

/* size, object: those of up to 8 bytes are instructions */
bool verun_atomic_is_lock_free(struct ve_core *core)
{
    const uint64_t size = core->s[0];
    core->s[0] = size <= 8 && (size & (size - 1)) == 0 && core->s[1] % (size != 0 ? size : 1) == 0;
    return true;
}

/* --- 16 bytes: in two registers, the lower half first --- */

static wide wide_at(const struct ve_core *core, unsigned first)
{
    return (wide)core->s[first + 1] << 64 | core->s[first];
}

static bool return_wide(struct ve_core *core, wide value)
{
    core->s[0] = (uint64_t)value;
    core->s[1] = (uint64_t)(value >> 64);
    return true;
}

bool verun_atomic_load_16(struct ve_core *core)
{
    wide value;
    copy((uint64_t)(uintptr_t)&value, core->s[0], sizeof value);
    return return_wide(core, value);
}

bool verun_atomic_store_16(struct ve_core *core)
{
    const wide value = wide_at(core, 1);
    copy(core->s[0], (uint64_t)(uintptr_t)&value, sizeof value);
    return true;
}

bool verun_atomic_exchange_16(struct ve_core *core)
{
    wide value = wide_at(core, 1);
    exchange(pointer(core->s[0]), &value, &value, sizeof value);
    return return_wide(core, value);
}

bool verun_atomic_compare_exchange_16(struct ve_core *core)
{
    const wide value = wide_at(core, 2);
    core->s[0] = compare(pointer(core->s[0]), pointer(core->s[1]), &value, sizeof value);
    return true;
}

#define FETCH(name, expression) \
    bool verun_atomic_fetch_##name##_16(struct ve_core *core) \
    { \
        const wide b = wide_at(core, 1); \
        wide a; \
        pthread_mutex_lock(&lock); \
        memcpy(&a, pointer(core->s[0]), sizeof a); \
        const wide result = (expression); \
        memcpy(pointer(core->s[0]), &result, sizeof result); \
        pthread_mutex_unlock(&lock); \
        return return_wide(core, a); \
    }

FETCH(add, a + b)
FETCH(sub, a - b)
FETCH(and, a &b)
FETCH(or, a | b)
FETCH(xor, a ^ b)
FETCH(nand, ~(a &b))
