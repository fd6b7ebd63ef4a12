"""The listings of CONTRIBUTING.md do what the text around them says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.testing.curves import exponential

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"


def names(heading: str) -> dict[str, Any]:
    """What the listing below a heading defines."""
    section = PAGE.read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    listing = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert listing
    assert len([line for line in listing[1].splitlines() if line.strip()]) <= 20
    scope: dict[str, Any] = {"__name__": "contributing"}
    exec(listing[1], scope)
    return scope


@pytest.fixture
def search(tmp_path: Path) -> Any:
    def run(**arguments: Any) -> Any:
        space = {"best": tune.grid_search([0.2, 0.9]), "rate": 1.0}
        goal: dict[str, Any] = {"metric": "accuracy", "mode": "max", "stop": {"training_iteration": 8}}
        place: dict[str, Any] = {"engine": "simulated", "storage_path": str(tmp_path), "verbose": 0}
        return tune.run(exponential, **{"config": space, **goal, **place, **arguments})

    return run


def test_the_places_it_names_are_there() -> None:
    root = PAGE.parent
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", PAGE.read_text("utf-8")))
    assert len(named) > 8
    missing = [
        one for one in named if not any((at / one).exists() for at in (root, root / "src" / "overtone"))
    ]
    assert missing == ["mnist/"]  # of a folder with data


def test_the_scheduler_stops_what_is_below(search: Any) -> None:
    analysis = search(scheduler=names("A scheduler")["StopBelow"](least=0.5, t=3))
    ended_at = {trial.config["best"]: trial.last_result["training_iteration"] for trial in analysis.trials}
    assert ended_at == {0.2: 3, 0.9: 8}


def test_the_searcher_is_asked_in_order(search: Any) -> None:
    analysis = search(config={}, search_alg=names("A searcher")["Halving"](total=4))
    assert [trial.config["x"] for trial in analysis.trials] == [1, 0.5, 0.25, 0.125]


def test_the_observer_counts(search: Any) -> None:
    counter = names("An observer")["CountEnds"]()
    search(callbacks=[counter])
    assert sum(counter.ends.values()) == 2


def test_the_engine_s_contract_is_a_class() -> None:
    suite = names("An engine")["TestMyEngine"]
    assert any(name.startswith("test_") for name in dir(suite))
