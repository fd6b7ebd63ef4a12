"""Kills ranks and heads of gangs at random moments:

    python tests/chaos/gangs.py --kills 50 --seed 1

Three trials of two ranks each add up a number by gloo, step by step, and save in both ranks. After each kill, all
other processes of that gang must be gone within a few seconds. At the end no process is left, every port that a head
listened on can be used again, and each trial has the sum of all of its steps: none was lost or done twice.
Ends with 1 and says what was wrong if not.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

MARK = "OVERTONE_GANGS"
TRIALS = 3
GONE_WITHIN_S = 2.0
SLACK_S = 90.0
"""A machine with other work schedules the survivors late."""

SCRIPT = f"""
import json, os, tempfile
from pathlib import Path
import torch
import torch.distributed as dist
from overtone import train, tune
from overtone.train.torch import TorchTrainer

folder = Path(os.environ["{MARK}"])

def loop(config):
    torch.set_num_threads(1)
    context = train.get_context()
    rank, trial = context.get_world_rank(), context.get_trial_id()
    t = total = 0
    if train.get_checkpoint():
        with train.get_checkpoint().as_directory() as saved:
            t, total = json.loads(Path(saved, f"{{rank}}.json").read_text())
    note = {{"trial": trial, "rank": rank, "pid": os.getpid(), "port": int(os.environ["MASTER_PORT"]), "t": t}}
    place = folder / "notes" / f"{{trial}}-{{rank}}"
    place.with_suffix(".new").write_text(json.dumps(note))
    os.replace(place.with_suffix(".new"), place)
    while True:
        is_over = rank == 0 and (folder / "over").exists()
        numbers = torch.tensor([rank + 1, t, int(is_over)])
        dist.all_reduce(numbers)
        assert numbers[1] == 2 * t, "the ranks began at different steps"
        t, total = t + 1, total + int(numbers[0])
        with tempfile.TemporaryDirectory() as directory:
            Path(directory, f"{{rank}}.json").write_text(json.dumps([t, total]))
            train.report({{"t": t, "total": total}}, checkpoint=train.Checkpoint.from_directory(directory))
        if numbers[2]:
            return

if __name__ == "__main__":
    trainer = TorchTrainer(
        loop,
        scaling_config=train.ScalingConfig(num_workers=2, resources_per_worker={{"CPU": 0.25}}),
    )
    results = tune.Tuner(
        trainer,
        tune_config=tune.TuneConfig(metric="t", mode="max", num_samples={TRIALS}),
        run_config=train.RunConfig(
            name="gangs", storage_path=str(folder), verbose=0,
            failure_config=train.FailureConfig(max_failures=-1),
            checkpoint_config=train.CheckpointConfig(num_to_keep=1),
        ),
    ).fit()
    (folder / "results.json").write_text(json.dumps([
        {{"error": str(one.error or ""), **{{name: one.metrics.get(name) for name in ("t", "total", "training_iteration")}}}}
        for one in results
    ]))
"""


class Gang(NamedTuple):
    """The processes of a trial's attempt."""

    trial: str
    ranks: tuple[int, ...]
    head: int
    port: int

    @property
    def pids(self) -> tuple[int, ...]:
        return (*self.ranks, self.head)


class Search:
    """A driver with its trials, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "notes").mkdir()
        (folder / "search.py").write_text(SCRIPT)
        self._out = (folder / "out").open("w")
        environment = {**os.environ, MARK: str(folder), "HOME": str(folder), "OMP_NUM_THREADS": "1"}
        self.driver = subprocess.Popen(
            [sys.executable, str(folder / "search.py")], env=environment, cwd=folder, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=self._out, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def gangs(self) -> list[Gang]:
        """Return the gangs whose ranks all run their loop."""
        noted: dict[str, list[dict[str, Any]]] = {}
        for path in (self.folder / "notes").glob("*-[0-9]"):
            note = json.loads(path.read_text())
            noted.setdefault(note["trial"], []).append(note)
        found = []
        for trial, notes in noted.items():
            ports = {note["port"] for note in notes}
            if len(notes) == 2 and len(ports) == 1 and all(is_alive(note["pid"]) for note in notes):
                (port,) = ports
                if head := listener(port, self.pids()):
                    found.append(Gang(trial, tuple(note["pid"] for note in notes), head, port))
        return found

    def pids(self) -> list[int]:
        """Return all processes of the search."""
        mark, found = f"{MARK}={self.folder}\0".encode(), []
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                try:
                    if mark in Path(entry.path, "environ").read_bytes():
                        found.append(int(entry.name))
                except OSError:
                    continue
        return found

    def stop(self) -> None:
        """Kill what is left."""
        for pid in self.pids():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.driver.wait()
        self._out.close()


def listener(port: int, pids: list[int]) -> int:
    """Return which of the processes listens on the port; 0 if none does."""
    import psutil

    for pid in pids:
        try:
            connections = psutil.Process(pid).net_connections("tcp")
        except psutil.Error:
            continue
        if any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in connections):
            return pid
    return 0


def is_alive(pid: int) -> bool:
    """Return whether the process runs; a zombie has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for(condition: Any, within_s: float, what: str) -> Any:
    """Return the condition's value as soon as it is true."""
    give_up_at = time.monotonic() + within_s
    while not (value := condition()):
        assert time.monotonic() < give_up_at, what
        time.sleep(0.02)
    return value


def kill_at_random(search: Search, kills: int, random: Random) -> tuple[float, set[int]]:
    """Kill ranks and heads; return the longest time that the rest of a gang lived on, and all ports seen."""
    longest_s, ports = 0.0, set()
    for number in range(kills):
        gang = random.choice(wait_for(search.gangs, 300, f"no gang runs before kill {number}: {said(search)}"))
        ports.add(gang.port)
        time.sleep(random.uniform(0, 0.5))
        victim = random.choice(gang.pids)
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            continue
        began = time.monotonic()
        wait_for(
            lambda pids=gang.pids: not any(map(is_alive, pids)),
            GONE_WITHIN_S + SLACK_S,
            f"kill {number} of {victim}: {[pid for pid in gang.pids if is_alive(pid)]} of {gang} live on",
        )
        longest_s = max(longest_s, time.monotonic() - began)
    return longest_s, ports


def said(search: Search) -> str:
    """Return the end of what the driver printed."""
    return (search.folder / "out").read_text()[-3000:]


def check(search: Search, ports: set[int]) -> None:
    """Check the results, and that no process and no port is left."""
    assert search.driver.returncode == 0, said(search)
    results = json.loads((search.folder / "results.json").read_text())
    assert len(results) == TRIALS, results
    for result in results:
        assert not result["error"], result
        assert result["total"] == 3 * result["t"], result
        assert result["training_iteration"] == result["t"], result
    wait_for(lambda: not search.pids(), 90, f"left: {search.pids()}")
    for port in ports:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # only a listener is in the way
            probe.bind(("", port))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        search = Search(Path(folder))
        try:
            began = time.monotonic()
            longest_s, ports = kill_at_random(search, arguments.kills, Random(arguments.seed))
            (search.folder / "over").touch()
            search.driver.wait(600)
            check(search, ports)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            sys.exit(f"{error}\n{said(search)}")
        finally:
            search.stop()
    print(
        f"{arguments.kills} kills in {time.monotonic() - began:.0f} s: no process and no port is left, no step lost; "
        f"a gang was gone after {longest_s:.2f} s at most"
    )


if __name__ == "__main__":
    main()
