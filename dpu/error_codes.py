# SPDX-License-Identifier: BSD-3-Clause
"""The error codes of libdpu: the numbers of 2025.1, and texts, which all versions share."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["ErrorCode", "name_of"]


class ErrorCode(IntEnum):
    """The return values of libdpu."""

    DPU_OK = 0
    DPU_ERR_INTERNAL = 1
    DPU_ERR_SYSTEM = 2
    DPU_ERR_DRIVER = 3
    DPU_ERR_ALLOCATION = 4
    DPU_ERR_INVALID_DPU_SET = 5
    DPU_ERR_INVALID_THREAD_ID = 6
    DPU_ERR_INVALID_NOTIFY_ID = 7
    DPU_ERR_INVALID_WRAM_ACCESS = 8
    DPU_ERR_INVALID_IRAM_ACCESS = 9
    DPU_ERR_INVALID_MRAM_ACCESS = 10
    DPU_ERR_INVALID_SYMBOL_ACCESS = 11
    DPU_ERR_MRAM_BUSY = 12
    DPU_ERR_TRANSFER_ALREADY_SET = 13
    DPU_ERR_INVALID_PARALLEL_MEMORY_TRANSFER = 14
    DPU_ERR_WRAM_FIFO_FULL = 15
    DPU_ERR_NO_PROGRAM_LOADED = 16
    DPU_ERR_DIFFERENT_DPU_PROGRAMS = 17
    DPU_ERR_CORRUPTED_MEMORY = 18
    DPU_ERR_DPU_DISABLED = 19
    DPU_ERR_DPU_ALREADY_RUNNING = 20
    DPU_ERR_INVALID_MEMORY_TRANSFER = 21
    DPU_ERR_INVALID_LAUNCH_POLICY = 22
    DPU_ERR_DPU_FAULT = 23
    DPU_ERR_ELF_INVALID_FILE = 24
    DPU_ERR_ELF_NO_SUCH_FILE = 25
    DPU_ERR_ELF_NO_SUCH_SECTION = 26
    DPU_ERR_TIMEOUT = 27
    DPU_ERR_INVALID_PROFILE = 28
    DPU_ERR_UNKNOWN_SYMBOL = 29
    DPU_ERR_LOG_FORMAT = 30
    DPU_ERR_LOG_CONTEXT_MISSING = 31
    DPU_ERR_LOG_BUFFER_TOO_SMALL = 32
    DPU_ERR_VPD_INVALID_FILE = 33
    DPU_ERR_VPD_NO_REPAIR = 34
    DPU_ERR_NO_THREAD_PER_RANK = 35
    DPU_ERR_INVALID_BUFFER_SIZE = 36
    DPU_ERR_NONBLOCKING_SYNC_CALLBACK = 37
    DPU_ERR_TOO_MANY_TASKLETS = 38
    DPU_ERR_SG_TOO_MANY_BLOCKS = 39
    DPU_ERR_SG_LENGTH_MISMATCH = 40
    DPU_ERR_SG_NOT_ACTIVATED = 41
    DPU_ERR_SG_NOT_MRAM_SYMBOL = 42


# Without the prefix DPU_.
_TEXTS = {
    "success": "OK",
    "internal error": "ERR_INTERNAL",
    "system error": "ERR_SYSTEM",
    "driver error": "ERR_DRIVER",
    "dpu allocation error": "ERR_ALLOCATION",
    "invalid action for this dpu set": "ERR_INVALID_DPU_SET",
    "invalid thread id": "ERR_INVALID_THREAD_ID",
    "invalid notify id": "ERR_INVALID_NOTIFY_ID",
    "invalid wram access": "ERR_INVALID_WRAM_ACCESS",
    "invalid iram access": "ERR_INVALID_IRAM_ACCESS",
    "invalid mram access": "ERR_INVALID_MRAM_ACCESS",
    "invalid memory symbol access": "ERR_INVALID_SYMBOL_ACCESS",
    "mram is busy": "ERR_MRAM_BUSY",
    "dpu transfer is already set": "ERR_TRANSFER_ALREADY_SET",
    "invalid parallel transfer (should be to/from WRAM)": "ERR_INVALID_PARALLEL_MEMORY_TRANSFER",
    "cannot push to WRAM FIFO, FIFO full": "ERR_WRAM_FIFO_FULL",
    "no program has been loaded in the dpu set": "ERR_NO_PROGRAM_LOADED",
    "cannot access symbol on dpus with different programs": "ERR_DIFFERENT_DPU_PROGRAMS",
    "corrupted memory": "ERR_CORRUPTED_MEMORY",
    "dpu is disabled": "ERR_DPU_DISABLED",
    "dpu is already running": "ERR_DPU_ALREADY_RUNNING",
    "invalid memory transfer": "ERR_INVALID_MEMORY_TRANSFER",
    "invalid launch policy": "ERR_INVALID_LAUNCH_POLICY",
    "dpu is in fault": "ERR_DPU_FAULT",
    "invalid ELF file": "ERR_ELF_INVALID_FILE",
    "no such ELF file": "ERR_ELF_NO_SUCH_FILE",
    "no such ELF section": "ERR_ELF_NO_SUCH_SECTION",
    "result timeout": "ERR_TIMEOUT",
    "invalid profile": "ERR_INVALID_PROFILE",
    "undefined symbol": "ERR_UNKNOWN_SYMBOL",
    "logging format error": "ERR_LOG_FORMAT",
    "logging context missing": "ERR_LOG_CONTEXT_MISSING",
    "logging buffer too small": "ERR_LOG_BUFFER_TOO_SMALL",
    "invalid VPD file": "ERR_VPD_INVALID_FILE",
    "repairs have not been generated": "ERR_VPD_NO_REPAIR",
    "no thread to perform multiple-rank operation": "ERR_NO_THREAD_PER_RANK",
    "invalid buffer size": "ERR_INVALID_BUFFER_SIZE",
    "nonblocking and synchronous callback is invalid": "ERR_NONBLOCKING_SYNC_CALLBACK",
    "dpu program uses more tasklets than the hardware has threads": "ERR_TOO_MANY_TASKLETS",
    "scatter/gather transfer prepare exceed max number of blocks": "ERR_SG_TOO_MANY_BLOCKS",
    "scatter/gather transfer mismatch between nr bytes in blocks and length": (
        "ERR_SG_LENGTH_MISMATCH"
    ),
    "scatter/gather transfer not activated": "ERR_SG_NOT_ACTIVATED",
    "scatter/gather transfer unsupported symbol (must be a mram symbol)": (
        "ERR_SG_NOT_MRAM_SYMBOL"
    ),
}


def name_of(text: str) -> str | None:
    """Find the name of an error by its text: older libraries number some differently."""
    name = _TEXTS.get(text)
    if name is None and text.startswith("asynchronous operation error ("):
        # "asynchronous operation error (<job>): <text> (0x<number>)"
        name = _TEXTS.get(text.partition("): ")[2].rpartition(" (")[0])
    return None if name is None else f"DPU_{name}"
