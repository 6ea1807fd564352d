# SPDX-License-Identifier: BSD-3-Clause
"""The output streams of DPUs: one stream for all, a list of streams, or a dict by DPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpu.errors import DpuError

__all__ = ["check_constructor_log", "check_stream", "choose_streams"]


def check_stream(stream: Any) -> None:
    """Raise DpuError if an object has no ``write`` method."""
    if not callable(getattr(stream, "write", None)):
        raise DpuError(
            "stream argument is not an object with a 'write' method",
            detail=f"it is of type {type(stream).__name__}",
        )


def check_constructor_log(log: Any, nr_dpus: int) -> None:
    """Raise DpuError if a constructor's ``log`` does not fit the set."""
    if isinstance(log, (list, tuple)):
        if len(log) != nr_dpus:
            raise DpuError(
                "log list length does not match number of DPUs in DpuSet",
                detail=f"the list has {len(log)} streams, but the set has {nr_dpus} DPUs",
            )
        for stream in log:
            if stream is not None:
                check_stream(stream)
    elif log is not None:
        check_stream(log)


def choose_streams(
    asked: Any, defaults: Sequence[Any], dpus: Sequence[Any], groups: Sequence[tuple[Any, range]]
) -> list[Any]:
    """Return the stream of each DPU, None if its output is dropped.

    Parameters
    ----------
    asked : stream, list, dict or None
        The argument of the call.
    defaults : sequence
        The default stream of each DPU, or None.
    dpus : sequence
        The DPUs, as keys of a dict.
    groups : sequence
        Sets that can also be keys of a dict, the largest first, and the DPUs that they cover.
    """
    streams = list(defaults)
    if asked is None:
        return streams
    if isinstance(asked, (list, tuple)):
        if len(asked) != len(dpus):
            raise DpuError(
                "cannot log, log list length does not match the number of DPUs in DpuSet",
                detail=f"the list has {len(asked)} streams, but the set has {len(dpus)} DPUs",
            )
        streams = [new if new is not None else old for new, old in zip(asked, streams, strict=True)]
    elif isinstance(asked, dict):
        _apply_dict(asked, streams, dpus, groups)
    else:
        streams = [asked] * len(dpus)

    for stream in streams:
        if stream is not None:
            check_stream(stream)
    return streams


def _apply_dict(
    asked: dict[Any, Any],
    streams: list[Any],
    dpus: Sequence[Any],
    groups: Sequence[tuple[Any, range]],
) -> None:
    """Replace the streams of sets, then those of single DPUs, that a dict has."""
    for group, covered in groups:
        stream = asked.get(group)
        if stream is not None:
            for position in covered:
                streams[position] = stream
    for position, dpu in enumerate(dpus):
        if asked.get(dpu) is not None:
            streams[position] = asked[dpu]
