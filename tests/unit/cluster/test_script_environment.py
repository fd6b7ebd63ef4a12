"""The variables of a submitted script."""

from __future__ import annotations

from pathlib import Path

import pytest

from overtone.cluster.run_folder import RunFolder
from overtone.cluster.supervise import _environment

COMMAND = {"cluster": "three", "terminal": None, "on_ray": True}


@pytest.mark.parametrize(("given", "found"), [(None, "0"), ("1", "1")])
def test_ray_does_not_print_what_its_autoscaler_cannot_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str | None, found: str
) -> None:
    monkeypatch.delenv("RAY_SCHEDULER_EVENTS", raising=False)
    if given is not None:
        monkeypatch.setenv("RAY_SCHEDULER_EVENTS", given)
    monkeypatch.setenv("OVERTONE_CLUSTER_FOLDER", str(tmp_path))
    made = _environment(RunFolder("20260101-000000-abcdef"), COMMAND)
    assert made["RAY_SCHEDULER_EVENTS"] == found
    assert (made["RAY_ADDRESS"], made["OVERTONE_CLUSTER"]) == ("auto", "three")
