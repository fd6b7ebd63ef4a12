"""A head and its ranks on two hosts, which are network and mount namespaces with a cable between them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HEAD = """
import base64, json, os, pickle, subprocess, sys, time
from pathlib import Path
from overtone.core.messages import Start
from overtone.core.resources import Placement, Resources
from overtone.errors import GangError
from overtone.tune.session import get_context
from overtone.worker.gang.gang import Gang
from overtone.worker.gang.host import RankHost
from overtone.worker.gang.places import places_on
from overtone.worker.gang.plan import RankOrder
from overtone.worker.gang.trial_reports import merged_checkpoint

PRIVATE = Path(sys.argv[1])  # a folder with other contents on each host
HOSTS = ["10.9.0.1", "10.9.0.2", "10.9.0.2"]
RANK = "import base64, pickle, sys; from overtone.worker.gang.rank import run_rank; " \\
    "run_rank(None, pickle.loads(base64.b64decode(sys.argv[1])))"

def run(*command):
    subprocess.run(command, check=True)

other = subprocess.Popen(
    ["unshare", "-nm", "sh", "-c", f"mount -t tmpfs none {PRIVATE} && ip link set lo up && echo && exec sleep 600"],
    stdout=subprocess.PIPE,
)
other.stdout.readline()
inside = ["nsenter", f"--net=/proc/{other.pid}/ns/net", f"--mount=/proc/{other.pid}/ns/mnt"]
run("mount", "-t", "tmpfs", "none", str(PRIVATE))
run("ip", "link", "set", "lo", "up")
run("ip", "link", "add", "here0", "type", "veth", "peer", "name", "there0")
run("ip", "link", "set", "there0", "netns", str(other.pid))
run("ip", "addr", "add", "10.9.0.1/24", "dev", "here0")
run("ip", "link", "set", "here0", "up")
run(*inside, "ip", "addr", "add", "10.9.0.2/24", "dev", "there0")
run(*inside, "ip", "link", "set", "there0", "up")

class Hosts(RankHost):
    processes = []
    def hosts(self):
        return list(dict.fromkeys(HOSTS))
    def failure(self):
        return ""
    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.processes.clear()
    def start(self, plan):
        start = Start("", 0, 0, {}, Resources(((("cpu", 1.0),),)), Placement(("here",), ((),)))
        for place in places_on(HOSTS):
            order = base64.b64encode(pickle.dumps(RankOrder(start, place, plan)))
            where = inside if place.node_rank else []
            self.processes.append(subprocess.Popen([*where, sys.executable, "-c", RANK, order]))

def train():
    context = get_context()
    mine = PRIVATE / f"rank{context.get_world_rank()}"
    mine.mkdir()
    (mine / f"shard{context.get_world_rank()}").write_text("x" * 5_000_000)
    restored = context.get_checkpoint().path
    context.report(x=1, checkpoint=mine)
    return {
        "interface": os.environ["GLOO_SOCKET_IFNAME"], "address": context.address, "restored": restored,
        "local_rank": context.get_local_rank(), "node_rank": context.get_node_rank(),
        "weights": Path(restored, "weights").read_text(),
    }

def on_report(reports):
    with merged_checkpoint(reports) as folder:
        found["files"] = sorted((file.name, file.stat().st_size) for file in folder.iterdir())

found = {}
(PRIVATE / "kept").mkdir()
(PRIVATE / "kept" / "weights").write_text("w")
try:
    with Gang(Hosts(), 3, timeout_s=20) as gang:
        found["head"] = gang.address
        gang.checkpoint = PRIVATE / "kept"
        found["ranks"] = gang.run(train, on_report=on_report)
        run("ip", "link", "set", "here0", "down")
        try:
            gang.call(time.sleep, 1)
        except GangError as error:
            found["error"] = str(error)
finally:
    other.kill()
    print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(shutil.which("nsenter") is None or sys.platform != "linux", reason="makes namespaces")
def test_ranks_on_two_hosts(tmp_path: Path) -> None:
    unshare = ["unshare", "-Urpnmf", "--kill-child", "--mount-proc"]
    if subprocess.run([*unshare, "ip", "link"], capture_output=True).returncode:
        pytest.skip("this system lets no user make namespaces")
    private = tmp_path / "private"
    private.mkdir()
    done = subprocess.run(
        [*unshare, sys.executable, "-c", HEAD, str(private)], capture_output=True, text=True, env=os.environ
    )
    found = json.loads(done.stdout) if done.stdout else {}
    assert done.returncode == 0, done.stderr
    assert found["files"] == [[f"shard{i}", 5_000_000] for i in range(3)]
    first, second, third = found["ranks"]
    assert found["head"] == first["address"] == "10.9.0.1"
    assert [one["interface"] for one in found["ranks"]] == ["here0", "there0", "there0"]
    assert [(one["local_rank"], one["node_rank"]) for one in found["ranks"]] == [(0, 0), (0, 1), (1, 1)]
    assert [one["weights"] for one in found["ranks"]] == ["w"] * 3
    assert first["restored"] == str(private / "kept")
    assert second["restored"] == third["restored"] != first["restored"], "each host fetches once"
    assert found["error"].startswith("rank 1 of 3 ")
    assert "no sign of life for 20 s (then rank 2 failed, too)" in found["error"]
