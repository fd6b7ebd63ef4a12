from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

import pytest

from overtone.core.messages import Start
from overtone.core.resources import Placement, Resources
from overtone.worker import threads
from overtone.worker.server import preparation
from overtone.worker.server.driver_environment import DriverEnvironment


def start(amounts: Mapping[str, float], gpus: tuple[tuple[int, float], ...] = ()) -> Start:
    return Start("a", 0, 0, {}, Resources.of(amounts), Placement(("local",), (gpus,)))


@pytest.mark.parametrize(("cpus", "count"), [(0, 1), (0.5, 1), (1, 1), (2.9, 2), (8, 8)])
def test_a_trials_pools_get_its_whole_cpus(cpus: float, count: int) -> None:
    assert preparation.cpu_threads(start({"cpu": cpus})) == count


def test_a_process_is_made_ready_for_its_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "before")
    limited: list[tuple[int, tuple[str, ...]]] = []
    monkeypatch.setattr(threads, "limit", lambda count, names: limited.append((count, names)))
    around = DriverEnvironment((), (), ("4", "6"), ("OMP_NUM_THREADS",), "/results", None, True)
    preparation.make_ready(start({"cpu": 2, "gpu": 1}, ((1, 1.0),)), around)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "6"
    assert limited == [(2, ("OMP_NUM_THREADS",))]


def test_a_process_sees_the_devices_that_its_start_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "before")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "before")
    monkeypatch.setattr(threads, "limit", lambda count, names: None)
    given = replace(start({"cpu": 1}), devices=(("HIP_VISIBLE_DEVICES", "3"),))
    preparation.make_ready(given, DriverEnvironment((), (), (), (), "/results", None, True))
    assert (os.environ["HIP_VISIBLE_DEVICES"], os.environ["CUDA_VISIBLE_DEVICES"]) == ("3", "before")
