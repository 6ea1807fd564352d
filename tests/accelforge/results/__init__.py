# SPDX-License-Identifier: BSD-3-Clause
"""Results: tables, pictures, plots."""
