"""The program of a cluster's job, on its first node: `python -m overtone.cluster.slurm.job FOLDER`.

It starts Ray on all nodes, a job step for each, runs the commands that lie in FOLDER/begin, and ends the job
when it is idle, too old or too dear. Slurm may end the job at any time and start it again, elsewhere:
commands that had not ended are then begun again.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from overtone.cluster.slurm.begun import BegunCommands
from overtone.cluster.slurm.script import WARNING_S
from overtone.cluster.slurm.steps import foreign_steps, kill_wait_s, nodes_of
from overtone.regular_files import read_regular, replace_file
from overtone.standard_streams import say
from overtone.worker.process_tree import adopt_orphans

_LOOK_S = 0.5
_LOOK_FOR_STEPS_S = 5.0
_START_S = 600.0
"""Seconds that Ray has to start: cold shared disks are slow, and so are nodes that others use."""
_AFTER_RUN_S = 60.0
"""A cluster that was started for one run stays so long after it, for whoever fetches the results."""
_SAVE_S = {"warned": WARNING_S - 30.0}
"""Seconds that runs have to save their trials."""
_WORTH_S = 300.0
"""A job with less time than this is not worth another start."""


class JobError(Exception):
    """The cluster of the job cannot be used."""


class Job:
    """One start of a job.

    Args:
        folder: The folder of the cluster, on the shared disk.
        variables: The variables that Slurm gives to the batch script.

    Attributes:
        reason: Why the job ends; "" until then.
    """

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        self.folder = folder
        self.settings: dict[str, Any] = json.loads(read_regular(folder / "job.json"))
        self.id, self.restart = variables["SLURM_JOB_ID"], int(variables.get("SLURM_RESTART_COUNT", "0"))
        self.nodes = nodes_of(variables)
        self.address, self.reason = "", ""
        self.begun = BegunCommands(folder / "begin")
        self._steps: dict[str, subprocess.Popen[bytes]] = {}
        self._began = self._busy = time.monotonic()
        self._looked = 0.0
        self._used_before = self._read_used()
        self._variables = dict(variables)

    def run(self) -> int:
        """Run the cluster until it ends; returns the exit status of the job."""
        adopt_orphans()  # Slurm may know the processes of a job by their parents alone.
        for number, reason in ((signal.SIGTERM, "terminated"), (signal.SIGUSR1, "warned")):
            signal.signal(number, lambda *_, reason=reason: self._end(reason))
        try:
            self._start()
            self._busy = time.monotonic()
            while not self.reason:
                self._look()
                time.sleep(_LOOK_S)
        except JobError as error:
            self._say(str(error))
            self._end("failed")
        is_requeued = self.reason == "warned" and self._is_worth_more()
        self._say(f"ends: {self.reason}{', and is queued again' if is_requeued else ''}")
        is_told = self.reason == "terminated"
        self.begun.end(0.6 * kill_wait_s() if is_told else _SAVE_S.get(self.reason, 5.0), is_told)
        self._stop()
        if is_requeued:
            subprocess.run(["scontrol", "requeue", self.id], check=False)
        elif self.reason != "terminated":  # which may lead to another start
            self._write("ended.json", {"reason": self.reason, "at": time.time(), "age_s": self._used()})
        return 1 if self.reason == "failed" else 0

    # start

    def _start(self) -> None:
        """Start Ray on the first node, then on the others.

        Raises:
            JobError: Ray does not start on the first node.
        """
        (self.folder / "head.json").unlink(missing_ok=True)
        (self.folder / "nodes").mkdir(mode=0o700, exist_ok=True)
        for path in (self.folder / "nodes").iterdir():
            path.unlink(missing_ok=True)
        first, *others = self.nodes
        self._start_step(first)
        note = self._wait_for_head(first)
        if self.reason:
            return
        self.address = note["address"]
        for node in others:
            self._start_step(node)
        self._write(
            "head.json",
            {
                "job": self.id, "restart": self.restart, "node": first, "nodes": list(self.nodes),
                "pid": os.getpid(), "address": self.address, "began": time.time(),
            },
        )  # fmt: skip
        self._say(f"Ray is up on {first}, at {self.address}; {len(others)} more nodes start")

    def _start_step(self, node: str) -> None:
        cpus = self.nodes[node]
        asked = {
            "job": self.id, "restart": self.restart, "node": node, "cpus": cpus, "folder": str(self.folder),
            "address": self.address or None, "gpus": self._number("SLURM_GPUS_ON_NODE"),
            "memory_bytes": self._memory(cpus),
        }  # fmt: skip
        words = [
            "srun", "--overlap", "--nodes=1", "--ntasks=1", f"--nodelist={node}", f"--cpus-per-task={cpus}",
            "--mem=0", "--quiet", "--job-name=overtone-ray",
        ]  # fmt: skip
        program = [sys.executable, "-m", "overtone.cluster.slurm.node", json.dumps(asked)]
        self._steps[node] = subprocess.Popen(
            [*words, *program],
            stdin=subprocess.PIPE,
            env={**os.environ, **self._ray_variables()},
            start_new_session=True,
        )

    def _ray_variables(self) -> dict[str, str]:
        variables = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(self.folder / "token")}
        return {**variables, **({"RAY_ADDRESS": self.address} if self.address else {})}

    def _wait_for_head(self, node: str) -> dict[str, Any]:
        path, end = self.folder / "nodes" / f"{node}.json", time.monotonic() + _START_S
        while not self.reason and time.monotonic() < end:
            with suppress(OSError, ValueError):
                note = json.loads(read_regular(path))
                if note["restart"] == self.restart:
                    return dict(note)
            if self._steps[node].poll() is not None:
                raise JobError(f"Ray did not start on {node}, the first node")
            time.sleep(0.1)
        if not self.reason:
            raise JobError(f"Ray did not start on {node}, the first node, within {_START_S:g} s")
        return {}

    # while it runs

    def _look(self) -> None:
        """Begin commands, note what has ended, and end the job where nothing is left to do."""
        now, first = time.monotonic(), next(iter(self.nodes))
        self.begun.begin({**os.environ, **self._ray_variables()})
        for node, step in list(self._steps.items()):
            if step.poll() is not None:
                del self._steps[node]
                self._say(f"{node} is lost (status {step.returncode})")
                if node == first:
                    raise JobError(f"Ray has ended on {node}, the first node")
        if self.begun.running():
            self._busy = now
        if now - self._looked < _LOOK_FOR_STEPS_S:
            return
        self._looked = now
        self._write("used.json", {"job": self.id, "used_s": self._used()})
        if foreign_steps(self.id):
            self._busy = now
        is_done = self.settings["ends_with_run"] and self.begun.have_ended()
        idle_s = min(self.settings["idle_s"], _AFTER_RUN_S) if is_done else self.settings["idle_s"]
        if now - self._busy > idle_s:
            self._end("the run has ended" if is_done else f"idle for {idle_s:g} s")
        if self._used() > self._most_s():
            self._end("limits")

    def _end(self, reason: str) -> None:
        self.reason = self.reason or reason

    def _most_s(self) -> float:
        """Return how long the job may take in all its starts, by its hours and its price."""
        hours, price = self.settings["most_s"], self.settings["most_node_s"]
        return min(hours or float("inf"), price / len(self.nodes) if price else float("inf"))

    def _used(self) -> float:
        return self._used_before + time.monotonic() - self._began

    def _is_worth_more(self) -> bool:
        return self._most_s() - self._used() > _WORTH_S

    def _read_used(self) -> float:
        with suppress(OSError, ValueError, KeyError):
            found = json.loads(read_regular(self.folder / "used.json"))
            if found["job"] == self.id:
                return float(found["used_s"])
        return 0.0

    # end

    def _stop(self) -> None:
        """End all steps: their programs end at the end of their standard input."""
        (self.folder / "head.json").unlink(missing_ok=True)
        for step in self._steps.values():
            pipe: IO[bytes] | None = step.stdin
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        end = time.monotonic() + 20
        for step in self._steps.values():
            with suppress(subprocess.TimeoutExpired):
                step.wait(max(0.0, end - time.monotonic()))
            if step.poll() is None:
                step.kill()
        self._write("used.json", {"job": self.id, "used_s": self._used()})

    # parts

    def _write(self, name: str, facts: Mapping[str, Any]) -> None:
        with suppress(OSError):
            replace_file(self.folder / name, json.dumps(facts).encode() + b"\n")

    def _number(self, name: str) -> int | None:
        text = self._variables.get(name, "")
        return int(text) if text.isdigit() and int(text) else None

    def _memory(self, cpus: int) -> int | None:
        """Return the job's memory on a node in bytes; None if Slurm does not limit it."""
        node, cpu = self._number("SLURM_MEM_PER_NODE"), self._number("SLURM_MEM_PER_CPU")
        megabytes = node or (cpu and cpu * cpus)
        return megabytes * 1024 * 1024 if megabytes else None

    def _say(self, text: str) -> None:
        say(f"{time.strftime('%H:%M:%S')} job {self.id}: {text}")


if __name__ == "__main__":
    sys.exit(Job(Path(sys.argv[1]), os.environ).run())
