# SPDX-License-Identifier: BSD-3-Clause
"""The engine: evaluates problems, one at a time or many in threads."""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport uint8_t, uint32_t
from accelforge.libforge cimport (
    FORGE_BAD_NUMBER,
    FORGE_OK,
    FORGE_OUT_OF_MEMORY,
    forge_batch,
    forge_batch_run,
    forge_column,
    forge_fault,
    forge_model,
    forge_model_create,
    forge_model_destroy,
    forge_model_evaluate,
    forge_number,
    forge_number_fits,
    forge_problem,
    forge_scratch,
    forge_scratch_create,
    forge_scratch_destroy,
    forge_series,
    forge_status,
)

from accelforge.libtables cimport fault_fields, fill_problem, index_of
from offchip.waiting cimport SLICE_NS

import os
from array import array

from accelforge._naming import describe, name_columns
from accelforge._problem import ANY, ProblemError, flatten
from accelforge._results import Batch, Failure, Result

__all__ = ["Batch", "Failure", "Model", "ProblemError", "Result", "evaluate", "evaluate_batch"]


@cython.final
cdef class Model:
    """A problem, compiled for evaluation.

    Parameters
    ----------
    problem : dict
        As in docs/design/accelforge.md. It is not kept.

    Raises
    ------
    ProblemError
        If it is malformed, or its mapping has no meaning whatever the numbers are.

    Notes
    -----
    A model may be used by several threads.
    """

    cdef forge_model *c
    cdef readonly list columns
    cdef object tables
    cdef dict column_numbers
    cdef object zeros  # a number for each column; copies of it cost little

    def __cinit__(self):
        self.c = NULL

    def __init__(self, problem):
        cdef forge_fault fault
        cdef forge_problem flat
        cdef forge_status status
        if self.c is not NULL:
            raise RuntimeError("this Model is already initialised")
        tables = flatten(problem)
        fill_problem(&flat, tables)
        with nogil:
            status = forge_model_create(&self.c, &flat, &fault)
        if status == FORGE_OUT_OF_MEMORY:
            raise MemoryError("out of memory (model)")
        self.tables = tables
        if status != FORGE_OK:
            path, reason = describe(fault_fields(&fault), tables)[:2]
            raise ProblemError(reason, path)
        self.columns = name_columns(self.raw_columns(), tables)
        self.column_numbers = {column: i for i, column in enumerate(self.columns)}
        self.zeros = array("d", bytes(self.c.column_count * sizeof(double)))

    def __dealloc__(self):
        forge_model_destroy(self.c)

    def __reduce_ex__(self, protocol):
        raise TypeError("a Model cannot be pickled; pickle the problem")

    cdef list raw_columns(self):
        cdef forge_column *column
        found = []
        for i in range(self.c.column_count):
            column = &self.c.columns[i]
            found.append((
                column.kind, index_of(column.einsum), index_of(column.component),
                index_of(column.level), index_of(column.tensor), index_of(column.detail),
            ))
        return found

    @property
    def parameters(self):
        """Names of the parameters of the problem."""
        return list(self.tables.parameters)

    cdef list slots(self, name):
        """Find the values that a parameter or path sets."""
        if name in self.tables.parameters:
            return list(self.tables.parameters[name])
        slot = self.tables.slot(name) if isinstance(name, str) else None
        if slot is None:
            known = ", ".join(self.tables.parameters) or "none"
            raise ProblemError(f"{name!r} is neither a parameter ({known}) nor a path of a number")
        if self.tables.numbers[slot] == ANY:
            raise ProblemError("this number is part of the structure and cannot vary", name)
        return [slot]

    def evaluate(self, changed=None, /, **parameters):
        """Evaluate the mapping.

        Parameters
        ----------
        changed : dict of str to float, optional
            Numbers that differ from the problem's, by parameter or path.
        **parameters
            The same, for parameters whose names are identifiers.

        Returns
        -------
        Result
        """
        cdef forge_fault fault
        cdef forge_scratch *scratch
        cdef const double[::1] numbers
        cdef double[::1] row
        cdef const double *start = NULL
        values = self.zeros[:]
        row = values
        changes = {**(changed or {}), **parameters}
        if changes:
            numbers = self.changed_values(changes)
            start = &numbers[0]
        scratch = forge_scratch_create(self.c)
        if scratch is NULL:
            raise MemoryError("out of memory (evaluation)")
        with nogil:
            forge_model_evaluate(self.c, scratch, start, &row[0], &fault)
        forge_scratch_destroy(scratch)
        return Result(self.columns, values, self.failure_of(&fault))

    cdef object failure_of(self, forge_fault *fault):
        if fault.status == FORGE_OK:
            return None
        return describe(fault_fields(fault), self.tables)[2]

    cdef object changed_values(self, dict changes):
        cdef double number
        cdef uint32_t slot
        values = array("d", self.tables.values)
        for name, value in changes.items():
            number = value
            for slot in self.slots(name):
                if not forge_number_fits(<forge_number>self.c.problem.numbers[slot], number):
                    fault = {"status": <int>FORGE_BAD_NUMBER, "value": slot, "number": number}
                    path, reason = describe(fault, self.tables)[:2]
                    raise ProblemError(reason, path)
                values[slot] = number
        return values

    def evaluate_batch(self, series, *, threads=0, columns=None):
        """Evaluate the mapping with many sets of numbers.

        Parameters
        ----------
        series : dict of str to array_like
            One number per row for each parameter or path. A single number is for all rows.
        threads : int, optional
            Number of threads; 0 uses all cores that the process may use.
        columns : list of tuple, optional
            A part of `columns`; all by default.

        Returns
        -------
        Batch
            Its rows do not depend on the number of threads.
        """
        cdef forge_batch batch
        cdef forge_status status = FORGE_OK
        cdef unsigned count
        cdef const uint32_t[::1] chosen
        cdef double[:, ::1] out
        cdef uint8_t[::1] statuses
        cdef uint32_t nothing = 0
        import numpy as np

        threads = len(os.sched_getaffinity(0)) if threads == 0 else threads
        if not 0 < threads < 1 << 16:
            raise ValueError(f"threads must be 0 or a positive number, not {threads}")
        count = threads
        names, arrays, rows = self.rows_of(series)
        columns = self.columns if columns is None else list(columns)
        selected = np.array([self.column_number(column) for column in columns], dtype=np.uint32)
        results = np.full((rows, len(columns)), np.nan)
        status_array = np.zeros(rows, dtype=np.uint8)
        slots = [self.slots(name) for name in names]
        if rows == 0:
            return Batch(columns, results, status_array, lambda row: None)

        out = results
        statuses = status_array
        chosen = selected
        batch.model = self.c
        batch.rows = rows
        batch.next = 0
        batch.selected = &chosen[0] if len(columns) else &nothing
        batch.selected_count = len(columns)
        batch.results = &out[0, 0] if len(columns) else NULL
        batch.statuses = &statuses[0]
        self.set_series(&batch, arrays, slots)
        try:
            while status == FORGE_OK and batch.next < batch.rows:
                with nogil:
                    status = forge_batch_run(&batch, count, SLICE_NS * 1e-9)
                PyErr_CheckSignals()
        finally:
            PyMem_Free(<void *>batch.series)
        if status != FORGE_OK:
            raise MemoryError("out of memory (batch)")
        return Batch(columns, results, status_array, self.explainer(names, arrays, status_array))

    cdef int set_series(self, forge_batch *batch, list arrays, list slots) except -1:
        """Fill in the series; the arrays stay the caller's."""
        cdef forge_series *series
        cdef const double[::1] view
        cdef size_t i = 0
        batch.series_count = sum(map(len, slots))
        series = <forge_series *>PyMem_Calloc(batch.series_count + 1, sizeof(forge_series))
        if series is NULL:
            raise MemoryError("out of memory (batch)")
        batch.series = series
        for array, of_name in zip(arrays, slots):
            view = array
            for slot in of_name:
                series[i].value = slot
                series[i].numbers = &view[0]
                i += 1
        return 0

    cdef tuple rows_of(self, series):
        """Return names, arrays of equal length, and that length."""
        import numpy as np

        arrays = [np.array(numbers, dtype=np.float64) for numbers in series.values()]
        lengths = {array.shape[0] for array in arrays if array.ndim == 1}
        if len(lengths) > 1 or any(array.ndim > 1 for array in arrays):
            raise ValueError(f"series must be numbers or lists of one length, not of {lengths}")
        rows = lengths.pop() if lengths else 1
        arrays = [np.ascontiguousarray(np.broadcast_to(array, rows)) for array in arrays]
        return list(series), arrays, rows

    cdef object column_number(self, column):
        """Find a column."""
        number = self.column_numbers.get(column)
        if number is None:
            raise KeyError(f"no column {column!r}")
        return number

    cdef object explainer(self, names, arrays, statuses):
        """Make the function that explains why a row is invalid."""
        def explain(row):
            if statuses[row] == 0:
                return None
            changes = {name: array[row] for name, array in zip(names, arrays)}
            try:
                return self.evaluate(changes).failure
            except ProblemError as error:
                return Failure("bad_number", str(error))
        return explain


def evaluate(problem):
    """Compile a problem and evaluate it once."""
    return Model(problem).evaluate()


def evaluate_batch(problem, series, *, threads=0, columns=None):
    """Compile a problem and evaluate it with many sets of numbers."""
    return Model(problem).evaluate_batch(series, threads=threads, columns=columns)
