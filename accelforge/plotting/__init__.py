# SPDX-License-Identifier: BSD-3-Clause
"""Pictures."""
