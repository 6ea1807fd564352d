/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * Calls wait for earlier ones that write where they read, and that is as far as the types of their
 * operands make it.
 */
#include "accl/base/communicator.h"
#include "accl/transport/ticket.h"

#include "tests/support/check.h"

enum { COUNT = 16, SOURCE = 1 << 12, RESULT = 2 << 12, ELSEWHERE = 3 << 12 };

static accl_device device;

static struct accl_call make(uint32_t operation, uint32_t flags)
{
    return (struct accl_call){.size = sizeof(struct accl_call),
                              .operation = operation,
                              .count = COUNT,
                              .dtype = ACCL_FLOAT32,
                              .compressed_dtype = ACCL_FLOAT16,
                              .compression_flags = flags,
                              .address = {SOURCE, ACCL_NO_ADDRESS, RESULT}};
}

/* EARLIER writes BYTES from FROM on. */
static void check_written(struct accl_call earlier, uint64_t from, uint64_t bytes)
{
    struct ticket first, second;
    struct accl_call later = {.size = sizeof later,
                              .operation = ACCL_COPY,
                              .count = 1,
                              .dtype = ACCL_FLOAT16,
                              .compressed_dtype = ACCL_NONE,
                              .address = {0, ACCL_NO_ADDRESS, ELSEWHERE}};
    acclib_ticket_add(&device, &first, &earlier);
    for (uint64_t at = 0; at < 4 * bytes; at += 2) {
        later.address[0] = from + at;
        acclib_ticket_add(&device, &second, &later);
        CHECK(acclib_ticket_may_start(&device, &second) == (at >= bytes));
        acclib_ticket_remove(&device, &second);
    }
    acclib_ticket_remove(&device, &first);
}

int main(void)
{
    struct communicator comm = {.n = 2, .me = 1};
    list_append(&device.communicators, &comm.in_device);

    check_written(make(ACCL_COPY, 0), RESULT, 4 * COUNT);
    check_written(make(ACCL_COPY, ACCL_OP0_COMPRESSED), RESULT, 4 * COUNT);
    check_written(make(ACCL_COPY, ACCL_RES_COMPRESSED), RESULT, 2 * COUNT);
    check_written(make(ACCL_ALLGATHER, ACCL_OP0_COMPRESSED), RESULT, 2 * 4 * COUNT);

    /* Its memory is that of its source. */
    check_written(make(ACCL_BCAST, 0), SOURCE, 4 * COUNT);
    check_written(make(ACCL_BCAST, ACCL_OP0_COMPRESSED), SOURCE, 2 * COUNT);
    check_written(make(ACCL_BCAST, ACCL_RES_COMPRESSED), SOURCE, 4 * COUNT);
    return 0;
}
