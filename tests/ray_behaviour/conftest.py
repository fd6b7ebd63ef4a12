"""One suite for two subjects: Ray records what its own answers are, and Overtone is compared with them."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tomllib

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for `subject`, here and in trials

from subject import IS_RAY, tune  # noqa: E402

if IS_RAY:  # trials and actors that log import `subject` and stand-ins by name, too
    _places = [str(HERE), str(HERE / "stand_ins")]
    sys.path[:0] = _places
    os.environ["PYTHONPATH"] = os.pathsep.join([*_places, os.environ.get("PYTHONPATH", "")])

STARTED = time.monotonic()
SAMPLE_S = 60.0
"""No test of a sample begins later than so many seconds after the start."""

OUTCOMES = HERE / "outcomes.json"
"""The outcome of each test with Ray: `make conformance-ray` writes it."""

DIFFERENCES = HERE / "differences.toml"
"""Tests that pass with Ray and are meant to fail with Overtone, and why."""


def key(item: pytest.Item) -> str:
    """Return the name of a test in the two files."""
    return f"{item.path.stem}::{item.name}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    ours = [item for item in items if item.path.is_relative_to(HERE)]
    _collected.update(key(item) for item in ours)
    if sample := int(os.environ.get("CONFORMANCE_SAMPLE", "0")):
        passing = {name for name, outcome in _recorded().items() if outcome == "passed"}
        order = sorted(passing, key=lambda name: hashlib.sha256(name.encode()).digest())
        chosen = set(order[:sample])
        items[:] = [item for item in ours if key(item) in chosen]
    if IS_RAY:
        return
    reasons = tomllib.loads(DIFFERENCES.read_text("utf-8")) if DIFFERENCES.exists() else {}
    for item in ours:
        if key(item) in reasons:
            item.add_marker(pytest.mark.xfail(reason=reasons[key(item)], strict=True))


def _recorded() -> dict[str, str]:
    return json.loads(OUTCOMES.read_text("utf-8")) if OUTCOMES.exists() else {}


_seen: dict[str, str] = {}
_collected: set[str] = set()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()
    if item.path.is_relative_to(HERE) and (report.when == "call" or report.skipped):
        _seen[key(item)] = report.outcome
        if os.environ.get("CONFORMANCE_RECORD"):
            _record()


def _record() -> None:
    """Write the outcomes so far: a run with Ray may be interrupted."""
    files = {name.split("::")[0] for name in _collected}
    gone = {name for name in _recorded() if name.split("::")[0] in files and name not in _collected}
    outcomes = {name: outcome for name, outcome in sorted((_recorded() | _seen).items()) if name not in gone}
    OUTCOMES.write_text(json.dumps(outcomes, indent=1) + "\n", "utf-8")


@pytest.fixture(scope="session", autouse=True)
def ray_session() -> Iterator[None]:
    """One Ray for all tests."""
    if not IS_RAY:
        yield
        return
    import ray

    options = {"num_cpus": 4, "object_store_memory": 80_000_000, "include_dashboard": False}
    for patience in range(3):  # on a busy machine the node's processes may start too late
        try:
            ray.init("local", log_to_driver=False, logging_level="ERROR", **options)
            break
        except Exception:
            ray.shutdown()
            if patience == 2:
                raise
    yield
    ray.shutdown()


@pytest.fixture(scope="module", autouse=True)
def by_value(request: pytest.FixtureRequest) -> Iterator[None]:
    """Functions of test modules go to Ray's trials by value, too: see `short_runs`."""
    if not IS_RAY:
        yield
        return
    from ray import cloudpickle

    cloudpickle.register_pickle_by_value(request.module)
    yield
    cloudpickle.unregister_pickle_by_value(request.module)


@pytest.fixture(autouse=True)
def quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A home of its own, and no warnings as errors: an old form may say one line of advice."""
    if "CONFORMANCE_SAMPLE" in os.environ and time.monotonic() - STARTED > SAMPLE_S:
        pytest.skip("the time of the sample is over")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture
def search(tmp_path: Path) -> Callable[..., Any]:
    """`tune.run` that writes below the test's folder."""

    def run(trainable: Any, **arguments: Any) -> Any:
        return tune.run(trainable, **{"storage_path": str(tmp_path / "results"), "verbose": 0, **arguments})

    return run


@pytest.fixture
def tuned(tmp_path: Path) -> Callable[..., Any]:
    """`Tuner(...).fit()` that writes below the test's folder; TuneConfig's and RunConfig's arguments in two dicts."""

    def fit(trainable: Any, space: Any = None, tune_config: Any = (), **run_config: Any) -> Any:
        run_config = {"storage_path": str(tmp_path / "results"), "verbose": 0, **run_config}
        return tune.Tuner(
            trainable,
            param_space=space,
            tune_config=tune.TuneConfig(**dict(tune_config)),
            run_config=tune.RunConfig(**run_config),
        ).fit()

    return fit
