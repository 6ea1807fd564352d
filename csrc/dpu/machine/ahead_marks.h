/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ahead_marks.h: which tasklet used which word of WRAM while tasklets run one after the other
 * (ahead.h), and what the words held before.
 *
 * A try begins with dpu_ahead_begin(). The interpreter marks each word that it reads or writes with
 * the tasklet's mark, and stops at a word that makes the order of tasklets matter. No function
 * blocks; all are for the thread that runs the machine.
 */
#ifndef OFFCHIP_DPU_AHEAD_MARKS_H
#define OFFCHIP_DPU_AHEAD_MARKS_H

#include "machine_state.h"

/* Allocates marks and log. False, and neither is there, if out of memory. */
bool dpu_ahead_allocate(struct dpu_ahead *ahead);
/* Frees them; may be repeated. */
void dpu_ahead_free(struct dpu_ahead *ahead);

/* Begins a try, in which no word is marked yet and the log is empty. */
void dpu_ahead_begin(struct dpu_ahead *ahead);
/* The mark of a tasklet in this try. */
uint32_t dpu_ahead_mark(const struct dpu_ahead *ahead, uint32_t thread);
/* Marks a word that the tasklet with the mark MINE reads. False if another one has written to it:
 * then there is a conflict, and the tasklet must not read it. */
bool dpu_ahead_read(struct dpu_machine *machine, uint32_t word, uint32_t mine);
/* The same before it is written, and logs its value. False also if the log is full. */
bool dpu_ahead_write(struct dpu_machine *machine, uint32_t word, uint32_t mine);
/* Gives the words that were written their values of before the try. */
void dpu_ahead_undo(struct dpu_machine *machine);

#endif
