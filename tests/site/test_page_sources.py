"""Markdown for a forge becomes pages of the site, and the theme's style sheet loses what no page needs."""

from __future__ import annotations

import page_sources
import page_weight
from page_sources import DOCS, REPOSITORY, ROOT, listed, relinked


def test_links_lead_to_pages_or_to_the_repository():
    text = "[a](first-search.md#words) [b](../CHANGELOG.md) [c](../examples/digits.py) [d](decisions) [e](#x) [f](https://g)"
    assert relinked(text, DOCS, "start") == (
        f"[a](first-search.md#words) [b](project/changelog.from) [c]({REPOSITORY}/blob/HEAD/examples/digits.py) "
        "[d](decisions/index.rst) [e](#x) [f](https://g)"
    )
    assert relinked("[a](docs/cli.md)", ROOT, "project/changelog") == "[a](../cli.md)"
    assert relinked("[a](tutorials/spaces.py)", DOCS, "guides") == "[a](learn/spaces.rst)"


def test_code_keeps_what_looks_like_a_link():
    text = "`f[0](x.md)`\n```python\nf[0](x.md)\n```\n"
    assert relinked(text, DOCS, "start") == text


def test_tables_list_the_pages_of_a_part():
    text = "[no](sweep.md)\n| [a](cli.md), [b](cli.md#x) | [c](../README.md) |\n| [d](start.md) | |\n"
    assert listed(text, DOCS, "start") == ["cli"]


def test_each_page_is_in_a_part():
    pages = {page_sources.page_at(path) for path in DOCS.rglob("*.md") if "_build" not in path.parts}
    pages -= {None, "index", *(f"decisions/{path.stem}" for path in (DOCS / "decisions").glob("*.md"))}
    pages = {page for page in pages if not page.startswith("algorithm-template")}
    named = {*page_sources.PARTS}
    for part in page_sources.PARTS[1:]:
        path = DOCS / f"{part}.md"
        named |= {*listed(path.read_text("utf-8"), path.parent, part)}
    assert pages - named == set()


def test_unused_rules_go():
    css = """
    /* comment */ @charset "utf-8"; @font-face { src: url(x.woff2) }
    .used, .unused > p { color : red ; }
    .unused { color: blue }
    @media (min-width: 3em) { .unused { a: b } .used:not(.unused) { c: d } }
    @keyframes spin { from { a: b } to { a: c } }
    p { margin: 0 }
    """
    assert page_weight.shrunk(css, {"used"}) == (
        '@charset "utf-8";.used{color:red}@media (min-width: 3em){.used:not(.unused){c:d}}'
        "@keyframes spin{from{a:b}to{a:c}}p{margin:0}"
    )
