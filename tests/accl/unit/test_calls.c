/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 *
 * Calls that a device of one rank refuses, each by its error bit and in words, and what it tells of
 * the last one.
 */
#include "accl.h"

#include <string.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/failing_malloc.h"

enum { COUNT = 16 };

static accl_device *device;
static accl_buffer *buffer;

static struct accl_call make(uint32_t operation)
{
    struct accl_call call = {.size = sizeof call,
                             .operation = operation,
                             .count = COUNT,
                             .dtype = ACCL_FLOAT32,
                             .tag = 1};
    for (int i = 0; i < 3; i++)
        call.address[i] = accl_buffer_address(buffer);
    return call;
}

#define REFUSED(call, bits, text) refused(&(call), bits, text, __LINE__)
static void refused(const struct accl_call *call, uint32_t bits, const char *text, int line)
{
    uint32_t retcode = 0, last = 0;
    uint64_t duration = 0;
    int status = accl_call_sync(device, call, &retcode);
    if (status != ACCL_CALL_FAILED || retcode != bits ||
        strstr(accl_error_message(), text) == NULL) {
        fprintf(stderr, "line %d: status %d, bits 0x%x, %s\n", line, status, retcode,
                accl_error_message());
        abort();
    }
    CHECK(accl_last_call(device, &last, &duration) == ACCL_OK && last == bits);
}

static void test_before_there_are_communicators(void)
{
    struct accl_call call = make(ACCL_BARRIER);
    CHECK(accl_call_sync(device, &call, NULL) == ACCL_NOT_READY);
    CHECK(strstr(accl_error_message(), "no communicator yet"));
    call = make(ACCL_COPY); /* needs none */
    CHECK(accl_call_sync(device, &call, NULL) == ACCL_OK);
    CHECK(accl_call_sync(device, NULL, NULL) == ACCL_INVALID);
    call.size = 8;
    CHECK(accl_call_sync(device, &call, NULL) == ACCL_INVALID);
    CHECK(strstr(accl_error_message(), "struct accl_call has 8 bytes"));
}

static void test_operations(void)
{
    struct accl_call call = make(99);
    REFUSED(call, ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED), "unknown operation 99");
    call = make(ACCL_BARRIER);
    call.comm = 3;
    REFUSED(call, ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED), "no communicator 3");
    static const uint32_t with_rank[] = {ACCL_SEND,    ACCL_RECV,   ACCL_BCAST,
                                         ACCL_SCATTER, ACCL_GATHER, ACCL_REDUCE};
    for (size_t i = 0; i < sizeof with_rank / sizeof *with_rank; i++) {
        call = make(with_rank[i]);
        call.root_src_dst = 1;
        REFUSED(call, ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED),
                "communicator 0 has 1 ranks and no rank 1");
    }
}

static void test_types(void)
{
    struct accl_call call = make(ACCL_COPY);
    call.dtype = 99;
    REFUSED(call, ACCL_ERROR(COMPRESSION_ERROR), "an unknown type");
    call = make(ACCL_COPY);
    call.compressed_dtype = ACCL_INT8;
    REFUSED(call, ACCL_ERROR(COMPRESSION_ERROR), "float32 and int8");

    static const uint32_t reducing[] = {ACCL_COMBINE, ACCL_REDUCE, ACCL_ALLREDUCE,
                                        ACCL_REDUCE_SCATTER};
    for (size_t i = 0; i < sizeof reducing / sizeof *reducing; i++) {
        call = make(reducing[i]);
        call.function = 4;
        REFUSED(call, ACCL_ERROR(ARITH_ERROR), "unknown function 4");
        call = make(reducing[i]);
        call.dtype = ACCL_BITS16;
        REFUSED(call, ACCL_ERROR(ARITH_ERROR), "no arithmetic for elements of 16 bits");
        call.dtype = ACCL_COMPLEX64;
        call.function = ACCL_MIN;
        REFUSED(call, ACCL_ERROR(ARITH_ERROR), "no MIN of complex64");
    }
}

static void test_addresses(void)
{
    struct accl_call call = make(ACCL_COPY);
    call.address[0] += 1;
    call.count = 1;
    REFUSED(call, ACCL_ERROR(DMA_DECODE_ERROR), "is not a multiple of 4");
    call = make(ACCL_COPY);
    call.count = 5000;
    REFUSED(call, ACCL_ERROR(DMA_DECODE_ERROR), "source: 5000 elements of 4 bytes");
    call.count = UINT64_MAX;
    REFUSED(call, ACCL_ERROR(DMA_DECODE_ERROR), "not inside one buffer");
    call = make(ACCL_COPY);
    call.address[2] = 5;
    REFUSED(call, ACCL_ERROR(DMA_DECODE_ERROR), "result: ");
    call = make(ACCL_COMBINE);
    call.address[1] = 5;
    REFUSED(call, ACCL_ERROR(DMA_DECODE_ERROR), "second operand: ");

    /* Nothing is needed for nothing. */
    call = make(ACCL_COPY);
    call.count = 0;
    call.address[0] = call.address[2] = 5;
    CHECK(accl_call_sync(device, &call, NULL) == ACCL_OK);
}

static void test_streams(void)
{
    struct accl_call call = make(ACCL_COPY);
    call.stream_flags = ACCL_OP0_STREAM;
    call.count = UINT64_MAX / 2;
    REFUSED(call, ACCL_ERROR(DMA_DECODE_ERROR), "the count is too large");
    call.count = 1 << 22; /* more than the device has */
    REFUSED(call, ACCL_ERROR(DMA_INTERNAL_ERROR), "out of memory (stream data)");
    call.stream_flags = ACCL_RES_STREAM;
    call.count = UINT64_MAX / 2;
    REFUSED(call, ACCL_ERROR(DMA_DECODE_ERROR), "the count is too large");

    call = make(ACCL_SEND);
    call.stream_flags = ACCL_RES_STREAM;
    call.tag = ACCL_STREAM_ID_MAX + 1;
    REFUSED(call, ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED), "stream numbers are 0 to ");

    call = make(ACCL_COPY);
    call.stream_flags = ACCL_RES_STREAM;
    allocations_left = 0;
    uint32_t retcode = 0;
    int status = accl_call_sync(device, &call, &retcode);
    allocations_left = -1;
    CHECK(status == ACCL_CALL_FAILED && retcode == ACCL_ERROR(DMA_INTERNAL_ERROR));
    CHECK(strstr(accl_error_message(), "out of memory"));
}

static void configure(uint32_t function, uint64_t value, uint32_t bits, const char *text)
{
    struct accl_call call = make(ACCL_CONFIG);
    call.function = function;
    call.count = value;
    if (bits)
        REFUSED(call, bits, text);
    else
        CHECK(accl_call_sync(device, &call, NULL) == ACCL_OK);
}

static void test_settings(void)
{
    uint32_t timeout;
    uint64_t segment;
    configure(ACCL_CFG_TIMEOUT, UINT64_MAX, 0, "");
    configure(ACCL_CFG_MAX_SEGMENT_SIZE, 128, 0, "");
    CHECK(accl_get_settings(device, &timeout, &segment) == ACCL_OK);
    CHECK(timeout == UINT32_MAX && segment == 128);
    configure(ACCL_CFG_MAX_SEGMENT_SIZE, 7, ACCL_ERROR(DMA_NOT_EXPECTED_BTT_ERROR), "not 7");
    configure(ACCL_CFG_MAX_SEGMENT_SIZE, 8388544, ACCL_ERROR(DMA_NOT_EXPECTED_BTT_ERROR),
              "8 to 8388543 bytes");
    CHECK(accl_get_settings(device, &timeout, &segment) == ACCL_OK && segment == 128);

    configure(ACCL_CFG_ENABLE_PACKETS, 1, 0, "");
    configure(ACCL_CFG_STACK, ACCL_STACK_UDP, 0, "");
    configure(ACCL_CFG_OPEN_PORT, 0, ACCL_ERROR(OPEN_PORT_NOT_SUCCEEDED), "no ports to open");
    configure(ACCL_CFG_OPEN_CONNECTION, 0, ACCL_ERROR(OPEN_CON_NOT_SUCCEEDED), "no connections");
    configure(ACCL_CFG_STACK, ACCL_STACK_RDMA, 0, "");
    configure(ACCL_CFG_OPEN_PORT, 0, 0, "");
    configure(ACCL_CFG_STACK, ACCL_STACK_RDMA + 1, ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED),
              "unknown stack");
    configure(99, 0, ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED), "unknown configuration function 99");
}

static void test_devices_and_buffers(void)
{
    accl_device *other = device;
    struct accl_config config = {.size = sizeof config, .memory_mode = 9};
    CHECK(accl_open(&config, &other) == ACCL_INVALID && other == NULL);
    config.memory_mode = 0;
    config.stack = 9;
    CHECK(accl_open(&config, &other) == ACCL_INVALID);
    CHECK(strstr(accl_error_message(), "or stack 9"));

    accl_buffer *b = buffer;
    CHECK(accl_buffer_create(device, 4, 99, 0, &b) == ACCL_INVALID && b == NULL);
    CHECK(accl_buffer_create(device, 4, 0, 0x80, &b) == ACCL_INVALID);
    CHECK(strstr(accl_error_message(), "flags 0x80"));

    /* Without memory, at each allocation: nothing is left. */
    for (long n = 0; n < 30; n++) {
        allocations_left = n;
        int opened = accl_open(NULL, &other);
        allocations_left = -1;
        CHECK(opened == ACCL_OK || (opened == ACCL_NO_MEMORY && other == NULL));
        CHECK(n > 0 || opened == ACCL_NO_MEMORY);
        accl_close(other);

        allocations_left = n;
        int made = accl_buffer_create(device, 64, 0, 0, &b);
        allocations_left = -1;
        CHECK(made == ACCL_OK || (made == ACCL_NO_MEMORY && b == NULL));
        accl_buffer_free(b);

        accl_request *before, *after;
        struct accl_call nop = make(ACCL_NOP);
        CHECK(accl_call_start(device, &nop, NULL, 0, &before) == ACCL_OK);
        allocations_left = n < 2 ? n : -1;
        int started = accl_call_start(device, &nop, &before, 1, &after);
        allocations_left = -1;
        CHECK(started == (n < 2 ? ACCL_NO_MEMORY : ACCL_OK));
        if (started == ACCL_OK) {
            CHECK(accl_request_wait(after, -1) == ACCL_OK);
            accl_request_free(after);
        }
        CHECK(accl_request_wait(before, -1) == ACCL_OK);
        accl_request_free(before);
    }
}

int main(void)
{
    char job[32];
    snprintf(job, sizeof job, "calls %d", (int)getpid());
    struct accl_config config = {.size = sizeof config, .memory_bytes = 1 << 20, .job = job};
    struct accl_rank rank = {.ip = 0x7F000001, .port = 9200};
    uint32_t id;
    CHECK(accl_open(&config, &device) == ACCL_OK);
    CHECK(accl_buffer_create(device, COUNT * 4, ACCL_FLOAT32, 0, &buffer) == ACCL_OK);
    test_before_there_are_communicators();

    CHECK(accl_setup_rx_buffers(device, 4, 256) == ACCL_OK);
    CHECK(accl_create_communicator(device, &rank, 1, 0, &id) == ACCL_OK);
    test_operations();
    test_types();
    test_addresses();
    test_streams();
    test_settings();
    test_devices_and_buffers();
    accl_buffer_free(buffer);
    accl_close(device);
    return 0;
}
