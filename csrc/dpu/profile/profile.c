/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"

#include "dpu/profile/calls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct waits {
    uint64_t spin, dma, sleep;
};

/* Zero pages, of which a program touches few. */
struct tables {
    struct dpu_count counts[DPU_MACHINE_THREADS_ROOM][DPU_COUNTS];
    struct waits waits[DPU_MACHINE_THREADS_ROOM][DPU_MACHINE_IRAM];
};

struct dpu_profile {
    struct dpu_machine *machine;
    struct dpu_observer observer;
    struct tables *tables;
    struct dpu_calls *calls;
    struct dpu_profile_launch launch;
    uint64_t engine_cycles; /* of all DMA engines */
    bool is_over;

    /* Tasklets that spin, with the bit and since when; holders of bits. */
    uint64_t spins_since[DPU_MACHINE_THREADS_ROOM];
    bool spins[DPU_MACHINE_THREADS_ROOM];
    uint64_t held_since[DPU_MACHINE_ATOMIC_BITS];
    uint16_t held_at[DPU_MACHINE_ATOMIC_BITS];
    uint8_t held_by[DPU_MACHINE_ATOMIC_BITS];
    uint64_t stopped[DPU_MACHINE_THREADS_ROOM]; /* when the round of its last stop ended */

    struct dpu_profile_event *events;
    uint32_t event_count, events_max;
    uint64_t events_dropped;
};

static void add_event(struct dpu_profile *p, enum dpu_profile_event_kind kind, uint32_t thread,
                      uint32_t pc, uint32_t value, uint64_t begin, uint64_t end)
{
    if (p->event_count == p->events_max) {
        p->events_dropped += p->events_max != 0;
        return;
    }

    p->events[p->event_count++] = (struct dpu_profile_event){
        .begin = begin,
        .end = end,
        .value = value,
        .pc = (uint16_t)pc,
        .kind = (uint8_t)kind,
        .thread = (uint8_t)thread,
    };
}

static struct dpu_calls_time time_of(const struct dpu_profile *p, uint32_t thread,
                                     uint64_t instructions, uint64_t cycles)
{
    const struct dpu_profile_tasklet *tasklet = &p->launch.tasklets[thread];
    return (struct dpu_calls_time){instructions, cycles, tasklet->spin, tasklet->dma,
                                   tasklet->sleep};
}

static void on_boot(void *context, struct dpu_machine *m)
{
    struct dpu_profile *p = context;
    (void)m;
    memset(&p->launch, 0, sizeof p->launch);
    memset(p->spins, 0, sizeof p->spins);
    memset(p->held_since, 0, sizeof p->held_since);
    dpu_calls_begin(p->calls);
    p->is_over = false;
    p->engine_cycles = 0;
    p->event_count = 0;
    p->events_dropped = 0;
}

static void on_end(void *context, struct dpu_machine *m, enum dpu_run_status status)
{
    struct dpu_profile *p = context;
    struct dpu_run_result result;
    dpu_machine_get_result(m, &result);
    p->launch.status = (uint64_t)status;
    p->launch.cycles = result.cycles;
    p->launch.instructions = result.instructions;
    struct dpu_machine_options options;
    dpu_machine_get_options(m, &options);
    p->launch.dma_busy = p->engine_cycles / options.dma_engines;
    for (uint32_t id = 0; id < dpu_machine_thread_count(m); id++) {
        struct dpu_profile_tasklet *tasklet = &p->launch.tasklets[id];
        tasklet->instructions = result.thread_instructions[id];
        /* It was running when a fault or a limit ended the launch. */
        bool runs = (dpu_machine_get_run_bits(m) >> id & 1) != 0;
        if (runs)
            tasklet->end = result.cycles;
        const struct dpu_calls_time now =
            time_of(p, id, tasklet->instructions, runs ? result.cycles : p->stopped[id]);
        dpu_calls_end(p->calls, id, &now);
        if (tasklet->end != 0)
            add_event(p, DPU_PROFILE_RUN, id, 0, 0, tasklet->begin, tasklet->end);
    }

    p->is_over = true;
}

static void on_transfer(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                        const struct dpu_transfer *transfer)
{
    struct dpu_profile *p = context;
    struct dpu_profile_launch *launch = &p->launch;
    (void)m;
    if (transfer->writes_mram) {
        launch->writes++;
        launch->write_bytes += transfer->bytes;
    } else {
        launch->reads++;
        launch->read_bytes += transfer->bytes;
    }

    p->engine_cycles += transfer->engine_end - transfer->start;
    add_event(p, transfer->writes_mram ? DPU_PROFILE_WRITE : DPU_PROFILE_READ, thread, pc,
              transfer->bytes, transfer->issued, transfer->tasklet_end);
    add_event(p, DPU_PROFILE_ENGINE, thread, pc, transfer->bytes, transfer->start,
              transfer->engine_end);
}

static void on_jump(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                    enum dpu_jump kind, uint32_t target)
{
    struct dpu_profile *p = context;
    const struct dpu_calls_time now =
        time_of(p, thread, dpu_machine_thread_instructions(m, thread), dpu_machine_round_end(m));
    dpu_calls_jump(p->calls, thread, pc, kind, target, &now);
}

static void on_acquire(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                       uint32_t bit, bool taken)
{
    struct dpu_profile *p = context;
    uint64_t now = dpu_machine_now(m);
    if (!taken) {
        uint64_t cycles = dpu_machine_round_cycles(m);
        p->tables->waits[thread][pc].spin += cycles;
        p->launch.tasklets[thread].spin += cycles;
        if (!p->spins[thread])
            p->spins_since[thread] = now;
        p->spins[thread] = true;
        return;
    }

    if (p->spins[thread])
        add_event(p, DPU_PROFILE_SPIN, thread, pc, bit, p->spins_since[thread], now);
    p->spins[thread] = false;
    p->held_since[bit] = now;
    p->held_at[bit] = (uint16_t)pc;
    p->held_by[bit] = (uint8_t)thread;
}

static void on_release(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                       uint32_t bit)
{
    struct dpu_profile *p = context;
    bool is_held = false;
    (void)thread, (void)pc;
    if (dpu_machine_get_atomic(m, bit, &is_held) && is_held)
        add_event(p, DPU_PROFILE_HELD, p->held_by[bit], p->held_at[bit], bit, p->held_since[bit],
                  dpu_machine_now(m));
}

static void on_run_bit(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                       enum dpu_run_bit_change change, uint32_t target, bool was_set)
{
    struct dpu_profile *p = context;
    (void)thread, (void)pc;
    if (target >= dpu_machine_thread_count(m))
        return;
    if (change == DPU_RUN_BIT_BOOT && !was_set)
        p->launch.tasklets[target].begin = dpu_machine_now(m);
    if (change != DPU_RUN_BIT_STOP && change != DPU_RUN_BIT_CLEAR)
        return;
    p->launch.tasklets[target].end = dpu_machine_now(m) + 1;
    p->stopped[target] = dpu_machine_round_end(m);
}

static void on_wait(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                    enum dpu_wait wait, uint64_t since, uint64_t until)
{
    struct dpu_profile *p = context;
    uint64_t cycles = until - since;
    (void)m;
    if (wait == DPU_WAIT_DMA) {
        p->tables->waits[thread][pc].dma += cycles;
        p->launch.tasklets[thread].dma += cycles;
        return;
    }

    p->tables->waits[thread][pc].sleep += cycles;
    p->launch.tasklets[thread].sleep += cycles;
    add_event(p, DPU_PROFILE_SLEEP, thread, pc, 0, since, until);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Of the slots of a round that stay empty, those come first whose tasklets wait for DMA. */
static void on_span(void *context, struct dpu_machine *m, const struct dpu_span *span)
{
    struct dpu_profile *p = context;
    struct dpu_machine_options options;
    dpu_machine_get_options(m, &options);
    uint32_t width = options.accounting == DPU_ACCOUNTING_VENDOR ? 1 : options.issue_width;
    uint32_t issuing = (span->runnable + width - 1) / width;
    uint64_t issued = span->rounds * issuing;
    if (issued > span->cycles)
        return;

    uint64_t lost = span->cycles - issued;
    if (span->runnable == 0) {
        p->launch.lost_dma += lost;
        return;
    }

    uint64_t empty = options.round_cycles > issuing ? options.round_cycles - issuing : 0;
    uint64_t by_dma = least(span->waiting, empty), by_stop = least(span->stopped, empty - by_dma);
    uint64_t dma = empty != 0 ? lost * by_dma / empty : 0;
    uint64_t stop = empty != 0 ? lost * by_stop / empty : 0;
    p->launch.lost_dma += dma;
    p->launch.lost_stopped += stop;
    p->launch.lost_few += lost - dma - stop;
}

struct dpu_profile *dpu_profile_create(struct dpu_machine *machine, uint32_t events)
{
    struct dpu_profile *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;

    void *tables = mmap(NULL, sizeof *p->tables, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    p->events = events != 0 ? malloc(events * sizeof *p->events) : NULL;
    p->calls = dpu_calls_create();
    if (tables == MAP_FAILED || p->calls == NULL || (events != 0 && p->events == NULL)) {
        if (tables != MAP_FAILED)
            munmap(tables, sizeof *p->tables);
        dpu_calls_destroy(p->calls);
        free(p->events);
        free(p);
        return NULL;
    }

    p->machine = machine;
    p->tables = tables;
    p->events_max = events;
    p->observer = (struct dpu_observer){
        .context = p,
        .booted = on_boot,
        .ended = on_end,
        .transferred = on_transfer,
        .line_moved = on_transfer,
        .jumped = on_jump,
        .acquire = on_acquire,
        .release = on_release,
        .run_bit = on_run_bit,
        .waited = on_wait,
        .passed = on_span,
    };
    dpu_machine_observe(machine, &p->observer);
    dpu_machine_count(machine, &p->tables->counts[0][0]);
    return p;
}

void dpu_profile_destroy(struct dpu_profile *p)
{
    if (p == NULL)
        return;
    dpu_machine_unobserve(p->machine, &p->observer);
    dpu_machine_count(p->machine, NULL);
    munmap(p->tables, sizeof *p->tables);
    dpu_calls_destroy(p->calls);
    free(p->events);
    free(p);
}

void dpu_profile_add_function(struct dpu_profile *p, uint32_t pc)
{
    dpu_calls_add_function(p->calls, pc);
}

void dpu_profile_forget_functions(struct dpu_profile *p)
{
    dpu_calls_forget_functions(p->calls);
}

bool dpu_profile_get_launch(const struct dpu_profile *p, struct dpu_profile_launch *launch)
{
    *launch = p->launch;
    return p->is_over;
}

const struct dpu_profile_event *dpu_profile_events(const struct dpu_profile *p, uint32_t *count,
                                                   uint64_t *dropped)
{
    *count = p->event_count;
    *dropped = p->events_dropped;
    return p->events;
}

void dpu_profile_take_sites(struct dpu_profile *p,
                            void (*take)(void *context, const struct dpu_profile_site *site),
                            void *context)
{
    const uint32_t threads = dpu_machine_thread_count(p->machine);
    for (uint32_t thread = 0; thread < threads; thread++) {
        struct dpu_count count = {0, 0};
        for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM; pc++) {
            const struct dpu_count *more = &p->tables->counts[thread][pc];
            const struct waits *waits = &p->tables->waits[thread][pc];
            count.instructions += more->instructions;
            count.cycles += more->cycles;
            if (count.instructions == 0)
                continue;

            const struct dpu_profile_site site = {
                .pc = (uint16_t)pc,
                .thread = (uint8_t)thread,
                .instructions = count.instructions,
                .issue = count.cycles,
                .spin = waits->spin,
                .dma = waits->dma,
                .sleep = waits->sleep,
            };
            take(context, &site);
        }
    }

    madvise(p->tables, sizeof *p->tables, MADV_DONTNEED);
}

void dpu_profile_take_calls(struct dpu_profile *p,
                            void (*take)(void *context, const struct dpu_profile_call *call),
                            void *context)
{
    dpu_calls_take(p->calls, take, context);
}
