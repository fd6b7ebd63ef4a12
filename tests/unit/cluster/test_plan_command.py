"""`overtone plan`: what it prints, and that it changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from overtone.cli import main

pytest.importorskip("yaml")

CONFIGS = Path(__file__).parents[2] / "data" / "clusters"

WATCHED = """
import os, sys
from overtone.cli import main

CHANGES = {
    "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.chown", "os.truncate",
    "os.utime", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.kill", "subprocess.Popen",
    "socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname",
}
seen = []

def watch(event, args):
    if event == "open":
        flags = args[2] or 0
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC) and args[0] != os.devnull:
            seen.append((event, str(args[0])))
    elif event in CHANGES:
        seen.append((event, str(args)))

sys.addaudithook(watch)
for path in sys.argv[1:]:
    assert main(["plan", path, "--offline", "--show"]) == 0, path
    assert main(["plan", path, "--offline", "--show", "--json"]) == 0, path
print(seen, file=sys.stderr)
"""


@pytest.fixture
def plan(capsys, tmp_path):
    def run(text, *more):
        path = tmp_path / "c.yaml"
        path.write_text(text)
        code = main(["plan", str(path), *more])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def test_no_plan_writes_a_file_or_starts_a_process_or_uses_the_network(tmp_path):
    paths = sorted(map(str, CONFIGS.glob("*.yaml")))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-B", "-c", WATCHED, *paths]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "[]\n")
    assert list(tmp_path.iterdir()) == []
    assert done.stdout.count("cluster ") >= len(paths)


def test_a_wrong_config_is_one_line_with_the_line_number(plan):
    code, out, err = plan("name: lab\nprovider: {type: slurm}\nworkers: {max: many}\n")
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 1
    assert "c.yaml:3: workers.max='many': must be a whole number" in err


def test_a_wrong_price_is_an_error(plan):
    code, _, err = plan("name: lab\nprovider: {type: slurm}\n", "--offline", "--price", "much")
    assert code == 1
    assert "--price=much: must be US dollars an hour" in err


def test_a_provider_that_cannot_be_asked_is_said(plan, monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "bash").symlink_to(shutil.which("bash"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))  # a machine without Slurm
    code, out, _ = plan("name: lab\nprovider: {type: slurm}\nworkers: {max: 2}\n")
    assert code == 0
    assert "exists   unknown: " in out
    assert "squeue" in out


def test_the_document_has_the_plan_and_the_form(plan):
    code, out, _ = plan(
        "name: lab\nprovider: {type: slurm}\nworkers: {max: 2}\n",
        "--offline",
        "--json",
        "--show",
        "--price",
        "2",
    )
    document = json.loads(out)
    assert code == 0
    assert (document["name"], document["existing"], document["price"]["most"]) == ("lab", None, 6.0)
    assert document["form"].startswith("#!/bin/bash")


def test_a_plan_of_rays_yaml_tells_what_is_not_used(plan):
    text = "cluster_name: Lab\nprovider: {type: local, head_ip: a, worker_ips: [b]}\nhead_start_ray_commands: [ray stop]\n"
    code, out, _ = plan(text, "--offline")
    assert code == 0
    assert "cluster lab on local" in out
    assert "unused   head_start_ray_commands: Overtone starts and stops hosts itself" in out
    assert "unused   provider" not in out


def test_a_plan_of_rays_yaml_tells_what_overtone_changes(plan):
    text = "cluster_name: lab\nprovider: {type: aws, region: us-west-2, cache_stopped_nodes: true}\nmin_workers: 1\n"
    out = plan(text, "--offline")[1]
    assert "becomes  provider.cache_stopped_nodes: False (was True)\n" in out
    assert "becomes  min_workers: removed (was 1)\n" in out


def test_a_plan_tells_what_raw_replaces(plan):
    text = "name: lab\nprovider: {type: local, hosts: [a, b]}\nraw: {idle_timeout_minutes: 9, docker: {image: x}}\n"
    out = plan(text, "--offline")[1]
    assert [line for line in out.splitlines() if line.startswith("raw")] == [
        "raw      replaces idle_timeout_minutes"
    ]


def test_a_home_folder_that_would_be_uploaded_is_named(plan, tmp_path, monkeypatch):
    config = "name: lab\nprovider: {type: local, hosts: [10.0.0.1]}\nfiles: .\n"
    assert "unsafe" not in plan(config, "--offline")[1]
    monkeypatch.setenv("HOME", str(tmp_path))
    assert f"unsafe   files={tmp_path} in" in plan(config, "--offline")[1]
