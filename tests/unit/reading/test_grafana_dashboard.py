"""The Grafana dashboard uses the metrics that runs have, and all of them."""

import json
import re
from pathlib import Path

from overtone.reading.run_metrics import METRICS

DASHBOARD = json.loads((Path(__file__).parents[3] / "docs" / "grafana-dashboard.json").read_text("utf-8"))
EXPRESSIONS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


def test_the_dashboard_shows_each_metric_and_no_other():
    used = {name for one in EXPRESSIONS for name in re.findall(r"\bovertone_\w+", one)}
    assert used == {one.name for one in METRICS}


def test_the_dashboard_uses_labels_that_metrics_have():
    known = {"experiment", *(label for one in METRICS for label in one.labels)}
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            legend = re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])
            selected = re.findall(r"(\w+)=~?\"", target["expr"])
            assert set(legend) | set(selected) <= known
    assert "trial" not in {word for label in known for word in label.split("_")}


def test_panels_have_places_of_their_own():
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
