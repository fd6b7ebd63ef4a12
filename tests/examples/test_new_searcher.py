"""The page on new searchers: its listings run as they stand."""

import re
from pathlib import Path

from overtone.testing.searcher_conformance import SearcherConformance

PAGE = Path(__file__).parents[2] / "docs" / "new-searcher.md"
LISTINGS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
NAMES = {"__name__": "page"}
exec(compile(LISTINGS[0], PAGE, "exec"), NAMES)


def test_the_searcher_has_less_than_30_lines():
    assert len([line for line in LISTINGS[0].splitlines() if line.strip()]) < 30


def test_it_runs(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    names = dict(NAMES)
    exec(compile(LISTINGS[1], PAGE, "exec"), names)
    assert len(names["found"].trials) == 40


class TestNearBest(SearcherConformance):
    kills = 6
    n_first = 8  # its random draws
    takes_points = takes_rewards = False

    def make_searcher(self, **arguments):
        return NAMES["NearBest"]()
