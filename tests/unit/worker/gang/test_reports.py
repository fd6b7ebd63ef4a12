"""Metrics of a step, of all ranks."""

from __future__ import annotations

from typing import Any

import pytest

from overtone.worker.gang.reports import Report, joint_metrics


@pytest.mark.parametrize(
    ("reduce", "wanted"),
    [
        ("", {"loss": 1.0, "epoch": 3, "name": "a", "is_best": True}),
        ("mean", {"loss": 2.0, "epoch": 3, "name": "a", "is_best": True, "extra": 5.0}),
    ],
)
def test_rank_0_or_means(reduce: str, wanted: dict[str, Any]) -> None:
    first = Report(0, {"loss": 1.0, "epoch": 3, "name": "a", "is_best": True}, reduce=reduce)
    second = Report(1, {"loss": 3.0, "epoch": 3, "name": "b", "is_best": False, "extra": 5.0})
    found = joint_metrics([first, second])
    assert found == wanted
    assert type(found["epoch"]) is int
    assert joint_metrics([first, second], "mean")["loss"] == 2.0
