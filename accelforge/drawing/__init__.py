# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of trees and graphs as SVG, without other packages."""
