# SPDX-License-Identifier: BSD-3-Clause
"""Costs of a few classes of components from published tables, for where hwcomponents is absent.

They are estimates: docs/component_models.md has sources, accuracy, and hwcomponents' numbers.
"""

from accelforge.component_models.classes import CLASSES, ComponentModel, make_model

__all__ = ["CLASSES", "ComponentModel", "make_model"]
