"""A cluster whose nodes are still being started is not idle, however short its limit is."""

from __future__ import annotations

import pytest

from overtone.cluster import head_view, watchdog
from overtone.cluster.config import Limits
from overtone.cluster.limit_rules import END


@pytest.mark.parametrize(("starting_s", "ends"), [(0.0, True), (60.0, False)])
def test_a_cluster_is_not_idle_while_it_starts(tmp_path, monkeypatch, starting_s, ends):
    monkeypatch.setattr(watchdog, "head_address", lambda name: None)
    monkeypatch.setattr(head_view, "busy", lambda address: ())
    settings = watchdog.Settings("lab", 1.0, Limits(cluster_idle_s=1e-6), starting_s=starting_s)
    looking = watchdog.Watchdog(tmp_path, settings)
    last = [looking.look() for _ in range(20)][-1]
    assert (last.action == END) == ends


def test_settings_are_the_same_behind_json():
    settings = watchdog.Settings("lab", 1.0, starting_s=900.0)
    assert watchdog.Settings.of(settings.text()) == settings
