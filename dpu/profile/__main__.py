# SPDX-License-Identifier: BSD-3-Clause
"""The command ``python -m dpu.profile``."""

import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main())
