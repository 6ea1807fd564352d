# SPDX-License-Identifier: BSD-3-Clause
"""Operations of Spec that are left to the model and the mapper, which are layers above this one.

The package registers the functions when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accelforge.explanation.explanation import Explanation
    from accelforge.exploration.result import Exploration
    from accelforge.frontend.spec import Spec
    from accelforge.mapper.FFM.mappings import Mappings

__all__ = ["Operations", "operations"]


class Operations:
    """The functions.

    Attributes
    ----------
    evaluate_mapping : callable
        Evaluates the mapping of a Spec.
    make_problem : callable
        Returns the problem for the engine.
    map_workload_to_arch : callable
        Looks for mappings; takes the arguments of the method.
    explain : callable
        Explains the mapping of a problem.
    explore : callable
        Evaluates a Spec at many points; takes the arguments of the method.
    """

    evaluate_mapping: Callable[[Spec], Mappings]
    make_problem: Callable[[Spec], dict[str, Any]]
    map_workload_to_arch: Callable[..., Mappings]
    explain: Callable[[dict[str, Any]], Explanation]
    explore: Callable[..., Exploration]


operations = Operations()
