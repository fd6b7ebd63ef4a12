"""The launcher's commands on Kubernetes, as the command line calls them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from overtone.cluster import apply
from overtone.cluster.costs import cost_so_far
from overtone.cluster.state import State
from tests.launcher.kubernetes_lab import Lab, running_lab


@pytest.fixture(params=["kubectl", "client"])
def lab(request, tmp_path, monkeypatch) -> Iterator[Lab]:
    with running_lab(request.param, tmp_path, monkeypatch) as made:
        yield made


def test_a_cluster_that_is_up_is_not_begun_again(lab):
    """Else a submit would take down a cluster that `overtone up` has started."""
    config = lab.config(settings=", price: 2")
    assert apply.up(config, lab.progress)
    life = State(config.name).info()["id"]
    assert not apply.up(config, lab.progress, for_run=True)
    assert State(config.name).info()["id"] == life
    assert cost_so_far(State(config.name).info()) is not None, "its pods count"
    apply.down(config, lab.progress)
    assert apply.up(config, lab.progress, for_run=True)
    assert State(config.name).info()["id"] != life
    apply.down(config, lab.progress)
