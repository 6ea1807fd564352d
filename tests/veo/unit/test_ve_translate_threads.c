/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cores of several threads run the same code while it is translated in the background, other code
 * comes and goes, and the totals are asked for.
 *
 * build: @ve_translate @ve_machine tsan
 */
#include "tests/veo/support/ve_engines.h"

#include "common/clock.h"
#include "hostcode/background.h"

#include <pthread.h>

enum { THREADS = 3, RUNS = 12, LOOPS = 40000, SUM = 1 };

static bool plain_gate(struct ve_core *core, uint64_t address)
{
    CHECK(address == GATE);
    core->s[0] += 1;
    return true;
}

/* Adds the counter up, twice; every second iteration calls the host. */
static void put_code(void)
{
    const uint64_t words[] = {
        WORD(OR, SX(BACK) | IY(0) | SZ(VE_S_LINK)),
        WORD(ADDU_L, SX(SUM) | SY(SUM) | SZ(COUNTER)),
        WORD(AND, SX(2) | IY(1) | SZ(COUNTER)),
        BRANCH(BR_L, VE_EQUAL, SY(2), 16),
        WORD(BSIC, SX(VE_S_LINK) | SZ(CALLEE)),
        WORD(ADDU_L, SX(SUM) | SY(SUM) | SZ(COUNTER)),
        WORD(LEA, SX(COUNTER) | SZ(COUNTER) | DISPLACEMENT(-1)),
        BRANCH(BR_L, VE_GREATER, SY(COUNTER), -48),
        WORD(B_L, SZ(BACK)) | (uint64_t)VE_ALWAYS << 48,
    };
    memcpy(code, words, sizeof words);
}

static void *run_cores(void *argument)
{
    static const uint8_t marks[PAGE / 8] = {1};
    uint64_t *translated = argument;
    int64_t deadline = clock_now() + INT64_C(60000000000);
    for (int run = 0; run < RUNS || (*translated == 0 && clock_now() < deadline); run++) {
        struct ve_core *core = ve_core_create();
        CHECK(core != NULL);
        core->gate = plain_gate;
        core->gate_low = GATE;
        core->gate_high = GATE + PAGE;
        core->plain_gates = run % 2 == 0 ? marks : NULL;
        core->s[CALLEE] = GATE;
        core->s[COUNTER] = LOOPS;
        CHECK(ve_core_run(core, (uint64_t)(uintptr_t)code));
        CHECK(core->s[0] == LOOPS / 2 && core->s[SUM] == (uint64_t)LOOPS * (LOOPS + 1));
        *translated += runs_translated(core);
        ve_core_destroy(core);
    }
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    uint64_t translated[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run_cores, &translated[i]) == 0);
    for (int i = 0; i < 20; i++) {
        usleep(1000);
        if (i % 5 == 0)
            ve_code_changed();
        compiled();
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(translated[i] > 0);
    }
}

int main(void)
{
    set_up_engines();
    put_code();
    ve_translate_use(VE_ENGINE_AUTO);
    ve_code_period = 8;
    run_threads();
    ve_translate_use(VE_ENGINE_TRANSLATED);
    run_threads();
    return 0;
}
