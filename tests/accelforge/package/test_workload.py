# SPDX-License-Identifier: BSD-3-Clause
"""Workloads: notations, names, sizes, renames."""

from __future__ import annotations

import pytest

import accelforge as af
from accelforge.frontend.workload import Einsum, ImpliedProjection
from accelforge.util.exceptions import EvaluationError, ValidationError


def workload(*einsums, **fields):
    return af.Workload(einsums=list(einsums), **fields)


MATMUL = "Z[m, n] = A[m, k] * B[k, n]"


def test_short_notation():
    einsum = workload(MATMUL).einsums["Z"]
    assert [(a.name, a.output) for a in einsum.tensor_accesses] == [
        ("A", False),
        ("B", False),
        ("Z", True),
    ]
    assert einsum.tensor_accesses["A"].projection == {"M": "m", "K": "k"}


def test_both_notations_are_the_same():
    long = {
        "name": "Z",
        "tensor_accesses": [
            {"name": "A", "projection": ["m", "k"]},
            {"name": "B", "projection": {"K": "k", "N": "n"}},
            {"name": "Z", "projection": ["m", "n"], "output": True},
        ],
    }
    assert workload(long) == workload(MATMUL)
    assert isinstance(workload(long).einsums[0].tensor_accesses[0].projection, ImpliedProjection)


def test_short_notation_with_more_fields():
    einsum = workload(
        {
            "einsum": "O[p] = I[H: 2 * p + r] * W[r]",
            "tensor_accesses": [{"name": "I", "bits_per_value": 4}],
            "renames": {"input": "I"},
            "n_instances": 3,
        }
    ).einsums["O"]
    assert einsum.tensor_accesses["I"].bits_per_value == 4
    assert einsum.tensor_accesses["I"].projection == {"H": "2*p+r"}
    assert einsum.renames["input"].source == "I"
    assert einsum.n_instances == 3


def test_nested_lists_of_einsums():
    names = workload([["Y[m] = X[m]"], MATMUL]).einsum_names
    assert names == ["Y", "Z"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("", "empty"),
        ("Z[m]", "equals"),
        ("Z[m] = A[m] = B[m]", "equals"),
        ("Z = A[m]", "left side"),
        ("Z[m] = 3", "right side"),
        ("Z[] = A[m]", "empty"),
        ("Z[m] = A[m,,k]", "Empty projection entry"),
        ("Z[m] = A[M]", "name of a rank"),
        ("Z[m] = A[m + k]", "need their rank"),
        ("Z[m] = A[M: m, M: k]", "duplicate rank M"),
        ("Z[m] = A[m: k]", "uppercase"),
        ("Z[m] = A[[m]]", "brackets"),
        (3, "dicts, strings, or Einsum objects"),
        ({"einsum": 3}, "einsum is 3"),
        ({"einsum": MATMUL, "tensor_accesses": [{"name": "Q"}]}, "not found"),
        ({"einsum": MATMUL, "tensor_accesses": [{}]}, "missing a name"),
        ({"einsum": MATMUL, "tensor_accesses": [{"name": "A", "output": True}]}, "already set"),
        ({"name": "Z", "rank_sizes": {"m": 3}, "tensor_accesses": []}, "uppercase"),
    ],
)
def test_wrong_einsums_are_refused(entry, message):
    with pytest.raises(ValidationError, match=message) as caught:
        workload(entry)
    assert caught.value.path.startswith("einsums.")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"einsums": [MATMUL, MATMUL]}, "not unique"),
        ({"einsums": ["Y[m] = A[m]", "Z[m] = A[m, k]"]}, "inconsistent ranks.*as many ranks"),
        (
            {"einsums": ["Y[m, d] = A[m, d]", "Z[p, d] = Y[p, d]"]},
            r"inconsistent ranks: \['D', 'M'\] .* in the Einsum Z, .*Z: Y\[M: p, D: d\]",
        ),
        ({"rank_sizes": {"m": 3}}, "uppercase"),
        ({"iteration_space_shape": {"M": "0 <= m < 3"}}, "lowercase"),
    ],
)
def test_wrong_workloads_are_refused(fields, message):
    with pytest.raises(ValidationError, match=message):
        af.Workload(**fields)


def test_names():
    chain = workload("Y[m] = X[m, k] * W[k]", "Z[n] = Y[M: m] * V[m, n]")
    assert chain.tensor_names == {"V", "W", "X", "Y", "Z"}
    assert chain.rank_variables == {"k", "m", "n"}
    assert chain.tensor_names_used_in_multiple_einsums == {"Y"}
    assert [e.name for e in chain.einsums_with_tensor("Y")] == ["Y", "Z"]
    assert [e.name for e in chain.einsums_with_tensor_as_input("Y")] == ["Z"]
    assert [e.name for e in chain.einsums_with_tensor_as_output("Y")] == ["Y"]
    assert len(chain.accesses_for_tensor("Y")) == 2
    assert chain.tensor_ranks("X") == {"M", "K"}


def test_what_indexes_what():
    einsum = workload("O[p, q] = I[H: 2 * p + r, q] * W[r]").einsums[0]
    assert einsum.tensor2directly_indexing_rank_variables["I"] == {"q"}
    assert einsum.tensor2expression_indexing_rank_variables["I"] == {"p", "r"}
    assert einsum.tensor2irrelevant_rank_variables["W"] == {"p", "q"}
    assert einsum.rank_variable2ranks["p"] == {"H", "P"}
    assert einsum.indexing_expressions == {"2*p+r", "p", "q", "r"}


def test_copies_of_copies():
    chain = workload(
        {"einsum": "B[m] = A[m]", "is_copy_operation": True},
        {"einsum": "C[m] = B[m]", "is_copy_operation": True},
    )
    assert chain.get_tensor_copies() == {"A": {"B", "C"}, "B": {"A", "C"}, "C": {"A", "B"}}
    assert chain.einsums["B"].copy_source_tensor() == "A"


# --- sizes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "bounds"),
    [
        ({"rank_sizes": {"M": 8, "K": "2 * M", "N": 4}}, {"m": 8, "k": 16, "n": 4}),
        (
            {"iteration_space_shape": {"m": "0 <= m < 8", "k": "k >= 2 and k <= 5", "n": "n = 3"}},
            {"m": 8, "k": 4, "n": 1},
        ),
        (
            {"rank_sizes": {"M": 8, "K": 4}, "iteration_space_shape": {"n": "0 <= n <= m"}},
            {"m": 8, "k": 4, "n": 8},
        ),
    ],
)
def test_bounds_of_rank_variables(fields, bounds):
    assert workload(MATMUL, **fields)._rank_variable_bounds("Z") == bounds


def test_bounds_of_a_convolution_come_from_its_input():
    conv = workload(
        "O[p] = I[H: 2 * p + r] * W[r]",
        rank_sizes={"H": 11, "R": 3},
        iteration_space_shape={"p": "p >= 0"},
    )
    assert conv._rank_variable_bounds("O") == {"p": 6, "r": 3}
    assert conv.get_tensor_shape("O") == {"P": 6}
    assert conv.n_computes() == 5 * 3 + 1


def test_variables_without_bounds_are_named():
    with pytest.raises(EvaluationError, match=r"workload.einsums.Z.*rank variable k has no bounds"):
        workload(MATMUL, rank_sizes={"M": 8, "N": 4})._rank_variable_bounds("Z")


@pytest.mark.parametrize("shape", ["m <> 3", "m or k", "m * k < 3", "m", "m < (", "m < 1.5"])
def test_conditions_that_cannot_be_read(shape):
    with pytest.raises(EvaluationError, match="condition"):
        workload(MATMUL, iteration_space_shape={"m": shape})._rank_variable_bounds("Z")


def test_conditions_that_nothing_obeys():
    shapes = {"m": "0 <= m < 8 and m > 9", "k": "0 <= k < 1", "n": "0 <= n < 1"}
    with pytest.raises(EvaluationError, match="no value of m"):
        workload(MATMUL, iteration_space_shape=shapes)._rank_variable_bounds("Z")


def test_sizes_and_computations():
    matmul = workload(MATMUL, rank_sizes={"M": 8, "N": 4, "K": 2})
    assert matmul.n_computes() == matmul.num_computes("Z") == 64
    assert matmul.get_tensor_size("A") == 16
    assert matmul.get_compute_intensity("Z") == 64 / (16 + 8 + 32)


@pytest.mark.parametrize(
    ("projection", "size"), [("2 * p", 4), ("2 * p + r", 9), ("4 * p + r", 12), ("p + r", 6)]
)
def test_size_of_a_tensor_with_gaps(projection, size):
    conv = workload(f"O[p] = I[H: {projection}] * W[r]", rank_sizes={"P": 4, "R": 3})
    assert conv.get_tensor_size("I") == (size if "r" in projection else 4)


def test_triangles_are_counted():
    shapes = {"m": "0 <= m < 4", "n": "0 <= n <= m"}
    assert workload("Z[m] = A[m, n]", iteration_space_shape=shapes).n_computes() == 10


# --- evaluation ---------------------------------------------------------------------------------


def evaluated(spec_fields):
    return af.Spec(**spec_fields)._spec_eval_expressions().workload


def sets(einsum):
    return {rename.name: "".join(rename.source) for rename in einsum.renames}


CHAIN = {
    "einsums": ["Y[m] = X[m, k] * W[k]", "Z[n] = Y[m] * V[m, n]"],
    "rank_sizes": {"M": 8, "N": 4, "K": 2},
    "bits_per_value": {"All": 8},
}


def test_names_of_every_einsum():
    found = sets(evaluated({"workload": CHAIN}).einsums["Y"])
    assert found["All"] == found["Tensors"] == "WXY"
    assert (found["Inputs"], found["Outputs"], found["Nothing"]) == ("WX", "Y", "")
    assert (found["Intermediates"], found["Shared"], found["Persistent"]) == ("Y", "Y", "")
    assert (found["X"], found["V"], found["m"], found["n"]) == ("X", "", "m", "")


def test_renames_of_the_einsum_come_before_the_default():
    renames = {
        "einsums": [
            {"name": "default", "tensor_accesses": {"input": "Inputs & Intermediates"}},
            {"name": "Y", "tensor_accesses": {"input": "X"}},
        ]
    }
    einsums = evaluated({"workload": CHAIN, "renames": renames}).einsums
    assert sets(einsums["Y"])["input"] == "X"
    assert sets(einsums["Z"])["input"] == "Y"


def test_renames_use_earlier_ones():
    chain = {
        **CHAIN,
        "einsums": [
            {
                "einsum": CHAIN["einsums"][0],
                "renames": {"input": "X", "output": "Y", "weight": "~(input | output)"},
            }
        ],
    }
    assert sets(evaluated({"workload": chain}).einsums["Y"])["weight"] == "W"


def test_expected_count():
    renames = [{"name": "weight", "source": "Inputs", "expected_count": "1 if len(All) else 0"}]
    chain = {**CHAIN, "einsums": [{"einsum": CHAIN["einsums"][0], "renames": renames}]}
    with pytest.raises(EvaluationError, match=r"spec.workload.einsums.Y.renames.weight.*1 are exp"):
        evaluated({"workload": chain})


def test_bits_per_value_by_set():
    chain = {**CHAIN, "bits_per_value": {"Outputs & ~Intermediates": "2 * 16", "Other": 8}}
    found = evaluated({"workload": chain})
    bits = {a.name: a.bits_per_value for e in found.einsums for a in e.tensor_accesses}
    assert bits == {"V": 8, "W": 8, "X": 8, "Y": 8, "Z": 32}


@pytest.mark.parametrize(
    ("bits", "message"),
    [
        ({}, "no bits per value"),
        ({"All": 8, "Inputs": 4}, "All and Inputs overlap"),
        ({"Outputs": 16, "Inputs": 8}, "Y has bits_per_value 16 in one Einsum and 8 in Z"),
        ({"All": 8, "weight": 4}, "weight"),
        ({"All": 2.5}, "whole number"),
    ],
)
def test_wrong_bits_per_value(bits, message):
    with pytest.raises(EvaluationError, match=message):
        evaluated({"workload": {**CHAIN, "bits_per_value": bits}})


def test_persistent_tensors():
    chain = {**CHAIN, "persistent_tensors": "V | W"}
    found = evaluated({"workload": chain})
    assert {a.name for e in found.einsums for a in e.tensor_accesses if a.persistent} == {"V", "W"}


def test_einsum_objects_are_kept():
    einsum = Einsum(name="E", tensor_accesses=[{"name": "A", "projection": ["m"]}])
    assert workload(einsum).einsums[0] is einsum
