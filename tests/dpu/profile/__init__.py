# SPDX-License-Identifier: BSD-3-Clause
"""Profiles: what is recorded, and the reports of it."""
