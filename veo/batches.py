# SPDX-License-Identifier: BSD-3-Clause
"""Many calls of a function, with arrays of arguments: `VeoCtxt.call_many()`.

With the soft twin they are a few requests of thousands of calls each, of which two are queued at a
time: while one is executed, the arguments of the next are copied. Other libraries get one request
for each call, a window of them at a time.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from veo._batch import check, oldest, submit_batch, submit_call, to_word
from veo._memory import OnStack
from veo.errors import VeoError, VeoTimeoutError
from veo.signature import SPELLING

if TYPE_CHECKING:
    from veo._context import VeoCtxt
    from veo._function import VeoFunction
    from veo._request import VeoRequest

__all__ = ["call_many"]

Words = npt.NDArray[np.uint64]

# Words of one request of the twin: so many that a request costs nothing, and so few that they stay
# in a core's cache.
_BATCH_WORDS = 1 << 15
_BATCHES = 2
# Requests of one call that are queued at a time.
_WINDOW = 64

_INTEGERS = {
    "b": np.int8,
    "B": np.uint8,
    "h": np.int16,
    "H": np.uint16,
    "i": np.int32,
    "I": np.uint32,
    "l": np.int64,
    "L": np.uint64,
    "p": np.uint64,
}


def call_many(
    context: VeoCtxt, function: VeoFunction, arguments: Sequence[Any], timeout: float | None
) -> npt.NDArray[Any] | None:
    """Call a function for each element of arrays; see `VeoCtxt.call_many()`."""
    letters, result, batches, timeout = check(function, context, len(arguments), timeout)
    columns = [
        _column(letter, value, context, f"argument {number} of {function.name}()")
        for number, (letter, value) in enumerate(zip(letters, arguments, strict=True), 1)
    ]
    count = _count(columns, function)
    words = [column.reshape(-1) for column in columns]
    calls = _Calls(context, function, words, count, timeout)
    return _typed(result, calls.in_batches() if batches else calls.one_by_one(result))


def _count(columns: Sequence[Words], function: VeoFunction) -> int:
    lengths = sorted({len(column) for column in columns if column.ndim})
    if not lengths:
        raise ValueError(
            f"one of the arguments of {function.name}() must be an array, whose length says how "
            "often it is called"
        )
    if len(lengths) > 1:
        raise ValueError(
            f"arrays of arguments of {function.name}() have different lengths: "
            f"{', '.join(map(str, lengths))}; only single values are used for all calls"
        )
    return lengths[0]


@dataclass
class _Queued:
    """A request: its first call, and where the twin says how many calls have ended."""

    first: int
    ended: Words | None = None
    request: VeoRequest = field(init=False)


class _Calls:
    """Calls that are under way: which requests are queued, and what has ended."""

    def __init__(
        self,
        context: VeoCtxt,
        function: VeoFunction,
        columns: list[Words],
        count: int,
        timeout: float | None,
    ) -> None:
        self.context = context
        self.function = function
        self.columns = columns
        self.count = count
        self.timeout = timeout
        self.deadline = None if timeout is None else time.monotonic() + timeout
        self.queued: deque[_Queued] = deque()

    def in_batches(self) -> Words:
        """Execute them, many per request; return the registers with their results."""
        results = np.empty(self.count, np.uint64)
        size = max(1, _BATCH_WORDS // (len(self.columns) + 1))
        with self:
            for first in range(0, self.count, size):
                last = min(first + size, self.count)
                columns = [c if len(c) == 1 else c[first:last] for c in self.columns]
                ended = np.zeros(1, np.uint64)
                calls = (self.function, self.context, columns, last - first, results[first:last])
                self._queue(_Queued(first, ended), submit_batch, *calls, ended)
                if len(self.queued) == _BATCHES:
                    self._finish()
            while self.queued:
                self._finish()
        return results

    def one_by_one(self, result: str) -> npt.NDArray[Any]:
        """Execute them with a request each; return results as the type has them."""
        results = np.empty(self.count, _dtype(result))
        with self:
            for index, words in enumerate(self._rows()):
                self._queue(_Queued(index), submit_call, self.function, self.context, words)
                if len(self.queued) == _WINDOW:
                    self._take(results)
            while self.queued:
                self._take(results)
        return results

    def _rows(self) -> Iterator[tuple[int, ...]]:
        rows = (c.tolist() * (self.count if len(c) == 1 else 1) for c in self.columns)
        return zip(*rows, strict=True)

    def _queue(self, queued: _Queued, submit: Callable[..., VeoRequest], *given: Any) -> None:
        try:
            queued.request = submit(*given)
        except VeoError:
            # A call that has ended the process says more.
            while self.queued:
                self._finish()
            raise
        self.queued.append(queued)

    def _take(self, results: npt.NDArray[Any]) -> None:
        index = self.queued[0].first
        value = self._finish()
        results[index] = 0 if value is None else value

    def _finish(self) -> Any:
        """Wait for the oldest request."""
        first = self.queued[0]
        left = None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
        try:
            value = first.request.wait_result(left)
        except VeoTimeoutError as error:
            raise VeoTimeoutError(self._late(), function=error.function) from None
        except VeoError as error:
            error.index = first.first + (0 if first.ended is None else int(first.ended[0]))
            error.args = (f"call {error.index} of {self.count}: {error}",)
            raise
        self.queued.popleft()
        return value

    def _late(self) -> str:
        """Take back what has not begun; say what continues after the timeout."""
        first = self.queued[0]
        self._take_back()
        left = sum(not queued.request.done() for queued in self.queued)
        if left and first.ended is None:
            rest = (
                f"{left} that are queued continue, as the library takes no call back; those behind "
                "them were not called"
            )
        elif left:
            rest = "The one that runs continues, and those behind it were taken back"
        else:
            rest = "Those that had not begun were taken back"
        behind = oldest(first.request)
        return (
            f"{self.count} calls of {self.function.name}() did not end within {self.timeout:g} s. "
            f"{rest}{'. Their context still has ' if behind else ''}{behind}"
        )

    def _take_back(self) -> None:
        for queued in reversed(self.queued):
            queued.request.cancel()

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Take back what has not begun, after an error or Ctrl-C."""
        if kind is not None:
            self._take_back()


def _dtype(letter: str) -> Any:
    return {"d": np.float64, "f": np.float32, "?": np.bool_}.get(letter) or _INTEGERS.get(
        letter, np.int64
    )


def _typed(letter: str, results: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Convert registers to what the type has; None for void."""
    if letter == "v":
        return None
    if results.dtype != np.uint64 or letter in "Lp":
        return results
    if letter == "d":
        return results.view(np.float64)
    if letter == "f":
        return (results >> np.uint64(32)).astype(np.uint32).view(np.float32)
    if letter == "?":
        # Only the lowest byte of a C bool is defined.
        return results.astype(np.uint8).astype(np.bool_)
    return results.astype(_INTEGERS[letter])


def _column(letter: str, given: Any, context: VeoCtxt, what: str) -> Words:
    """Convert an argument to registers: with a dimension if there is one for each call."""
    if isinstance(given, OnStack):
        raise TypeError(
            f"{what} cannot be OnStack for many calls: copy it with to_device() and pass addresses"
        )
    is_list = isinstance(given, (list, tuple))
    array = given if isinstance(given, np.ndarray) else None
    if array is None and is_list:
        array = _plain_array(given)
    try:
        if array is None and not is_list:
            return np.array(to_word(letter, given, context.proc), np.uint64)
        if array is not None and array.dtype.kind in "iufb":
            return _words(letter, _checked_shape(array))
        if array is not None and array.dtype.kind != "O":
            raise TypeError(f"an array of {array.dtype} has no numbers that a register holds")
        values = list(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"{what}: {error}") from None

    words = np.empty(len(values), np.uint64)
    for index, value in enumerate(values):
        try:
            words[index] = to_word(letter, value, context.proc)
        except (TypeError, ValueError, OverflowError) as error:
            raise type(error)(f"{what}, for call {index}: {error}") from None
    return words


def _plain_array(values: Any) -> npt.NDArray[Any] | None:
    """Convert a list of Python's numbers; None if some are more than that."""
    kinds = set(map(type, values))
    if kinds != {int} and kinds != {float}:
        return None
    array = np.asarray(values)
    # Integers that no type of NumPy has all of would become doubles.
    return array if kinds == {float} or array.dtype.kind in "iu" else None


def _checked_shape(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.ndim > 1:
        raise ValueError(f"it has {array.ndim} dimensions: only arrays of one are called through")
    return array


def _words(letter: str, array: npt.NDArray[Any]) -> Words:
    """Convert numbers of any type to registers of a parameter of type `letter`."""
    if letter == "d":
        return np.ascontiguousarray(array, np.float64).view(np.uint64).reshape(array.shape)
    if letter == "f":
        floats = np.ascontiguousarray(array, np.float32).reshape(array.shape)
        return floats.view(np.uint32).astype(np.uint64) << np.uint64(32)
    if letter == "?":
        truth: Words = (array != 0).astype(np.uint64)
        return truth

    target = np.dtype(_INTEGERS[letter])
    if not np.can_cast(array.dtype, target):
        _check_range(array, target, letter)
    wide: npt.NDArray[Any] = array.astype(target).astype(
        np.uint64 if target.kind == "u" else np.int64
    )
    words: Words = np.ascontiguousarray(wide).view(np.uint64)
    return words


def _check_range(array: npt.NDArray[Any], target: np.dtype[Any], letter: str) -> None:
    flat = array.reshape(-1)
    limits = np.iinfo(target)
    if flat.dtype.kind == "f":
        bad = np.flatnonzero(np.floor(flat) != flat)
        if len(bad):
            raise TypeError(
                f"an integer is required, and {flat[bad[0]]!r}, for call {bad[0]}, is not whole"
            )
    low = flat < limits.min if flat.dtype.kind != "u" else np.zeros(len(flat), bool)
    # The largest 64-bit integers are no doubles: what is as large as the next does not fit.
    high = flat >= float(limits.max) + 1 if flat.dtype.kind == "f" else flat > limits.max
    bad = np.flatnonzero(low | high)
    if len(bad):
        raise OverflowError(
            f"{flat[bad[0]]}, for call {bad[0]}, does not fit into type {SPELLING[letter]}"
        )
