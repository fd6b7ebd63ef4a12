"""The page on new searchers: its listings run as they stand."""

import re
from pathlib import Path

from overtone import tune
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


def test_a_searcher_of_ray_tunes_form(tmp_path):
    names = {"__name__": "page"}
    exec(compile(next(one for one in LISTINGS if "class Uniform" in one), PAGE, "exec"), names)
    found = tune.run(
        lambda config, t: {"loss": config["x"]} if t < 2 else None, search_alg=names["Uniform"](), num_samples=3,
        config={"x": tune.uniform(0, 1), "fixed": 2}, metric="loss", mode="min", engine="simulated", verbose=0,
        storage_path=str(tmp_path),
    )  # fmt: skip
    assert [trial.config["fixed"] for trial in found.trials] == [2, 2, 2]


def test_a_searcher_by_hand():
    exec(compile(LISTINGS[-1], PAGE, "exec"), {"__name__": "page"})
