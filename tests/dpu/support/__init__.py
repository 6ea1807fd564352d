# SPDX-License-Identifier: BSD-3-Clause
"""What several folders of tests of dpu share."""
