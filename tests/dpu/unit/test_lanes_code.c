/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code for several DPUs does for each of them, and for each form, what the interpreter does.
 *
 * Each lane has a machine, whose own WRAM the interpreter uses, and a column of the lanes' WRAM.
 * Some lanes are not entered, and some have other registers than the rest.
 *
 * build: @dpu_machine @dpu_translate
 */
#include "dpu/machine/lockstep_state.h"
#include "dpu/translate/translate.h"
#include "tests/dpu/unit/translated_forms.h"

#include <stdlib.h>

/* Loads and stores in the most lanes, and some other forms in 8, as vectors take a compiler ten
 * times as long as words; which forms, depends on the seed. With OFFCHIP_FULL=1 both in both. */
enum { PROGRAMS_IN_ALL = 4, STEP = 10 };

static uint32_t lanes;
static struct dpu_machine *machines[DPU_LOCKSTEP_MOST];
static uint8_t *wram;
static uint32_t executed, entries;

static void fail(uint32_t pc, uint32_t lane)
{
    char text[DPU_TEXT_MAX];
    dpu_disassemble(machines[lane]->iram[pc], text, sizeof text, NULL);
    fprintf(stderr, "lane %u, %u: 0x%012" PRIx64 " %s\n", lane, pc, machines[lane]->iram[pc], text);
    CHECK(!"the same result");
}

static bool have_the_same_memory(uint32_t lane, uint32_t size)
{
    for (uint32_t address = 0; address < size; address += 4)
        if (memcmp(machines[lane]->wram + address, wram + (size_t)address * lanes + 4 * lane, 4) !=
            0)
            return false;
    return true;
}

/* Lets the interpreter do, on the lane, what code has left undone. */
static uint32_t finish(struct dpu_machine *m, struct dpu_thread *t, uint32_t lane)
{
    m->lane = wram + (size_t)4 * lane;
    m->lane_step = 4 * lanes;
    uint32_t done = dpu_run_lane(m, t, 1);
    m->lane = NULL;
    m->fault.kind = DPU_FAULT_NONE;
    return done;
}

/* One instruction in all lanes of ENTERED, both ways. */
static void compare(const struct dpu_module *module, uint32_t pc, uint32_t id, uint32_t entered,
                    uint64_t *state)
{
    struct dpu_thread expected[DPU_LOCKSTEP_MOST], found[DPU_LOCKSTEP_MOST];
    struct dpu_lanes_call call = {0};
    uint32_t done[DPU_LOCKSTEP_MOST];
    const uint64_t same = check_random(state);
    const bool agree = check_random(state) % 3 == 0, addresses = check_random(state) % 2 == 0;
    for (uint32_t i = 0; i < lanes; i++) {
        struct dpu_machine *m = machines[i];
        found[i] = m->threads[id];
        set_registers(&found[i], addresses, agree ? same : check_random(state));
        found[i].op = &m->operations[pc];
        expected[i] = found[i];
        call.registers[i] = found[i].r;
        call.pc[i] = pc;
        call.budget[i] = 1;
        if ((entered >> i & 1) == 0)
            continue;
        done[i] = dpu_run_alone(m, &expected[i], 1);
        m->fault.kind = DPU_FAULT_NONE;
    }

    module->run_lanes(&call, wram, id, entered);
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t here = 1 - call.budget[i];
        found[i].op = &machines[i]->operations[call.pc[i]];
        if ((entered >> i & 1) == 0) {
            if (here != 0 || memcmp(found[i].r, expected[i].r, sizeof(uint32_t[DPU_SINK])) != 0)
                fail(pc, i);
            continue;
        }

        entries++;
        executed += here;
        if (here == 0)
            here = finish(machines[i], &found[i], i);
        if (here != done[i] || found[i].op != expected[i].op ||
            memcmp(found[i].r, expected[i].r, sizeof(uint32_t[DPU_SINK])) != 0 ||
            (found[i].zero == 0) != (expected[i].zero == 0) ||
            found[i].carry != expected[i].carry || !have_the_same_memory(i, LOOKED_AT))
            fail(pc, i);
    }
}

static void check_program(const struct host_compiler *compiler, uint32_t switches,
                          const uint32_t *forms, uint64_t *state)
{
    struct dpu_loaded loaded;
    static uint64_t iram[DPU_MACHINE_IRAM];
    fill_with_forms(iram, forms, state);
    compile_forms(iram, switches, lanes, compiler, &loaded);
    CHECK(loaded.module->lanes == lanes);

    uint8_t *memories[DPU_LOCKSTEP_MOST];
    for (uint32_t i = 0; i < lanes; i++) {
        machines[i] = dpu_new(DPU_ACCOUNTING_PIPELINE, switches);
        load_forms(machines[i], iram);
        memories[i] = machines[i]->wram;
        for (uint32_t at = 0; at < DPU_MACHINE_WRAM; at++)
            machines[i]->wram[at] = (uint8_t)check_random(state);
    }

    const uint32_t all = dpu_lanes_of(lanes);
    loaded.module->move_in(wram, memories, DPU_MACHINE_WRAM, all);
    for (uint32_t pc = 0; pc < 2 * PAIRS; pc += 2)
        for (uint32_t i = 0; i < TRIES; i++) {
            uint32_t some = (uint32_t)check_random(state) & all, entered = i % 2 == 0 ? all : some;
            if (entered != 0)
                compare(loaded.module, pc, i % DPU_MACHINE_THREADS, entered, state);
        }

    for (uint32_t i = 0; i < lanes; i++)
        if (!have_the_same_memory(i, DPU_MACHINE_WRAM))
            fail(0, i);

    /* The other way: memory of some lanes, the rest of which keeps what it has. */
    static uint8_t copies[DPU_LOCKSTEP_MOST][DPU_MACHINE_WRAM];
    for (uint32_t i = 0; i < lanes; i++)
        memories[i] = copies[i];
    memset(copies, 0, sizeof copies);
    loaded.module->move_out(wram, memories, DPU_MACHINE_WRAM - 4, all & 0x5A5A);
    for (uint32_t i = 0; i < lanes; i++) {
        static const uint8_t nothing[DPU_MACHINE_WRAM];
        bool moved = (0x5A5A >> i & 1) != 0;
        CHECK(memcmp(copies[i], moved ? machines[i]->wram : nothing, DPU_MACHINE_WRAM - 4) == 0);
        CHECK(memcmp(copies[i] + DPU_MACHINE_WRAM - 4, nothing, 4) == 0);
        dpu_machine_destroy(machines[i]);
    }
    dpu_module_unload(&loaded);
}

int main(void)
{
    static struct host_compiler compiler;
    uint64_t state = check_seed(16);
    uint32_t first = (uint32_t)check_random_below(&state, DPU_FORM_COUNT), forms[PAIRS];
    const uint32_t most = dpu_translate_lanes_of_host();
    if (most == 0)
        printf("no AVX2: there are no lanes here\n");
    if (most == 0 || !find_compiler(&compiler))
        return 0;

    wram = aligned_alloc(64, (size_t)DPU_MACHINE_WRAM * most);
    CHECK(wram != NULL);
    const char *full = getenv("OFFCHIP_FULL");
    const uint32_t step = full != NULL && *full == '1' ? 1 : PROGRAMS_IN_ALL - 1;
    for (uint32_t i = 0; i < PROGRAMS_IN_ALL; i += step) {
        lanes = i % 2 == 0 ? most : 8;
        if (i < PROGRAMS_IN_ALL / 2)
            choose_accesses(forms);
        else
            choose_forms(forms, first + i * PAIRS * STEP, STEP);
        check_program(&compiler, i % 2 == 0 ? 0 : OTHER_SWITCHES, forms, &state);
    }
    printf("%u of %u executed\n", executed, entries);
    CHECK(executed > entries / 3);
    free(wram);
    return 0;
}
