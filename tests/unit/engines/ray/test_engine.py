"""The engine, as far as it goes without a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from overtone.engines.ray import cluster_connection, engine
from overtone.errors import OvertoneError


def test_ray_that_was_shut_down_under_a_run_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Any = None
    mine = engine.Ray(nothing)
    mine._ray_job = "01000000"
    for now in ("", "02000000"):  # gone, and another by now
        monkeypatch.setattr(cluster_connection, "job_id", lambda now=now: now)
        assert mine._look() == []
        with pytest.raises(OvertoneError, match=r"Ray was shut down in this process .*resume it"):
            mine._calls.popleft()()
    mine.close()
