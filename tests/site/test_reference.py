"""The reference has every public name, with text, and says of each class what it replaces in Ray Tune."""

from __future__ import annotations

import re

import api_pages
import pytest
from sphinx.util.inventory import InventoryFile

from tests.site.conftest import SITE


@pytest.fixture(scope="module")
def documented():
    """Where each name is described: file and anchor."""
    with open(SITE / "objects.inv", "rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, location: location)
    return {
        name: item.uri
        for kind, items in inventory.items()
        if kind.startswith("py:")
        for name, item in items.items()
    }


def test_no_public_name_is_missing(documented):
    assert [name for name in api_pages.public_names() if name not in documented] == []


def test_each_name_has_a_text(documented):
    for name, uri in documented.items():
        if name not in api_pages.public_names() or name in api_pages.public()[1]:
            continue
        file, _, anchor = uri.partition("#")
        page = (SITE / file).read_text("utf-8")
        anchor = anchor.replace("$", name)
        body = re.search(
            rf'<dt class="[^"]*" id="{re.escape(anchor)}">.*?</dt>\s*<dd>(.*?)</dd>', page, re.DOTALL
        )
        assert body is not None, name
        assert len(re.sub(r"<[^>]*>", "", body[1]).strip()) > 10, name


def test_each_class_says_what_it_replaces():
    classes = [entry for entry in api_pages.public()[0].values() if isinstance(entry.value, type)]
    assert len(classes) > 100
    assert [entry.name for entry in classes if not entry.replaces] == []


def test_replaced_names_are_ray_tunes():
    replaces = {entry.name: entry.replaces for entry in api_pages.public()[0].values()}
    assert replaces["overtone.tune.schedulers.ASHA"] == "**Replaces:** `ray.tune.schedulers.ASHAScheduler`."
    assert replaces["overtone.tune.World"] == "**Replaces:** no name of Ray Tune."
    assert replaces["overtone.tune.run"] == "**Replaces:** `ray.tune.run`."
