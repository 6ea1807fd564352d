/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl tsan
 *
 * Any function of a device's streams beside any other: two threads that have nothing else in
 * common, so that ThreadSanitizer sees each lock that is missing.
 */
#include "accl/base/stream_queue.h"

#include <pthread.h>
#include <string.h>

#include "tests/support/check.h"

static struct streams streams;
static int mode;
/* Two: a thread that leaves one late would learn of what the other did before it came again. */
static pthread_barrier_t start, end;

static void hook(void *argument, uint32_t stream, const void *data, size_t bytes)
{
    (void)argument;
    CHECK(stream == 3 && bytes == 4 && memcmp(data, "data", 4) == 0);
}

static void set_mode(void)
{
    acclib_streams_set_mode(&streams, mode, hook, &start);
}

static void has_room(void)
{
    CHECK(acclib_stream_has_room(&streams, 4));
}

static void deliver(void)
{
    CHECK(acclib_stream_deliver(&streams, 3, "data", 4));
}

static void give(void)
{
    struct stream_chunk *chunk = acclib_stream_chunk_new(3, 4);
    CHECK(chunk != NULL);
    memcpy(chunk->data, "data", 4);
    acclib_stream_give(&streams, chunk);
}

static void lose(void)
{
    acclib_stream_lose(&streams, &(struct stream_loss){.puts = 1, .stream = 3, .bytes = 4});
}

static void push(void)
{
    CHECK(acclib_stream_push(&streams, "data", 4) == ACCL_OK);
}

static void take(void)
{
    struct stream_loss loss;
    uint8_t data[4];
    CHECK(acclib_stream_take(&streams, data, sizeof data, &loss) <= sizeof data);
}

static void pull(void)
{
    struct stream_loss loss;
    uint32_t stream = 3;
    size_t bytes = 4;
    char data[4];
    int status = acclib_stream_pull(&streams, &stream, data, sizeof data, &bytes, &loss);
    CHECK(status != ACCL_INVALID && stream == 3 && bytes == 4);
}

static void clear(void)
{
    acclib_streams_clear(&streams);
}

static void (*const functions[])(void) = {set_mode, has_room, deliver, give, lose,
                                          push,     take,     pull,    clear};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static void call(size_t number)
{
    pthread_barrier_wait(&start);
    functions[number]();
    pthread_barrier_wait(&end);
}

static void *call_each_many_times(void *unused)
{
    for (size_t i = 0; i < FUNCTIONS * FUNCTIONS; i++)
        call(i / FUNCTIONS);
    return unused;
}

int main(void)
{
    static const int modes[] = {ACCL_STREAM_LOOPBACK, ACCL_STREAM_QUEUE, ACCL_STREAM_HOOK};
    CHECK(pthread_barrier_init(&start, NULL, 2) == 0);
    CHECK(pthread_barrier_init(&end, NULL, 2) == 0);
    acclib_streams_init(&streams);
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        pthread_t thread;
        mode = modes[m];
        set_mode();
        CHECK(pthread_create(&thread, NULL, call_each_many_times, NULL) == 0);
        for (size_t i = 0; i < FUNCTIONS * FUNCTIONS; i++)
            call(i % FUNCTIONS);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    acclib_streams_destroy(&streams);
    return 0;
}
