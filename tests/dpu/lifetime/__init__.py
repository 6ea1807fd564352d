# SPDX-License-Identifier: BSD-3-Clause
"""How processes that use libdpu end."""
