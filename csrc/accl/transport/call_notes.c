/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/call_notes.h"

#include <stdio.h>

#include "accl/arithmetic/dtype.h"
#include "accl/base/operation.h"
#include "common/text.h"

_Static_assert(OPERATION_KINDS <= 16, "a note has four bits for the operation");
_Static_assert(RANKS_MAX <= 1024, "a note has ten bits for the root");

/* Operation, root, and two bits that tell a note from the one that was at its place before. */
static uint16_t make_note(uint32_t operation, uint32_t root, uint64_t number)
{
    return (uint16_t)(operation << 12 | root << 2 | (number / CALL_NOTES & 3));
}

void acclib_call_begin(const struct operation *op, uint64_t number)
{
    struct communicator *comm = op->comm;
    uint32_t operation = op->call->operation;
    uint32_t root = op->facts->kind == ACCL_KIND_ROOTED ? op->call->root_src_dst : 0;
    if (comm->outer != NULL) {
        uint16_t users = call_note(comm->outer, comm->outer->current);
        operation = call_note_operation(users);
        root = call_note_root(users);
    }

    comm->notes[number % CALL_NOTES] = make_note(operation, root, number);
    comm->current = number;
}

const char *acclib_call_name(const struct communicator *comm, const struct accl_call *call)
{
    const struct communicator *outer = comm->outer;
    return acclib_operation_name(
        outer != NULL ? call_note_operation(call_note(outer, outer->current)) : call->operation);
}

static void describe(struct text *out, uint32_t index, uint16_t note)
{
    uint32_t operation = call_note_operation(note);
    text_add(out, "%srank %u %s", out->length ? ", " : "", index, acclib_operation_name(operation));
    if (operation_facts(operation)->kind == ACCL_KIND_ROOTED)
        text_add(out, " with root %u", call_note_root(note));
}

uint32_t acclib_call_tell(accl_device *device, const struct communicator *comm, uint64_t number,
                          uint32_t index, uint16_t note, call_note_source source)
{
    char text[TEXT_BYTES / 2] = "";
    struct text out = text_new(text, sizeof text);
    for (uint32_t i = 0; i < comm->n; i++) {
        uint16_t its = 0;
        if (i == index)
            its = note;
        else if (i == comm->me)
            its = call_note(comm, number);
        else if (source != NULL)
            its = source(comm, i, number);
        if (call_note_is_of(its, number))
            describe(&out, communicator_shown(comm, i), its);
    }

    return acclib_call_fail(device, ACCL_ERROR(CALL_MISMATCH_ERROR),
                            "the ranks made different calls as collective call %llu on "
                            "communicator %u: %s%s",
                            (unsigned long long)communicator_shown_call(comm, number), comm->id,
                            text, out.length >= out.size ? " ..." : "");
}

const char *acclib_call_here(const accl_device *device, char text[CALL_HERE_BYTES])
{
    static const char *const functions[] = {", SUM", ", MAX", ", MIN", ", PROD"};
    const struct accl_call *call = device->call;
    text[0] = 0;
    if (call == NULL)
        return text;

    bool computes = operation_facts(call->operation)->work == ACCL_WORK_COMPUTES;
    if (call->operation != ACCL_BARRIER)
        snprintf(text, CALL_HERE_BYTES, " (here %llu elements of type %s%s)",
                 (unsigned long long)call->count, acclib_dtype_name(call->dtype),
                 computes ? functions[call->function % 4] : "");
    return text;
}

uint32_t acclib_call_differs(accl_device *device, const struct communicator *comm, uint64_t number,
                             uint32_t index)
{
    uint32_t operation = call_note_operation(call_note(comm, number));
    char own[CALL_HERE_BYTES];
    return acclib_call_fail(
        device, ACCL_ERROR(CALL_MISMATCH_ERROR),
        "%s on communicator %u (collective call %llu): rank %u has another count, element type or "
        "function there%s, or made a call before that differs",
        acclib_operation_name(operation), comm->id,
        (unsigned long long)communicator_shown_call(comm, number), communicator_shown(comm, index),
        acclib_call_here(device, own));
}

uint32_t acclib_call_compare(accl_device *device, const struct communicator *comm, uint32_t index,
                             const struct call_told *told)
{
    uint64_t number = told->number;
    bool known = number && number <= comm->current && number + CALL_NOTES > comm->current &&
                 index < comm->n && index != comm->me;
    uint16_t own = call_note(comm, number), note = (uint16_t)told->note;
    if (!known || !call_note_is_of(own, number) || !call_note_is_of(note, number))
        return 0;

    if (own != note)
        return acclib_call_tell(device, comm, number, index, note, NULL);
    if (number == comm->current && told->signature != comm->signature)
        return acclib_call_differs(device, comm, number, index);
    return 0;
}
