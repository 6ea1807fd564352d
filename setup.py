# SPDX-License-Identifier: BSD-3-Clause
"""Extension modules and native artefacts; all metadata is in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import setup

# Build front ends do not put the folder of setup.py on the path.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from buildtools.commands import (
    BinaryDistribution,
    Build,
    BuildExtensions,
    BuildNative,
    find_extensions,
)
from buildtools.toolchain import BuildError

try:
    setup(
        distclass=BinaryDistribution,
        ext_modules=find_extensions(),
        cmdclass={"build": Build, "build_ext": BuildExtensions, "build_native": BuildNative},
    )
except BuildError as error:
    sys.exit(f"error: {error}")
