"""What Ray says of nodes that it drains, and a Ray that does not say it."""

from __future__ import annotations

import math
import sys
import time
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from overtone.engines.ray import drains


def ray_with(monkeypatch: pytest.MonkeyPatch, **state: Any) -> None:
    for name in ("ray", "ray._private"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    module: Any = ModuleType("ray._private.state")
    if state:
        module.state = SimpleNamespace(**state)
    monkeypatch.setitem(sys.modules, "ray._private.state", module)


def test_deadlines_are_seconds_from_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    ray_with(monkeypatch, get_draining_nodes=lambda: {"a": 1_030_000, "b": 0, "late": 990_000})
    assert drains.seconds_left() == {"a": 30.0, "b": math.inf, "late": 0.0}


@pytest.mark.parametrize(
    "state", [{}, {"other": 1}, {"get_draining_nodes": lambda what: {}}, {"get_draining_nodes": list}]
)
def test_a_ray_that_does_not_say_it_drains_no_node(
    monkeypatch: pytest.MonkeyPatch, state: dict[str, Any]
) -> None:
    ray_with(monkeypatch, **state)
    assert drains.seconds_left() == {}


def test_a_head_that_does_not_answer_is_an_error_of_the_look(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise RuntimeError("unavailable")

    ray_with(monkeypatch, get_draining_nodes=fails)
    with pytest.raises(RuntimeError):
        drains.seconds_left()
