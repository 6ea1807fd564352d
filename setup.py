# SPDX-License-Identifier: BSD-3-Clause
"""The build command, which has CMake build everything native; all metadata is in pyproject.toml."""

import os
import shutil
import sys
from pathlib import Path
from typing import ClassVar

from setuptools import Command, Distribution, setup
from setuptools.command.build import build

# Build front ends do not put the folder of setup.py on the path.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from buildtools import graph


class BinaryDistribution(Distribution):
    """A distribution that is never pure Python."""

    def has_ext_modules(self):
        """Say so."""
        return True


class BuildNative(Command):
    """Builds modules, libraries, programs and headers; OFFCHIP_PRESET names the configuration."""

    description = "build everything native"
    user_options: ClassVar = [("build-lib=", None, "folder for the products")]
    editable_mode = False

    def initialize_options(self):
        """Set options to what they are when not given."""
        self.build_lib = None
        self.files = []

    def finalize_options(self):
        """Take what was not given from the build command."""
        self.set_undefined_options("build", ("build_lib", "build_lib"))

    def run(self):
        """Build what has changed, and copy it to the packages."""
        # setuptools would pack what an earlier build has left there, or stumble on it. Folders that
        # a user named are the user's.
        for left in (self.get_finalized_command("bdist_wheel").bdist_dir, self.build_lib):
            if graph.ROOT / "build" in Path(left).resolve().parents:
                shutil.rmtree(left, ignore_errors=True)
        preset = os.environ.get("OFFCHIP_PRESET", "release")
        graph.build(preset)
        self.files = graph.install(
            preset, graph.ROOT if self.editable_mode else Path(self.build_lib)
        )

    def get_source_files(self):
        """List what is built from, for the sdist: MANIFEST.in has it."""
        return []

    def get_outputs(self):
        """List the products."""
        return [f"{self.build_lib}/{name}" for name in self.files]

    def get_output_mapping(self):
        """Say which file of the tree stands for which product, for editable installs."""
        return {f"{self.build_lib}/{name}": name for name in self.files}


class Build(build):
    """The build command without setuptools' own compiling."""

    sub_commands: ClassVar = [("build_native", None), ("build_py", None)]


try:
    setup(distclass=BinaryDistribution, cmdclass={"build": Build, "build_native": BuildNative})
except graph.BuildError as error:
    sys.exit(f"error: {error}")
