# SPDX-License-Identifier: BSD-3-Clause
"""Predicts the energy, latency and area of a workload on an accelerator."""
