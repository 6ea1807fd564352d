# SPDX-License-Identifier: BSD-3-Clause
"""Where the text of each DPU goes: a stream for all, a list of streams, or a dict by DPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpu.errors import DpuError

__all__ = ["check_constructor_log", "check_stream", "choose_streams"]


def check_stream(stream: Any) -> None:
    """Refuse what has no ``write``."""
    if not callable(getattr(stream, "write", None)):
        raise DpuError(
            "stream argument is not an object with a 'write' method",
            detail=f"it is of type {type(stream).__name__}",
        )


def check_constructor_log(log: Any, nr_dpus: int) -> None:
    """Refuse a constructor's ``log`` that does not fit the set."""
    if isinstance(log, (list, tuple)):
        if len(log) != nr_dpus:
            raise DpuError(
                "log list length does not match number of DPUs in DpuSet",
                detail=f"the list has {len(log)}, and the set {nr_dpus} DPUs",
            )
        for stream in log:
            if stream is not None:
                check_stream(stream)
    elif log is not None:
        check_stream(log)


def choose_streams(
    asked: Any, defaults: Sequence[Any], dpus: Sequence[Any], groups: Sequence[tuple[Any, range]]
) -> list[Any]:
    """Find the stream of each DPU, None for one whose text is not wanted.

    Parameters
    ----------
    asked : stream, list, dict or None
        What the user gave for this call.
    defaults : sequence
        The stream of each DPU otherwise, or None.
    dpus : sequence
        The DPUs, as keys of a dict.
    groups : sequence
        Sets that are keys of a dict too, the largest first, and the DPUs that they cover.
    """
    streams = list(defaults)
    if asked is None:
        return streams
    if isinstance(asked, (list, tuple)):
        if len(asked) != len(dpus):
            raise DpuError(
                "cannot log, log list length does not match the number of DPUs in DpuSet",
                detail=f"the list has {len(asked)}, and the set {len(dpus)} DPUs",
            )
        streams = [new if new is not None else old for new, old in zip(asked, streams, strict=True)]
    elif isinstance(asked, dict):
        for group, covered in groups:
            stream = asked.get(group)
            if stream is not None:
                for position in covered:
                    streams[position] = stream
        streams = [
            old if asked.get(dpu) is None else asked[dpu]
            for dpu, old in zip(dpus, streams, strict=True)
        ]
    else:
        streams = [asked] * len(dpus)
    for stream in streams:
        if stream is not None:
            check_stream(stream)
    return streams
