/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/engine/configure.h"

#include "accl/transport/transport.h"

/* Sequence numbers start again. */
static void forget_numbers(accl_device *device)
{
    for (struct list_node *at = device->communicators.first; at != NULL; at = at->next) {
        const struct communicator *c = communicator_of(at);
        for (uint32_t i = 0; i < c->n; i++)
            c->members[i].inbound = c->members[i].outbound = 0;
    }
}

uint32_t acclib_configure(accl_device *device, const struct accl_call *call)
{
    uint64_t value = call->count;
    switch (call->function) {
    case ACCL_CFG_RESET:
        acclib_transport_reset(device);
        forget_numbers(device);
        return 0;
    case ACCL_CFG_ENABLE_PACKETS: return 0;
    case ACCL_CFG_TIMEOUT:
        device->timeout_ms = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
        return 0;
    case ACCL_CFG_OPEN_PORT:
    case ACCL_CFG_OPEN_CONNECTION: {
        bool port = call->function == ACCL_CFG_OPEN_PORT;
        if (device->stack != ACCL_STACK_UDP)
            return 0;
        return acclib_call_fail(
            device, port ? ACCL_ERROR(OPEN_PORT_NOT_SUCCEEDED) : ACCL_ERROR(OPEN_CON_NOT_SUCCEEDED),
            "the UDP stack has no %s to open", port ? "ports" : "connections");
    }
    case ACCL_CFG_STACK:
        if (value > ACCL_STACK_RDMA)
            return acclib_call_fail(device, ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED),
                                    "unknown stack %llu", (unsigned long long)value);
        device->stack = (uint32_t)value;
        return 0;
    case ACCL_CFG_MAX_SEGMENT_SIZE:
        if (value >= SEGMENT_END || value < 8)
            return acclib_call_fail(device, ACCL_ERROR(DMA_NOT_EXPECTED_BTT_ERROR),
                                    "a segment has 8 to %d bytes, not %llu", SEGMENT_END - 1,
                                    (unsigned long long)value);
        device->segment_size = value;
        return 0;
    default:
        return acclib_call_fail(device, ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED),
                                "unknown configuration function %u", call->function);
    }
}
