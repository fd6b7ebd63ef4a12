"""The batch script of a cluster on Slurm, and what of a config it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from overtone.cluster.config import ClusterConfig, ConfigError
from overtone.cluster.config_reading import read_config
from overtone.cluster.providers import slurm
from overtone.cluster.slurm.commands import JobInfo
from overtone.cluster.slurm.node import FIRST_PORT, N_BLOCKS, PORTS_EACH, free_block, ray_options, store_bytes
from overtone.cluster.slurm.script import job_settings, options, script
from overtone.cluster.slurm.starting import waiting_text
from overtone.cluster.slurm.steps import expanded

CONFIG = """
name: digits
provider: {type: slurm, partition: gpu, account: lab, price: 2}
workers: {type: "cpus=4,memory=8G,gpus=a100:1", min: 1, max: 3}
setup: [module load cuda, source venv/bin/activate]
limits: {cluster_idle: 10m, hours: 6, price: 12}
"""


def config_of(folder: Path, text: str) -> ClusterConfig:
    path = folder / "c.yaml"
    path.write_text(text)
    return read_config(path)


def test_options_follow_the_config(tmp_path: Path) -> None:
    made = options(config_of(tmp_path, CONFIG))
    assert made == [
        "--job-name=overtone-digits", "--comment=overtone-cluster=digits", "--account=lab", "--partition=gpu",
        "--nodes=2-4", "--ntasks-per-node=1", "--cpus-per-task=4", "--mem=8G", "--gres=gpu:a100:1", "--time=360",
        "--signal=B:USR1@120", "--dependency=singleton", "--open-mode=append",
        "--output=.overtone/slurm/digits/log", "--requeue",
    ]  # fmt: skip


def test_setup_runs_before_the_program(tmp_path: Path) -> None:
    lines = script(config_of(tmp_path, CONFIG)).splitlines()
    assert lines[0] == "#!/bin/bash -l"
    first, second = lines.index("module load cuda"), lines.index("source venv/bin/activate")
    assert lines[first + 1] == "overtone_check $?"
    program = next(i for i, line in enumerate(lines) if "overtone.cluster.slurm.job" in line)
    assert first < second < program


def test_raw_options_are_passed_on(tmp_path: Path) -> None:
    made = options(config_of(tmp_path, CONFIG + 'raw: {time: "1:00:00", exclude: n7}\n'))
    assert "--time=1:00:00" in made
    assert "--exclude=n7" in made
    assert "--time=360" not in made


def test_limits_become_seconds(tmp_path: Path) -> None:
    made = json.loads(job_settings(config_of(tmp_path, CONFIG), ends_with_run=True))
    assert made == {
        "name": "digits", "idle_s": 600.0, "most_s": 21600.0, "most_node_s": 21600.0, "ends_with_run": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ('"cpus=4,memory=8G,gpus=a100:1"', '"4 cpus"', "c.yaml:4: workers.type='4 cpus': must name cpus"),
        ("memory=8G", "memory=8", "memory=8 cannot be read: write memory=8G, in M, G or T"),
        ("cpus=4,", "cpus=4,cpus=4,", "must name cpus, memory and gpus once"),
        ("name: digits", "name: digits\nhead: cpus=1", "must equal head='cpus=1' on Slurm"),
        ("price: 2}", "price: 2, login: a b}", "provider.login='a b': must be a host"),
        ("setup:", "raw: {nodes: 3}\nsetup:", "raw.nodes: is set by the launcher"),
        ("setup:", "raw: {qos: x}\nsetup:", "raw.qos: must be written as provider.qos"),
        ("setup:", "raw: {Exclude: a}\nsetup:", "raw.Exclude: must be a long option of sbatch"),
    ],
)
def test_what_slurm_cannot_do_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, error: str
) -> None:
    assert old in CONFIG
    with pytest.raises(ConfigError) as raised:
        slurm.check(config_of(tmp_path, CONFIG.replace(old, new)))
    assert error in str(raised.value)


def test_cpus_of_nodes_are_counted() -> None:
    assert list(expanded("4(x2),8")) == [4, 4, 8]
    with pytest.raises(ValueError, match="SLURM_JOB_CPUS_PER_NODE"):
        list(expanded("4x2"))


def test_jobs_have_ports_of_their_own() -> None:
    asked = {"job": "7", "restart": 0, "node": "localhost", "cpus": 4, "gpus": None, "memory_bytes": None}
    first, second = (
        {word.partition("=")[0]: word for word in ray_options(asked, port, "/tmp/a")}
        for port in (20_000, 20_016)
    )
    ports = [name for name in first if name.endswith("port")]
    assert len(ports) == 8
    taken = [int(words[name].partition("=")[2]) for words in (first, second) for name in ports]
    assert len(set(taken)) == 16
    assert "--head" in first
    block = free_block(N_BLOCKS + 3)
    assert (block - FIRST_PORT) % PORTS_EACH == 0
    assert FIRST_PORT <= block < FIRST_PORT + N_BLOCKS * PORTS_EACH


def test_the_object_store_has_a_share_of_the_jobs_memory() -> None:
    assert store_bytes(10_000_000_000, 8_000_000_000) == 3_000_000_000
    assert store_bytes(10_000_000_000, 1_000_000_000) == 900_000_000
    assert store_bytes(100_000_000, 1_000_000_000) == 80_000_000
    options = ray_options(
        {"job": "7", "restart": 0, "node": "n1", "cpus": 4, "gpus": 2, "memory_bytes": 1 << 30, "address": "n0:1"},
        20_000, "/tmp/a",
    )  # fmt: skip
    assert "--num-gpus=2" in options
    assert "--address=n0:1" in options
    assert "--head" not in options


@pytest.mark.parametrize(("reason", "started", "text"), [
    ("None", None, "job 7 is pending"),
    ("Resources", None, "job 7 is pending (Resources)"),
    ("Resources", 0.0, "job 7 is pending (Resources)"),
    ("Dependency", None, "job 7 is pending (Dependency: an earlier job of this cluster has not ended)"),
])  # fmt: skip
def test_what_a_pending_job_waits_for(reason, started, text):
    assert waiting_text(JobInfo("7", "PENDING", reason, "", 0, None, started)) == text
