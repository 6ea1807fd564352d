# SPDX-License-Identifier: BSD-3-Clause
"""Declarations of the engine; the headers in csrc/accelforge/model say what they mean."""

from libc.stdint cimport uint8_t, uint32_t

cdef extern from "accelforge/model/status.h":
    enum forge_status:
        FORGE_OK
        FORGE_OUT_OF_MEMORY
        FORGE_BAD_NUMBER
        FORGE_STATUS_COUNT

    struct forge_fault:
        forge_status status
        uint32_t einsum
        uint32_t component
        uint32_t level
        uint32_t dimension
        uint32_t tensor
        uint32_t variable
        uint32_t value
        uint32_t access
        double needed
        double available

    const char *forge_status_text(forge_status status) nogil
    forge_fault forge_fault_of(forge_status status) nogil

cdef extern from "accelforge/model/problem.h":
    enum forge_number:
        pass

    struct forge_component:
        pass
    struct forge_einsum:
        pass
    struct forge_variable:
        pass
    struct forge_tensor:
        pass
    struct forge_rank:
        pass
    struct forge_term:
        pass
    struct forge_level:
        pass
    struct forge_dimension:
        pass
    struct forge_action:
        pass
    struct forge_holding:
        pass
    struct forge_token:
        pass
    struct forge_leak:
        pass
    struct forge_gate:
        pass
    struct forge_step:
        pass

    struct forge_problem:
        const forge_component *components
        size_t component_count
        const forge_einsum *einsums
        size_t einsum_count
        const forge_variable *variables
        size_t variable_count
        const forge_tensor *tensors
        size_t tensor_count
        const forge_rank *ranks
        size_t rank_count
        const forge_term *terms
        size_t term_count
        const forge_level *levels
        size_t level_count
        const forge_dimension *dimensions
        size_t dimension_count
        const forge_action *actions
        size_t action_count
        const forge_holding *holdings
        size_t holding_count
        const forge_token *tokens
        size_t token_count
        const forge_leak *leaks
        size_t leak_count
        const forge_gate *gates
        size_t gate_count
        const forge_step *steps
        size_t step_count
        const uint32_t *indices
        size_t index_count
        const double *values
        const uint8_t *numbers
        size_t value_count
        uint32_t tensor_ids
        uint32_t n_instances

    bint forge_number_fits(forge_number kind, double x) nogil

cdef extern from "accelforge/model/model.h":
    struct forge_column:
        uint32_t kind
        uint32_t einsum
        uint32_t component
        uint32_t level
        uint32_t tensor
        uint32_t detail

    struct forge_model:
        forge_problem problem
        forge_column *columns
        uint32_t column_count

    struct forge_scratch:
        pass

    forge_status forge_model_create(
        forge_model **model, const forge_problem *problem, forge_fault *fault
    ) nogil
    void forge_model_destroy(forge_model *model) nogil
    forge_scratch *forge_scratch_create(const forge_model *model) nogil
    void forge_scratch_destroy(forge_scratch *scratch) nogil
    forge_status forge_model_evaluate(
        const forge_model *model, forge_scratch *scratch, const double *values, double *row,
        forge_fault *fault
    ) nogil

cdef extern from "accelforge/model/batch.h":
    struct forge_series:
        uint32_t value
        const double *numbers

    struct forge_batch:
        const forge_model *model
        size_t rows
        size_t next
        const forge_series *series
        size_t series_count
        const uint32_t *selected
        size_t selected_count
        double *results
        uint8_t *statuses

    forge_status forge_batch_run(forge_batch *batch, unsigned threads, double seconds) nogil
