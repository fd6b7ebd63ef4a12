"""Which engine an experiment runs on where it names none, and why."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from overtone.engines.inline import Inline
from overtone.engines.local import Local
from overtone.engines.simulated import Simulated
from overtone.errors import OvertoneError
from overtone.run.engine_choice import check_options, engine_for
from overtone.worker.trainables.with_parameters import with_resources


@pytest.fixture(autouse=True)
def no_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.delitem(sys.modules, "ray", raising=False)


def pretend(monkeypatch: pytest.MonkeyPatch, is_initialized: bool) -> None:
    ray = ModuleType("ray")
    ray.is_initialized = lambda: is_initialized  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ray", ray)


def test_this_machine_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, why = engine_for(None)
    assert (type(engine), why) == (Local, "nothing else was asked for")
    pretend(monkeypatch, is_initialized=False)
    assert type(engine_for(None)[0]) is Local


def test_ray_where_it_is_initialised(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, is_initialized=True)
    engine, why = engine_for(None)
    assert (type(engine).__name__, why) == ("Ray", "Ray is initialised in this process")


def test_ray_where_an_address_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    engine, why = engine_for(None)
    assert (type(engine).__name__, why) == ("Ray", "RAY_ADDRESS=10.0.0.1:6379")


def test_what_is_named_always_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    pretend(monkeypatch, is_initialized=True)
    assert type(engine_for("local")[0]) is Local
    assert type(engine_for("ray")[0]).__name__ == "Ray"
    with pytest.raises(OvertoneError, match="'ray'"):
        engine_for("dask")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"runtime_env": {"pip": ["x"]}}, "only a Ray cluster has that; on one machine set os.environ"),
        ({"label_selector": {"disk": "nvme"}}, "only a Ray cluster has that; on one machine leave it out"),
    ],
)
def test_options_that_only_a_cluster_has_are_refused_elsewhere(options: dict[str, Any], told: str) -> None:
    bound = with_resources(print, {"cpu": 1}, **options)
    for engine in (Local(), Inline()):
        with pytest.raises(OvertoneError, match=told):
            check_options(bound, engine)
    check_options(bound, Simulated())
    check_options(with_resources(print, {"cpu": 1}), Inline())
