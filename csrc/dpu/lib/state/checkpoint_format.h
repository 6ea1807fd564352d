/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_format.h: a DPU's state as bytes, the same bytes as the vendor's
 * library writes.
 *
 * All numbers are little-endian. MAGIC, the chip's 18, the format's 3, MAGIC;
 * six 32-bit counts: tasklets, registers of one, atomic bits, instructions of
 * IRAM, bytes of MRAM, words of WRAM (0 for a memory that was not saved); IRAM
 * (8 bytes per instruction), MRAM, WRAM; then registers by tasklet (32 bits
 * each), pcs (16 bits), atomic bits, zero flags, carry flags (a byte each), the
 * number of running tasklets (a byte), their order (a byte per tasklet), whether
 * there is a breakpoint, DMA, memory fault (a byte each), the tasklet of each
 * (a byte), the number of the breakpoint (32 bits).
 */
#ifndef OFFCHIP_DPU_CHECKPOINT_FORMAT_H
#define OFFCHIP_DPU_CHECKPOINT_FORMAT_H

#include "dpu_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DPU_CHECKPOINT_MAGIC UINT32_C(0xfabddbaf)
#define DPU_CHECKPOINT_CHIP 18
#define DPU_CHECKPOINT_VERSION 3

/* X(name, text) */
#define DPU_CHECKPOINT_STATUSES(X) \
    X(OK, "the state can be restored") \
    X(NO_MEMORY, "out of memory (state)") \
    X(NOT_A_CHECKPOINT, "these bytes are no saved state of a DPU") \
    X(OTHER_VERSION, "this state was saved for another chip or in another format") \
    X(IMPOSSIBLE, "this state has more tasklets, registers or memory than a DPU") \
    X(LENGTH, "this state is not as long as it says: it is cut off, or " \
              "something follows it")

enum dpu_checkpoint_status {
#define X(name, text) DPU_CHECKPOINT_##name,
    DPU_CHECKPOINT_STATUSES(X)
#undef X
};

const char *dpu_checkpoint_status_text(enum dpu_checkpoint_status status);

/*
 * Fills *context with zeros and gives it room for what tasklets and bits are;
 * memories stay NULL. False, and *context empty, without memory.
 */
bool dpu_context_create(struct dpu_context_t *context, uint32_t threads, uint32_t registers,
                        uint32_t atomic_bits);
/* Frees what *context owns and empties it; may be repeated. */
void dpu_context_destroy(struct dpu_context_t *context);

/* How many bytes *context takes. A memory that is NULL was not saved. */
size_t dpu_checkpoint_size(const struct dpu_context_t *context);
/* Writes exactly so many. */
void dpu_checkpoint_write(const struct dpu_context_t *context, uint8_t *bytes);
/*
 * Reads SIZE bytes, which may be any, into *context, whose former content is
 * not freed. Allocates no more than in proportion to SIZE. *context is empty
 * unless the result is DPU_CHECKPOINT_OK. What is read is a state of the right
 * shape, not one that makes sense: numbers of tasklets and pcs may be too
 * large.
 */
enum dpu_checkpoint_status dpu_checkpoint_read(const uint8_t *bytes, size_t size,
                                               struct dpu_context_t *context);

#endif
