"""Links of the built pages lead to pages, files and anchors that exist, and nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.site.conftest import SITE

PAGES = sorted(SITE.rglob("*.html"))


class Found(HTMLParser):
    """The anchors, links and loaded files of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors.update(value for name in ("id", "name") if (value := values.get(name)))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag in ("script", "img", "source", "iframe") and values.get("src"):
            self.loaded.append(values["src"])
        elif (
            tag == "link"
            and values.get("href")
            and values.get("rel") not in ("next", "prev", "index", "search")
        ):
            self.loaded.append(values["href"])


@cache
def parsed(page: Path) -> Found:
    found = Found()
    found.feed(page.read_text("utf-8"))
    return found


def test_there_are_pages(site):
    names = {page.relative_to(site).as_posix() for page in PAGES}
    assert {
        "index.html",
        "first-search.html",
        "zh/index.html",
        "api/overtone.tune.html",
        "search.html",
    } <= names
    assert len(names) > 200


def test_each_link_leads_to_a_page_and_an_anchor(site):
    dead = []
    for page in PAGES:
        for link in parsed(page).links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            anchor = unquote(parts.fragment)
            if not target.is_file() or (
                anchor and target.suffix == ".html" and anchor not in parsed(target).anchors
            ):
                dead.append(f"{page.relative_to(site)}: {link}")
    assert dead == []


def test_no_link_is_within_another():
    nested = re.compile(r"<a\b[^>]*>(?:(?!</a>).)*<a\b", re.DOTALL)
    style = re.compile(r"<style\b.*?</style>", re.DOTALL)  # its comments may name elements
    assert [page.name for page in PAGES if nested.search(style.sub("", page.read_text("utf-8")))] == []


def test_nothing_is_loaded_from_elsewhere(site):
    foreign = [link for page in PAGES for link in parsed(page).loaded if urlsplit(link).netloc]
    assert foreign == []
    missing = {
        f"{page.relative_to(site)}: {link}"
        for page in PAGES
        for link in parsed(page).loaded
        if not link.startswith("data:") and not (page.parent / unquote(urlsplit(link).path)).is_file()
    }
    assert missing == set()
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    styles = re.sub(r"/\*.*?\*/", "", styles, flags=re.DOTALL)
    assert "http://" not in styles.replace("http://www.w3.org", "")
    assert "https://" not in styles
    assert "@font-face" not in styles


def test_the_first_page_takes_at_most_300_kb(site):
    for name in ("index.html", "zh/index.html"):
        page = site / name
        files = {(page.parent / urlsplit(link).path).resolve() for link in parsed(page).loaded}
        sizes = {file.name: file.stat().st_size for file in [page, *files]}
        print(name, sum(sizes.values()), sizes)
        assert sum(sizes.values()) <= 300_000, sizes


def test_llms_txt_names_each_page_once(site):
    lines = (site / "llms.txt").read_text("utf-8").splitlines()
    assert lines[0] == "# Overtone"
    targets = [line.partition("](")[2].partition(")")[0] for line in lines if line.startswith("- [")]
    assert [target for target in targets if not (site / target).is_file()] == []
    assert {"first-search.html", "learn/early_stopping.html", "frameworks/keras.html", "errors.html"} <= set(
        targets
    )
