# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the documentation: ``make docs``."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

sys.path.insert(0, str(Path(__file__).parent))
from api_pages import connect

from offchip import __version__

project = "offchip"
author = "The offchip developers"
copyright = "The offchip developers"
release = version = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
# Output of an earlier build is no source.
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"offchip {release}"

# Tabs of the first page.
myst_enable_extensions = ["colon_fence"]
# Links to headings work as they do where the pages are read as Markdown.
myst_heading_anchors = 4

# Notebooks are stored without results, and executed each time.
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_merge_streams = True

# Their kernels listen on loopback only. Each would warn that it does not encrypt.
kernel_settings = tempfile.TemporaryDirectory(prefix="offchip-docs-")
profile = Path(kernel_settings.name, "profile_default")
profile.mkdir()
(profile / "ipython_kernel_config.py").write_text("c.Application.log_level = 40  # errors\n")
os.environ["IPYTHONDIR"] = kernel_settings.name

# Names in single backquotes are links where something has that name.
default_role = "py:obj"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
# Attributes that are properties too would be described twice.
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_preprocess_types = False

suppress_warnings = [
    # A name in a type, such as `path`, is an attribute of several classes.
    "ref.python",
]


def setup(app: Any) -> None:
    """Know the language of the diagram of layers, which a test reads; make the reference pages."""
    app.add_lexer("layers", TextLexer)
    connect(app)
