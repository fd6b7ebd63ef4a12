"""Twelve configs, whose plans do not change unless somebody means it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

pytest.importorskip("yaml")

SPEC = importlib.util.spec_from_file_location(
    "golden_clusters", Path(__file__).with_name("golden_clusters.py")
)
golden = importlib.util.module_from_spec(SPEC)
sys.modules["golden_clusters"] = golden
SPEC.loader.exec_module(golden)


@pytest.mark.parametrize("path", golden.CONFIGS, ids=lambda path: path.stem)
def test_the_plan_of_a_config_is_as_recorded(path):
    assert golden.shown(path) == path.with_suffix(".txt").read_text("utf-8")


def test_all_providers_are_among_them():
    texts = [path.with_suffix(".txt").read_text("utf-8") for path in golden.CONFIGS]
    assert len(texts) == 12
    assert {text.split(" on ", 1)[1].split(",")[0].split()[0] for text in texts} == {
        "aws", "gcp", "kubernetes", "local", "slurm",
    }  # fmt: skip
