/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build:
 *
 * The veo package's record of the open contexts of a process.
 */
#include "veo/package/contexts.h"

#include "tests/support/check.h"

static struct veopkg_contexts set;
static struct veopkg_context contexts[3];
static int owners[3]; /* addresses stand for objects */

static void add(int i)
{
    veopkg_context_add(&set, &contexts[i], &owners[i]);
}

static void remove_context(int i)
{
    veopkg_context_remove(&set, &contexts[i]);
}

static void contexts_are_listed_newest_first(void)
{
    CHECK(veopkg_contexts_first(&set) == NULL);
    add(0);
    add(1);
    add(2);

    struct veopkg_context *at = veopkg_contexts_first(&set);
    for (int i = 2; i >= 0; i--) {
        CHECK(at == &contexts[i]);
        CHECK(at->owner == &owners[i]);
        at = veopkg_context_next(at);
    }
    CHECK(at == NULL);
}

static void the_main_context_is_the_first_that_was_opened(void)
{
    CHECK(set.main == &owners[0]);
    remove_context(1);
    CHECK(set.main == &owners[0]);
    CHECK(veopkg_context_next(&contexts[2]) == &contexts[0]);
}

static void no_other_context_becomes_the_main_one(void)
{
    remove_context(0);
    CHECK(set.main == NULL);
    add(0);
    CHECK(set.main == NULL);
}

static void removing_twice_does_nothing(void)
{
    remove_context(0);
    remove_context(0);
    CHECK(veopkg_contexts_first(&set) == &contexts[2]);
    remove_context(2);
    CHECK(veopkg_contexts_first(&set) == NULL);
}

int main(void)
{
    contexts_are_listed_newest_first();
    the_main_context_is_the_first_that_was_opened();
    no_other_context_becomes_the_main_one();
    removing_twice_does_nothing();
    return 0;
}
