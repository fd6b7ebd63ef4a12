"""The links between the pages: each leads to a file and a heading that exist, and each page can be reached."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks" / "README.md"])
# what leads readers to the pages; GitHub and package indexes show these files at places of their own
ENTRIES = {"README.md", "README.zh-CN.md", "CODE_OF_CONDUCT.md", "SECURITY.md"}


def anchor(heading: str) -> str:
    """Return GitHub's anchor of a heading, given its text without markup."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@cache
def parsed(page: Path) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the anchors of the page's headings and its links' targets, pictures included."""
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8"))
    anchors: list[str] = []
    targets: list[str] = []
    seen: Counter[str] = Counter()
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            text = "".join(child.content for child in tokens[index + 1].children or ())
            name = anchor(text)
            anchors.append(f"{name}-{seen[name]}" if seen[name] else name)
            seen[name] += 1
        for child in [token, *(token.children or ())]:
            targets += [child.attrs[key] for key in ("href", "src") if key in child.attrs]
            if child.type in ("html_inline", "html_block"):
                targets += re.findall(r'\b(?:href|src|srcset)="([^"]+)"', child.content)
    return frozenset(anchors), tuple(targets)


def own(page: Path) -> Iterator[tuple[str, Path, str]]:
    """Yield each link of the page into the repository: as it is written, its file, and its anchor or ""."""
    for target in parsed(page)[1]:
        if not re.match(r"[a-z]+:", target):
            path, _, part = unquote(target).partition("#")
            yield target, (page.parent / path).resolve() if path else page, part


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_link_leads_somewhere(page):
    dead = [target for target, file, _ in own(page) if not file.exists()]
    assert dead == []
    lost = [
        target
        for target, file, part in own(page)
        if part and file.suffix == ".md" and part not in parsed(file)[0]
    ]
    assert lost == [], f"there is no such heading; the anchors are {sorted(parsed(page)[0])}"


def test_each_page_can_be_reached_from_the_readme():
    reached, new = set(), {ROOT / "README.md"}
    while new:
        reached |= new
        led = {file for page in new for _, file, _ in own(page) if file.suffix == ".md"}
        # a link to a folder shows all its files
        led |= {page for one in new for _, file, _ in own(one) for page in PAGES if page.parent == file}
        new = (led & set(PAGES)) - reached
    missing = {str(page.relative_to(ROOT)) for page in set(PAGES) - reached}
    assert missing - ENTRIES == set()


def test_anchors_are_githubs():
    assert anchor("overtone ctl EXP VERB") == "overtone-ctl-exp-verb"
    assert anchor("Ray Tune's names, and `x.y`".replace("`", "")) == "ray-tunes-names-and-xy"
    assert anchor("从 Ray Tune 迁移") == "从-ray-tune-迁移"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_command_that_measures_exists(page):
    named = re.findall(r"\b(benchmarks/\w+\.py|tests/chaos/\w+\.py)", page.read_text("utf-8"))
    assert [path for path in named if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_a_readme_is_short_and_has_the_figures_of_the_benchmarks(readme):
    text = (ROOT / readme).read_text("utf-8")
    benchmarks = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    assert len(text.splitlines()) <= 150
    rows = re.findall(r"^\| .* \| ([\d.]+)(?: s| 秒)? \| ([\d.]+)(?: s| 秒)? \| `benchmarks/", text, re.M)
    assert len(rows) == 2
    assert [
        row for row in rows if not re.search(r"\| {}(?: s)? \| {}(?: s)? \|".format(*row), benchmarks)
    ] == []
