"""Ray's cluster YAML: read as a config, and written."""

from __future__ import annotations

from pathlib import Path

import pytest

from overtone.cluster.config import Workers
from overtone.cluster.config_reading import parse_config
from overtone.cluster.ray_document import cluster_yaml, node_prices
from overtone.cluster.ray_form import differences, merge, ray_yaml, setup_files, yaml_text
from overtone.cluster.yaml_lines import parse_yaml

pytest.importorskip("yaml")

LOCAL = """\
name: lab
provider: {type: local, hosts: [10.0.0.1, 10.0.0.2, 10.0.0.3], user: ada, ssh_key: ~/.ssh/lab}
workers: {min: 0, idle: 90s}
"""

OLD = """\
cluster_name: Tune_Default
min_workers: 1
max_workers: 3
initial_workers: 1
autoscaling_mode: default
provider: {type: local, head_ip: 10.0.0.1, worker_ips: [10.0.0.2, 10.0.0.3]}
auth: {ssh_user: ubuntu, ssh_private_key: ~/.ssh/id_rsa}
idle_timeout_minutes: 2
head_node: {}
worker_nodes: {}
file_mounts: {/data: ./data}
setup_commands: [pip install torch]
head_start_ray_commands:
  - ray stop
  - ray start --head --redis-port=6379 --dashboard-host=0.0.0.0
"""


def written(text: str, **more):
    return ray_yaml(
        parse_config(text, Path("c.yaml")), ray_version="2.60.0", token_file="/state/token", **more
    )


def test_local_hosts():
    ray = written(LOCAL)
    assert ray["provider"] == {"type": "local", "head_ip": "10.0.0.1", "worker_ips": ["10.0.0.2", "10.0.0.3"]}
    assert ray["auth"] == {"ssh_user": "ada", "ssh_private_key": "~/.ssh/lab"}
    assert (ray["min_workers"], ray["max_workers"], ray["idle_timeout_minutes"]) == (0, 2, 1.5)


def test_the_token_is_a_file_on_each_node_and_each_command_knows_where():
    ray = written(LOCAL, head_commands=["watch"], worker_commands=["guard"])
    assert ray["file_mounts"]["~/.overtone/cluster/token"] == "/state/token"
    commands = ray["head_start_ray_commands"] + ray["worker_start_ray_commands"]
    before = "export OVERTONE_CLUSTER=lab RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH="
    assert all(one.startswith(before) for one in commands)
    assert [one.rpartition("; ")[2] for one in commands] == [
        "ray stop", commands[1].rpartition("; ")[2], "watch",
        "ray stop", "ray start --address=$RAY_HEAD_IP:6379 --object-manager-port=8076", "guard",
    ]  # fmt: skip
    assert "--dashboard-host=127.0.0.1" in commands[1]


def test_the_dashboard_of_an_article_is_closed():
    commands = written(OLD)["head_start_ray_commands"]
    assert "--dashboard-host=127.0.0.1" in commands[1]
    assert "0.0.0.0" not in commands[1]
    assert "ray start --head --port=6379" in commands[1]  # Ray 2 has no --redis-port


def test_an_old_file_of_rays_is_a_config_and_keeps_its_keys():
    config = parse_config(OLD, Path("c.yaml"))
    assert (config.name, config.is_ray, config.head) == ("tune-default", True, "10.0.0.1")
    assert config.workers == Workers(None, 1, 2, False, 120.0)
    assert config.provider.settings["user"] == "ubuntu"
    ray = written(OLD)
    assert ray["cluster_name"] == "tune-default"
    assert ray["setup_commands"] == ["pip install torch"]
    assert ray["file_mounts"]["/data"] == "./data"
    assert not {"head_node", "worker_nodes", "initial_workers", "autoscaling_mode"} & set(ray)


def test_setup_runs_where_the_files_are_and_only_what_it_reads_is_on_each_node(tmp_path):
    for name in ("requirements.txt", "train.py", "scripts/install.sh", "data.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    text = f"{LOCAL}files: .\nsetup:\n  - pip install -r requirements.txt\n  - bash scripts/install.sh --all /etc ../x\n"
    config = parse_config(text, tmp_path / "c.yaml")
    assert setup_files(config) == ["requirements.txt", "scripts/install.sh"]
    ray = ray_yaml(config, ray_version="2.60.0", token_file="t")
    assert ray["file_mounts"]["~/overtone_work/lab/scripts/install.sh"] == str(
        tmp_path / "scripts/install.sh"
    )
    first = [
        "mkdir -p ~/overtone_work/lab && cd ~/overtone_work/lab || exit 1",
        "pip install -r requirements.txt",
    ]
    assert ray["setup_commands"][0].splitlines() == first
    whole = parse_config(f"{LOCAL}files: .\nsetup: pip install -e .\n", tmp_path / "c.yaml")
    assert setup_files(whole) == ["."]
    assert setup_files(parse_config(f"{LOCAL}files: .\n", tmp_path / "c.yaml")) == []


def test_versions_are_checked_after_the_setup():
    ray = written(f"{LOCAL}setup: make\n")
    assert ray["head_setup_commands"][-1].endswith("-m overtone.cluster.node_versions head --ray 2.60.0")
    assert ray["worker_setup_commands"][-1].endswith("-m overtone.cluster.node_versions worker --ray 2.60.0")
    assert ray["cluster_synced_files"] == ["~/.overtone/cluster/versions.json"]


def test_raw_is_merged_last():
    text = f"{LOCAL}raw: {{idle_timeout_minutes: 7, provider: {{external_head_ip: 1.2.3.4}}, rsync_exclude: []}}\n"
    ray = written(text)
    assert ray["idle_timeout_minutes"] == 7
    assert ray["provider"]["head_ip"] == "10.0.0.1"
    assert ray["provider"]["external_head_ip"] == "1.2.3.4"


def test_merge_changes_neither_side_and_lists_are_replaced():
    base, over = {"a": {"b": 1, "c": [1]}}, {"a": {"c": [2], "d": {}}}
    assert merge(base, over) == {"a": {"b": 1, "c": [2], "d": {}}}
    assert (base, over) == ({"a": {"b": 1, "c": [1]}}, {"a": {"c": [2], "d": {}}})
    assert list(differences(base, merge(base, over))) == [("a.c", [1], [2]), ("a.d", None, {})]


def test_commands_of_several_lines_are_readable_and_read_back():
    value = {"setup_commands": ["cd x || exit 1\nmake", "echo a: b # c"], "same": [["x"]] * 2, "empty": []}
    text = yaml_text(value)
    assert "- |-\n  cd x || exit 1\n  make\n" in text
    assert "*" not in text
    assert parse_yaml(text, Path("r.yaml"))[0] == value


def test_the_same_config_gives_the_same_text():
    assert yaml_text(written(LOCAL)) == yaml_text(written(LOCAL))


def test_the_watchdog_knows_the_price_of_each_node_type():
    text = "name: lab\nprovider: {type: aws, region: us-east-1}\nworkers: {type: g5.xlarge, max: 2, spot: true}\n"
    assert node_prices(parse_config(text, Path("c.yaml"))) == {"head": 0.096, "worker": 1.006}
    assert node_prices(parse_config(text.replace("g5", "z9"), Path("c.yaml"))) == {"head": 0.096}
    raw = f"{text}raw: {{available_node_types: {{big: {{node_config: {{InstanceType: g5.2xlarge}}}}}}}}\n"
    assert node_prices(parse_config(raw, Path("c.yaml")))["big"] == 1.212


def test_the_watchdog_and_the_guards_start_after_ray():
    ray = cluster_yaml(parse_config(LOCAL, Path("c.yaml")), ray_version="2.60.0", token_file="t", began=5.0)
    assert "ray start" in ray["head_start_ray_commands"][-2]
    assert "overtone.cluster.watchdog --start" in ray["head_start_ray_commands"][-1]
    assert "overtone.cluster.node_guard --start" in ray["worker_start_ray_commands"][-1]
