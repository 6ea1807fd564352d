# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of the CCLO: operations, functions, flags, errors, and the registers at the top."""

from __future__ import annotations

from enum import IntEnum, unique

__all__ = [
    "CFGRDY_OFFSET",
    "EXCHANGE_MEM_ADDRESS_RANGE",
    "EXCHANGE_MEM_OFFSET_ADDRESS",
    "GLOBAL_COMM",
    "IDCODE_OFFSET",
    "RANKS_MAX",
    "RETCODE_OFFSET",
    "TAG_ANY",
    "ACCLCompressionFlags",
    "ACCLReduceFunctions",
    "ACCLStreamFlags",
    "CCLOCfgFunc",
    "CCLOp",
    "ErrorCode",
    "error_names",
]

#: Matches every tag, on either side.
TAG_ANY = 0xFFFF_FFFF
#: The communicator of all ranks.
GLOBAL_COMM = 0x0
#: The most ranks of a communicator.
RANKS_MAX = 1024
#: Base address of exchange memory, and its size in bytes.
EXCHANGE_MEM_OFFSET_ADDRESS = 0x0
EXCHANGE_MEM_ADDRESS_RANGE = 0x2000
#: Registers: the last call's return code, the hardware's id, whether it is configured.
RETCODE_OFFSET = 0x1FFC
IDCODE_OFFSET = 0x1FF8
CFGRDY_OFFSET = 0x1FF4


@unique
class CCLOp(IntEnum):
    """Operations of the CCLO."""

    config = 0
    copy = 1
    combine = 2
    send = 3
    recv = 4
    bcast = 5
    scatter = 6
    gather = 7
    reduce = 8
    allgather = 9
    allreduce = 10
    reduce_scatter = 11
    barrier = 12
    all_to_all = 13
    nop = 255


@unique
class CCLOCfgFunc(IntEnum):
    """Functions of the operation ``config``."""

    reset_periph = 0
    enable_pkt = 1
    set_timeout = 2
    open_port = 3
    open_con = 4
    set_stack_type = 5
    set_max_segment_size = 6


@unique
class ACCLReduceFunctions(IntEnum):
    """Functions that combine two vectors."""

    #: Sum of the elements; integers wrap.
    SUM = 0
    #: The larger of the elements; NaN if one is NaN.
    MAX = 1
    #: The smaller of the elements; NaN if one is NaN.
    MIN = 2
    #: Product of the elements; integers wrap.
    PROD = 3


@unique
class ACCLCompressionFlags(IntEnum):
    """The parts of a call that use the compressed type of its pair."""

    NO_COMPRESSION = 0
    #: The first operand.
    OP0_COMPRESSED = 1
    #: The second operand.
    OP1_COMPRESSED = 2
    #: The result.
    RES_COMPRESSED = 4
    #: Data on the wire.
    ETH_COMPRESSED = 8


@unique
class ACCLStreamFlags(IntEnum):
    """The parts of a call that are streams instead of memory."""

    #: Nothing.
    NO_STREAM = 0
    #: The first operand comes from the stream.
    OP0_STREAM = 1
    #: The result goes to the stream; with a send, to the receiver's.
    RES_STREAM = 2


@unique
class ErrorCode(IntEnum):
    """Bits of a return code."""

    DMA_MISMATCH_ERROR = 1 << 0
    DMA_INTERNAL_ERROR = 1 << 1
    DMA_DECODE_ERROR = 1 << 2
    DMA_SLAVE_ERROR = 1 << 3
    DMA_NOT_OKAY_ERROR = 1 << 4
    DMA_NOT_END_OF_PACKET_ERROR = 1 << 5
    DMA_NOT_EXPECTED_BTT_ERROR = 1 << 6
    DMA_TIMEOUT_ERROR = 1 << 7
    CONFIG_SWITCH_ERROR = 1 << 8
    DEQUEUE_BUFFER_TIMEOUT_ERROR = 1 << 9
    DEQUEUE_BUFFER_SPARE_BUFFER_STATUS_ERROR = 1 << 10
    RECEIVE_TIMEOUT_ERROR = 1 << 11
    DEQUEUE_BUFFER_SPARE_BUFFER_DMATAG_MISMATCH = 1 << 12
    DEQUEUE_BUFFER_SPARE_BUFFER_INDEX_ERROR = 1 << 13
    COLLECTIVE_NOT_IMPLEMENTED = 1 << 14
    RECEIVE_OFFCHIP_SPARE_BUFF_ID_NOT_VALID = 1 << 15
    OPEN_PORT_NOT_SUCCEEDED = 1 << 16
    OPEN_CON_NOT_SUCCEEDED = 1 << 17
    DMA_SIZE_ERROR = 1 << 18
    ARITH_ERROR = 1 << 19
    PACK_TIMEOUT_STS_ERROR = 1 << 20
    PACK_SEQ_NUMBER_ERROR = 1 << 21
    COMPRESSION_ERROR = 1 << 22
    KRNL_TIMEOUT_STS_ERROR = 1 << 23
    KRNL_STS_COUNT_ERROR = 1 << 24
    SEGMENTER_EXPECTED_BTT_ERROR = 1 << 25
    DMA_TAG_MISMATCH_ERROR = 1 << 26
    # The original does not have those from here on.
    PEER_LOST_ERROR = 1 << 27
    INTERRUPTED_ERROR = 1 << 28
    CALL_MISMATCH_ERROR = 1 << 29
    PEER_GAVE_UP_ERROR = 1 << 30
    NOT_READY_ERROR = 1 << 31


def error_names(retcode: int) -> list[str]:
    """Return the names of the bits that are set in a return code.

    Parameters
    ----------
    retcode : int
        From the CCLO.

    Returns
    -------
    list of str
        Names of `ErrorCode`, lowest bit first; ``UNKNOWN ERROR (n)`` for the rest, if any.
    """
    names = [code.name for code in ErrorCode if retcode & code]
    rest = retcode & ~sum(ErrorCode)
    if rest:
        names.append(f"UNKNOWN ERROR ({rest})")
    return names
