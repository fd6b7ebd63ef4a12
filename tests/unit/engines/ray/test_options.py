"""What users give the engine, and what is said where that makes no sense."""

from __future__ import annotations

from typing import Any

import pytest

from overtone.engines.ray import engine
from overtone.engines.ray.options import most_of, unknown
from overtone.errors import OvertoneError

NOTHING: Any = None


def test_a_limit_of_nothing_is_a_limit() -> None:
    assert most_of({"GPU": 0, "cpu": 4, "memory": "1GB", "license": None}) == {
        "gpu": 0.0,
        "cpu": 4.0,
        "memory": 1e9,
    }
    assert most_of(None) == {}


def test_names_that_no_node_has_are_found() -> None:
    assert unknown({"gpus": 1, "gpu": 1, "license": 1}, [{"cpu": 1, "license": 2}]) == ["gpus"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"max_resources": 8}, r'max_resources=8 must look like {"gpu": 8}'),
        ({"max_resources": {"gpu": -1}}, "gpu=-1"),
        ({"labels": "vision"}, "labels='vision': must be a dict of strings"),
        ({"labels": {"gpus": 8}}, "labels={'gpus': 8}: must be a dict of strings"),
        ({"priority": "high"}, "priority='high' must be a number"),
        ({"priority": float("nan")}, "priority=nan must be a number"),
        ({"resource_timeout_s": "60"}, "resource_timeout_s='60' must be a number of seconds"),
        ({"idle_s": -1}, "idle_s=-1 must be a number of seconds"),
        ({"idle_s": None}, "idle_s=None must be a number of seconds"),
    ],
)
def test_what_makes_no_sense_is_an_error_at_once(options: dict[str, Any], told: str) -> None:
    with pytest.raises(OvertoneError, match=told):
        engine.Ray(NOTHING, **options)
