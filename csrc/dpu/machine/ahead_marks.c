/* SPDX-License-Identifier: BSD-3-Clause */
#include "ahead_marks.h"

#include <stdlib.h>
#include <string.h>

/*
 * The mark of a word: the epoch, which is one try; then which tasklet used it, and whether it wrote
 * to it. Marks of former epochs mean nothing.
 */
#define EPOCH_SHIFT 8
#define SHARED 255u /* read by several */
#define LAST_EPOCH (UINT32_MAX >> EPOCH_SHIFT)

bool dpu_ahead_allocate(struct dpu_ahead *a)
{
    a->log = malloc(DPU_AHEAD_LOG * sizeof *a->log);
    a->tags = a->log != NULL ? calloc(DPU_AHEAD_WORDS, sizeof *a->tags) : NULL;
    if (a->tags == NULL)
        dpu_ahead_free(a);
    return a->tags != NULL;
}

void dpu_ahead_free(struct dpu_ahead *a)
{
    free(a->tags);
    free(a->log);
    a->tags = NULL;
    a->log = NULL;
}

void dpu_ahead_begin(struct dpu_ahead *a)
{
    if (a->epoch == LAST_EPOCH) {
        memset(a->tags, 0, DPU_AHEAD_WORDS * sizeof *a->tags);
        a->epoch = 0;
    }
    a->epoch++;
    a->logged = 0;
    a->conflict = false;
}

uint32_t dpu_ahead_mark(const struct dpu_ahead *a, uint32_t thread)
{
    return a->epoch << EPOCH_SHIFT | thread << 1 | 1;
}

bool dpu_ahead_read(struct dpu_machine *m, uint32_t word, uint32_t mine)
{
    uint32_t *tag = &m->ahead.tags[word], shared = m->ahead.epoch << EPOCH_SHIFT | SHARED;
    if (*tag >> EPOCH_SHIFT != m->ahead.epoch) {
        *tag = mine & ~1u;
        return true;
    }

    /* Marked by another tasklet, or by several. */
    if (*tag != shared && (*tag & 1) != 0) {
        m->ahead.conflict = true;
        return false;
    }

    *tag = shared;
    return true;
}

bool dpu_ahead_write(struct dpu_machine *m, uint32_t word, uint32_t mine)
{
    struct dpu_ahead *a = &m->ahead;
    uint32_t *tag = &a->tags[word];
    if (*tag >> EPOCH_SHIFT == a->epoch && (*tag | 1) != mine) {
        a->conflict = true;
        return false;
    }

    if (a->logged == DPU_AHEAD_LOG)
        return false;

    struct dpu_word_before *before = &a->log[a->logged++];
    before->index = word;
    memcpy(&before->value, m->wram + 4 * word, sizeof before->value);
    *tag = mine;
    return true;
}

void dpu_ahead_undo(struct dpu_machine *m)
{
    for (uint32_t i = 0; i < m->ahead.logged; i++)
        memcpy(m->wram + 4 * m->ahead.log[i].index, &m->ahead.log[i].value, sizeof(uint32_t));
}
