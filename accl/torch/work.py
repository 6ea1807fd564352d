# SPDX-License-Identifier: BSD-3-Clause
"""Operations that were started: what torch.distributed returns with ``async_op=True``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from torch.distributed.distributed_c10d import Work as _Work
from torch.futures import Future

from accl.errors import ACCLClosedError, ACCLUnfinishedError

if TYPE_CHECKING:
    from torch import Tensor

    from accl._handle import ACCLHandle

__all__ = ["FromAny", "Lane", "Message", "Work"]


def _seconds(timeout: timedelta | None) -> float | None:
    """Give a timeout in seconds; PyTorch says none with zero."""
    return timeout.total_seconds() if timeout else None


class Work(_Work):
    """An operation that a thread of its group carries out, after those before it.

    Parameters
    ----------
    name : str
        The operation.
    job : callable
        Carries it out.
    results : sequence of Tensor
        What `result()` and the future give.
    """

    def __init__(self, name: str, job: Callable[[], None], results: Sequence[Tensor]) -> None:
        super().__init__()
        self.name = name
        self._job: Callable[[], None] | None = job
        self._results = list(results)
        self._error: BaseException | None = None
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._start: Future[None] | None = None
        self._future: Future[list[Tensor]] | None = None

    def run(self) -> None:
        """Carry it out; its error is kept for those who wait."""
        job, self._job = self._job, None
        try:
            if job is not None:
                job()
        except BaseException as error:
            self._error = error
        self._end()

    def fail(self, error: BaseException) -> None:
        """End it with an error, without carrying it out."""
        self._job, self._error = None, error
        self._end()

    def _end(self) -> None:
        with self._lock:
            self._ended.set()
            start = self._start
        if start is not None:
            start.set_result(None)

    def _value(self, _: Any = None) -> list[Tensor]:
        if self._error is not None:
            raise self._error
        return self._results

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait for the end, and raise the error of the operation if it failed.

        Parameters
        ----------
        timeout : datetime.timedelta, optional
            How long; None and zero wait without limit.

        Raises
        ------
        ACCLUnfinishedError
            It did not end in time, and continues.
        """
        limit = _seconds(timeout)
        if not self._ended.wait(limit):
            raise ACCLUnfinishedError(
                f"{self.name}: did not finish within {limit:g} s; it continues, and may be "
                "waited for again"
            )
        self._value()
        return True

    def get_future(self) -> Future[list[Tensor]]:
        """Return a future of the results, or of the error."""
        with self._lock:
            if self._future is None:
                # A future has no way to be given an error but by a function that raises it.
                self._start = Future()
                self._future = self._start.then(self._value)
                if self._ended.is_set():
                    self._start.set_result(None)
            return self._future

    def is_completed(self) -> bool:
        """Return whether it has ended, successfully or not."""
        return self._ended.is_set()

    def is_success(self) -> bool:
        """Return whether it has ended without an error."""
        return self._ended.is_set() and self._error is None

    def exception(self) -> BaseException | None:
        """Return its error once it has ended, None before and after success."""
        return self._error

    def synchronize(self) -> None:
        """Wait for the end."""
        self.wait()

    def result(self) -> list[Tensor]:
        """Wait for the end, and return the tensors with the results."""
        self.wait()
        return self._results


class Message(Work):
    """A message, which the engine carries as soon as the other side is there.

    Parameters
    ----------
    name : str
        The operation.
    handle : ACCLHandle
        The engine's call.
    finish : callable
        Moves what was received to where it belongs; runs once, after the call.
    results : sequence of Tensor
        What `result()` and the future give.
    source : int
        The rank that sends.
    """

    def __init__(
        self,
        name: str,
        handle: ACCLHandle,
        finish: Callable[[], None],
        results: Sequence[Tensor],
        source: int,
    ) -> None:
        super().__init__(name, finish, results)
        self._handle = handle
        self._source = source
        self._finishing = threading.Lock()

    def _finish(self, _: Any = None) -> None:
        with self._finishing:
            if self._ended.is_set():
                return
            error = self._handle.exception()
            if error is None:
                self.run()
            else:
                self.fail(error)

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait for the end, as for other operations."""
        if not self._ended.is_set():
            # Raises if it takes longer.
            self._handle.exception(_seconds(timeout))
            self._finish()
        return super().wait()

    def get_future(self) -> Future[list[Tensor]]:
        """Return a future of the results, or of the error."""
        made = super().get_future()
        self._handle.add_done_callback(self._finish)
        return made

    def is_completed(self) -> bool:
        """Return whether it has ended, successfully or not."""
        if not self._ended.is_set() and self._handle.done():
            self._finish()
        return super().is_completed()

    def is_success(self) -> bool:
        """Return whether it has ended without an error."""
        return self.is_completed() and super().is_success()

    def source_rank(self) -> int:
        """Return the rank that sends."""
        return self._source

    _source_rank = source_rank


class FromAny(Work):
    """A message from any rank, which a thread of the group receives.

    Parameters
    ----------
    name : str
        The operation.
    receive : callable
        Receives it, and returns the rank that has sent it.
    results : sequence of Tensor
        What `result()` and the future give.
    """

    def __init__(self, name: str, receive: Callable[[], int], results: Sequence[Tensor]) -> None:
        def job() -> None:
            self._source = receive()

        super().__init__(name, job, results)
        self._source = -1

    def source_rank(self) -> int:
        """Wait for the end, and return the rank that has sent."""
        self.wait()
        return self._source

    _source_rank = source_rank


class Lane:
    """Carries out the collectives of a group one after the other.

    One that is waited for at once runs in the thread that calls it, if none is before it; the
    others run in a thread that the first of them starts.

    Parameters
    ----------
    name : str
        Name of the thread.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._turn = threading.Lock()
        self._count = threading.Lock()
        self._pending = 0
        self._jobs: SimpleQueue[Work | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = False

    def run(self, name: str, job: Callable[[], None], results: Sequence[Tensor]) -> None:
        """Carry out an operation after those before it, and wait for it."""
        if self._pending:
            self.start(name, job, results).wait()
            return
        with self._turn:
            self._check(name)
            job()

    def start(self, name: str, job: Callable[[], None], results: Sequence[Tensor]) -> Work:
        """Have an operation carried out after those before it."""
        return self.put(Work(name, job, results))

    def put(self, work: Work) -> Work:
        """Have a work carried out after those before it."""
        with self._count:
            self._check(work.name)
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
                self._thread.start()
            self._pending += 1
            self._jobs.put(work)
        return work

    def _check(self, name: str) -> None:
        if self._closed:
            raise ACCLClosedError(f"{name}: the process group was shut down")

    def _serve(self) -> None:
        while (work := self._jobs.get()) is not None:
            with self._turn:
                if self._closed:
                    work.fail(ACCLClosedError("the process group was shut down"))
                else:
                    work.run()
                with self._count:
                    self._pending -= 1

    def close(self, interrupt: Callable[[], None]) -> None:
        """End the thread. Operations that are not done fail.

        Parameters
        ----------
        interrupt : callable
            Makes the operation that runs end.
        """
        with self._count:
            self._closed = True
            self._jobs.put(None)
        interrupt()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
