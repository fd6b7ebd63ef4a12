"""The pages of Start and Guides are in Chinese, and pages that have a catalogue are complete."""

from __future__ import annotations

import re

from babel.messages.pofile import read_po
from page_sources import DOCS, listed

from tests.site.conftest import ROOT, SITE

CATALOGUES = ROOT / "docs" / "locale" / "zh_CN" / "LC_MESSAGES"
NAMES = sorted(path.relative_to(CATALOGUES).with_suffix("").as_posix() for path in CATALOGUES.rglob("*.po"))
BEHIND: set[str] = set()
"""Pages of Start and Guides that are not translated yet."""


def test_catalogues_have_no_gap():
    """A text that was changed since is fuzzy or missing here after `python docs/build.py --catalogues`."""
    for path in sorted(CATALOGUES.rglob("*.po")):
        with open(path, "rb") as file:
            catalogue = read_po(file)
        behind = [message.id for message in catalogue if message.id and (message.fuzzy or not message.string)]
        assert behind == [], path.name


def test_complete_pages_are_in_chinese():
    """A changed paragraph would appear in English."""
    for name in NAMES:
        page = (SITE / "zh" / f"{name}.html").read_text("utf-8")
        article = re.search(r'<article class="bd-article">(.*?)</article>', page, re.DOTALL)[1]
        text = re.sub(r"<pre.*?</pre>|<code.*?</code>", "", article, flags=re.DOTALL)
        paragraphs = [re.sub(r"<[^>]*>", "", one) for one in re.findall(r"<p>(.*?)</p>", text, re.DOTALL)]
        english = [one for one in paragraphs if len(re.findall(r"[A-Za-z]{3,} [a-z]{2,} ", one)) > 2]
        assert english == [], name


def test_start_and_guides_are_in_chinese():
    """All their pages, but for those that are known to be behind."""
    pages = {
        page
        for part in ("start", "guides")
        for page in listed((DOCS / f"{part}.md").read_text("utf-8"), DOCS, part)
    }
    assert pages - set(NAMES) == BEHIND
    assert {"index", "start", "guides", "concepts", "reference"} <= set(NAMES)
