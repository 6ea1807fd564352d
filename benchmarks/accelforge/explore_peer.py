# SPDX-License-Identifier: BSD-3-Clause
"""Evaluate points of an exploration one by one with AccelForge, whose user writes this loop.

``PYTHON explore_peer.py DESIGN`` gets a list of points as JSON; for each, it prints energy, latency
and area; then the CPU seconds of a point, without the first one.
"""

import json
import sys
import time
import warnings


def costs_of(spec, values):
    """Change a copy of a specification and evaluate it."""
    new = spec.model_copy(deep=True)
    for path, value in values.items():
        first, *steps, last = path.replace("[", ".").replace("]", "").split(".")
        owner = getattr(new, first)
        for step in steps:
            owner = (
                owner[int(step)] if step.isdigit() else getattr(owner, step, None) or owner[step]
            )
        if first == "variables":
            owner[last] = value
        else:
            setattr(owner, last, value)
    area = new.calculate_component_costs().arch.total_area
    result = new.evaluate_mapping()
    return [float(result.energy()), float(result.latency()), float(area)]


def main():
    warnings.simplefilter("ignore")
    import accelforge

    spec = accelforge.Spec.from_yaml(sys.argv[1])
    points = json.load(sys.stdin)
    costs_of(spec, points[0])
    begin = time.process_time()
    for values in points:
        print(json.dumps(costs_of(spec, values)))
    print((time.process_time() - begin) / len(points))


main()
