# SPDX-License-Identifier: BSD-3-Clause
"""What vector instructions of the Vector Engine do, from the documents, element by element."""
