/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * Prints the constants of accl.h that Python has too: kind, name, value. usage: constants
 */
#include <inttypes.h>
#include <stdio.h>

#include "accl.h"

#define SHOW(kind, name, value) printf("%s %s %" PRIu64 "\n", kind, name, (uint64_t)(value));
#define SHOW_OPERATION(name, value) SHOW("CCLOp", #name, ACCL_##name)
#define SHOW_ERROR(name, bit, text) SHOW("ErrorCode", #name, ACCL_ERROR(name))
#define SHOW_DTYPE(name, value, bytes, text, arithmetic) SHOW("dtype", #name, ACCL_##name)
#define SHOW_AS(kind, name) SHOW(kind, #name, ACCL_##name)

int main(void)
{
    ACCL_OPERATION_LIST(SHOW_OPERATION)
    ACCL_ERROR_LIST(SHOW_ERROR)
    ACCL_DTYPE_LIST(SHOW_DTYPE)
    SHOW_AS("ACCLReduceFunctions", SUM)
    SHOW_AS("ACCLReduceFunctions", MAX)
    SHOW_AS("ACCLReduceFunctions", MIN)
    SHOW_AS("ACCLReduceFunctions", PROD)
    SHOW_AS("ACCLCompressionFlags", OP0_COMPRESSED)
    SHOW_AS("ACCLCompressionFlags", OP1_COMPRESSED)
    SHOW_AS("ACCLCompressionFlags", RES_COMPRESSED)
    SHOW_AS("ACCLCompressionFlags", ETH_COMPRESSED)
    SHOW_AS("ACCLStreamFlags", OP0_STREAM)
    SHOW_AS("ACCLStreamFlags", RES_STREAM)
    SHOW_AS("CCLOCfgFunc", CFG_RESET)
    SHOW_AS("CCLOCfgFunc", CFG_ENABLE_PACKETS)
    SHOW_AS("CCLOCfgFunc", CFG_TIMEOUT)
    SHOW_AS("CCLOCfgFunc", CFG_OPEN_PORT)
    SHOW_AS("CCLOCfgFunc", CFG_OPEN_CONNECTION)
    SHOW_AS("CCLOCfgFunc", CFG_STACK)
    SHOW_AS("CCLOCfgFunc", CFG_MAX_SEGMENT_SIZE)
    SHOW("module", "TAG_ANY", ACCL_TAG_ANY)
    SHOW("module", "GLOBAL_COMM", ACCL_GLOBAL_COMM)
    SHOW("module", "EXCHANGE_MEM_ADDRESS_RANGE", ACCL_EXCHANGE_SIZE)
    SHOW("module", "RETCODE_OFFSET", ACCL_EXCHANGE_RETCODE)
    SHOW("module", "IDCODE_OFFSET", ACCL_EXCHANGE_HWID)
    SHOW("module", "CFGRDY_OFFSET", ACCL_EXCHANGE_CFGRDY)
    return 0;
}
