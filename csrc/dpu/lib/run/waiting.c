/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/run/waiting.h"

#include "common/text.h"
#include "dpu/lib/programs/meetings.h"
#include "dpu/lib/programs/program.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/run/whereabouts.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY 0xFF /* the queue of a barrier or semaphore that is empty */

/* As in the memory of a program. */
struct meeting_state {
    uint8_t queue; /* the last tasklet that waits */
    uint8_t count; /* of a barrier: that are still to come */
    uint8_t initial_count;
    uint8_t guard; /* number of the atomic bit */
};

static const struct dpulib_meetings *meetings_of(const struct dpu_t *dpu)
{
    const struct dpulib_program *program = dpulib_program_of(dpu->program);
    return program != NULL ? program->meetings : NULL;
}

/* --- who sleeps --- */

/* The function that a tasklet sleeps in, if its last instruction was there. */
static const struct dpulib_sleeping_function *function_at(const struct dpulib_meetings *meetings,
                                                          uint32_t pc)
{
    for (uint32_t i = 0; i < meetings->functions_count; i++)
        if (pc - 1 >= meetings->functions[i].first && pc - 1 <= meetings->functions[i].last)
            return &meetings->functions[i];
    return NULL;
}

/* Tasklets that have run in the last launch and do not any more. */
static uint64_t stopped(const struct dpu_t *dpu)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < dpu_machine_thread_count(dpu->machine); i++)
        bits |= (uint64_t)(dpu->result.thread_instructions[i] != 0) << i;
    return bits & ~dpu_machine_get_run_bits(dpu->machine);
}

/* Those in the queue of a barrier or a semaphore, as it is in the memory of the program. */
static uint64_t queued(const struct dpu_t *dpu, const struct dpulib_meetings *meetings,
                       const struct dpulib_meeting *meeting, struct meeting_state *state)
{
    uint64_t bits = 0;
    if (!dpu_machine_read_wram(dpu->machine, meeting->address, state, sizeof *state) ||
        state->queue == NOBODY || state->guard != meeting->guard)
        return 0;

    uint8_t id = state->queue;
    while (id < DPU_MACHINE_THREADS_ROOM && (bits >> id & 1) == 0) {
        bits |= UINT64_C(1) << id;
        if (meetings->next == DPULIB_NOWHERE ||
            !dpu_machine_read_wram(dpu->machine, meetings->next + id, &id, 1))
            break;
    }

    return bits;
}

uint64_t dpulib_running(const struct dpu_t *dpu)
{
    uint32_t count = dpu_machine_thread_count(dpu->machine);
    return dpu_machine_get_run_bits(dpu->machine) & ((UINT64_C(2) << (count - 1)) - 1);
}

uint64_t dpulib_sleepers(const struct dpu_t *dpu)
{
    const struct dpulib_meetings *meetings = meetings_of(dpu);
    if (meetings == NULL || meetings->functions_count + meetings->count == 0)
        return 0;

    const uint32_t count = dpu_machine_thread_count(dpu->machine);
    uint64_t found = 0, candidates = stopped(dpu);
    for (uint32_t i = 0; i < count; i++) {
        struct dpu_thread_state state;
        if ((candidates >> i & 1) != 0 && dpu_machine_get_thread(dpu->machine, i, &state) &&
            function_at(meetings, state.pc) != NULL)
            found |= UINT64_C(1) << i;
    }

    for (uint32_t i = 0; i < meetings->count; i++) {
        struct meeting_state state;
        found |= queued(dpu, meetings, &meetings->meetings[i], &state) & candidates;
    }

    return found;
}

/* --- telling --- */

static uint32_t pc_of(const struct dpu_t *dpu, uint32_t thread)
{
    struct dpu_thread_state state;
    return dpu_machine_get_thread(dpu->machine, thread, &state) ? state.pc : 0;
}

/* "0, 2 wait at pc ..., 1 at pc ...": one place for all who came to it. */
static void add_waiting(struct text *text, const struct dpu_t *dpu, uint64_t bits)
{
    uint32_t places[DPU_MACHINE_THREADS_ROOM];
    const char *verb = (bits & (bits - 1)) != 0 ? " wait" : " waits", *separator = "";
    for (uint32_t i = 0; i < DPU_MACHINE_THREADS_ROOM; i++)
        if ((bits >> i & 1) != 0)
            /* The pc is after the instruction that it stopped at. */
            places[i] = dpulib_own_pc(dpu, i, (pc_of(dpu, i) - 1) & (DPU_MACHINE_IRAM - 1));

    for (uint32_t i = 0; i < DPU_MACHINE_THREADS_ROOM; i++) {
        uint64_t same = 0;
        for (uint32_t j = i; j < DPU_MACHINE_THREADS_ROOM && (bits >> i & 1) != 0; j++)
            if ((bits >> j & 1) != 0 && places[j] == places[i])
                same |= UINT64_C(1) << j;
        if (same == 0)
            continue;
        bits &= ~same;
        text_add(text, "%s", separator);
        text_add_bits(text, same);
        text_add(text, "%s at ", verb);
        dpulib_add_own_place(text, dpu, places[i]);
        separator = ", ";
        verb = "";
    }
}

static uint32_t tasklets_of(const struct dpu_t *dpu)
{
    const struct dpulib_program *program = dpulib_program_of(dpu->program);
    uint32_t most = dpu_machine_thread_count(dpu->machine);
    return program != NULL && program->elf.nr_tasklets < most ? program->elf.nr_tasklets : most;
}

static void add_barrier(struct text *text, const struct dpu_t *dpu,
                        const struct dpulib_meeting *meeting, const struct meeting_state *state,
                        uint64_t waiting, uint64_t ended)
{
    uint32_t wanted = state->initial_count, tasklets = tasklets_of(dpu);
    uint64_t missing = (UINT64_C(2) << (tasklets - 1)) - 1;
    missing &= ~waiting;
    text_add(text, "barrier '%s' of %u tasklets", meeting->name, wanted);
    if (wanted > tasklets)
        text_add(text, ", of which the program has %u (NR_TASKLETS)", tasklets);
    text_add(text, ": ");
    add_waiting(text, dpu, waiting);
    if (missing == 0)
        return;

    uint32_t absent = (uint32_t)__builtin_popcountll(missing);
    text_add(text, "; missing: ");
    if (state->count < absent)
        text_add(text, "%u of ", state->count);
    text_add_bits(text, missing);
    if ((missing & ~ended) == 0)
        text_add(text, " (ended)");
}

/* A tasklet waits for itself to be waited for, or for the notification of another one. */
static void add_handshakes(struct text *text, const struct dpu_t *dpu,
                           const struct dpulib_meetings *meetings, uint64_t *sleepers,
                           const char **separator)
{
    uint8_t partners[DPU_MACHINE_THREADS_ROOM];
    const uint32_t count = tasklets_of(dpu);
    if (meetings->partners == DPULIB_NOWHERE ||
        !dpu_machine_read_wram(dpu->machine, meetings->partners, partners, count))
        return;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t who = partners[i] - 1u;
        if (who >= DPU_MACHINE_THREADS_ROOM || (*sleepers >> who & 1) == 0)
            continue;
        text_add(text, "%shandshake: ", *separator);
        add_waiting(text, dpu, UINT64_C(1) << who);
        if (who == i)
            text_add(text, "; missing: handshake_wait_for(%u)", i);
        else
            text_add(text, "; missing: handshake_notify() of %u", i);
        *sleepers &= ~(UINT64_C(1) << who);
        *separator = "; ";
    }
}

void dpulib_add_sleepers(struct text *text, const struct dpu_t *dpu)
{
    const struct dpulib_meetings *meetings = meetings_of(dpu);
    uint64_t sleepers = dpulib_sleepers(dpu), ended = stopped(dpu) & ~sleepers;
    const char *separator = "";
    if (sleepers == 0)
        return;

    for (uint32_t i = 0; i < meetings->count; i++) {
        struct meeting_state state;
        const struct dpulib_meeting *meeting = &meetings->meetings[i];
        uint64_t waiting = queued(dpu, meetings, meeting, &state) & sleepers;
        if (waiting == 0)
            continue;
        sleepers &= ~waiting;
        text_add(text, "%s", separator);
        separator = "; ";
        if (meeting->is_barrier) {
            add_barrier(text, dpu, meeting, &state, waiting, ended);
            continue;
        }
        text_add(text, "semaphore '%s': ", meeting->name);
        add_waiting(text, dpu, waiting);
        text_add(text, "; missing: sem_give()");
    }

    add_handshakes(text, dpu, meetings, &sleepers, &separator);

    /* Barriers without a name, such as those in arrays. */
    for (uint32_t i = 0; i < meetings->functions_count; i++) {
        uint64_t here = 0;
        for (uint32_t id = 0; id < DPU_MACHINE_THREADS_ROOM; id++)
            if ((sleepers >> id & 1) != 0 &&
                function_at(meetings, pc_of(dpu, id)) == &meetings->functions[i])
                here |= UINT64_C(1) << id;
        if (here == 0)
            continue;
        text_add(text, "%s%s(): ", separator, meetings->functions[i].name);
        add_waiting(text, dpu, here);
        separator = "; ";
    }
}

/* --- who runs --- */

static bool is_prefix(const char *prefix, const char *text)
{
    return strncmp(prefix, text, strlen(prefix)) == 0;
}

/* The symbol of an atomic bit: the smallest, as compilers merge variables. */
static const struct dpu_elf_symbol *find_bit(const struct dpu_t *dpu, uint32_t bit)
{
    const struct dpulib_program *program = dpulib_program_of(dpu->program);
    const struct dpu_elf_symbol *found = NULL;
    for (size_t i = 0; program != NULL && i < program->elf.nsymbols; i++) {
        const struct dpu_elf_symbol *symbol = &program->elf.symbols[i];
        uint32_t first = symbol->value & 0xFF;
        if (symbol->memory == DPU_ELF_ATOMIC && bit >= first && bit - first < symbol->size &&
            (found == NULL || symbol->size < found->size))
            found = symbol;
    }
    return found;
}

/* "mutex 'm'" and its like, by the symbol of the atomic bit. */
void dpulib_add_lock(struct text *text, const struct dpu_t *dpu, uint32_t bit)
{
    static const struct {
        const char *prefix, *what;
    } kinds[] = {
        {DPULIB_BIT_PREFIX "mutex_", "mutex"},
        {DPULIB_BARRIER_PREFIX, "the guard of barrier"},
        {DPULIB_BIT_PREFIX "rwlock_", "rwlock"},
        {DPULIB_SEMAPHORE_PREFIX, "the guard of semaphore"},
        {"hw_mutexes_", "a mutex of the pool"},
        {DPULIB_BIT_PREFIX, "atomic bit"},
        {"", "atomic bit"},
    };
    const struct dpu_elf_symbol *symbol = find_bit(dpu, bit);
    if (symbol == NULL) {
        text_add(text, "atomic bit %u", bit);
        return;
    }

    size_t kind = 0;
    while (!is_prefix(kinds[kind].prefix, symbol->name))
        kind++;
    text_add(text, "%s '%s'", kinds[kind].what, symbol->name + strlen(kinds[kind].prefix));
}

void dpulib_add_runners(struct text *text, const struct dpu_t *dpu)
{
    struct dpu_thread_state states[DPU_MACHINE_THREADS_ROOM];
    const char *separator = "";
    uint64_t bits = dpulib_running(dpu);
    for (uint32_t i = 0; i < DPU_MACHINE_THREADS_ROOM; i++)
        dpu_machine_get_thread(dpu->machine, i, &states[i]);

    for (uint32_t i = 0; i < DPU_MACHINE_THREADS_ROOM; i++) {
        uint64_t same = 0;
        uint32_t bit, other;
        if ((bits >> i & 1) == 0)
            continue;
        bool acquires = dpulib_acquired_bit(dpu, &states[i], &bit), taken = false;
        for (uint32_t j = i; j < DPU_MACHINE_THREADS_ROOM; j++)
            if ((bits >> j & 1) != 0 && states[j].pc == states[i].pc &&
                (!acquires || (dpulib_acquired_bit(dpu, &states[j], &other) && other == bit)))
                same |= UINT64_C(1) << j;
        bits &= ~same;

        text_add(text, "%s", separator);
        text_add_bits(text, same);
        text_add(text, " at ");
        dpulib_add_place(text, dpu, i, states[i].pc);
        if (acquires && dpu_machine_get_atomic(dpu->machine, bit, &taken) && taken) {
            text_add(text, ", waiting for ");
            dpulib_add_lock(text, dpu, bit);
        }
        separator = "; ";
    }
}
