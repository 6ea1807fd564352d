/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/worker/call.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "ve_offload.h"
#include "veo/run/checks.h"
#include "veo/run/libraries.h"
#include "veo/run/report.h"
#include "veo/worker/classes.h"
#include "veo/worker/context.h"
#include "veo/worker/crash.h"
#include "veo/worker/invoke.h"

/* Result of the function, by veow_invoke(), as a VE register holds a result of type KIND. */
static uint64_t ve_result(char kind, const uint64_t out[2])
{
    switch (kind) {
    case 'b': return (uint64_t)(int64_t)(int8_t)out[0];
    case 'B': return (uint8_t)out[0];
    case 'h': return (uint64_t)(int64_t)(int16_t)out[0];
    case 'H': return (uint16_t)out[0];
    case 'i': return (uint64_t)(int64_t)(int32_t)out[0];
    case 'I': return (uint32_t)out[0];
    case 'f': return out[1] << 32;
    case 'd': return out[1];
    case 'v': return 0;
    default: return out[0];
    }
}

/* How the arguments of a call are passed: two bits each, and the letter of the result. */
struct passing {
    const uint64_t *kinds;
    uint64_t merged[WIRE_KIND_WORDS]; /* kinds may point here */
    char ret;
};

static unsigned kind_at(const uint64_t *kinds, unsigned i)
{
    return (unsigned)(kinds[i / 32] >> i % 32 * 2 & 3);
}

/* Debug info gives the classes of named parameters; further arguments have those of the setters. */
static void merge(struct passing *passing, const struct veow_classes *classes, unsigned nargs)
{
    const uint64_t *setters = passing->kinds;
    for (unsigned i = 0; i < nargs; i++) {
        uint64_t kind = kind_at(classes->kinds, i);
        if (kind == WIRE_KIND_UNSET)
            kind = kind_at(setters, i);
        passing->merged[i / 32] |= kind << i % 32 * 2;
    }

    passing->kinds = passing->merged;
    passing->ret = classes->ret;
}

static void warn_of_unknown(const struct passing *passing, struct veow_classes *classes,
                            unsigned nargs)
{
    bool kinds_given = false;
    for (unsigned i = 0; i < nargs; i++)
        kinds_given = kinds_given || (kind_at(passing->kinds, i) & 2) != 0;
    veow_classes_warn(classes, kinds_given);
}

/* Finds out what the host did not say. False if the function cannot be called. */
static bool look_up(const struct wire_slot *slot, struct passing *passing)
{
    struct veow_classes *classes = veow_classes_of(slot->target);
    if (classes->refused) {
        char where[256];
        veow_describe(slot->target, where, sizeof where);
        fprintf(stderr, "[VE] ERROR: cannot call %s: %s\n", where, classes->why);
        return false;
    }

    if (classes->known)
        merge(passing, classes, slot->nargs);
    else if (!classes->warned)
        warn_of_unknown(passing, classes, slot->nargs);
    return true;
}

/* Sorts the arguments into registers and stack words, and calls the function. Its frame is so large
 * that the compiler would not inline it into its only caller. */
__attribute__((always_inline)) static inline void invoke(const struct wire_slot *slot,
                                                         const uint64_t *values,
                                                         const uint64_t *kinds, uint64_t out[2])
{
    uint64_t ints[VEOW_INTS] = {0};
    uint64_t fps[VEOW_FPS] = {0};
    uint64_t stack[VEO_MAX_NUM_ARGS];
    unsigned nints = 0;
    unsigned nfps = 0;
    size_t nstack = 0;
    for (unsigned i = 0; i < slot->nargs; i++) {
        unsigned kind = kind_at(kinds, i);
        uint64_t value = kind == WIRE_KIND_FLOAT ? values[i] >> 32 : values[i];
        if (kind < WIRE_KIND_FLOAT && nints < VEOW_INTS)
            ints[nints++] = value;
        else if (kind >= WIRE_KIND_FLOAT && nfps < VEOW_FPS)
            fps[nfps++] = value;
        else
            stack[nstack++] = value;
    }

    veow_invoke(slot->target, ints, fps, stack, nstack, out);
}

static const char *name_of(uint64_t function)
{
    const struct velink_library *library = verun_library_at(function);
    const struct velink_named *named =
        library != NULL ? velink_function_at(library, function) : NULL;
    return named != NULL ? named->name : "";
}

/* The values are what registers of the VE hold, whatever the types are. */
static int call_ve(const struct wire_slot *slot, const uint64_t *values, uint64_t *result)
{
    struct verun_thread *thread = verun_thread();
    if (thread == NULL)
        veow_die("out of memory (VE core)");
    if (verun_report_is_made())
        verun_report_begin(name_of(slot->target));
    verun_checks_from_host(thread->core);
    if (!verun_call(thread, slot->target, values, slot->nargs, result))
        veow_ve_exception(thread->core);
    verun_report_end();
    return VEO_COMMAND_OK;
}

int veow_call(const struct wire_slot *slot, uint64_t *result)
{
    const uint64_t *values = slot->args;
    struct passing passing = {.kinds = &slot->kinds, .ret = (char)slot->ret};
    uint64_t out[2];
    if (slot->flags & WIRE_BLOCK_ARGS) {
        const struct wire_args *outside = slot->block;
        values = outside->values;
        passing.kinds = outside->kinds;
    }

    if (verun_library_at(slot->target) != NULL)
        return call_ve(slot, values, result);
    if (!(slot->flags & WIRE_SIGNATURE) && !look_up(slot, &passing))
        return VEO_COMMAND_ERROR;

    invoke(slot, values, passing.kinds, out);
    *result = ve_result(passing.ret, out);
    return VEO_COMMAND_OK;
}

int veow_call_batch(const struct wire_slot *slot, uint64_t *result)
{
    struct wire_batch *batch = slot->block;
    const uint64_t count = slot->size;
    const uint64_t *values = batch->values;
    uint64_t *results = batch->values + count * slot->nargs;
    struct passing passing = {.kinds = batch->kinds, .ret = (char)slot->ret};
    const bool is_ve = verun_library_at(slot->target) != NULL;
    if (!is_ve && !(slot->flags & WIRE_SIGNATURE) && !look_up(slot, &passing))
        return VEO_COMMAND_ERROR;

    uint64_t i = 0;
    for (; i < count && !atomic_load_explicit(&batch->stop, memory_order_relaxed); i++) {
        uint64_t out[2];
        atomic_store_explicit(&batch->begun, i + 1, memory_order_relaxed);
        if (is_ve) {
            call_ve(slot, values, &results[i]);
        } else {
            invoke(slot, values, passing.kinds, out);
            results[i] = ve_result(passing.ret, out);
        }
        wire_remember(veow_current->wire, results[i]);
        values += slot->nargs;
    }

    *result = i;
    return VEO_COMMAND_OK;
}
