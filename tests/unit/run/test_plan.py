"""What will run: nothing of it has begun."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import overtone
from overtone import tune
from overtone.core.protocols import Engine
from overtone.core.resources import Resources
from overtone.engines.inline import Inline
from overtone.engines.local import Local
from overtone.engines.simulated import Simulated
from overtone.errors import OvertoneError, ResourceError
from overtone.experiment import Experiment
from overtone.run.plan import check_options, engine_for, plan, resources_for
from overtone.worker.trainables.with_parameters import with_resources


@pytest.fixture(autouse=True)
def no_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.delitem(sys.modules, "ray", raising=False)


def train(config: dict[str, Any]) -> None:
    """A trainable."""


class Lazy(tune.search.Searcher):
    """A searcher that must not begin."""

    def on_start(self, space: Any, seed: int) -> None:
        raise AssertionError("it began")

    def suggest(self, index: int) -> Any:
        raise AssertionError("it was asked")


class Idle(tune.schedulers.FIFOScheduler):
    """A scheduler that must not begin."""

    def on_start(self, view: Any) -> None:
        raise AssertionError("it began")


def test_a_plan_touches_nothing(tmp_path: Path) -> None:
    searcher, storage = Lazy(), tmp_path / "results"
    made = plan(Experiment(
        train, {"x": tune.uniform(0, 1)}, storage=storage, name="exp", searcher=searcher, scheduler=Idle(),
        metric="loss", mode="min", resume=True, num_samples=3, seed=1, engine=Local(cpus=1),
    ))  # fmt: skip
    assert (made.name, made.goal.metric, made.demand) == ("train", "loss", Resources.of({"cpu": 1}))
    assert made.searcher is searcher
    assert searcher.goal is None
    assert not storage.exists()
    made.engine.close()


@pytest.mark.parametrize(
    ("wrong", "error"),
    [({"resources_per_trial": {"cpu": "many"}}, ResourceError), ({"resume": "perhaps"}, OvertoneError)],
)
def test_what_cannot_run_is_known_before_anything_begins(
    wrong: dict[str, Any], error: type[Exception], tmp_path: Path
) -> None:
    with pytest.raises(error):
        tune.run(train, search_alg=Lazy(), engine="inline", storage_path=tmp_path, **wrong)
    assert list(tmp_path.iterdir()) == []


# --- engines ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "kind", "why"),
    [
        ("local", Local, "engine='local'"),
        ("inline", Inline, "engine='inline'"),
        ("simulated", Simulated, "engine='simulated'"),
    ],
)
def test_engines_by_name(asked: str, kind: type[Engine], why: str) -> None:
    engine, said = engine_for(asked)
    assert type(engine) is kind
    assert said == why


def test_an_engine_as_given() -> None:
    engine = Inline()
    assert engine_for(engine) == (engine, "as given")


def test_an_unknown_engine() -> None:
    with pytest.raises(
        OvertoneError, match="engine='dask': choose one of 'local', 'ray', 'inline', 'simulated', or give"
    ):
        engine_for("dask")


def test_the_local_engine_has_what_init_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    overtone.init(num_cpus=3, num_gpus=2, resources={"licence": 5, "memory": 2**30})
    try:
        engine, _ = engine_for(None)
    finally:
        overtone.shutdown()
    assert engine.describe() == "local engine: 3 CPUs, 2 GPUs, 1.0 GiB memory, 5 licence"


def pretend(monkeypatch: pytest.MonkeyPatch, is_initialized: bool) -> None:
    ray = ModuleType("ray")
    ray.is_initialized = lambda: is_initialized  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ray", ray)


def test_this_machine_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, why = engine_for(None)
    assert (type(engine), why) == (Local, "default")
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


# --- resources ------------------------------------------------------------------------------


def test_demands_in_all_their_forms() -> None:
    one_cpu, two = Resources.of({"cpu": 1}), Resources.of({"cpu": 2})
    for asked, expected in ((None, one_cpu), ({"cpu": 2}, two), ([{"cpu": 2}], two), (two, two)):
        fixed, of = resources_for(asked, train)
        assert fixed == expected
        assert of({}) == expected


def test_a_demand_by_config() -> None:
    fixed, of = resources_for(lambda config: {"cpu": config["n"]} if config["n"] else None, train)
    assert fixed is None
    assert [of({"n": n}) for n in (2, 0)] == [Resources.of({"cpu": 2}), Resources.of({"cpu": 1})]


def test_the_trainables_own_request() -> None:
    class Model(tune.Trainable):
        @classmethod
        def default_resource_request(cls, config: dict[str, Any]) -> dict[str, Any]:
            return {"cpu": config["n"]}

    assert resources_for(None, Model)[1]({"n": 3}) == Resources.of({"cpu": 3})
    assert resources_for({"cpu": 1}, Model)[1]({"n": 3}) == Resources.of({"cpu": 1})
    with pytest.raises(ResourceError, match="cpu='many'"):
        resources_for({"cpu": "many"}, Model)


@pytest.mark.parametrize("memory", ["6GB", "auto"])
def test_a_cluster_does_not_count_gpu_memory(memory: str) -> None:
    asked = {"gpu_memory": memory}
    with pytest.raises(ResourceError, match='"gpu": 0.25'):
        resources_for(asked, train, is_cluster=True)
    _, of = resources_for(lambda _: asked, train, is_cluster=True)
    with pytest.raises(ResourceError, match='engine="local"'):
        of({})
    assert resources_for(asked, train)[0] == Resources.of(asked)
