# SPDX-License-Identifier: BSD-3-Clause
"""The build, and what a wheel holds."""
