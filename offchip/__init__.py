# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the packages of the offchip distribution: errors, loader, buffers, requests.

Importing this package only defines its version.
"""

__all__ = ["__version__"]

# The one place where the version is written; pyproject.toml reads it from here.
__version__ = "0.1.0"
