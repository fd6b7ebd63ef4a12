"""Twelve configs, and what `overtone plan --show` prints for each: `tests/data/clusters/`.

    PYTHONPATH=src python tests/unit/cluster/golden_clusters.py

writes the outputs anew; read their difference before you commit it. They need PyYAML, and no network.
"""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path
from unittest.mock import patch

from overtone.cluster.config_reading import read_config
from overtone.cluster.plan import make_plan
from overtone.cluster.plan_text import plan_text
from overtone.cluster.shown_form import form_changes, shown_form
from overtone.version import __version__

FOLDER = Path(__file__).parents[2] / "data" / "clusters"
CONFIGS = sorted(FOLDER.glob("*.yaml"))
RAY_VERSION = "2.60.0"


def shown(path: Path) -> str:
    """Return the output for a config, with the versions and folders of no machine in particular."""
    installed = importlib.metadata.version

    def version(name: str) -> str:
        return RAY_VERSION if name == "ray" else installed(name)

    with patch("importlib.metadata.version", version):
        config = read_config(path)
        changes = "".join(f"{line}\n" for line in form_changes(config))
        text = f"{plan_text(make_plan(config, 'submit'))}{changes}---\n{shown_form(config)}"
    for real, name in (
        (str(FOLDER), "/home/ada/digits"),
        (str(Path.home()), "/home/ada"),
        (__version__, "0.0.0"),
    ):
        text = text.replace(real, name)
    return text


def main() -> None:
    """Write all outputs."""
    for path in CONFIGS:
        path.with_suffix(".txt").write_text(shown(path), "utf-8")
        print(os.path.relpath(path.with_suffix(".txt")))


if __name__ == "__main__":
    main()
