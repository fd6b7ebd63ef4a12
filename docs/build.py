"""Build the documentation site: python docs/build.py

It writes the pages in English to `docs/_build/html` and those in Chinese below `zh`; warnings are errors.
Tutorials run if they have changed. `--catalogues NAME ...` brings the texts to translate of these pages,
such as `first-search`, and of all pages that have a catalogue already, into `docs/locale`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from sphinx.cmd.build import main as sphinx_build
from sphinx_intl.basic import update

DOCS = Path(__file__).parent
BUILD = DOCS / "_build"
CATALOGUES = DOCS / "locale" / "zh_CN" / "LC_MESSAGES"


def build(language: str, folder: Path) -> None:
    """Build the pages of a language into a folder; exit if that fails."""
    began = time.monotonic()
    options = ["-n", "-W", "--keep-going", "-q", "-j", "auto", "-d", str(BUILD / "doctrees" / language)]
    if code := sphinx_build([*options, "-D", f"language={language}", str(DOCS), str(folder)]):
        sys.exit(code)
    print(f"{folder / 'index.html'}: built in {time.monotonic() - began:.0f} s", flush=True)


def update_catalogues(names: list[str]) -> None:
    """Bring the texts of pages into their catalogues."""
    templates = BUILD / "gettext"
    if code := sphinx_build(
        ["-q", "-b", "gettext", "-d", str(BUILD / "doctrees" / "gettext"), str(DOCS), str(templates)]
    ):
        sys.exit(code)
    wanted = {
        *names,
        *(path.relative_to(CATALOGUES).with_suffix("").as_posix() for path in CATALOGUES.rglob("*.po")),
    }
    chosen = BUILD / "chosen"
    shutil.rmtree(chosen, ignore_errors=True)
    for name in sorted(wanted):
        target = chosen / f"{name}.pot"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(templates / f"{name}.pot", target)
    update(str(DOCS / "locale"), str(chosen), ["zh_CN"], line_width=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument(
        "--catalogues", metavar="NAME", nargs="*", help="update the texts to translate instead"
    )
    names = parser.parse_args().catalogues
    if names is not None:
        update_catalogues(names)
    else:
        build("en", BUILD / "html")
        build("zh_CN", BUILD / "html" / "zh")
