/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/profile/calls.h"

#include "dpu/profile/arcs.h"

#include <string.h>
#include <sys/mman.h>

/* More than the frames that a stack in WRAM has room for, but for those that use none. */
#define DEPTH 4096

/* A function that a tasklet is in. */
struct frame {
    struct dpu_profile_call *call; /* NULL: the table was full */
    uint16_t target, back;         /* where it begins, and where it returns to */
    bool by_jump;                  /* it returns to where the one below returns */
    bool is_outermost;             /* the tasklet was not in it */
    struct dpu_calls_time since;
};

/* Zero pages, of which a program touches few. */
struct dpu_calls {
    struct dpu_arcs arcs;
    bool begins[DPU_MACHINE_IRAM];
    uint32_t depth[DPU_MACHINE_THREADS_ROOM];
    uint32_t lost[DPU_MACHINE_THREADS_ROOM]; /* calls that there was no frame for */
    uint16_t active[DPU_MACHINE_THREADS_ROOM][DPU_MACHINE_IRAM];
    struct frame frames[DPU_MACHINE_THREADS_ROOM][DEPTH];
};

struct dpu_calls *dpu_calls_create(void)
{
    void *calls = mmap(NULL, sizeof(struct dpu_calls), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return calls != MAP_FAILED ? calls : NULL;
}

void dpu_calls_destroy(struct dpu_calls *calls)
{
    if (calls != NULL)
        munmap(calls, sizeof *calls);
}

void dpu_calls_add_function(struct dpu_calls *calls, uint32_t pc)
{
    if (pc < DPU_MACHINE_IRAM)
        calls->begins[pc] = true;
}

void dpu_calls_forget_functions(struct dpu_calls *calls)
{
    memset(calls->begins, 0, sizeof calls->begins);
}

static void enter(struct dpu_calls *calls, uint32_t thread, uint32_t pc, uint32_t target,
                  bool by_jump, const struct dpu_calls_time *now)
{
    if (calls->depth[thread] == DEPTH) {
        calls->lost[thread] += !by_jump;
        return;
    }

    struct dpu_profile_call *call = dpu_arcs_find(&calls->arcs, pc, target);
    if (call != NULL)
        call->count++;
    calls->frames[thread][calls->depth[thread]++] = (struct frame){
        .call = call,
        .target = (uint16_t)target,
        .back = (uint16_t)((pc + 1) % DPU_MACHINE_IRAM),
        .by_jump = by_jump,
        .is_outermost = calls->active[thread][target]++ == 0,
        .since = *now,
    };
}

/* Time in a function counts once, however often it is in itself. */
static void leave(struct dpu_calls *calls, uint32_t thread, const struct dpu_calls_time *now)
{
    const struct frame *frame = &calls->frames[thread][--calls->depth[thread]];
    struct dpu_profile_call *call = frame->call;
    calls->active[thread][frame->target]--;
    if (call == NULL || !frame->is_outermost)
        return;

    uint64_t dma = now->dma - frame->since.dma, sleep = now->sleep - frame->since.sleep;
    call->instructions += now->instructions - frame->since.instructions;
    call->issue += now->cycles - frame->since.cycles - dma - sleep;
    call->spin += now->spin - frame->since.spin;
    call->dma += dma;
    call->sleep += sleep;
}

static void leave_down_to(struct dpu_calls *calls, uint32_t thread, uint32_t depth,
                          const struct dpu_calls_time *now)
{
    while (calls->depth[thread] > depth)
        leave(calls, thread, now);
}

/* It may leave several at once. False if it is no return. */
static bool go_back(struct dpu_calls *calls, uint32_t thread, uint32_t target,
                    const struct dpu_calls_time *now)
{
    if (calls->lost[thread] != 0) {
        calls->lost[thread]--;
        return true;
    }

    for (uint32_t depth = calls->depth[thread]; depth != 0; depth--) {
        const struct frame *frame = &calls->frames[thread][depth - 1];
        if (!frame->by_jump && frame->back == target) {
            leave_down_to(calls, thread, depth - 1, now);
            return true;
        }
    }

    return false;
}

/* A function that ends with a call may jump instead. A jump to where the function itself begins is
 * a loop, also if there were others in between. */
static void go_on(struct dpu_calls *calls, uint32_t thread, uint32_t pc, uint32_t target,
                  const struct dpu_calls_time *now)
{
    uint32_t depth = calls->depth[thread];
    bool by_jump = true;
    if (!calls->begins[target])
        return;

    for (; depth != 0 && by_jump; depth--) {
        const struct frame *frame = &calls->frames[thread][depth - 1];
        if (frame->target == target) {
            leave_down_to(calls, thread, depth, now);
            return;
        }
        by_jump = frame->by_jump;
    }

    /* Tasklets begin at 0. */
    if (by_jump && target == 0)
        leave_down_to(calls, thread, 0, now);
    else
        enter(calls, thread, pc, target, true, now);
}

void dpu_calls_begin(struct dpu_calls *calls)
{
    for (uint32_t thread = 0; thread < DPU_MACHINE_THREADS_ROOM; thread++) {
        calls->lost[thread] = 0;
        while (calls->depth[thread] != 0)
            calls->active[thread][calls->frames[thread][--calls->depth[thread]].target]--;
    }
}

void dpu_calls_jump(struct dpu_calls *calls, uint32_t thread, uint32_t pc, enum dpu_jump kind,
                    uint32_t target, const struct dpu_calls_time *now)
{
    switch (kind) {
    case DPU_JUMP_CALL: enter(calls, thread, pc, target, false, now); break;
    case DPU_JUMP_BY_REGISTER:
        if (!go_back(calls, thread, target, now))
            go_on(calls, thread, pc, target, now);
        break;
    case DPU_JUMP_DIRECT: go_on(calls, thread, pc, target, now); break;
    }
}

void dpu_calls_end(struct dpu_calls *calls, uint32_t thread, const struct dpu_calls_time *now)
{
    leave_down_to(calls, thread, 0, now);
    calls->lost[thread] = 0;
}

void dpu_calls_take(struct dpu_calls *calls,
                    void (*take)(void *context, const struct dpu_profile_call *call), void *context)
{
    for (uint32_t i = 0; i < DPU_ARCS && calls->arcs.count != 0; i++)
        if (calls->arcs.rows[i].count != 0)
            take(context, &calls->arcs.rows[i]);

    dpu_calls_begin(calls);
    memset(&calls->arcs, 0, sizeof calls->arcs);
}
