/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Note of what this rank waits for, in its memory file, where accl_dump_waits() of any rank reads
 * it. Written by the executor alone.
 */
#ifndef ACCL_WAIT_NOTE_H
#define ACCL_WAIT_NOTE_H

#include "accl/base/device.h"
#include "common/text.h"

void acclib_note_wait(accl_device *device, uint32_t operation, uint32_t peer, uint32_t tag,
                      uint32_t sequence, uint64_t key);
void acclib_note_no_wait(accl_device *device);
/* Notes once more what NOTE, a copy of an earlier note, says. */
void acclib_note_again(accl_device *device, const struct wait_note *note);

/* Appends what global rank RANK says in its file. Any thread. */
void acclib_note_describe(struct text *out, uint32_t rank, const struct arena_header *arena);

#endif
