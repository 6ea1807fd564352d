/* SPDX-License-Identifier: BSD-3-Clause */
/* Many calls as one request. */
#include "cases.h"
#include "veosoft.h"

enum { CALLS = 1000 };

static uint64_t values[CALLS];
static uint64_t results[CALLS];
static uint64_t ended;

static struct veosoft_calls batch_of(uint64_t address, const struct veosoft_column *columns,
                                     size_t ncolumns)
{
    for (uint64_t i = 0; i < CALLS; i++)
        values[i] = 3 * i;
    ended = 0;
    return (struct veosoft_calls){.address = address,
                                  .count = CALLS,
                                  .ncolumns = ncolumns,
                                  .columns = columns,
                                  .results = results,
                                  .ended = &ended};
}

CASE(many_calls_have_a_result_each)
{
    struct fixture f = set_up();
    struct veosoft_column column = {values, 1};
    struct veosoft_calls calls = batch_of(symbol(&f, "echo"), &column, 1);
    uint64_t id = veosoft_call_many(f.ctx, &calls, NULL);
    CHECK_EQUAL(wait_ok(f.ctx, id), CALLS);
    CHECK_EQUAL(ended, CALLS);
    for (uint64_t i = 0; i < CALLS; i++)
        CHECK_EQUAL(results[i], 3 * i);

    column.step = 0;
    id = veosoft_call_many(f.ctx, &calls, f.args);
    CHECK_EQUAL(wait_ok(f.ctx, id), CALLS);
    CHECK_EQUAL(results[CALLS - 1], 0);
    tear_down(&f);
}

CASE(many_calls_that_have_not_begun_are_cancelled)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *other = veo_context_open(f.proc);
    struct veosoft_calls calls = batch_of(symbol(&f, "count"), NULL, 0);
    symbol(&f, "open_gate");
    uint64_t first = veo_call_async(f.ctx, symbol(&f, "wait_at_gate"), NULL);
    uint64_t second = veo_call_async(f.ctx, symbol(&f, "count"), NULL);
    uint64_t batch = veosoft_call_many(f.ctx, &calls, NULL);
    results[0] = 77;

    CHECK_EQUAL(veosoft_call_cancel(f.ctx, batch), 1);
    call(&f, other, "open_gate");
    CHECK_EQUAL(wait_ok(f.ctx, second), 0);
    CHECK_EQUAL(call(&f, f.ctx, "count"), 1);
    CHECK_EQUAL(results[0], 77);
    CHECK_EQUAL(ended, 0);
    wait_ok(f.ctx, first);
    tear_down(&f);
}

CASE(many_calls_that_have_begun_end_with_the_one_that_runs)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *other = veo_context_open(f.proc);
    struct veosoft_calls calls = batch_of(symbol(&f, "wait_at_gate"), NULL, 0);
    symbol(&f, "open_gate");
    uint64_t batch = veosoft_call_many(f.ctx, &calls, NULL);

    CHECK_EQUAL(veosoft_call_cancel(f.ctx, batch), 0);
    call(&f, other, "open_gate");
    uint64_t result = wait_ok(f.ctx, batch);
    CHECK(result <= 1);
    CHECK_EQUAL(ended, result);
    tear_down(&f);
}

CASE(many_calls_that_are_wrong_are_refused)
{
    struct fixture f = set_up();
    struct veosoft_column column = {NULL, 1};
    struct veosoft_calls good = batch_of(symbol(&f, "count"), NULL, 0);
    struct veosoft_calls wrong[8];
    for (int i = 0; i < 8; i++)
        wrong[i] = good;
    wrong[0].address = 0;
    wrong[1].count = 0;
    wrong[2].count = SIZE_MAX / 8;
    wrong[3].results = NULL;
    wrong[4].ended = NULL;
    wrong[5].ncolumns = VEO_MAX_NUM_ARGS + 1;
    wrong[6].ncolumns = 1;
    wrong[7].ncolumns = 1;
    wrong[7].columns = &column;
    for (int i = 0; i < 8; i++) {
        errno = 0;
        CHECK_EQUAL(veosoft_call_many(f.ctx, &wrong[i], NULL), VEO_REQUEST_ID_INVALID);
        CHECK_EQUAL(errno, EINVAL);
    }

    CHECK_EQUAL(veosoft_call_many(f.ctx, NULL, NULL), VEO_REQUEST_ID_INVALID);
    CHECK_EQUAL(veosoft_call_many(NULL, &good, NULL), VEO_REQUEST_ID_INVALID);
    good.count = (size_t)1 << 40;
    errno = 0;
    CHECK_EQUAL(veosoft_call_many(f.ctx, &good, NULL), VEO_REQUEST_ID_INVALID);
    CHECK_EQUAL(errno, ENOMEM);
    CHECK_EQUAL(call(&f, f.ctx, "count"), 0);
    tear_down(&f);
}
