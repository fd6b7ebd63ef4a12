"""`overtone docs` finds the pages of this version, or says how to build them."""

from __future__ import annotations

import sys

import pytest

from overtone.cli import main
from overtone.cli.commands import docs


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A built site below `sys.prefix`, and no clone."""
    folder = tmp_path / "share" / "doc" / "overtone" / "html"
    folder.mkdir(parents=True)
    for name in ("index", "first-search"):
        (folder / f"{name}.html").write_text("<title>page</title>")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(docs, "__file__", str(tmp_path / "lib" / "overtone" / "cli" / "commands" / "docs.py"))
    return folder


def test_a_page_is_named_by_its_address(built, capsys):
    assert main(["docs", "--no-browser"]) == 0
    assert capsys.readouterr().out == f"{(built / 'index.html').as_uri()}\n"
    assert main(["docs", "first-search", "--no-browser"]) == 0
    assert capsys.readouterr().out == f"{(built / 'first-search.html').as_uri()}\n"


def test_a_page_is_opened(built, monkeypatch):
    opened = []
    monkeypatch.setattr("overtone.ui.server.browser.open_in_browser", opened.append)
    assert main(["docs"]) == 0
    assert opened == [(built / "index.html").as_uri()]


def test_an_unknown_page_names_the_nearest(built, capsys):
    assert main(["docs", "first-serch", "--no-browser"]) == 1
    assert "there is no page 'first-serch'" in (told := capsys.readouterr().err)
    assert "did you mean 'first-search'?" in told


def test_without_pages_it_says_how_to_build_them(built, capsys):
    (built / "index.html").unlink()
    assert main(["docs"]) == 1
    told = capsys.readouterr().out
    assert "make docs" in told
    assert docs.address() in told
