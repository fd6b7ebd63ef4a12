"""How much of the pages is in Chinese: the pages that have a catalogue are complete, and the list tells what is behind."""

from __future__ import annotations

import re

from babel.messages.pofile import read_po
from page_sources import DOCS, listed

from tests.site.conftest import ROOT, SITE

CATALOGUES = ROOT / "docs" / "locale" / "zh_CN" / "LC_MESSAGES"
COMPLETE = {
    "index", "start", "guides", "concepts", "reference", "installation", "first-search", "trainables", "search-spaces",
    "metrics", "checkpoints", "choosing-algorithms", "resources", "stopping", "monitoring", "faq", "troubleshooting",
    "tutorial-dashboard", "tutorial-cluster", "coming-from-optuna", "coming-from-syne-tune", "coming-from-wandb-sweeps",
    "frameworks/README", "learn/first_search", "learn/spaces", "learn/early_stopping", "learn/checkpoints",
    "learn/pytorch", "learn/distributed", "learn/sklearn_search", "learn/simulation", "learn/own_scheduler",
    "learn/own_searcher",
}  # fmt: skip


def test_catalogues_have_no_gap():
    """A text that was changed since is fuzzy or missing here after `python docs/build.py --catalogues`."""
    for path in sorted(CATALOGUES.rglob("*.po")):
        with open(path, "rb") as file:
            catalogue = read_po(file)
        behind = [message.id for message in catalogue if message.id and (message.fuzzy or not message.string)]
        assert behind == [], path.name
    names = {path.relative_to(CATALOGUES).with_suffix("").as_posix() for path in CATALOGUES.rglob("*.po")}
    assert names >= COMPLETE


def test_complete_pages_are_in_chinese():
    """A changed paragraph would appear in English."""
    for name in sorted(COMPLETE):
        page = (SITE / "zh" / f"{name}.html").read_text("utf-8")
        article = re.search(r'<article class="bd-article">(.*?)</article>', page, re.DOTALL)[1]
        text = re.sub(r"<pre.*?</pre>|<code.*?</code>", "", article, flags=re.DOTALL)
        paragraphs = [re.sub(r"<[^>]*>", "", one) for one in re.findall(r"<p>(.*?)</p>", text, re.DOTALL)]
        english = [one for one in paragraphs if len(re.findall(r"[A-Za-z]{3,} [a-z]{2,} ", one)) > 2]
        assert english == [], name


def test_what_is_behind_is_told():
    pages = [
        page
        for part in ("start", "guides")
        for page in listed((DOCS / f"{part}.md").read_text("utf-8"), DOCS, part)
    ]
    done = [page for page in pages if (CATALOGUES / f"{page}.po").is_file()]
    print(
        f"in Chinese: {len(done)} of {len(pages)} pages of Start and Guides; behind: {sorted({*pages} - {*done})}"
    )
    assert done
