"""What docs/launcher.md says of configs is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from overtone.cluster.config_reading import KEYS, LIMIT_KEYS, WORKER_KEYS, parse_config
from overtone.cluster.prices import table
from overtone.cluster.provider_modules import BUILT_IN, about

pytest.importorskip("yaml")

PAGE = (Path(__file__).parents[3] / "docs" / "launcher.md").read_text("utf-8")
CONFIGS = [
    text
    for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    if text.startswith("name: ") and "provider" in text
]


@pytest.mark.parametrize("text", CONFIGS, ids=range(len(CONFIGS)))
def test_each_config_of_the_page_is_one(text):
    assert len(text.splitlines()) <= 15
    assert parse_config(text, Path("c.yaml")).name


def test_each_key_has_its_row():
    rows = set(re.findall(r"`([\w.]+)`", "".join(re.findall(r"^\| (`.*?) \|", PAGE, re.M))))
    nested = {f"workers.{key}" for key in WORKER_KEYS} | {f"limits.{key}" for key in LIMIT_KEYS}
    assert {key for key in KEYS if key not in ("workers", "limits")} | nested <= rows


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_setting_of_a_provider_is_in_its_row(name):
    required, optional = re.search(rf"^\| `{name}` \|(.*?)\|(.*?)\|$", PAGE, re.M).groups()
    stated = about(name).keys
    assert set(re.findall(r"`(\w+)`", required)) == {key for key in stated if stated[key].is_required}
    assert {*re.findall(r"`(\w+)`", optional), "price"} == {
        key for key in stated if not stated[key].is_required
    }


def test_the_size_of_the_table_of_prices():
    size = len(table()["aws"]["types"]) + len(table()["gcp"]["types"])
    assert f"{size} common machine types" in PAGE
