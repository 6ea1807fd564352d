# SPDX-License-Identifier: BSD-3-Clause
"""What several folders of tests share, and the tests of that."""
