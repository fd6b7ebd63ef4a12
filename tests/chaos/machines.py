"""Loses machines whose experiments lie at a URL, and freezes drivers beyond their lease:

    python tests/chaos/machines.py --deaths 50 --frozen 20 --seed 1

A machine is a driver with its trials, and a cache and a home of its own. Its death: SIGKILL to
all of its processes, and its disk is gone. The next one has an empty cache and resumes from the
URL (moto's S3 server on the loopback). Saves come each 0.2 to 3 s, with one or two kept. No trial
may begin before the last save that its `report` acknowledged, and no result may be missing.

A frozen driver (SIGSTOP, with or without its trials) goes on when its successor works already.
The server's log then has no request of it that overwrites or deletes anything of its successor's.
Ends with 1 and the stories if not.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

MARK = "OVERTONE_MACHINE"
N_TRIALS = 3
WITHIN_S = 120.0

SCRIPT = """
import json, os, sys, time
from pathlib import Path
from overtone import tune
from overtone.store import lease

options = json.loads(os.environ["MACHINE_OPTIONS"])

def note(what, t):
    trial = tune.get_trial_id()
    file = os.open(os.environ["MACHINE_NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{os.environ['AWS_ACCESS_KEY_ID']} {what} {trial} {t}\\n".encode())
    os.close(file)

def train(config):
    first = int(Path(tune.checkpoint, "t").read_text()) if tune.checkpoint else 0
    note("start", first)
    for t in range(first + 1, options["n"] + 1):
        time.sleep(options["save_s"])
        with tune.checkpoint_dir(step=t) as folder:
            Path(folder, "t").write_text(str(t))
            Path(folder, "weights").write_bytes(bytes(options["size"]))
        tune.report(score=t)
        note("saved", t)

class Model(tune.Trainable):
    def setup(self, config):
        self.t, self.is_new = 0, True

    def step(self):
        if self.is_new:
            note("start", self.t)
            self.is_new = False
        elif self.t:
            note("saved", self.t)
        time.sleep(options["save_s"])
        self.t += 1
        return {"score": self.t, "done": self.t >= options["n"]}

    def save_checkpoint(self, folder):
        Path(folder, "t").write_text(str(self.t))
        Path(folder, "weights").write_bytes(bytes(options["size"]))

    def load_checkpoint(self, folder):
        self.t = int(Path(folder, "t").read_text())

if __name__ == "__main__":
    if options["expire_s"]:
        lease.EXPIRE_S, lease.RENEW_S, lease.LOOK_S = options["expire_s"], options["expire_s"] / 8, 0.2
    is_class = options["is_class"]
    tune.run(
        Model if is_class else train, config={"x": tune.uniform(0, 1)}, num_samples=options["n_trials"], metric="score",
        mode="max", name="exp", storage_path=options["url"], resume="AUTO", verbose=0, tensorboard=False, seed=1,
        resources_per_trial={"cpu": 0.5}, max_concurrent_trials=2, keep_checkpoints_num=options["keep"],
        **({"checkpoint_freq": 1} if is_class else {}),
    )
"""


class Request(NamedTuple):
    """One that changes something, as the server saw it."""

    time: float
    machine: str
    method: str
    key: str


class Server:
    """moto's S3 server, which keeps a log of who changed what: the access key is the machine's name."""

    def __init__(self) -> None:
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
        self.log: list[Request] = []
        self._server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        self._server.start()
        inner: Any = self._server._server
        self._app, inner.app = inner.app, self._logged
        self.url = f"http://127.0.0.1:{self._server.get_host_and_port()[1]}"
        for name, value in self.environment("proof").items():
            os.environ[name] = value

    def environment(self, machine: str) -> dict[str, str]:
        """What a machine needs to reach it."""
        return {
            "AWS_ENDPOINT_URL": self.url, "AWS_ACCESS_KEY_ID": machine, "AWS_SECRET_ACCESS_KEY": "x",
            "AWS_DEFAULT_REGION": "us-east-1",
        }  # fmt: skip

    def stop(self) -> None:
        self._server.stop()

    def _logged(self, environ: dict[str, Any], start_response: Any) -> Any:
        if environ["REQUEST_METHOD"] in ("PUT", "DELETE", "POST"):
            found = re.search(r"Credential=([^/]+)/", environ.get("HTTP_AUTHORIZATION", ""))
            key = environ["PATH_INFO"].partition("/results/exp/")[2]
            self.log.append(Request(time.time(), found[1] if found else "", environ["REQUEST_METHOD"], key))
        return self._app(environ, start_response)


class Machine:
    """A driver, what it starts, and a disk of its own."""

    def __init__(self, root: Path, name: str, server: Server, notes: Path, options: dict[str, Any]) -> None:
        self.name, self.disk = name, root / name
        self._mark = str(self.disk)
        self.disk.mkdir()
        (self.disk / "search.py").write_text(SCRIPT)
        home = self.disk / "home"
        home.mkdir()
        environment = {
            **os.environ, **server.environment(name), MARK: self._mark, "HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache"),
            "TMPDIR": str(home), "MACHINE_NOTES": str(notes), "MACHINE_OPTIONS": json.dumps(options),
        }  # fmt: skip
        self._out = (self.disk / "out").open("w")
        self.driver = subprocess.Popen(
            [sys.executable, str(self.disk / "search.py")], env=environment, cwd=home, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=self._out, stderr=subprocess.STDOUT,
        )  # fmt: skip

    @property
    def said(self) -> str:
        return (self.disk / "out").read_text()

    def pids(self) -> list[int]:
        """All processes that were started there."""
        mark, found = f"{MARK}={self._mark}\0".encode(), []
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                try:
                    text = Path(entry.path, "environ").read_bytes()
                except OSError:
                    continue
                if mark in text:
                    found.append(int(entry.name))
        return found

    def signal(self, number: int, pids: Iterable[int]) -> None:
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue

    def die(self) -> None:
        """Lose the machine, and all that is on it."""
        give_up_at = time.monotonic() + 20
        while pids := self.pids():
            self.signal(signal.SIGKILL, pids)
            self.driver.poll()
            assert time.monotonic() < give_up_at, f"{self.name}: {pids} do not die"
            time.sleep(0.01)
        self.driver.wait()
        self._out.close()
        shutil.rmtree(self.disk / "home", ignore_errors=True)

    def finish(self) -> None:
        """Wait until the driver has ended."""
        try:
            self.driver.wait(WITHIN_S)
        finally:
            self.die()


class Case:
    """One experiment at a URL of its own, on one machine after the other."""

    def __init__(
        self, root: Path, number: int, server: Server, random: Random, expire_s: float = 0.0
    ) -> None:
        import s3fs

        self.name, self.random, self.server = f"case{number}", random, server
        self.root = root / self.name
        self.root.mkdir()
        s3fs.S3FileSystem().mkdir(self.name)
        self.notes = self.root / "notes"
        self.notes.touch()
        self.save_s = random.choice([0.2, 0.5, 1.0, 3.0]) * random.uniform(0.9, 1.0)
        self.options = {
            "url": f"s3://{self.name}/results", "save_s": self.save_s, "n": 4 + round(16 / (1 + self.save_s)),
            "keep": random.choice([1, 2]), "is_class": random.random() < 0.5, "n_trials": N_TRIALS,
            "size": random.choice([10, 300_000]), "expire_s": expire_s,
        }  # fmt: skip
        self.machines: list[Machine] = []

    def start(self) -> Machine:
        name = f"{self.name}m{len(self.machines) + 1}"
        machine = Machine(self.root, name, self.server, self.notes, self.options)
        self.machines.append(machine)
        return machine

    def noted(self) -> list[tuple[str, str, str, int]]:
        """(machine, "start" or "saved", trial, t) in the order in which it happened."""
        lines = self.notes.read_text().splitlines()
        return [(one[0], one[1], one[2], int(one[3])) for one in map(str.split, lines)]

    def problems(self, but: frozenset[str] = frozenset()) -> list[str]:
        """What was lost; nothing is said of what these machines did."""
        found, best = [], {}
        for machine, what, trial, t in self.noted():
            if machine in but:
                continue
            if what == "saved":
                best[trial] = max(best.get(trial, 0), t)
            elif t < best.get(trial, 0):
                found.append(f"{trial} began at {t} on {machine}, and had saved at {best[trial]}")
        return found + self.incomplete()

    def incomplete(self) -> list[str]:
        """What is missing in the end."""
        from overtone import tune

        os.environ["XDG_CACHE_HOME"] = str(self.root.parent / "looks")
        analysis, n = tune.ExperimentAnalysis(f"{self.options['url']}/exp"), self.options["n"]
        found = []
        for trial in analysis.trials:
            ts = [row["training_iteration"] for row in trial.results()]
            if ts != [*range(1, n + 1)]:
                found.append(f"{trial.trial_id} has results {ts} of {n}")
            if trial.checkpoint is None or int(Path(trial.checkpoint.path, "t").read_text()) != n:
                found.append(f"{trial.trial_id} does not have its last checkpoint")
        if len(analysis.trials) != N_TRIALS:
            found.append(f"{len(analysis.trials)} trials")
        keys = {name.split("/")[1] for name in _sizes(self.options["url"]) if "/checkpoint_" in name}
        if len(keys) > 2 * N_TRIALS * self.options["keep"] + N_TRIALS:
            found.append(f"{len(keys)} names of checkpoints are left: {sorted(keys)}")
        return found

    def story(self, problems: list[str]) -> str:
        said = "\n".join(f"--- {one.name}\n{one.said}" for one in self.machines)
        return f"{self.name} {self.options}\n" + "\n".join(problems) + f"\n{said}\n{self.notes.read_text()}"

    def close(self) -> None:
        for machine in self.machines:
            machine.signal(signal.SIGCONT, machine.pids())
            machine.die()


def lose_machines(case: Case, n: int) -> tuple[int, list[str]]:
    """Let up to `n` machines die; how many did, and what was lost."""
    deaths = 0
    for _ in range(n):
        machine = case.start()
        until = time.monotonic() + case.random.uniform(1.0, 5.0 + 1.5 * case.save_s)
        while time.monotonic() < until and machine.driver.poll() is None:
            time.sleep(0.02)
        if machine.driver.poll() is not None:
            break
        machine.die()
        deaths += 1
    last = case.start()
    last.finish()
    problems = [f"{last.name} ended with {last.driver.returncode}"] if last.driver.returncode else []
    return deaths, problems + case.problems()


def freeze_driver(case: Case) -> tuple[int, list[str]]:
    """Stop a driver until another one has taken over and works; what it did to that one's files."""
    old = case.start()
    _wait(lambda: sum(one[1] == "saved" for one in case.noted()) >= 3, old)
    time.sleep(case.random.uniform(0.0, 2.0))
    if old.driver.poll() is not None:
        return 0, []
    stopped = old.pids() if case.random.random() < 0.5 else [old.driver.pid]
    old.signal(signal.SIGSTOP, stopped)
    new = case.start()
    _wait(lambda: sum(one[0] == new.name and one[1] == "saved" for one in case.noted()) >= 2, new)
    time.sleep(case.random.uniform(0.0, 1.0))
    old.signal(signal.SIGCONT, stopped)
    ended = old.driver.wait(WITHIN_S)
    new.finish()
    old.die()
    problems = [f"the successor ended with {new.driver.returncode}"] if new.driver.returncode else []
    if not ended or "was taken over by" not in old.said:
        problems.append(f"the driver that was frozen ended with {ended}")
    theirs = {one.key for one in case.server.log if one.machine == new.name and one.method == "PUT"}
    began = min(
        one.time for one in case.server.log if one.machine == new.name and one.key.startswith("lease/")
    )
    needed = _named(case)
    for one in case.server.log:
        if one.machine == old.name and one.time > began and not one.key.startswith("lease/000001"):
            is_deletion = one.method == "DELETE" and one.key.rpartition("/")[0] in needed
            if one.key in theirs or is_deletion:
                problems.append(f"{one.method} {one.key} {one.time - began:.2f} s after the takeover")
    return 1, problems + case.problems(but=frozenset({old.name}))


def _named(case: Case) -> set[str]:
    """The keys of the checkpoints that the successor's journal names and did not give up."""
    from overtone.store.files import RemoteFiles

    files = RemoteFiles(f"{case.options['url']}/exp")
    text = b"".join(files.read_all(list(files.sizes("journal")))).decode()
    gone = set(re.findall(r'"e":"discarded"[^\n]*"uri":"[^"]*/exp/([^"]+)"', text))
    return set(re.findall(r'"uri":"[^"]*/exp/([^"]+)"', text)) - gone


def _sizes(url: str) -> dict[str, int]:
    from overtone.store.files import RemoteFiles

    return RemoteFiles(f"{url}/exp").sizes()


def _wait(condition: Callable[[], bool], machine: Machine) -> None:
    give_up_at = time.monotonic() + WITHIN_S
    while not condition() and machine.driver.poll() is None:
        assert time.monotonic() < give_up_at, f"{machine.name} does not come on:\n{machine.said}"
        time.sleep(0.05)


class Proof:
    """Cases side by side until there were enough of each kind."""

    def __init__(self, root: Path, server: Server, random: Random, at_once: int) -> None:
        self.stories: list[str] = []
        self._root, self._server, self._random, self._at_once = root, server, random, at_once
        self._lock, self._number = threading.Lock(), 0

    def run(self, n: int, carry_out: Callable[[Case, int], tuple[int, list[str]]], expire_s: float) -> int:
        """Carry out cases until `n` were counted; how many were."""
        left, done = [n], [0]

        def work() -> None:
            while True:
                with self._lock:
                    if left[0] <= 0 or self.stories:
                        return
                    self._number += 1
                    number, chance = self._number, Random(self._random.getrandbits(64))
                    wanted = min(left[0], chance.randint(2, 5))
                    left[0] -= wanted
                case = Case(self._root, number, self._server, chance, expire_s)
                try:
                    count, problems = carry_out(case, wanted)
                except Exception as error:
                    count, problems = 0, [f"{type(error).__name__}: {error}"]
                finally:
                    case.close()
                with self._lock:
                    left[0] += wanted - count
                    done[0] += count
                    if problems:
                        self.stories.append(case.story(problems))
                    else:
                        shutil.rmtree(case.root, ignore_errors=True)
                        print(f"{done[0]} of {n}: nothing lost ({case.options})", flush=True)

        with ThreadPoolExecutor(self._at_once) as pool:
            for one in [pool.submit(work) for _ in range(self._at_once)]:
                one.result()
        return done[0]


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Lose machines and freeze drivers, and look for what was lost."
    )
    parser.add_argument("--deaths", type=int, default=50, help="of machines")
    parser.add_argument("--frozen", type=int, default=20, help="drivers")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of all chance")
    parser.add_argument("--at-once", type=int, default=2, help="experiments side by side")
    arguments = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="overtone_machines_"))
    print(f"seed {arguments.seed}, below {root}", flush=True)
    server = Server()
    began = time.monotonic()
    proof = Proof(root, server, Random(arguments.seed), arguments.at_once)
    try:
        deaths = proof.run(arguments.deaths, lose_machines, 0.0)
        frozen = proof.run(arguments.frozen, lambda case, _: freeze_driver(case), 2.0)
    finally:
        server.stop()
    for story in proof.stories:
        print(f"\n{story}")
    told = f"{deaths} machines lost, {frozen} drivers frozen, in {time.monotonic() - began:.0f} s"
    if proof.stories:
        print(f"{told}: something was lost (kept: {root})")
        return 1
    shutil.rmtree(root, ignore_errors=True)
    print(f"{told}: nothing lost, overwritten or deleted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
