# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import copy
import importlib
import pickle

import pytest

from offchip.errors import LibraryNotFoundError, OffchipError, RequestTimeoutError


class AttributeMissing(OffchipError, AttributeError):
    pass


class KeyMissing(OffchipError, KeyError):
    pass


class OtherSignature(OffchipError):
    def __init__(self, number):
        super().__init__(f"number {number}", code=number)


CLASSES = [
    OffchipError,
    LibraryNotFoundError,
    RequestTimeoutError,
    AttributeMissing,
    KeyMissing,
]


@pytest.mark.parametrize("cls", CLASSES)
def test_attributes_and_text(cls):
    error = cls("it failed", code=3, name="E_THREE", function="do_it")
    assert (error.code, error.name, error.function) == (3, "E_THREE", "do_it")
    assert str(error) == "it failed"
    assert error.args == ("it failed",)


@pytest.mark.parametrize("cls", CLASSES)
def test_attributes_are_none_unless_given(cls):
    error = cls("it failed")
    assert (error.code, error.name, error.function) == (None, None, None)


@pytest.mark.parametrize("make_again", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy])
@pytest.mark.parametrize("cls", CLASSES)
def test_survives_pickle_and_copy(cls, make_again):
    error = cls("it failed", code=3, name="E_THREE", function="do_it")
    error.more = [1]
    again = make_again(error)
    assert type(again) is cls
    assert str(again) == "it failed"
    assert (again.code, again.name, again.function) == (3, "E_THREE", "do_it")
    assert again.more == [1]


@pytest.mark.parametrize("make_again", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy])
@pytest.mark.parametrize("name", ["veo.errors", "dpu.errors", "accl.errors"])
def test_all_errors_of_the_packages_survive_pickle_and_copy(name, make_again):
    module = importlib.import_module(name)
    kinds = [getattr(module, one) for one in module.__all__]
    kinds = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, OffchipError)]
    assert len(kinds) >= 2
    for kind in kinds:
        error = kind("it failed")
        error.more = [1]
        again = make_again(error)
        assert (type(again), str(again), again.more) == (kind, str(error), [1])


def test_pickle_of_a_class_with_another_constructor():
    again = pickle.loads(pickle.dumps(OtherSignature(7)))
    assert (str(again), again.code) == ("number 7", 7)


def test_builtins_catch_ours():
    with pytest.raises(ImportError):
        raise LibraryNotFoundError("none")
    with pytest.raises(TimeoutError):
        raise RequestTimeoutError("late")
