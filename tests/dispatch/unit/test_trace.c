/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/dispatch/trace.c csrc/dispatch/veo_trace.c -Wl,--wrap=realloc tsan
 *
 * Traces: what is noted, what there is no room for, threads, a child; tables before and after.
 */
#include "dispatch/trace.h"

#include "dispatch/veo_table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/check.h"

enum { THREADS = 4, EACH = 2000, MOST = 1 << 17 };

static bool no_memory;

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_realloc(void *memory, size_t size)
{
    return no_memory ? NULL : __real_realloc(memory, size);
}

static size_t take(uint64_t *dropped)
{
    size_t count;
    free(offchip_trace_take(&count, dropped));
    return count;
}

static void test_calls_are_noted_in_order(void)
{
    size_t count;
    uint64_t dropped;
    offchip_trace_add("nobody asked", offchip_trace_now(), 0, -1);
    offchip_trace_begin();
    int64_t begin = offchip_trace_now();
    offchip_trace_add("one", begin, 7, -1);
    offchip_trace_add("two", begin, 0, 3);

    struct offchip_trace_event *events = offchip_trace_take(&count, &dropped);
    CHECK(count == 2 && dropped == 0);
    CHECK(strcmp(events[0].name, "one") == 0 && events[0].bytes == 7 && events[0].rank == -1);
    CHECK(strcmp(events[1].name, "two") == 0 && events[1].rank == 3);
    CHECK(events[0].begin == begin && events[0].end >= begin && events[1].end >= events[0].end);
    CHECK(events[0].thread == getpid());
    free(events);
    CHECK(take(&dropped) == 0);
}

static void test_what_there_is_no_room_for_is_counted(void)
{
    uint64_t dropped;
    offchip_trace_begin();
    for (int i = 0; i < MOST + 5; i++)
        offchip_trace_add("call", 0, 0, -1);
    CHECK(take(&dropped) == MOST && dropped == 5);

    no_memory = true;
    offchip_trace_add("call", 0, 0, -1);
    no_memory = false;
    CHECK(take(&dropped) == 0 && dropped == 1);
}

static void *add_many(void *unused)
{
    (void)unused;
    for (int i = 0; i < EACH; i++)
        offchip_trace_add("call", offchip_trace_now(), 0, -1);
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    uint64_t dropped;
    offchip_trace_begin();
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, add_many, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(take(&dropped) == (size_t)THREADS * EACH && dropped == 0);
}

static void test_a_child_has_none(void)
{
    uint64_t dropped;
    int status = 1;
    offchip_trace_begin();
    offchip_trace_add("of the parent", 0, 0, -1);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        offchip_trace_add("of the child", 0, 0, -1);
        _exit(take(&dropped) == 0 && dropped == 0 ? 0 : 1);
    }

    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(take(&dropped) == 1);
}

/* --- tables --- */

static int read_nothing(struct veo_proc_handle *proc, void *to, uint64_t from, size_t size)
{
    (void)proc, (void)to;
    return from == 5 && size == 64 ? 17 : 0;
}

static void test_tables(void)
{
    static struct veo_table table, other;
    static struct veosoft_table soft;
    uint64_t dropped;
    table.veo_read_mem = read_nothing;
    CHECK(veo_table_trace(&table, &soft) && !veo_table_trace(&other, &soft));
    CHECK(table.veo_read_mem != read_nothing && table.veo_write_mem == NULL);
    CHECK(soft.veosoft_call_wait_timed == NULL);
    CHECK(table.veo_read_mem(NULL, NULL, 5, 64) == 17);
    veo_table_untrace(&other, &soft);
    CHECK(table.veo_read_mem(NULL, NULL, 5, 64) == 17);

    veo_table_untrace(&table, &soft);
    CHECK(table.veo_read_mem == read_nothing && table.veo_write_mem == NULL);
    CHECK(take(&dropped) == 2);
    CHECK(veo_table_trace(&other, &soft));
    veo_table_untrace(&other, &soft);
}

int main(void)
{
    test_calls_are_noted_in_order();
    test_what_there_is_no_room_for_is_counted();
    test_threads();
    test_a_child_has_none();
    test_tables();
    return 0;
}
