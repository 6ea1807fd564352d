/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * Names and texts of errors, layout of what crosses the interface, bad arguments.
 */
#include "ranks.h"

_Static_assert(sizeof(struct accl_call) == 80, "a call has no holes");
_Static_assert(sizeof(struct accl_rank) == 32, "a rank has no holes");
_Static_assert(ACCL_RECEIVE_TIMEOUT_ERROR_BIT == 11 && ACCL_DMA_TAG_MISMATCH_ERROR_BIT == 26,
               "the original's numbers");

static uint32_t failing(const struct rank *r, struct accl_call call)
{
    uint32_t bits = run_call(r, &call);
    CHECK(bits != 0 && accl_error_message()[0]);
    return bits;
}

int main(void)
{
    for (unsigned bit = 0; bit < 32; bit++)
        CHECK(accl_error_name(bit)[0] && accl_error_text(bit)[0]);
    CHECK(!accl_error_name(32)[0] && !accl_error_text(99)[0] && !accl_status_text(-1)[0]);
    CHECK(strcmp(accl_error_name(14), "COLLECTIVE_NOT_IMPLEMENTED") == 0);
    CHECK(strncmp(accl_version(), "offchip ", 8) == 0 && accl_abi_version() == ACCL_ABI_VERSION);

    struct rank r;
    char job[64], text[65536];
    size_t needed;
    snprintf(job, sizeof job, "texts %d", (int)getpid());
    rank_open(&r, job, 0, 1, ACCL_MEMORY_SEPARATE, 16, 1024);
    accl_buffer *b, *slice;
    CHECK(accl_buffer_create(r.device, 4000, 0, ACCL_BUFFER_ZERO, &b) == ACCL_OK);
    CHECK(accl_buffer_slice(b, 3000, 1001, &slice) == ACCL_INVALID && !slice);
    CHECK(accl_buffer_slice(b, 3000, 1000, &slice) == ACCL_OK);
    CHECK(accl_buffer_address(slice) == accl_buffer_address(b) + 3000);
    CHECK(accl_buffer_host(slice) == (char *)accl_buffer_host(b) + 3000);
    CHECK(accl_buffer_sync_to_device(slice, 0, 1001) == ACCL_INVALID);
    /* Separate memory: the device does not see the host's writes before a sync. */
    int32_t word = 7;
    memcpy(accl_buffer_host(slice), &word, 4);
    CHECK(accl_memory_read(r.device, accl_buffer_address(slice), &word, 4) == ACCL_OK && word == 0);
    CHECK(accl_buffer_sync_to_device(slice, 0, 4) == ACCL_OK);
    CHECK(accl_memory_read(r.device, accl_buffer_address(slice), &word, 4) == ACCL_OK && word == 7);
    CHECK(accl_memory_read(r.device, 8, &word, 4) == ACCL_INVALID);
    accl_buffer *huge;
    CHECK(accl_buffer_create(r.device, UINT64_C(1) << 50, 0, 0, &huge) == ACCL_NO_MEMORY && !huge);

    struct accl_call copy = make_call(ACCL_COPY, 2000, ACCL_FLOAT32);
    copy.address[0] = copy.address[2] = accl_buffer_address(b);
    CHECK(failing(&r, copy) == ACCL_ERROR(DMA_DECODE_ERROR));
    copy.count = UINT64_MAX / 2;
    CHECK(failing(&r, copy) == ACCL_ERROR(DMA_DECODE_ERROR));
    copy.count = 10;
    copy.compressed_dtype = ACCL_INT32;
    CHECK(failing(&r, copy) == ACCL_ERROR(COMPRESSION_ERROR));
    struct accl_call reduce = make_call(ACCL_REDUCE, 10, ACCL_BITS8);
    CHECK(failing(&r, reduce) == ACCL_ERROR(ARITH_ERROR));
    CHECK(failing(&r, make_call(99, 0, 0)) == ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED));
    struct accl_call segment = make_call(ACCL_CONFIG, 8388544, 0);
    segment.function = ACCL_CFG_MAX_SEGMENT_SIZE;
    CHECK(failing(&r, segment) == ACCL_ERROR(DMA_NOT_EXPECTED_BTT_ERROR));
    uint32_t value;
    CHECK(accl_exchange_read(r.device, ACCL_EXCHANGE_RETCODE, &value) == ACCL_OK && value == 64);
    CHECK(accl_exchange_read(r.device, ACCL_EXCHANGE_SIZE, &value) == ACCL_INVALID);
    CHECK(accl_exchange_read(r.device, 0, &value) == ACCL_OK && value == 16);

    CHECK(accl_dump_communicator(r.device, 0, text, 10, &needed) == ACCL_OK && needed > 10);
    CHECK(strlen(text) == 9);
    CHECK(accl_dump_communicator(r.device, 5, text, 10, &needed) == ACCL_NOT_FOUND);
    CHECK(accl_dump_exchange_memory(r.device, text, sizeof text, &needed) == ACCL_OK);
    CHECK(accl_dump_waits(r.device, text, sizeof text, &needed) == ACCL_OK);
    CHECK(strcmp(text, "rank 0 is not waiting\n") == 0);
    uint64_t packets;
    CHECK(accl_packet_outstanding(r.device, &packets) == ACCL_NOT_READY);
    accl_close(r.device);
    /* A buffer outlives its device. */
    memset(accl_buffer_host(b), 1, 4000);
    accl_buffer_free(b);
    accl_buffer_free(slice);
    puts("ok");
    return 0;
}
