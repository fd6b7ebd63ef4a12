"""What pods say of themselves."""

from __future__ import annotations

from typing import Any

from overtone.cluster.kubernetes.pods import trouble


def pod(*, ready: bool, last_status: int) -> dict[str, Any]:
    container = {
        "name": "ray-worker",
        "ready": ready,
        "state": {"running": {}},
        "lastState": {"terminated": {"exitCode": last_status, "reason": "OOMKilled"}},
    }
    return {"metadata": {"name": "w"}, "status": {"containerStatuses": [container]}}


def test_a_container_that_was_started_again_and_is_ready_is_no_trouble() -> None:
    assert trouble(pod(ready=True, last_status=137)) == ""
    assert trouble(pod(ready=False, last_status=137)) == "container ray-worker of pod w ended (OOMKilled, status 137)"
