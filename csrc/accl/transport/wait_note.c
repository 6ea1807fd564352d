/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/wait_note.h"

#include "accl/base/operation.h"
#include "common/clock.h"

static void write_note(accl_device *device, const struct wait_note *from)
{
    struct wait_note *note = &device->header->waits;
    uint32_t version = atomic_load_explicit(&note->version, memory_order_relaxed);
    atomic_store(&note->version, version + 1);
    note->operation = from->operation;
    note->peer = from->peer;
    note->tag = from->tag;
    note->sequence = from->sequence;
    note->key = from->key;
    note->since = from->since;
    atomic_store(&note->version, version + 2);
}

void acclib_note_wait(accl_device *device, uint32_t operation, uint32_t peer, uint32_t tag,
                      uint32_t sequence, uint64_t key)
{
    write_note(device, &(struct wait_note){.operation = operation,
                                           .peer = peer,
                                           .tag = tag,
                                           .sequence = sequence,
                                           .key = key,
                                           .since = clock_now()});
}

void acclib_note_again(accl_device *device, const struct wait_note *note)
{
    const struct wait_note *now = &device->header->waits;
    if (note->operation != NO_RANK && now->since != note->since)
        write_note(device, note);
}

void acclib_note_no_wait(accl_device *device)
{
    struct wait_note *note = &device->header->waits;
    if (note->operation != NO_RANK)
        acclib_note_wait(device, NO_RANK, NO_RANK, 0, 0, 0);
}

void acclib_note_describe(struct text *out, uint32_t rank, const struct arena_header *arena)
{
    const struct wait_note *note = &arena->waits;
    uint32_t version = atomic_load(&note->version);
    uint32_t operation = READ_ONCE(note->operation), peer = READ_ONCE(note->peer);
    uint32_t tag = READ_ONCE(note->tag), sequence = READ_ONCE(note->sequence);
    uint64_t key = READ_ONCE(note->key);
    uint64_t waited = (uint64_t)clock_now() - (uint64_t)READ_ONCE(note->since);

    if (operation == NO_RANK || version % 2 || version != atomic_load(&note->version)) {
        text_add(out, "rank %u is not waiting\n", rank);
        return;
    }

    text_add(out, "rank %u waits in %s for ", rank, acclib_operation_name(operation));
    if (peer == NO_RANK)
        text_add(out, "all ranks");
    else
        text_add(out, "rank %u", peer);
    text_add(out, ", communicator key %016llx, ", (unsigned long long)key);
    if (operation_facts(operation)->kind == ACCL_KIND_MESSAGE)
        text_add(out, "tag %u, sequence %u", tag, sequence);
    else
        text_add(out, "collective call %u", sequence);
    text_add(out, ", for %llu ms\n", (unsigned long long)(waited / CLOCK_MILLISECOND));
}
