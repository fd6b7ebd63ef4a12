"""Settings of the documentation site, which `make docs` builds."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from overtone import __version__

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

from api_pages import FRAMEWORKS, public_names

# Tutorials write their results to a home folder of this build, away from the experiments of this user.
# `page_sources` shows it as /home/ada.
os.environ.setdefault("MPLCONFIGDIR", str(Path("~/.config/matplotlib").expanduser()))
HOME = Path(tempfile.mkdtemp(prefix="overtone-docs-"), "ada")
HOME.mkdir()
atexit.register(shutil.rmtree, HOME.parent, ignore_errors=True)
os.environ.update(HOME=str(HOME), MPLBACKEND="agg", COLUMNS="110")

project = "Overtone"
author = "The Overtone authors"
project_copyright = author
version = release = __version__
language = "en"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "page_sources",
    "docstrings",
    "api_pages",
    "api_links",
    "page_weight",
    "named_toggles",
    "llms_txt",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown", ".from": "markdown"}
exclude_patterns = [
    "_build",
    "README.md",  # it is the page index
    "algorithm-template",
    "learn/index.rst",
    "tutorials",  # they become pages of learn
]
templates_path = ["templates"]
default_role = "code"
nitpicky = True

# Markdown pages: the anchors of headings are those of a forge
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]

# Docstrings
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
autodoc_default_options = {"members": True, "undoc-members": False, "show-inheritance": False}
autodoc_mock_imports = FRAMEWORKS
autosummary_generate = False
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
# Types that are not public are text: only public names have pages.
nitpick_ignore_regex = [("py:.*", rf"(?!(?:{'|'.join(map(re.escape, public_names()))})$).*")]

# Tutorials: scripts that run when they have changed
sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "learn",
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "image_scrapers": ("matplotlib",),
    "reset_modules": (),
    "min_reported_time": 1e9,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
}

# Translations: docs/locale; tests/site tells how much of them is behind
locale_dirs = ["locale"]
gettext_compact = False
gettext_uuid = False
gettext_location = False

html_theme = "pydata_sphinx_theme"
html_title = f"Overtone {version}"
html_static_path = ["static"]
html_css_files = ["overtone.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_end": ["language-switcher", "theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "primary_sidebar_end": [],
    "navigation_depth": 2,
    "collapse_navigation": True,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "back_to_top_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "logo": {"text": "Overtone"},
}
html_sidebars = {"**": ["sidebar-nav-bs"], "index": []}
html_context = {"default_mode": "auto"}
html_favicon = "static/favicon.svg"
