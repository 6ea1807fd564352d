/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * NULL where an object, a place for a result, or data is needed: ACCL_INVALID, with a text.
 */
#include "ranks.h"

#define REFUSED(call) \
    do { \
        accl_open(NULL, NULL); /* another text */ \
        CHECK((call) == ACCL_INVALID && strstr(accl_error_message(), "NULL")); \
    } while (0)

static void no_device(void)
{
    struct accl_call call = make_call(ACCL_NOP, 0, 0);
    struct accl_rank rank = {.ip = 1};
    struct accl_packet packet = {.size = sizeof packet};
    uint32_t word, index = 0;
    uint64_t wide;
    int64_t tags[1];
    size_t needed;
    char text[64];
    accl_device *none = NULL;
    accl_buffer *buffer;
    accl_request *request;
    REFUSED(accl_setup_rx_buffers(none, 4, 64));
    REFUSED(accl_create_communicator(none, &rank, 1, 0, &word));
    REFUSED(accl_split_communicator(none, 0, &index, 1, &word));
    REFUSED(accl_free_communicator(none, 0));
    REFUSED(accl_communicator_ranks(none, 0, &rank, 1));
    REFUSED(accl_communicator_at(none, 0, &word));
    REFUSED(accl_exchange_read(none, 0, &word));
    REFUSED(accl_exchange_write(none, 0, 0));
    REFUSED(accl_get_settings(none, &word, &wide));
    REFUSED(accl_buffer_create(none, 1, 0, 0, &buffer));
    REFUSED(accl_memory_read(none, 0, text, 1));
    REFUSED(accl_memory_write(none, 0, text, 1));
    REFUSED(accl_call_sync(none, &call, &word));
    REFUSED(accl_call_start(none, &call, NULL, 0, &request));
    REFUSED(accl_last_call(none, &word, &wide));
    REFUSED(accl_completion_fd(none, (int *)&word));
    REFUSED(accl_stream_mode(none, ACCL_STREAM_QUEUE, NULL, NULL));
    REFUSED(accl_stream_push(none, text, 1));
    REFUSED(accl_stream_pull(none, &word, text, 1, &needed, 0));
    REFUSED(accl_next_tags(none, 0, tags, 1));
    REFUSED(accl_dump_rx_buffers(none, text, sizeof text, &needed));
    REFUSED(accl_dump_communicator(none, 0, text, sizeof text, &needed));
    REFUSED(accl_dump_exchange_memory(none, text, sizeof text, &needed));
    REFUSED(accl_dump_waits(none, text, sizeof text, &needed));
    REFUSED(accl_packet_next(none, &packet));
    REFUSED(accl_packet_done(none, 1));
    REFUSED(accl_packet_space(none, 1, &packet));
    REFUSED(accl_packet_arrived(none, 0, 1));
    REFUSED(accl_packet_wait(none, 0));
    REFUSED(accl_packet_wake(none));
    REFUSED(accl_packet_outstanding(none, &wide));
    REFUSED(accl_packet_leave(none));
    REFUSED(accl_packet_lost(none, 0, "gone"));
    accl_close(none);
    accl_set_interrupt_check(none, NULL, NULL);
}

static void no_results(accl_device *device)
{
    struct accl_call call = make_call(ACCL_NOP, 0, 0);
    uint32_t word;
    uint64_t wide;
    size_t needed;
    char text[64];
    accl_request *request, *const nothing[] = {NULL};
    accl_buffer *buffer;
    REFUSED(accl_open(NULL, NULL));
    REFUSED(accl_create_communicator(device, NULL, 1, 0, &word));
    REFUSED(accl_split_communicator(device, 0, NULL, 1, &word));
    REFUSED(accl_split_communicator(device, 0, &word, 1, NULL));
    REFUSED(accl_communicator_info(device, 0, NULL));
    REFUSED(accl_communicator_ranks(device, 0, NULL, 1));
    REFUSED(accl_communicator_at(device, 0, NULL));
    REFUSED(accl_exchange_read(device, 0, NULL));
    REFUSED(accl_get_settings(device, NULL, &wide));
    REFUSED(accl_get_settings(device, &word, NULL));
    REFUSED(accl_buffer_create(device, 1, 0, 0, NULL));
    REFUSED(accl_buffer_slice(NULL, 0, 1, &buffer));
    REFUSED(accl_buffer_sync_to_device(NULL, 0, 1));
    REFUSED(accl_buffer_sync_from_device(NULL, 0, 1));
    REFUSED(accl_memory_read(device, 0, NULL, 1));
    REFUSED(accl_memory_write(device, 0, NULL, 1));
    REFUSED(accl_memory_info(device, NULL));
    REFUSED(accl_call_sync(device, NULL, &word));
    REFUSED(accl_call_start(device, NULL, NULL, 0, &request));
    REFUSED(accl_call_start(device, &call, NULL, 0, NULL));
    REFUSED(accl_call_start(device, &call, NULL, 1, &request));
    REFUSED(accl_call_start(device, &call, nothing, 1, &request));
    REFUSED(accl_request_wait(NULL, 0));
    REFUSED(accl_completion_fd(device, NULL));
    REFUSED(accl_last_call(device, NULL, &wide));
    REFUSED(accl_last_call(device, &word, NULL));
    REFUSED(accl_stream_mode(device, ACCL_STREAM_HOOK, NULL, NULL) == ACCL_INVALID
                ? accl_open(NULL, NULL)
                : ACCL_OK);
    REFUSED(accl_stream_push(device, NULL, 1));
    REFUSED(accl_stream_pull(device, NULL, text, 1, &needed, 0));
    REFUSED(accl_stream_pull(device, &word, text, 1, NULL, 0));
    REFUSED(accl_stream_pull(device, &word, NULL, 1, &needed, 0));
    REFUSED(accl_next_tags(device, 0, NULL, 1));
    REFUSED(accl_dump_rx_buffers(device, NULL, 1, &needed));
    REFUSED(accl_dump_waits(device, NULL, 1, &needed));
    REFUSED(accl_packet_next(device, NULL));
    REFUSED(accl_packet_space(device, 1, NULL));
    REFUSED(accl_packet_outstanding(device, NULL));
    /* Arguments that may be NULL. */
    CHECK(accl_call_sync(device, &call, NULL) == ACCL_OK);
    CHECK(accl_dump_waits(device, NULL, 0, &needed) == ACCL_OK && needed > 0);
    CHECK(accl_stream_push(device, NULL, 0) == ACCL_OK);
}

int main(void)
{
    struct rank r;
    char job[64];
    snprintf(job, sizeof job, "nulls %d", (int)getpid());
    no_device();
    rank_open(&r, job, 0, 1, ACCL_MEMORY_UNIFIED, 4, 1024);
    no_results(r.device);
    CHECK(!accl_buffer_host(NULL) && !accl_buffer_address(NULL) && !accl_buffer_bytes(NULL));
    CHECK(!accl_buffer_flags(NULL) && !accl_request_retcode(NULL) && !accl_request_duration(NULL));
    CHECK(accl_request_state(NULL) == ACCL_COMPLETED && !accl_request_message(NULL)[0]);
    accl_buffer_free(NULL);
    accl_request_free(NULL);
    rank_close(&r);
    puts("ok");
    return 0;
}
