# SPDX-License-Identifier: BSD-3-Clause
"""The join: from pmappings of single Einsums to mappings of the whole workload."""

cimport cython
from libc.stdint cimport SIZE_MAX, UINT32_MAX, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy
from accelforge.libfuse cimport (
    FUSE_COUNTER_COUNT,
    FUSE_OK,
    FUSE_OUT_OF_MEMORY,
    FUSE_STOPPED,
    fuse_access,
    fuse_answer,
    fuse_answer_clear,
    fuse_einsum,
    fuse_fault,
    fuse_front,
    fuse_front_add,
    fuse_front_clear,
    fuse_front_reduce,
    fuse_front_reset,
    fuse_front_tag,
    fuse_group,
    fuse_holder,
    fuse_join,
    fuse_loop,
    fuse_request,
    fuse_reservation,
    fuse_status,
    fuse_status_text,
    fuse_tables,
)

import numpy as np

from accelforge._joining import GroupError, Join, flatten
from accelforge._joining.call import call, choose, threads_of

__all__ = ["COUNTERS", "Front", "GroupError", "Join", "join"]

COUNTERS = FUSE_COUNTER_COUNT


cdef const void *table(dict records, str name, size_t width, size_t *count) except? NULL:
    """The records of a table, which stay those of the array."""
    cdef const uint32_t[::1] view = records[name]
    cdef size_t numbers = view.shape[0]
    if numbers * sizeof(uint32_t) % width:
        raise SystemError(f"the records of {name} have another size than the join's")
    count[0] = numbers * sizeof(uint32_t) // width
    return <const void *>&view[0] if numbers else NULL


cdef const double *doubles(object array, size_t *count) except? NULL:
    cdef const double[::1] view = array
    count[0] = view.shape[0]
    return &view[0] if view.shape[0] else NULL


cdef int fill(fuse_tables *c, object tables, uint32_t columns) except -1:
    cdef dict records = tables.records
    cdef const int64_t[::1] tiles = tables.numbers["tiles"]
    c.einsums = <const fuse_einsum *>table(
        records, "einsums", sizeof(fuse_einsum), &c.einsum_count)
    c.accesses = <const fuse_access *>table(
        records, "accesses", sizeof(fuse_access), &c.access_count)
    c.groups = <const fuse_group *>table(records, "groups", sizeof(fuse_group), &c.group_count)
    c.loops = <const fuse_loop *>table(records, "loops", sizeof(fuse_loop), &c.loop_count)
    c.holders = <const fuse_holder *>table(
        records, "holders", sizeof(fuse_holder), &c.holder_count)
    c.reservations = <const fuse_reservation *>table(
        records, "reservations", sizeof(fuse_reservation), &c.reservation_count)
    c.stops = <const uint32_t *>table(records, "stops", sizeof(uint32_t), &c.stop_count)
    c.ranks = <const uint32_t *>table(records, "ranks", sizeof(uint32_t), &c.rank_count)
    c.bounds = doubles(tables.numbers["bounds"], &c.bound_count)
    c.objectives = doubles(tables.numbers["objectives"], &c.objective_number_count)
    c.values = doubles(tables.numbers["values"], &c.value_count)
    c.tile_count = tiles.shape[0]
    c.tiles = &tiles[0] if tiles.shape[0] else NULL
    c.objective_count = columns
    c.tensor_count = len(tables.tensors)
    c.memory_count = len(tables.memories)
    return 0


cdef object doubles_of(const double *numbers, size_t rows, size_t columns):
    array = np.empty((rows, columns))
    cdef double[:, ::1] view = array
    if rows * columns:
        memcpy(&view[0, 0], numbers, rows * columns * sizeof(double))
    return array


cdef object indices_of(const uint32_t *numbers, size_t rows, size_t columns):
    array = np.empty((rows, columns), np.uint32)
    cdef uint32_t[:, ::1] view = array
    if rows * columns:
        memcpy(&view[0, 0], numbers, rows * columns * sizeof(uint32_t))
    return array


cdef object result_of(const fuse_answer *answer, object tables, tuple columns):
    usage = doubles_of(answer.usage, answer.row_count, len(tables.memories))
    bound = np.array([answer.least[i] for i in range(len(columns))])
    return Join(
        einsums=tuple(tables.einsum_names),
        columns=columns,
        objectives=doubles_of(answer.objectives, answer.row_count, len(columns)),
        groups=indices_of(answer.groups, answer.row_count, len(tables.einsum_names)),
        rows=indices_of(answer.rows, answer.row_count, len(tables.einsum_names)),
        usage={
            name: usage[:, i]
            for name, i in tables.memories.items()
            if not np.isnan(usage[:, i]).any()
        },
        complete=answer.complete,
        bound=bound,
        edp_bound=answer.least_product,
        joined=answer.joined,
    )


cdef object error_of(const fuse_fault *fault, object tables):
    if fault.status == FUSE_OUT_OF_MEMORY:
        return MemoryError("out of memory (join)")
    text = fuse_status_text(fault.status).decode()
    if fault.status == FUSE_STOPPED:
        return TimeoutError("the join was stopped before it found a mapping; allow it more")
    if fault.einsum != UINT32_MAX:
        text += f": Einsum {tables.einsum_names[fault.einsum]!r}"
    if fault.group != UINT32_MAX:
        text += f", group {fault.group}"
    if fault.tensor != UINT32_MAX:
        text += f", tensor {list(tables.tensors)[fault.tensor]!r}"
    return GroupError(text)


def run(tables, columns, goal, limits, tolerances, all_memories, progress):
    """Call the join; see `join`."""
    cdef fuse_tables c
    cdef fuse_request request
    cdef fuse_answer answer
    cdef fuse_fault fault
    cdef fuse_status status
    cdef const uint8_t[::1] stop = limits.stop
    cdef uint64_t[::1] counters = progress
    if counters.shape[0] < FUSE_COUNTER_COUNT:
        raise ValueError(f"progress must have {FUSE_COUNTER_COUNT} numbers")
    fill(&c, tables, len(columns))
    request.tables = &c
    request.goal.wanted = goal.wanted
    request.goal.product = goal.product
    request.goal.energy = goal.energy
    request.goal.latency = goal.latency
    request.goal.usage = goal.usage
    request.limits.threads = limits.threads
    request.limits.stop = &stop[0]
    request.limits.deadline = limits.deadline
    request.limits.bytes = SIZE_MAX if limits.bytes >= SIZE_MAX else <size_t>limits.bytes
    request.objective_tolerance = tolerances[0]
    request.usage_tolerance = tolerances[1]
    request.all_memories = all_memories
    request.progress = &counters[0]

    with nogil:
        status = fuse_join(&request, &answer, &fault)
    try:
        if status != FUSE_OK:
            raise error_of(&fault, tables)
        return result_of(&answer, tables, columns)
    finally:
        with nogil:
            fuse_answer_clear(&answer)


@cython.binding(True)
def join(
    groups, problem, columns, metrics, *, threads=0, stop=None, deadline=float("inf"),
    memory_limit=float("inf"), objective_tolerance=0.0, resource_usage_tolerance=0.0,
    all_memories=False, progress=None, here=False,
):
    """Join pmappings to the best mappings of a workload.

    Parameters
    ----------
    groups : sequence of sequences of PmappingGroup
        One sequence per Einsum of `problem`, in its order.
    problem : mapping
        As in docs/design/accelforge.md; its mapping is not looked at.
    columns : sequence of str
        What the objectives of the groups are; all add up over Einsums.
    metrics : sequence of str
        What makes a mapping better: `columns`, ``"energy_delay_product"`` (of the columns
        ``"energy"`` and ``"latency"``), ``"resource_usage"``.
    threads : int
        0 is as many as the process may use. The result does not depend on it.
    stop : ndarray of uint8, optional
        The join stops when the first number is not 0.
    deadline : float
        When to stop, by ``time.monotonic()``.
    memory_limit : float
        Bytes of partial mappings at most.
    objective_tolerance, resource_usage_tolerance : float
        Of pmappings of a group that differ by less than these fractions, one is used. With 0 the
        result is exact.
    all_memories : bool
        Whether `usage` of the result has all memories.
    progress : ndarray of uint64, optional
        `COUNTERS` numbers that are kept up to date: number of the pass, Einsums that it has
        joined, partial mappings, pairs that were looked at.
    here : bool
        Whether to join in this thread, so that Ctrl-C has to wait for the end or the deadline. It
        saves a thread.

    Returns
    -------
    Join
        If a limit is reached, what was found so far, with bounds on what may be better.

    Raises
    ------
    GroupError
        If the groups make no sense, or nothing joins. It is a ValueError.
    TimeoutError
        If a limit is reached before anything was found.
    """
    goal = choose(tuple(columns), metrics)
    tables = flatten(groups, problem, columns)
    if progress is None:
        progress = np.zeros(FUSE_COUNTER_COUNT, np.uint64)
    if not (objective_tolerance >= 0 and resource_usage_tolerance >= 0):
        raise ValueError("tolerances must not be negative")
    return call(
        run, tables, tuple(columns), goal, threads_of(threads), stop, float(deadline),
        float(memory_limit), (float(objective_tolerance), float(resource_usage_tolerance)),
        bool(all_memories), progress, here=bool(here),
    )


@cython.final
@cython.no_gc
cdef class Front:
    """Rows that no other row beats, of all that were added.

    Parameters
    ----------
    width : int
        Numbers per row, at least one; all are to be small.
    """

    cdef fuse_front c
    cdef uint64_t seen

    def __cinit__(self, uint32_t width):
        if width == 0:
            raise ValueError("a front needs rows of one number or more")
        fuse_front_reset(&self.c, width, width)

    def __dealloc__(self):
        fuse_front_clear(&self.c)

    def add(self, costs):
        """Add rows, and return the numbers of those that no other row beats, in order.

        Parameters
        ----------
        costs : numpy.ndarray
            One row for each candidate. Rows with NaN are left out, but have a number.

        Raises
        ------
        ValueError
            The rows have another width.
        """
        cdef const double[:, ::1] rows = np.ascontiguousarray(costs, dtype=np.float64)
        if rows.shape[1] != self.c.width:
            raise ValueError(f"rows have {self.c.width} numbers here, not {rows.shape[1]}")
        cdef Py_ssize_t i
        cdef uint32_t n
        cdef bint good = True
        # Not without the GIL, which keeps other threads from this front.
        for i in range(rows.shape[0]):
            n = 0
            while n < self.c.width and rows[i, n] == rows[i, n]:
                n += 1
            if n == self.c.width:
                good = good and fuse_front_add(&self.c, &rows[i, 0], self.seen + i)
        good = good and fuse_front_reduce(&self.c)
        if not good:
            raise MemoryError("out of memory (front)")
        self.seen += rows.shape[0]

        kept = np.empty(self.c.count, dtype=np.int64)
        cdef int64_t[::1] numbers = kept
        for i in range(kept.shape[0]):
            numbers[i] = fuse_front_tag(&self.c, i)
        kept.sort()
        return kept
