# SPDX-License-Identifier: BSD-3-Clause
"""The search of one Einsum's mapspace, in C and in threads."""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport UINT32_MAX, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from accelforge.libforge cimport (
    FORGE_OK,
    FORGE_OUT_OF_MEMORY,
    forge_fault,
    forge_status,
)
from accelforge.libsearch cimport (
    FORGE_OBJECTIVES,
    forge_comparison,
    forge_found,
    forge_group_column,
    forge_group_node,
    forge_groups,
    forge_groups_clear,
    forge_groups_make,
    forge_keeper,
    forge_least_of_template,
    forge_settings,
    forge_node,
    forge_order,
    forge_placement,
    forge_pmapping_group,
    forge_progress,
    forge_resident,
    forge_incumbents,
    forge_rows,
    forge_search,
    forge_search_destroy,
    forge_search_finish,
    forge_search_low,
    forge_search_progress,
    forge_search_standing,
    forge_search_request,
    forge_search_start,
    forge_search_stop,
    forge_search_wait,
    forge_space,
    forge_space_check,
    forge_template,
    forge_templates,
    forge_templates_clear,
    forge_templates_make,
    forge_usage,
)
from accelforge.libtables cimport fault_fields, fill_problem, table

import time

import numpy as np

from accelforge._naming import describe
from accelforge._problem import ProblemError
from accelforge._problem.mapspace import METRICS, Mapspace, flatten_mapspace

__all__ = ["METRICS", "Found", "bound_templates", "flatten_mapspace", "list_templates", "search"]

# Between two looks at signals, the clock and what the caller says.
cdef double SLICE_S = 0.02


cdef int fill_space(forge_space *flat, object space) except -1:
    """Point FLAT at the tables, which must outlive it."""
    cdef dict records = space.records
    cdef const uint64_t[::1] sets
    cdef const double[::1] numbers
    cdef const double[::1] settings = space.settings
    cdef const uint32_t[::1] variable_ranks = space.variable_ranks
    cdef const uint32_t[::1] tensor_ranks = space.tensor_ranks
    cdef const uint32_t[::1] level_ranks = space.level_ranks
    cdef const uint8_t[::1] unforced = space.unforced
    cdef const uint8_t[::1] tracked = space.tracked
    fill_problem(&flat.problem, space.tables)
    flat.placements = <const forge_placement *>table(
        records, "placements", sizeof(forge_placement), &flat.placement_count)
    flat.keepers = <const forge_keeper *>table(
        records, "keepers", sizeof(forge_keeper), &flat.keeper_count)
    flat.orders = <const forge_order *>table(
        records, "orders", sizeof(forge_order), &flat.order_count)
    flat.residents = <const forge_resident *>table(
        records, "residents", sizeof(forge_resident), &flat.resident_count)
    flat.comparisons = <const forge_comparison *>table(
        records, "comparisons", sizeof(forge_comparison), &flat.comparison_count)
    flat.usages = <const forge_usage *>table(
        records, "usages", sizeof(forge_usage), &flat.usage_count)
    if len(space.sets):
        sets = space.sets
        flat.sets = &sets[0]
        flat.set_count = sets.shape[0]
    if len(space.numbers):
        numbers = space.numbers
        flat.numbers = &numbers[0]
        flat.number_count = numbers.shape[0]
    if len(space.variable_ranks):
        flat.variable_ranks = &variable_ranks[0]
    if len(space.tensor_ranks):
        flat.tensor_ranks = &tensor_ranks[0]
    flat.level_ranks = &level_ranks[0]
    flat.unforced = &unforced[0]
    flat.tracked = &tracked[0]
    flat.shared = space.shared
    flat.intermediate = space.intermediate
    flat.usage = space.usage
    for i in range(FORGE_OBJECTIVES):
        flat.wanted[i] = space.wanted[i]
    if settings.shape[0] * sizeof(double) != sizeof(forge_settings):
        raise SystemError("the mapper has other settings than the search")
    memcpy(&flat.settings, &settings[0], sizeof(forge_settings))
    return 0


@cython.final
cdef class Names:
    """Names of an Einsum's parts."""

    cdef list variables
    cdef list tensors
    cdef list levels
    cdef list dimensions
    cdef str einsum

    def __init__(self, object tables):
        self.variables = tables.variables[0]
        self.tensors = tables.accesses[0]
        self.levels = tables.levels[0]
        self.dimensions = tables.dimensions[0]
        self.einsum = tables.einsum_names[0]

    cdef tuple group_node(self, forge_group_node *node):
        if node.kind == 0:
            return "hold", self.levels[node.level], self.tensors[node.member]
        if node.kind == 1:
            return "temporal", self.variables[node.member]
        return (
            "spatial", self.levels[node.level], self.dimensions[node.level][node.dimension],
            self.variables[node.member],
        )

    cdef dict node(self, forge_node *node):
        if node.kind == 0:
            made = {"hold": self.levels[node.level], "tensors": [self.tensors[node.tensor]]}
            if node.persistent:
                made["persistent"] = True
            return made
        if node.kind == 1:
            return {"temporal": self.variables[node.variable]}
        return {
            "spatial": self.variables[node.variable],
            "component": self.levels[node.level],
            "dim": self.dimensions[node.level][node.dimension],
        }

    cdef list template(self, const forge_template *template):
        nodes = [self.node(&template.nodes[i]) for i in range(template.node_count)]
        nodes.append({"compute": self.levels[len(self.levels) - 1], "einsum": self.einsum})
        return nodes


@cython.final
cdef class Found:
    """Outcome of a search.

    Attributes
    ----------
    groups : list of dict
        Fields of groups of pmappings.
    templates : int
        Number of templates.
    evaluated, valid : int
        Number of choices of tiles, partial ones included.
    complete : bool
        True if nothing was left out.
    bound : dict of str to float
        By objective: nothing that was left out is below this.
    low : ndarray
        ``(templates, 4)``: no pmapping of a template is below this, found or not.
    backings : list of tuple
        Where shared tensors are held outermost: pairs of tensor and memory, in order. Each once.
    backing_of : ndarray
        The place of each template's among these.
    """

    cdef readonly list groups
    cdef readonly object templates
    cdef readonly object evaluated
    cdef readonly object valid
    cdef readonly bint complete
    cdef readonly dict bound
    cdef readonly object low
    cdef readonly list backings
    cdef readonly object backing_of
    cdef Names names
    cdef list metrics

    cdef dict group(self, forge_found *found, forge_pmapping_group *group):
        cdef size_t rows = group.row_count
        cdef size_t loops = group.loop_count
        cdef const forge_rows *source
        cdef uint32_t *tiles
        full_tiles = []
        for i in range(rows):
            source = &found.rows[group.templates[i]]
            tiles = &source.tiles[<size_t>group.rows[i] * source.loop_count]
            full_tiles.append(tuple([tiles[k] for k in range(source.loop_count)]))
        used = sorted({group.templates[i] for i in range(rows)})
        made = {
            "einsum": self.names.einsum,
            "nodes": tuple([
                self.names.group_node(&group.nodes[i]) for i in range(group.node_count)
            ]),
            "stops": tuple([group.stops[i] for i in range(group.stop_count)]),
            "objectives": self.objectives(group),
            "tiles": indices_of(group.tiles, rows, loops),
            "template": places_of(group.templates, rows, used),
            "full_tiles": full_tiles,
            "templates": [
                self.names.template(&found.templates.list[<uint32_t>t]) for t in used
            ],
            "reservations": {},
            "shared": {},
            "persistent": {},
        }
        for i in range(group.column_count):
            self.add_column(made, &group.columns[i], rows)
        return made

    cdef object objectives(self, forge_pmapping_group *group):
        """The columns that are minimised."""
        columns = [METRICS.index(name) for name in self.metrics if name in METRICS]
        array = np.empty((group.row_count, len(columns)))
        cdef double[:, ::1] view = array
        cdef size_t column
        for k in range(len(columns)):
            column = columns[k]
            for i in range(group.row_count):
                view[i, k] = group.objectives[FORGE_OBJECTIVES * i + column]
        return array

    cdef int add_column(self, dict made, forge_group_column *column, size_t rows) except -1:
        shares = numbers_of(column.shares, rows)
        memory = self.names.levels[column.level]
        depth = -1 if column.depth == UINT32_MAX else <int>column.depth
        if column.tensor != UINT32_MAX:
            made["shared"][self.names.tensors[column.tensor]] = (memory, depth, shares)
        elif column.persistent:
            made["persistent"][memory, depth] = shares
        else:
            made["reservations"][memory, depth] = shares
        return 0

    cdef int note_backings(self, const forge_templates *templates, uint64_t shared) except -1:
        cdef const forge_template *template
        cdef const forge_node *node
        places = {}
        numbers = np.empty(templates.count, np.int32)
        for t in range(templates.count):
            template = &templates.list[t]
            held = []
            for i in range(template.node_count):
                node = &template.nodes[i]
                if node.kind == 0 and node.backing and shared >> node.tensor & 1:
                    held.append((self.names.tensors[node.tensor], self.names.levels[node.level]))
            numbers[t] = places.setdefault(tuple(sorted(held)), len(places))
        self.backings = list(places)
        self.backing_of = numbers
        return 0

    cdef int fill(self, forge_found *found, forge_groups *groups) except -1:
        self.groups = [self.group(found, &groups.list[i]) for i in range(groups.count)]
        self.templates = found.templates.count
        self.complete = found.complete
        self.bound = {
            name: found.bound[METRICS.index(name)] for name in self.metrics if name in METRICS
        }
        return 0


cdef object numbers_of(const double *source, size_t count):
    array = np.empty(count)
    cdef double[::1] view = array
    if count:
        memcpy(&view[0], source, count * sizeof(double))
    return array


cdef object indices_of(const uint32_t *source, size_t rows, size_t columns):
    array = np.empty((rows, columns), np.int64)
    cdef int64_t[:, ::1] view = array
    for i in range(rows):
        for k in range(columns):
            view[i, k] = source[i * columns + k]
    return array


cdef object places_of(const uint32_t *numbers, size_t count, list known):
    """The place of each number among the KNOWN ones."""
    places = {number: i for i, number in enumerate(known)}
    array = np.empty(count, np.int32)
    cdef int32_t[::1] view = array
    for i in range(count):
        view[i] = places[numbers[i]]
    return array


cdef int wait(
    forge_search *searching, object stop, double deadline, object progress
) except -1:
    """Wait for the end, and stop the search when the caller, the clock or Ctrl-C says so."""
    cdef bint ended = False
    cdef forge_progress state
    cdef double best[FORGE_OBJECTIVES]
    cdef double bound[FORGE_OBJECTIVES]
    while not ended:
        with nogil:
            ended = forge_search_wait(searching, SLICE_S)
        try:
            PyErr_CheckSignals()
        except KeyboardInterrupt:
            if stop is None:
                raise
            stop[0] = 1
        if time.monotonic() > deadline or (stop is not None and stop[0]):
            forge_search_stop(searching)
        if progress is not None:
            state = forge_search_progress(searching)
            forge_search_standing(searching, best, bound)
            progress({
                "templates": state.templates,
                "done": state.done,
                "evaluated": state.evaluated,
                "valid": state.valid,
                "best": [best[i] for i in range(FORGE_OBJECTIVES)],
                "bound": [bound[i] for i in range(FORGE_OBJECTIVES)],
            })
    return 0


cdef int check(forge_status status, forge_fault *fault, object space) except -1:
    if status == FORGE_OK:
        return 0
    if status == FORGE_OUT_OF_MEMORY:
        raise MemoryError("out of memory (search)")
    path, reason = describe(fault_fields(fault), space.tables)[:2]
    raise ProblemError(reason, f"problem.{path}" if path else "")


cdef int fill_incumbents(forge_incumbents *flat, object incumbents) except -1:
    """Point FLAT at the arrays, which must outlive it."""
    cdef const double[:, ::1] points = incumbents.points
    cdef const double[:, ::1] low
    cdef const double[:, ::1] rests
    if points.shape[1] != FORGE_OBJECTIVES:
        raise ValueError(f"points must have {FORGE_OBJECTIVES} columns")
    flat.points = &points[0, 0] if points.shape[0] else NULL
    flat.count = points.shape[0]
    flat.product = incumbents.product
    for i in range(FORGE_OBJECTIVES):
        flat.rest[i] = incumbents.rest[i]
        flat.compared[i] = incumbents.compared[i]
    if incumbents.low is not None and len(incumbents.low):
        low = incumbents.low
        if low.shape[1] != FORGE_OBJECTIVES:
            raise ValueError(f"low must have {FORGE_OBJECTIVES} columns")
        flat.low = &low[0, 0]
        flat.low_count = low.shape[0]
        if incumbents.rests is not None:
            rests = incumbents.rests
            if rests.shape[0] != low.shape[0] or rests.shape[1] != FORGE_OBJECTIVES:
                raise ValueError("rests must have the shape of low")
            flat.rests = &rests[0, 0]
    return 0


cdef object low_of(const forge_search *searching, size_t templates):
    array = np.empty((templates, FORGE_OBJECTIVES))
    cdef double[:, ::1] view = array
    for t in range(templates):
        forge_search_low(searching, <uint32_t>t, &view[t, 0])
    return array


def search(
    mapspace, *, unsigned threads, stop=None, double deadline, double memory_limit, progress=None,
    uint32_t width=0, incumbents=None,
):
    """Search a mapspace.

    Parameters
    ----------
    mapspace : dict, or what `flatten_mapspace` makes of one
        See docs/design/accelforge.md.
    threads : int
        At least 1.
    stop : buffer, optional
        The search ends soon once its first element is not 0, which Ctrl-C makes it. Without this,
        Ctrl-C raises KeyboardInterrupt.
    deadline : float
        The same, at this time of `time.monotonic`.
    memory_limit : float
        Bytes.
    progress : callable, optional
        Called with a dict of numbers many times a second; ``best`` and ``bound`` are lists.
    width : int
        If not 0, only this many choices of tiles are kept at each loop.
    incumbents : Incumbents, optional
        Mappings that they dominate are pruned.

    Returns
    -------
    Found

    Raises
    ------
    ProblemError
        The mapspace has no meaning.
    """
    cdef forge_space flat
    cdef forge_fault fault
    cdef forge_search *searching = NULL
    cdef forge_status status
    cdef forge_found result
    cdef forge_groups groups
    cdef forge_progress state
    cdef forge_search_request request
    cdef Found found = Found()
    space = mapspace if isinstance(mapspace, Mapspace) else flatten_mapspace(mapspace)
    memset(&flat, 0, sizeof(flat))
    memset(&groups, 0, sizeof(groups))
    memset(&request, 0, sizeof(request))
    fill_space(&flat, space)
    request.space = &flat
    request.threads = threads
    request.memory_limit = <size_t>-1
    if memory_limit < 2.0 ** 62:
        request.memory_limit = <size_t>memory_limit
    request.width = width
    if incumbents is not None:
        fill_incumbents(&request.incumbents, incumbents)
    found.names = Names(space.tables)
    found.metrics = space.metrics
    try:
        with nogil:
            status = forge_search_start(&searching, &request, &fault)
        check(status, &fault, space)
        wait(searching, stop, deadline, progress)
        with nogil:
            status = forge_search_finish(searching, &result, &fault)
        check(status, &fault, space)
        with nogil:
            status = forge_groups_make(&groups, &result)
        check(status, &fault, space)
        state = forge_search_progress(searching)
        found.evaluated = state.evaluated
        found.valid = state.valid
        found.low = low_of(searching, result.templates.count)
        found.note_backings(result.templates, space.shared)
        found.fill(&result, &groups)
        return found
    finally:
        with nogil:
            forge_groups_clear(&groups)
            forge_search_destroy(searching)


cdef class Templates:
    """The templates of a mapspace, without a search of tiles."""

    cdef forge_space space
    cdef forge_templates made
    cdef object tables

    def __cinit__(self):
        memset(&self.made, 0, sizeof(self.made))

    def __dealloc__(self):
        forge_templates_clear(&self.made)

    cdef int make(self, mapspace) except -1:
        cdef forge_fault fault
        cdef forge_status status
        flat = flatten_mapspace(mapspace)
        memset(&self.space, 0, sizeof(self.space))
        fill_space(&self.space, flat)
        self.tables = flat
        check(forge_space_check(&self.space, &fault), &fault, flat)
        with nogil:
            status = forge_templates_make(&self.made, &self.space, NULL, &fault)
        return check(status, &fault, flat)


def list_templates(mapspace):
    """List the templates of a mapspace, without searching tiles."""
    cdef Templates templates = Templates()
    templates.make(mapspace)
    cdef Names names = Names(templates.tables.tables)
    return [names.template(&templates.made.list[t]) for t in range(templates.made.count)]


def bound_templates(mapspace):
    """Return what no tiles of each template cost less than: a row of METRICS for each."""
    cdef Templates templates = Templates()
    templates.make(mapspace)
    array = np.empty((templates.made.count, FORGE_OBJECTIVES))
    cdef double[:, ::1] view = array
    for t in range(templates.made.count):
        forge_least_of_template(&templates.made.facts, &templates.made.list[t], &view[t, 0])
    return array
