"""The table and the listing of docs/import-results.md, one after the other."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from overtone.cli import main

PAGE = (Path(__file__).parents[3] / "docs" / "import-results.md").read_text("utf-8")


def test_the_table_is_imported_and_a_search_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    table, command, printed = re.search(
        r"\$ cat paper\.csv\n(.*?)\$ overtone (import [^\n]*)\n(.*?)```", PAGE, re.DOTALL
    ).groups()  # type: ignore[union-attr]
    Path("paper.csv").write_text(table)
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out == printed.replace("/home/ada", str(tmp_path))
    (listing,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    scope = {"__name__": "page"}
    exec(listing.replace("num_samples=5,", 'num_samples=2, engine="inline", verbose=0,'), scope)
    assert [one["config"]["layers"] for one in scope["done"].runner_data()["earlier"]] == [2, 3, 3]
