"""Trials that take more memory than a Ray node has: the greediest one ends, and the others go on.

Run it with a Python that has Ray: python tests/chaos/memory.py --rounds 10. It needs 1.7 GB, and a control group of
that size as its node: it ends with status 77 if none can be made. Of a whole machine's memory, others take and give
back more than a trial here holds. Only the case "limits" runs without a group: nothing there is short of memory.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path("/sys/fs/cgroup")
LIMIT = 1_700_000_000
"""The memory of the node."""

SMALL, LARGE, TRIAL_LIMIT = 30_000_000, 250_000_000, 400_000_000
GROWTH = 1_000_000_000
"""Bytes a second. With less, the guard of a machine that is short of CPU is still quicker than the kernel."""

STEP_S = 0.02
ROUND_WITHIN_S = 240.0
NOT_HERE = 77
THRESHOLD = "RAY_memory_usage_threshold"


# --- the node's memory -----------------------------------------------------------------


@contextmanager
def own_group() -> Iterator[tuple[Path, Path] | None]:
    """(a control group with a limit, where Ray looks for it); None if none can be made here."""
    is_v1 = (ROOT / "memory/memory.limit_in_bytes").exists()
    top = ROOT / "memory" if is_v1 else ROOT
    group = top / f"overtone-memory-{os.getpid()}"
    try:
        if not is_v1:
            with suppress(OSError):
                (top / "cgroup.subtree_control").write_text("+memory")
        group.mkdir()
    except OSError:
        yield None
        return
    try:
        (group / ("memory.limit_in_bytes" if is_v1 else "memory.max")).write_text(str(LIMIT))
        yield group, top
    except OSError:
        yield None
    finally:
        for _ in range(100):
            with suppress(OSError):
                for pid in (group / "cgroup.procs").read_text().split():
                    os.kill(int(pid), signal.SIGKILL)
                group.rmdir()
                break
            time.sleep(0.05)


def enter(group: Path, top: Path) -> None:
    """Have this process and its children see the group as a container sees its own."""
    (group / "cgroup.procs").write_text(str(os.getpid()))
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "--bind", str(group), str(top)], check=True)


def run_inside(arguments: list[str]) -> int:
    """Run this script again where the node's memory is small."""
    with own_group() as found:
        if found is None or subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
            return NOT_HERE
        command = [sys.executable, __file__, *arguments, "--inside", *map(str, found)]
        return subprocess.run(["unshare", "--mount", *command], check=False).returncode


# --- a round ---------------------------------------------------------------------------


GROW = f"""
import sys, time
part, held = int(sys.argv[1]), []
for _ in range({LIMIT} // part):
    held.append(bytearray(b"1" * part))
    time.sleep({STEP_S})
time.sleep({ROUND_WITHIN_S})
"""


def train(config: dict[str, Any]) -> None:
    from overtone import tune

    held = [b"1" * config["holds"]]  # a bytearray of it would take twice as much at first
    pids = [Path(config["folder"], str(i)) for i in range(4)]
    new = Path(config["folder"], f"new-{os.getpid()}")
    new.write_text(str(os.getpid()))
    new.replace(pids[config["i"]])
    while not all(one.exists() for one in pids):
        time.sleep(STEP_S)
    part = int(config["growth"] * STEP_S)
    if config["grows"] == "child":
        subprocess.Popen([sys.executable, "-c", GROW, str(part)])
    n, greedy = 0, Path("/proc", pids[config["at"]].read_text())
    while greedy.exists() and n < ROUND_WITHIN_S / STEP_S:
        n += 1
        tune.report({"n": n})
        time.sleep(STEP_S)
        if config["grows"] == "itself" and n <= LIMIT // part:
            held.append(b"1" * part)
    for _ in range(5):
        n += 1
        tune.report({"n": n})


class Round:
    """Four trials, of which one grows without end, in one run or in two.

    Args:
        folder: Where their results lie.
        chance: Chooses the one that grows, whether it does so in a child process, and whether another is
            larger at first and has declared so.
        case: One of `CASES`.
        growth: Bytes a second.
    """

    def __init__(self, folder: Path, chance: random.Random, case: str, growth: int) -> None:
        self.case, runs = case, 2 if case == "two" else 1
        self.at = chance.randrange(4)
        self.says = "declared none"
        sizes, declared = [SMALL] * 4, [0] * 4
        if chance.random() < 0.5:
            large = (self.at + 1 + chance.randrange(3)) % 4
            declared, self.says = [100_000_000] * 4, "declared 100 MB"
            sizes[large], declared[large] = LARGE, 400_000_000
        who = chance.choice(["itself", "child"])
        configs = [
            {
                "i": i, "at": self.at, "grows": who if i == self.at else "", "folder": str(folder),
                "holds": sizes[i], "declared": declared[i], "growth": growth,
            }
            for i in range(4)
        ]  # fmt: skip
        self.searches = [self._start(folder / f"run-{k}", configs[k::runs]) for k in range(runs)]

    def _start(self, folder: Path, configs: list[dict[str, Any]]) -> tuple[Any, Any]:
        from overtone import tune
        from overtone.core import messages as m
        from overtone.core.protocols import Observer

        class Seen(Observer):
            def __init__(self) -> None:
                self.ends: dict[str, list[tuple[str, str]]] = {}

            def on_record(self, record: m.Record) -> None:
                if isinstance(record.event, m.Ended):
                    end = record.event.cause, record.event.error
                    self.ends.setdefault(record.event.trial_id, []).append(end)

        seen = Seen()

        def demand(config: dict[str, Any]) -> dict[str, float]:
            return {"cpu": 1, **({"memory": config["declared"]} if config["declared"] else {})}

        run = tune.start(
            tune.with_resources(train, demand, ray=self.case == "actors"), config=configs, engine=tune.ray_cluster(),
            callbacks=[seen], storage_path=str(folder), name="memory", verbose=0, tensorboard=False,
            raise_on_failed_trial=False,
            trial_limits={"memory": TRIAL_LIMIT} if self.case == "limits" else None,
        )  # fmt: skip
        return run, seen

    def ends(self) -> Iterator[tuple[int, str, list[tuple[str, str]]]]:
        """Yield (its number, how it ended, each end of its processes) of every trial."""
        for run, seen in self.searches:
            for trial in run.wait(timeout_s=ROUND_WITHIN_S).trials:
                yield trial.config["i"], trial.status, seen.ends.get(trial.trial_id, [])


def check(one: Round) -> None:
    """The trial that grows has failed, and the others have not."""
    uses_ray = one.case == "actors"
    cause, says = ("limit", "limit 400 MB") if one.case == "limits" else ("killed", one.says)
    begins = {"actors": "OutOfMemoryError: ", "limits": "used "}.get(one.case, "out of memory: ")
    others = [["returned"]]
    if one.case == "ray-first":  # on a busy machine the agent may be first after all
        others.append(["lost", "returned"])
    for i, status, ends in one.ends():
        if i == one.at:
            assert status == "ERROR", (i, status, ends)
            ((how, error),) = ends
            assert how == cause, ends
            assert error.startswith(begins), ends
            assert uses_ray or says in error, ends
        elif uses_ray:  # Ray ends the newest actors until there is room
            assert {how for how, _ in ends} <= {"killed", "returned"}, (i, status, ends)
        else:
            assert status == "TERMINATED", (i, status, ends)
            assert [how for how, _ in ends] in others, (i, ends)


CASES = {
    "one": "one run",
    "two": "two runs",
    "ray-first": "Ray ends the agent before the agent ends a trial",
    "actors": "trials that use Ray themselves",
    "limits": "trials with a limit of their own",
}


def main(rounds: int, seed: int, case: str, growth: int) -> int:
    import ray

    environment = {}
    if case in ("ray-first", "actors"):  # else the kernel may be quicker than Ray
        os.environ[THRESHOLD] = "0.8"
    if case == "ray-first":  # its workers believe that it lets them have all of the memory
        environment = {"runtime_env": {"env_vars": {THRESHOLD: "1.0"}}}
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.slow_ray import patiently

    patiently(
        lambda: ray.init(
            "local", num_cpus=4, object_store_memory=80_000_000, _memory=LIMIT, include_dashboard=False,
            log_to_driver=False, **environment,
        )
    )  # fmt: skip
    failures = 0
    for number in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(Round(Path(folder), random.Random(seed + number), case, growth))
                print(f"round {number}: the greediest trial has failed, the others have not")
            except AssertionError as error:
                failures += 1
                print(f"round {number}: {error}")
    print(f"{rounds - failures} of {rounds}: {CASES[case]}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", choices=CASES, default="one", help=str(CASES))
    parser.add_argument("--growth", type=int, default=GROWTH, help="bytes a second")
    parser.add_argument("--inside", nargs=2, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside is not None:
        enter(*given.inside)
    elif given.case != "limits":
        signal.signal(signal.SIGTERM, lambda signum, frame: sys.exit(1))
        sys.exit(run_inside(sys.argv[1:]))
    status = main(given.rounds, given.seed, given.case, given.growth)
    # not by ray.shutdown(): a driver whose raylet ends first exits with 1, without a word
    os._exit(status)  # Ray's processes follow their driver, and the group's end ends what is left
