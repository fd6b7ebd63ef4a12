"""The check of each node's versions."""

from __future__ import annotations

import json

from overtone.cluster import node_versions
from overtone.cluster.node_versions import main, mismatches


def at_home(monkeypatch, tmp_path, **versions):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(
        node_versions, "node_versions", lambda: {"python": "3.11.4", "ray": "2.60.0", **versions}
    )


def test_a_worker_with_the_heads_versions_passes(monkeypatch, tmp_path, capsys):
    at_home(monkeypatch, tmp_path)
    assert main(["head", "--ray", "2.60.0"]) == 0
    assert main(["worker", "--ray", "2.60.0"]) == 0
    assert capsys.readouterr().err == ""


def test_each_mismatch_names_both_versions_and_the_mend(monkeypatch, tmp_path, capsys):
    at_home(monkeypatch, tmp_path)
    assert main(["head", "--ray", "2.61.0"]) == 1
    assert "has Ray 2.60.0, and the machine that starts the cluster has 2.61.0" in capsys.readouterr().err
    assert json.loads((tmp_path / ".overtone/cluster/versions.json").read_text())["python"] == "3.11.4"
    at_home(monkeypatch, tmp_path, python="3.12.1", ray="")
    assert main(["worker", "--ray", "2.60.0"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert (
        'has no Ray, and the head has 2.60.0: all nodes need the same; pip install "ray[default]==2.60.0"'
        in lines[2]
    )
    assert "has Python 3.12.1, and the head has 3.11.4" in lines[1]


def test_a_worker_without_the_heads_file_is_compared_with_ray_alone(monkeypatch, tmp_path):
    at_home(monkeypatch, tmp_path)
    assert main(["worker", "--ray", "2.60.0"]) == 0
    assert main(["worker", "--ray", ""]) == 0


def test_equal_versions_are_no_mismatch():
    assert mismatches({"ray": "1"}, {"ray": "1"}, "the head") == []
    assert set(node_versions.node_versions()) == {"python", "ray"}
