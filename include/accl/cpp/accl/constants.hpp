/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers and names of ACCL's C++ interface: element types, functions, flags, error codes. They are
 * those of accl.h.
 */
#ifndef ACCL_CPP_CONSTANTS_HPP
#define ACCL_CPP_CONSTANTS_HPP

#include <cstddef>
#include <cstdint>
#include <map>

#include "accl.h"

namespace ACCL
{

typedef uint64_t addr_t;
typedef uint32_t val_t;
typedef unsigned int communicatorId;

/* Handle to which calls return a pointer; only that pointer has a meaning. */
typedef long long ACCLRequest;

const unsigned int TAG_ANY = ACCL_TAG_ANY;
const communicatorId GLOBAL_COMM = ACCL_GLOBAL_COMM;
const addr_t EXCHANGE_MEM_OFFSET_ADDRESS = 0;
const addr_t EXCHANGE_MEM_ADDRESS_RANGE = ACCL_EXCHANGE_SIZE;

/* Words of exchange memory. */
namespace CCLO_ADDR
{
constexpr auto const NUM_EGR_RX_BUFS_OFFSET = 0x0;
constexpr auto const EGR_RX_BUF_SIZE_OFFSET = 0x4;
constexpr auto const PERFCNT_OFFSET = ACCL_EXCHANGE_PERFCTR;
constexpr auto const CFGRDY_OFFSET = ACCL_EXCHANGE_CFGRDY;
constexpr auto const IDCODE_OFFSET = ACCL_EXCHANGE_HWID;
constexpr auto const RETCODE_OFFSET = ACCL_EXCHANGE_RETCODE;
} // namespace CCLO_ADDR

enum class operation : int {
    config = ACCL_CONFIG,
    copy = ACCL_COPY,
    combine = ACCL_COMBINE,
    send = ACCL_SEND,
    recv = ACCL_RECV,
    bcast = ACCL_BCAST,
    scatter = ACCL_SCATTER,
    gather = ACCL_GATHER,
    reduce = ACCL_REDUCE,
    allgather = ACCL_ALLGATHER,
    allreduce = ACCL_ALLREDUCE,
    reduce_scatter = ACCL_REDUCE_SCATTER,
    barrier = ACCL_BARRIER,
    alltoall = ACCL_ALLTOALL,
    nop = ACCL_NOP
};

/* Functions of operation::config. The two limits have no effect: the engine here sets its own. */
enum class cfgFunc {
    reset_periph = ACCL_CFG_RESET,
    enable_pkt = ACCL_CFG_ENABLE_PACKETS,
    set_timeout = ACCL_CFG_TIMEOUT,
    set_max_eager_msg_size = 3,
    set_max_rendezvous_msg_size = 4
};

/* MIN and PROD are the soft engine's own. */
enum class reduceFunction { SUM = ACCL_SUM, MAX = ACCL_MAX, MIN = ACCL_MIN, PROD = ACCL_PROD };

enum class operationStatus : int {
    QUEUED = ACCL_QUEUED,
    EXECUTING = ACCL_EXECUTING,
    COMPLETED = ACCL_COMPLETED
};

enum class queueStatus { IDLE = 0, BUSY = 1 };

enum timeoutStatus { no_timeout, timeout };

enum class dataType {
    none = ACCL_NONE,
    int8 = ACCL_INT8,
    float16 = ACCL_FLOAT16,
    float32 = ACCL_FLOAT32,
    float64 = ACCL_FLOAT64,
    int32 = ACCL_INT32,
    int64 = ACCL_INT64,
    /* The driver has no types from here on, and none of its devices has arithmetic for int8. */
    boolean = ACCL_BOOL,
    uint8 = ACCL_UINT8,
    int16 = ACCL_INT16,
    uint16 = ACCL_UINT16,
    uint32 = ACCL_UINT32,
    uint64 = ACCL_UINT64,
    bfloat16 = ACCL_BFLOAT16,
    complex64 = ACCL_COMPLEX64,
    complex128 = ACCL_COMPLEX128
};

/* In bits. */
#define ACCL_CPP_BITS(name, value, bytes, text, arithmetic) \
    {static_cast<dataType>(value), 8 * bytes},
const std::map<dataType, unsigned int> dataTypeSize = {ACCL_DTYPE_LIST(ACCL_CPP_BITS)};
#undef ACCL_CPP_BITS

enum class streamFlags {
    NO_STREAM = 0,
    OP0_STREAM = ACCL_OP0_STREAM,
    RES_STREAM = ACCL_RES_STREAM
};

enum class hostFlags {
    NO_HOST = 0,
    OP0_HOST = ACCL_OP0_HOST,
    OP1_HOST = ACCL_OP1_HOST,
    RES_HOST = ACCL_RES_HOST
};

enum class compressionFlags {
    NO_COMPRESSION = 0,
    OP0_COMPRESSED = ACCL_OP0_COMPRESSED,
    OP1_COMPRESSED = ACCL_OP1_COMPRESSED,
    RES_COMPRESSED = ACCL_RES_COMPRESSED,
    ETH_COMPRESSED = ACCL_ETH_COMPRESSED
};

enum class networkProtocol { TCP, UDP, RDMA };

enum class tcpSessionHandlerOperation { OPEN_PORT = 1, OPEN_CONNECTION = 2, CLOSE_CONNECTION = 3 };

/* Bits of a return code. Bits 16 and 17 are limits of messages here, and ports in accl.h. */
enum class errorCode {
    COLLECTIVE_OP_SUCCESS = 0,
    DMA_MISMATCH_ERROR = 1 << 0,
    DMA_INTERNAL_ERROR = 1 << 1,
    DMA_DECODE_ERROR = 1 << 2,
    DMA_SLAVE_ERROR = 1 << 3,
    DMA_NOT_OKAY_ERROR = 1 << 4,
    DMA_NOT_END_OF_PACKET_ERROR = 1 << 5,
    DMA_NOT_EXPECTED_BTT_ERROR = 1 << 6,
    DMA_TIMEOUT_ERROR = 1 << 7,
    CONFIG_SWITCH_ERROR = 1 << 8,
    DEQUEUE_BUFFER_TIMEOUT_ERROR = 1 << 9,
    DEQUEUE_BUFFER_SPARE_BUFFER_STATUS_ERROR = 1 << 10,
    RECEIVE_TIMEOUT_ERROR = 1 << 11,
    DEQUEUE_BUFFER_SPARE_BUFFER_DMATAG_MISMATCH = 1 << 12,
    DEQUEUE_BUFFER_SPARE_BUFFER_INDEX_ERROR = 1 << 13,
    COLLECTIVE_NOT_IMPLEMENTED = 1 << 14,
    RECEIVE_OFFCHIP_SPARE_BUFF_ID_NOT_VALID = 1 << 15,
    EAGER_THRESHOLD_INVALID = 1 << 16,
    RENDEZVOUS_THRESHOLD_INVALID = 1 << 17,
    DMA_SIZE_ERROR = 1 << 18,
    ARITH_ERROR = 1 << 19,
    PACK_TIMEOUT_STS_ERROR = 1 << 20,
    PACK_SEQ_NUMBER_ERROR = 1 << 21,
    COMPRESSION_ERROR = 1 << 22,
    KRNL_TIMEOUT_STS_ERROR = 1 << 23,
    KRNL_STS_COUNT_ERROR = 1 << 24,
    SEGMENTER_EXPECTED_BTT_ERROR = 1 << 25,
    DMA_TAG_MISMATCH_ERROR = 1 << 26
};

const size_t error_code_bits = 26;

/* Sets of flags. */
#define ACCL_CPP_FLAGS(type) \
    inline type operator|(type left, type right) \
    { \
        return static_cast<type>(static_cast<int>(left) | static_cast<int>(right)); \
    } \
    inline type &operator|=(type &left, type right) \
    { \
        return left = left | right; \
    }
ACCL_CPP_FLAGS(streamFlags)
ACCL_CPP_FLAGS(hostFlags)
ACCL_CPP_FLAGS(compressionFlags)
ACCL_CPP_FLAGS(errorCode)
#undef ACCL_CPP_FLAGS

/* Text of one error bit. */
inline const char *error_code_to_string(errorCode code)
{
    unsigned bits = static_cast<unsigned>(code), bit = 0;

    if (bits == 0)
        return accl_status_text(ACCL_OK);
    while ((bits >> bit & 1) == 0)
        bit++;

    return accl_error_text(bit);
}

} // namespace ACCL

#endif
