# SPDX-License-Identifier: BSD-3-Clause
"""Hands the tables of a flattened problem to the engine, and its faults to Python."""

from libc.stdint cimport UINT32_MAX, uint8_t, uint32_t

from accelforge.libforge cimport (
    forge_action,
    forge_component,
    forge_dimension,
    forge_einsum,
    forge_fault,
    forge_gate,
    forge_holding,
    forge_leak,
    forge_level,
    forge_problem,
    forge_rank,
    forge_status_text,
    forge_step,
    forge_tensor,
    forge_term,
    forge_token,
    forge_variable,
)


cdef inline const void *table(
    dict records, str name, size_t width, size_t *count
) except? NULL:
    """The records of a table, which stay those of the array."""
    cdef const uint32_t[::1] view = records[name]
    cdef size_t numbers = view.shape[0]
    if numbers * sizeof(uint32_t) % width:
        raise SystemError(f"the records of {name} have another size than the engine's")
    count[0] = numbers * sizeof(uint32_t) // width
    return <const void *>&view[0] if numbers else NULL


cdef inline int fill_problem(forge_problem *flat, object tables) except -1:
    """Point FLAT at the tables, which must outlive it."""
    cdef dict records = tables.records
    cdef const double[::1] values = tables.values
    cdef const uint8_t[::1] numbers = tables.numbers
    flat.components = <const forge_component *>table(
        records, "components", sizeof(forge_component), &flat.component_count)
    flat.einsums = <const forge_einsum *>table(
        records, "einsums", sizeof(forge_einsum), &flat.einsum_count)
    flat.variables = <const forge_variable *>table(
        records, "variables", sizeof(forge_variable), &flat.variable_count)
    flat.tensors = <const forge_tensor *>table(
        records, "tensors", sizeof(forge_tensor), &flat.tensor_count)
    flat.ranks = <const forge_rank *>table(
        records, "ranks", sizeof(forge_rank), &flat.rank_count)
    flat.terms = <const forge_term *>table(
        records, "terms", sizeof(forge_term), &flat.term_count)
    flat.levels = <const forge_level *>table(
        records, "levels", sizeof(forge_level), &flat.level_count)
    flat.dimensions = <const forge_dimension *>table(
        records, "dimensions", sizeof(forge_dimension), &flat.dimension_count)
    flat.actions = <const forge_action *>table(
        records, "actions", sizeof(forge_action), &flat.action_count)
    flat.holdings = <const forge_holding *>table(
        records, "holdings", sizeof(forge_holding), &flat.holding_count)
    flat.tokens = <const forge_token *>table(
        records, "tokens", sizeof(forge_token), &flat.token_count)
    flat.leaks = <const forge_leak *>table(
        records, "leaks", sizeof(forge_leak), &flat.leak_count)
    flat.gates = <const forge_gate *>table(
        records, "gates", sizeof(forge_gate), &flat.gate_count)
    flat.steps = <const forge_step *>table(
        records, "steps", sizeof(forge_step), &flat.step_count)
    flat.indices = <const uint32_t *>table(
        records, "indices", sizeof(uint32_t), &flat.index_count)
    # There is always a value: n_instances.
    flat.values = &values[0]
    flat.numbers = &numbers[0]
    flat.value_count = values.shape[0]
    flat.tensor_ids = len(tables.tensor_names)
    flat.n_instances = tables.n_instances
    return 0


cdef inline object index_of(uint32_t index):
    return None if index == UINT32_MAX else index


cdef inline dict fault_fields(forge_fault *fault):
    """Return the fields of a fault, as `describe` takes them."""
    return {
        "status": <int>fault.status,
        "text": forge_status_text(fault.status).decode(),
        "einsum": index_of(fault.einsum),
        "component": index_of(fault.component),
        "level": index_of(fault.level),
        "dimension": index_of(fault.dimension),
        "tensor": index_of(fault.tensor),
        "variable": index_of(fault.variable),
        "value": index_of(fault.value),
        "access": index_of(fault.access),
        "needed": fault.needed,
        "available": fault.available,
    }
