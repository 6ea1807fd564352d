/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/veo/package/requests.c -Wl,--wrap=realloc
 *
 * The veo package's record of requests, over a library that is a table of states.
 */
#include "veo/package/requests.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"

enum { IDS = 200 };

/* --- the library and the callbacks --- */

static int states[IDS]; /* what veo_call_peek_result() returns */
static unsigned peeks;
static unsigned failures;
static int released[IDS]; /* how often, by number of what was kept */
static int entombed[IDS];
static void (*on_release)(void);
static int kept[IDS]; /* addresses stand for references */
static bool realloc_fails;

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_realloc(void *p, size_t size)
{
    return realloc_fails ? NULL : __real_realloc(p, size);
}

static int peek(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *value)
{
    (void)ctx;
    peeks++;
    CHECK(id < IDS);
    *value = 100 + id;
    return states[id];
}

static void failed(void *context, struct veopkg_request *request)
{
    CHECK(context == states);
    CHECK(request->settled);
    failures++;
}

static void release(void *keep)
{
    released[(int *)keep - kept]++;
    if (on_release != NULL)
        on_release();
}

static void entomb(void *context, void *keep)
{
    CHECK(context == states);
    entombed[(int *)keep - kept]++;
}

static struct veopkg_requests set;
static struct veopkg_request requests[IDS];

static void set_up(void)
{
    const struct veopkg_request_ops ops = {
        .peek = peek, .failed = failed, .release = release, .entomb = entomb};
    for (int i = 0; i < IDS; i++)
        states[i] = VEO_COMMAND_UNFINISHED;
    peeks = failures = 0;
    on_release = NULL;
    memset(released, 0, sizeof released);
    memset(entombed, 0, sizeof entombed);
    memset(requests, 0, sizeof requests);
    veopkg_requests_init(&set, ops, states);
}

static void add(int id)
{
    veopkg_request_add(&set, &requests[id], &requests[id], (uint64_t)id, &kept[id]);
}

/* Adds a request and drops its object at once. */
static void add_orphan(int id)
{
    add(id);
    veopkg_request_drop(&set, &requests[id], true);
}

/* --- pending requests --- */

static void test_a_request_is_pending_until_the_library_has_its_outcome(void)
{
    set_up();
    add(3);
    CHECK(veopkg_requests_oldest(&set) == &requests[3]);
    CHECK(!veopkg_requests_are_done(&set));
    CHECK(!veopkg_request_poll(&set, NULL, &requests[3]));
    CHECK(released[3] == 0);

    states[3] = VEO_COMMAND_OK;
    CHECK(veopkg_request_poll(&set, NULL, &requests[3]));
    CHECK(requests[3].state == VEO_COMMAND_OK && requests[3].value == 103);
    CHECK(released[3] == 1 && failures == 0);
    CHECK(veopkg_requests_are_done(&set));
}

static void test_a_settled_request_is_not_asked_for_again(void)
{
    set_up();
    add(0);
    states[0] = VEO_COMMAND_OK;
    CHECK(veopkg_request_poll(&set, NULL, &requests[0]));
    unsigned before = peeks;
    states[0] = VEO_COMMAND_ERROR;
    CHECK(veopkg_request_poll(&set, NULL, &requests[0]));
    CHECK(peeks == before && requests[0].state == VEO_COMMAND_OK);
}

static void test_a_request_that_a_thread_waits_for_is_not_asked_for(void)
{
    set_up();
    add(0);
    states[0] = VEO_COMMAND_OK;
    requests[0].waiting = true;
    CHECK(!veopkg_request_poll(&set, NULL, &requests[0]));
    CHECK(peeks == 0);
}

static void test_errors_of_the_library_are_reported_and_others_not(void)
{
    set_up();
    for (int i = 0; i < 4; i++)
        add(i);
    veopkg_request_settle(&set, &requests[0], VEO_COMMAND_EXCEPTION, 11);
    veopkg_request_settle(&set, &requests[1], -1, 0);
    CHECK(failures == 2);
    veopkg_request_settle(&set, &requests[2], VEOPKG_FORKED, 0);
    veopkg_request_settle(&set, &requests[3], VEOPKG_CLOSED, 0);
    CHECK(failures == 2);
}

static void test_requests_without_kept_objects_release_nothing(void)
{
    set_up();
    veopkg_request_add(&set, &requests[0], NULL, 0, NULL);
    veopkg_request_add(&set, &requests[1], NULL, 1, NULL);
    veopkg_request_settle(&set, &requests[0], VEO_COMMAND_OK, 0);
    veopkg_request_drop(&set, &requests[1], true);
    states[1] = VEO_COMMAND_OK;
    veopkg_requests_reap(&set, NULL, SIZE_MAX);
    CHECK(veopkg_requests_are_done(&set));
    veopkg_requests_free(&set);
}

/* --- orphans --- */

static void test_what_an_orphan_kept_is_released_when_the_library_is_done(void)
{
    set_up();
    add_orphan(5);
    CHECK(set.norphans == 1 && veopkg_requests_oldest(&set) == NULL);
    CHECK(veopkg_requests_oldest_orphan(&set) == 5);
    veopkg_requests_reap(&set, NULL, SIZE_MAX);
    CHECK(released[5] == 0);

    states[5] = VEO_COMMAND_ERROR; /* any state but UNFINISHED means done */
    veopkg_requests_reap(&set, NULL, SIZE_MAX);
    CHECK(released[5] == 1 && veopkg_requests_are_done(&set));
    veopkg_requests_free(&set);
}

static void test_orphans_are_reaped_in_order_and_up_to_the_limit(void)
{
    set_up();
    for (int i = 0; i < 6; i++)
        add_orphan(i);
    states[0] = states[1] = states[2] = states[4] = VEO_COMMAND_OK;
    veopkg_requests_reap(&set, NULL, 0);
    CHECK(peeks == 0);
    veopkg_requests_reap(&set, NULL, 2);
    CHECK(set.norphans == 4);
    veopkg_requests_reap(&set, NULL, SIZE_MAX);
    CHECK(set.norphans == 3 && released[2] == 1 && released[4] == 0);
    veopkg_requests_free(&set);
}

static void test_the_ring_of_orphans_grows_when_it_has_wrapped_round(void)
{
    set_up();
    int next = 0;
    for (; next < 16; next++)
        add_orphan(next);
    for (int i = 0; i < 10; i++)
        states[i] = VEO_COMMAND_OK;
    veopkg_requests_reap(&set, NULL, SIZE_MAX);
    for (; next < 150; next++)
        add_orphan(next);

    CHECK(set.norphans == 140);
    for (int i = 10; i < 150; i++) {
        CHECK(veopkg_requests_oldest_orphan(&set) == (uint64_t)i);
        states[i] = VEO_COMMAND_OK;
        veopkg_requests_reap(&set, NULL, SIZE_MAX);
        CHECK(released[i] == 1);
    }
    veopkg_requests_free(&set);
}

static void test_what_a_request_kept_is_leaked_if_there_is_no_memory_for_an_orphan(void)
{
    set_up();
    realloc_fails = true;
    add_orphan(0);
    realloc_fails = false;
    CHECK(set.norphans == 0 && released[0] == 0 && veopkg_requests_are_done(&set));
}

static void test_a_dropped_request_of_a_closed_context_releases_at_once(void)
{
    set_up();
    add(0);
    veopkg_request_drop(&set, &requests[0], false);
    CHECK(released[0] == 1 && veopkg_requests_are_done(&set));
    veopkg_request_drop(&set, &requests[0], false);
    CHECK(released[0] == 1);
}

/* --- the end --- */

static void test_closing_settles_requests_and_entombs_what_they_kept(void)
{
    set_up();
    add_orphan(0);
    add(1);
    add(2);
    veopkg_requests_close(&set);
    CHECK(veopkg_requests_are_done(&set));
    for (int i = 0; i < 3; i++)
        CHECK(entombed[i] == 1 && released[i] == 0);
    CHECK(requests[1].settled && requests[1].state == VEOPKG_CLOSED);
    CHECK(failures == 0);
    veopkg_requests_free(&set);
}

static void close_from_callback(void)
{
    on_release = NULL;
    veopkg_requests_close(&set);
}

static void test_a_release_may_close_the_set(void)
{
    set_up();
    for (int i = 0; i < 4; i++)
        add_orphan(i);
    add(4);
    for (int i = 0; i < 5; i++)
        states[i] = VEO_COMMAND_OK;
    on_release = close_from_callback;
    veopkg_requests_reap(&set, NULL, SIZE_MAX);
    CHECK(released[0] == 1 && veopkg_requests_are_done(&set));
    for (int i = 1; i < 5; i++)
        CHECK(entombed[i] == 1 && released[i] == 0);
    veopkg_requests_free(&set);
}

/* --- requests that were given up --- */

static void test_given_up_requests_are_known_until_they_are_done(void)
{
    set_up();
    CHECK(!veopkg_requests_have_given_up(&set, NULL));
    for (int i = 0; i < 4; i++)
        add(i);
    CHECK(!veopkg_requests_have_given_up(&set, NULL));
    veopkg_request_note_given_up(&set, &requests[2]);
    veopkg_request_note_given_up(&set, &requests[1]);
    CHECK(veopkg_requests_have_given_up(&set, NULL));

    states[0] = states[1] = VEO_COMMAND_OK;
    CHECK(veopkg_requests_have_given_up(&set, NULL));
    states[2] = VEO_COMMAND_OK;
    CHECK(!veopkg_requests_have_given_up(&set, NULL)); /* request 3 was not given up */
    CHECK(requests[2].settled && !requests[3].settled);
}

static void test_a_given_up_request_counts_after_its_object_is_dropped(void)
{
    set_up();
    add(0);
    veopkg_request_note_given_up(&set, &requests[0]);
    veopkg_request_drop(&set, &requests[0], true);
    add_orphan(1);
    CHECK(veopkg_requests_have_given_up(&set, NULL));
    states[0] = VEO_COMMAND_OK;
    CHECK(!veopkg_requests_have_given_up(&set, NULL));
    CHECK(set.norphans == 1);
    veopkg_requests_free(&set);
}

/* --- requests that keep something --- */

/* The object of the first request goes away with what it kept. */
static void drop_the_first(void)
{
    veopkg_request_drop(&set, &requests[0], true);
}

static void test_what_is_done_and_keeps_something_is_settled_without_being_asked_for(void)
{
    set_up();
    for (int i = 0; i < 3; i++)
        add(i);
    veopkg_request_add(&set, &requests[3], &requests[3], 3, NULL);
    add(4);
    CHECK(set.nkept == 4);
    veopkg_requests_reap(&set, NULL, 4);
    CHECK(peeks == 1 && set.nkept == 4);

    for (int i = 0; i < 5; i++)
        states[i] = VEO_COMMAND_OK;
    on_release = drop_the_first;
    veopkg_requests_reap(&set, NULL, 2);
    CHECK(released[0] == 1 && released[1] == 1 && released[2] == 0 && requests[1].settled);
    veopkg_requests_reap(&set, NULL, 4);
    /* The one that keeps nothing is its object's to ask for. */
    CHECK(released[2] == 1 && !requests[3].settled && released[4] == 0 && set.nkept == 1);
    CHECK(veopkg_request_poll(&set, NULL, &requests[3]));
    veopkg_requests_reap(&set, NULL, 4);
    CHECK(released[4] == 1 && set.nkept == 0 && veopkg_requests_are_done(&set));
}

static void test_closing_leaves_nothing_kept(void)
{
    set_up();
    add(0);
    add_orphan(1);
    CHECK(set.nkept == 1);
    veopkg_requests_close(&set);
    CHECK(set.nkept == 0 && entombed[0] == 1 && entombed[1] == 1);
    veopkg_requests_free(&set);
}

int main(void)
{
    test_a_request_is_pending_until_the_library_has_its_outcome();
    test_a_settled_request_is_not_asked_for_again();
    test_a_request_that_a_thread_waits_for_is_not_asked_for();
    test_errors_of_the_library_are_reported_and_others_not();
    test_requests_without_kept_objects_release_nothing();
    test_what_an_orphan_kept_is_released_when_the_library_is_done();
    test_orphans_are_reaped_in_order_and_up_to_the_limit();
    test_the_ring_of_orphans_grows_when_it_has_wrapped_round();
    test_what_a_request_kept_is_leaked_if_there_is_no_memory_for_an_orphan();
    test_a_dropped_request_of_a_closed_context_releases_at_once();
    test_closing_settles_requests_and_entombs_what_they_kept();
    test_a_release_may_close_the_set();
    test_what_is_done_and_keeps_something_is_settled_without_being_asked_for();
    test_closing_leaves_nothing_kept();
    test_given_up_requests_are_known_until_they_are_done();
    test_a_given_up_request_counts_after_its_object_is_dropped();
    return 0;
}
