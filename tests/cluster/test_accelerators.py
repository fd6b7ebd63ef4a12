"""Trials see the accelerators that Ray gave them, forked or as actors of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core import messages as m

pytestmark = pytest.mark.filterwarnings("default")

NAMES = ["MIG-a", "GPU-b"]


def shows(config: dict[str, Any]) -> None:
    import os
    import time

    names = ("CUDA_VISIBLE_DEVICES", "TPU_VISIBLE_CHIPS", "NEURON_RT_VISIBLE_CORES", "HABANA_VISIBLE_MODULES")
    tune.report({"loss": 0.0, **{name: os.environ.get(name) for name in names}})
    here = Path(config["folder"])
    (here / f"shows-{os.getpid()}").touch()
    while len(list(here.glob("shows-*"))) < config["count"]:  # so that all hold what they have at once
        time.sleep(0.05)


def seen_by_trials(
    engine: Any, seen: Any, folder: Path, amounts: dict[str, float], count: int, uses_ray: bool
) -> list[dict[str, str]]:
    trainable = tune.with_resources(shows, amounts, ray=uses_ray) if uses_ray else shows
    given = {} if uses_ray else {"resources_per_trial": amounts}
    tune.run(
        trainable, config={"folder": str(folder), "count": count}, engine=engine, callbacks=[seen],
        storage_path=str(folder), num_samples=count, verbose=0, metric="loss", mode="min", **given,
    )  # fmt: skip
    return [event.metrics for event in seen.of(m.Reported)]


def test_gpus_named_by_uuid_are_what_trials_see(nodes: Any, engine: Any, seen: Any, tmp_path: Path) -> None:
    nodes.add(num_cpus=2, num_gpus=2, env_vars={"CUDA_VISIBLE_DEVICES": ",".join(NAMES)})
    nodes.wait()
    for uses_ray in (False, True):
        ones, folder = type(seen)(), tmp_path / str(uses_ray)
        folder.mkdir()
        found = seen_by_trials(engine(), ones, folder, {"cpu": 1, "gpu": 1}, 2, uses_ray)
        assert sorted(one["CUDA_VISIBLE_DEVICES"] for one in found) == sorted(NAMES)


@pytest.mark.full
def test_other_accelerators_than_gpus_are_what_trials_see(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    nodes.add(num_cpus=2, resources={"TPU": 4, "neuron_cores": 2, "HPU": 2})
    nodes.wait()
    amounts = {"cpu": 1, "TPU": 1, "neuron_cores": 1, "HPU": 1}
    found = seen_by_trials(engine(), seen, tmp_path, amounts, 2, False)
    assert sorted(one["NEURON_RT_VISIBLE_CORES"] for one in found) == ["0", "1"]
    assert sorted(one["HABANA_VISIBLE_MODULES"] for one in found) == ["0", "1"]
    assert len({one["TPU_VISIBLE_CHIPS"] for one in found} & {"0", "1", "2", "3"}) == 2
    assert {one["CUDA_VISIBLE_DEVICES"] for one in found} == {""}
