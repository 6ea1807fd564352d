/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that no machine has any more are kept for the next one that runs them; but only the last
 * ones, and none that only turns can run.
 *
 * build: @dpu_machine tsan
 */
#include "dpu/machine/program.h"
#include "tests/dpu/support/program.h"

#include <pthread.h>
#include <stdlib.h>

enum { KEPT = 4 };

static _Atomic uint32_t released;

static uint32_t run_alone(struct dpu_machine *m, struct dpu_thread *t, uint32_t budget)
{
    (void)m;
    (void)t;
    (void)budget;
    return 0;
}

static void release(struct dpu_translation *translation)
{
    released++;
    free(translation);
}

/* Runs a program on a machine of its own. Returns how many instructions it had executed before. */
static uint64_t run(uint32_t number, uint64_t last)
{
    struct dpu_machine *m = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(m, MOVE(0, number), STOP, last);
    CHECK(dpu_program_join(m));
    uint64_t before = m->program->executed;
    m->options.engine = DPU_ENGINE_DRIFT; /* without what is noted here */
    CHECK(dpu_machine_launch(m, NULL) == DPU_RUN_DONE);

    struct dpu_translation *expected = NULL, *noted = malloc(sizeof *noted);
    CHECK(noted != NULL);
    *noted = (struct dpu_translation){.run = run_alone, .release = release};
    if (!atomic_compare_exchange_strong(&m->program->translation, &expected, noted))
        free(noted);
    dpu_machine_destroy(m);
    return before;
}

static void test_the_last_ones_are_kept(void)
{
    for (uint32_t i = 0; i < KEPT; i++)
        CHECK(run(i, 0) == 0);
    for (uint32_t i = 0; i < KEPT; i++)
        CHECK(run(i, 0) == 2);
    CHECK(released == 0);

    /* One more: the one that was used least recently goes. */
    CHECK(run(0, 0) == 4 && run(KEPT, 0) == 0);
    CHECK(released == 1);
    CHECK(run(0, 0) == 6 && run(2, 0) == 4);
    CHECK(run(1, 0) == 0);
    CHECK(released == 2);
}

static void test_those_in_use_do_not_count(void)
{
    struct dpu_machine *m = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(m, MOVE(0, 100), STOP, 0);
    CHECK(dpu_machine_launch(m, NULL) == DPU_RUN_DONE);
    for (uint32_t i = 0; i < 2 * KEPT; i++)
        run(200 + i, 0);
    CHECK(run(100, 0) == 2);
    dpu_machine_destroy(m);
    CHECK(run(100, 0) == 4);
}

static void test_what_only_turns_can_run_is_not_kept(void)
{
    uint32_t before = released;
    uint64_t clears = W("clr_run", "rici", ZERO, 3, 0, 0);
    CHECK(run(300, clears) == 0);
    CHECK(run(300, clears) == 0);
    CHECK(released == before + 2);
}

static void *run_some(void *unused)
{
    for (uint32_t i = 0; i < 200; i++)
        run(400 + i % 7, 0);
    return unused;
}

static void test_threads(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, run_some, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(void)
{
    test_the_last_ones_are_kept();
    test_those_in_use_do_not_count();
    test_what_only_turns_can_run_is_not_kept();
    test_threads();
    return 0;
}
