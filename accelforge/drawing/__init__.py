# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of trees as SVG, without other packages."""
