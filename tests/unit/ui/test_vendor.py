"""The modules of others that the page has: as they were taken, with their licences, and small."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

from overtone.ui import bundle

VENDOR = bundle.WEB / "vendor"
ENTRIES = json.loads((VENDOR / "vendor.json").read_text("utf-8"))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["file"])
def test_a_file_is_as_it_was_taken(entry):
    assert hashlib.sha512((VENDOR / entry["file"]).read_bytes()).hexdigest() == entry["sha512"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", entry["version"])
    assert entry["licence"] in ("MIT", "Apache-2.0")
    licence = (VENDOR / entry["licence_file"]).read_text("utf-8")
    assert ("MIT License" if entry["licence"] == "MIT" else "Apache License") in licence


def test_no_file_is_there_that_is_not_named():
    named = (
        {entry["file"] for entry in ENTRIES} | {entry["licence_file"] for entry in ENTRIES} | {"vendor.json"}
    )
    assert {path.name for path in VENDOR.iterdir()} == named


def test_all_of_them_are_small():
    compressed = sum(len(gzip.compress((VENDOR / entry["file"]).read_bytes())) for entry in ENTRIES)
    assert compressed <= 40_000


def test_the_page_adds_at_most_500_kb_to_the_wheel():
    files = [
        path for path in Path(bundle.__file__).parent.rglob("*") if path.is_file() and path.suffix != ".pyc"
    ]
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) <= 500_000
