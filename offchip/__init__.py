# SPDX-License-Identifier: BSD-3-Clause
"""What the packages of the offchip distribution share: errors, loader, buffers, requests.

Importing this package does nothing but make its version known.
"""

__all__ = ["__version__"]

# The one place where the version is written; pyproject.toml reads it from here.
__version__ = "0.1.0"
