# SPDX-License-Identifier: BSD-3-Clause
"""Declarations of the search; the headers in csrc/accelforge/search say what they mean."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from accelforge.libforge cimport forge_fault, forge_problem, forge_status

cdef extern from "stdbool.h":
    ctypedef bint cbool "bool"

cdef extern from "accelforge/model/model.h":
    enum:
        FORGE_OBJECTIVES

cdef extern from "accelforge/search/space.h":
    struct forge_placement:
        pass
    struct forge_keeper:
        pass
    struct forge_order:
        pass
    struct forge_resident:
        pass
    struct forge_comparison:
        pass
    struct forge_usage:
        pass
    struct forge_settings:
        pass

    struct forge_space:
        forge_problem problem
        const forge_placement *placements
        size_t placement_count
        const forge_keeper *keepers
        size_t keeper_count
        const forge_order *orders
        size_t order_count
        const forge_resident *residents
        size_t resident_count
        const forge_comparison *comparisons
        size_t comparison_count
        const forge_usage *usages
        size_t usage_count
        const uint64_t *sets
        size_t set_count
        const double *numbers
        size_t number_count
        const uint32_t *variable_ranks
        const uint32_t *tensor_ranks
        const uint32_t *level_ranks
        const uint8_t *unforced
        const uint8_t *tracked
        uint64_t shared
        uint64_t intermediate
        cbool *wanted
        cbool usage
        forge_settings settings

    forge_status forge_space_check(const forge_space *space, forge_fault *fault) nogil

cdef extern from "accelforge/search/template.h":
    struct forge_node:
        uint8_t kind
        cbool persistent
        cbool backing
        uint32_t level
        uint32_t tensor
        uint32_t variable
        uint32_t dimension

    struct forge_template:
        forge_node *nodes
        uint32_t node_count
        uint32_t loop_count

    struct forge_facts:
        pass

    struct forge_templates:
        forge_facts facts
        forge_template *list
        uint32_t count

    forge_status forge_templates_make(
        forge_templates *templates, const forge_space *space, void *stop, forge_fault *fault
    ) nogil
    void forge_templates_clear(forge_templates *templates) nogil
    void forge_least_of_template(
        const forge_facts *facts, const forge_template *of, double *low
    ) nogil

cdef extern from "accelforge/search/rows.h":
    struct forge_rows:
        uint32_t *tiles
        uint32_t loop_count

cdef extern from "accelforge/search/incumbents.h":
    struct forge_incumbents:
        const double *points
        size_t count
        double *rest
        cbool *compared
        cbool product
        const double *low
        size_t low_count
        const double *rests

cdef extern from "accelforge/search/search.h":
    struct forge_search:
        pass

    struct forge_progress:
        uint64_t templates
        uint64_t done
        uint64_t evaluated
        uint64_t valid

    struct forge_found:
        const forge_templates *templates
        const forge_rows *rows
        cbool complete
        double *bound

    struct forge_search_request:
        const forge_space *space
        unsigned threads
        size_t memory_limit
        uint32_t width
        forge_incumbents incumbents

    forge_status forge_search_start(
        forge_search **search, const forge_search_request *request, forge_fault *fault
    ) nogil
    cbool forge_search_wait(forge_search *search, double seconds) nogil
    void forge_search_stop(forge_search *search) nogil
    forge_progress forge_search_progress(forge_search *search) nogil
    void forge_search_standing(forge_search *search, double *best, double *bound) nogil
    forge_status forge_search_finish(
        forge_search *search, forge_found *found, forge_fault *fault
    ) nogil
    void forge_search_low(const forge_search *search, uint32_t t, double *low) nogil
    void forge_search_destroy(forge_search *search) nogil

cdef extern from "accelforge/search/groups.h":
    struct forge_group_node:
        uint32_t kind
        uint32_t level
        uint32_t member
        uint32_t dimension

    struct forge_group_column:
        uint32_t level
        uint32_t depth
        uint32_t tensor
        cbool persistent
        double *shares

    struct forge_pmapping_group:
        forge_group_node *nodes
        uint32_t node_count
        uint32_t loop_count
        uint32_t *stops
        uint32_t stop_count
        uint32_t row_count
        uint32_t *templates
        uint32_t *rows
        double *objectives
        uint32_t *tiles
        forge_group_column *columns
        uint32_t column_count

    struct forge_groups:
        forge_pmapping_group *list
        uint32_t count
        uint64_t rows

    forge_status forge_groups_make(forge_groups *groups, const forge_found *found) nogil
    void forge_groups_clear(forge_groups *groups) nogil
