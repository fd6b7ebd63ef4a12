"""The metadata of a built package: what a package index shows."""

from __future__ import annotations

import re
from email import message_from_string
from email.message import Message
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from hatchling.build import prepare_metadata_for_build_wheel
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def metadata(tmp_path_factory) -> Message:
    folder = tmp_path_factory.mktemp("metadata")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)  # builds take the project from the current folder
        info = prepare_metadata_for_build_wheel(str(folder))
    return message_from_string((folder / info / "METADATA").read_text("utf-8"))


@pytest.fixture(scope="module")
def urls(metadata) -> dict[str, str]:
    return dict(line.split(", ", 1) for line in metadata.get_all("Project-URL"))


def test_all_urls_are_of_one_address(urls):
    assert {"Source", "Documentation", "Changelog", "Issues"} <= set(urls)
    assert [url for url in urls.values() if not url.startswith(urls["Source"])] == []


def test_links_and_pictures_of_the_readme_are_absolute(metadata, urls):
    page = MarkdownIt("commonmark").enable("table").render(metadata.get_payload())
    targets = re.findall(r'(?:href|src)="([^"]*)"', page)
    assert [target for target in targets if not target.startswith(("https://", "#"))] == []
    own = [target.removeprefix(urls["Source"]) for target in targets if target.startswith(urls["Source"])]
    assert "/raw/HEAD/docs/images/dashboard.png" in own
    assert "/blob/HEAD/docs/cluster.md" in own


def test_the_readme_is_otherwise_the_repositorys(metadata, urls):
    shown = re.sub(re.escape(urls["Source"]) + "/(?:blob|raw)/HEAD/", "", metadata.get_payload())
    assert shown.strip() == (ROOT / "README.md").read_text("utf-8").strip()


def test_code_keeps_what_looks_like_a_link():
    spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    hook = module_from_spec(spec)
    spec.loader.exec_module(hook)
    text = "`f[0](x)`\n```python\nf[0](x)\n```\n[![a](b.svg)](c.md#d) [e](#f) [g](https://h.example/i)"
    text += '\n<source srcset="d/j.png"><img alt="k" src="d/l.png"> <img src="https://h.example/m.png">'
    assert hook.with_absolute_links(text, "https://r.example/o") == text.replace(
        "b.svg", "https://r.example/o/raw/HEAD/b.svg"
    ).replace("c.md", "https://r.example/o/blob/HEAD/c.md").replace(
        '="d/', '="https://r.example/o/raw/HEAD/d/'
    )


def test_the_pythons_and_systems_that_a_release_is_tried_on_are_stated(metadata):
    stated = metadata.get_all("Classifier")
    pythons = [line.rpartition(" ")[2] for line in stated if re.search(r":: Python :: \d\.\d+$", line)]
    assert pythons == ["3.10", "3.11", "3.12", "3.13"]
    assert metadata["Requires-Python"] == f">={pythons[0]}"
    assert [line for line in stated if line.startswith("Operating")] == ["Operating System :: POSIX :: Linux"]
