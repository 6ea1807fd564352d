# SPDX-License-Identifier: BSD-3-Clause
"""Says what limits a mapping, what would change that, and how two mappings differ."""
