# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes specifications as YAML, with templates, inclusions and merges."""
