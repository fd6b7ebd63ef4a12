"""Hurts experiments at random, and sees whether anything was lost: `make chaos`, or

    python tests/chaos/run.py --faults 1000 --minutes 20 --seed 1

Each experiment is a tiny one on the local engine. While it runs, trials, their server and the
driver are killed, stopped and let go on, the disk is full for a while, the store fails, and the
wall clock jumps. After each one: nothing that the driver acknowledged is lost or there twice, in
the journal, result.json, progress.csv and TensorBoard alike; no trial is stuck; the books of the
resources balance; no process is left. Ends with 1 and a story if not, and with the folder kept.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent))
from suffering import Suffering, guarded, hurt

IN_NAMESPACE = "OVERTONE_CHAOS_MOUNTS"
DISK_BYTES = 6 << 20

Fault = Callable[[Suffering], bool]
"""Does it, and says whether there was anybody to do it to."""


def kill_trial(one: Suffering) -> bool:
    """SIGKILL, as from a system out of memory."""
    return _signal(one, "trial", signal.SIGKILL)


def terminate_trial(one: Suffering) -> bool:
    """SIGTERM, as the notice of a spot machine."""
    return _signal(one, "trial", signal.SIGTERM)


def freeze_trial(one: Suffering) -> bool:
    """SIGSTOP, and after a while SIGCONT."""
    return _freeze(one, one.pids("trial"))


def kill_server(one: Suffering) -> bool:
    """The warm server from which trials are forked."""
    return _signal(one, "server", signal.SIGKILL)


def freeze_server(one: Suffering) -> bool:
    """As above, stopped for a while."""
    return _freeze(one, one.pids("server"))


def freeze_driver(one: Suffering) -> bool:
    """A suspended laptop, or a paging machine."""
    return _freeze(one, [one.driver])


def kill_driver(one: Suffering) -> bool:
    """kill -9; what is on the disk now must do."""
    one.kill()
    one.start()
    return True


def interrupt_driver(one: Suffering) -> bool:
    """Ctrl-C, or SIGTERM: it ends in order, and is resumed."""
    one.interrupt(one.random.choice([signal.SIGINT, signal.SIGTERM]))
    if not (one.root / "done").exists():
        one.start()
    return True


def fill_disk(one: Suffering) -> bool:
    """Not a byte is left for a while."""
    disk = one.options.get("storage")
    if disk is None:
        return False
    one.say("the disk is full")
    ballast = Path(str(disk), "ballast")
    try:
        with open(ballast, "wb", buffering=0) as file:
            for size in (1 << 16, 512, 1):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    continue
        one.wait_a_moment(1.5)
    finally:
        ballast.unlink(missing_ok=True)
    one.say("the disk has room")
    return True


def break_store(one: Suffering) -> bool:
    """Checkpoints cannot be saved for a while."""
    one.say("the store fails")
    (one.root / "store_fails").touch()
    try:
        one.wait_a_moment(0.7)
    finally:
        (one.root / "store_fails").unlink()
    return True


FAULTS: dict[str, tuple[Fault, int]] = {
    "trial killed": (kill_trial, 5),
    "trial terminated": (terminate_trial, 3),
    "trial stopped": (freeze_trial, 2),
    "server killed": (kill_server, 2),
    "server stopped": (freeze_server, 1),
    "driver killed": (kill_driver, 5),
    "driver interrupted": (interrupt_driver, 2),
    "driver stopped": (freeze_driver, 2),
    "disk full": (fill_disk, 2),
    "store fails": (break_store, 2),
}


def _signal(one: Suffering, what: str, number: int) -> bool:
    found = one.pids(what)
    if not found:
        return False
    pid = one.random.choice(found)
    one.say(f"signal {number} to {what} {pid}")
    return hurt(pid, number)


def _freeze(one: Suffering, pids: list[int]) -> bool:
    if not pids:
        return False
    pid = one.random.choice(pids)
    one.say(f"{pid} stopped")
    is_there = hurt(pid, signal.SIGSTOP)
    one.wait_a_moment(1.0)
    hurt(pid, signal.SIGCONT)
    one.say(f"{pid} goes on")
    return is_there


def torment(one: Suffering, n: int, done: Counter[str], names: list[str]) -> None:
    """Do `n` random faults to an experiment, as it goes on, and let it finish."""
    weights = [FAULTS[name][1] for name in names]
    one.start()
    if one.random.random() < 0.8:
        one.wait_for_results(1)
    for _ in range(n):
        one.wait_a_moment(0.4)
        if not one.is_running:
            break
        name = one.random.choices(names, weights)[0]
        if FAULTS[name][0](one):
            done[name] += 1
    one.finish()


class Chaos:
    """Experiments that are hurt, some of them at once, until there were enough faults.

    Each has chance of its own, from its number and the seed: what the others do changes nothing.

    Args:
        root: Where they lie.
        disk: A small one, for one of them at a time.
        names: Of the faults.
        faults: How many.
        deadline: When to begin no other, by the monotonic clock.

    Attributes:
        done: Faults, by name.
        failures: The story of each experiment that lost something.
    """

    def __init__(self, root: Path, disk: Path | None, names: list[str], faults: int, deadline: float) -> None:
        self.done: Counter[str] = Counter()
        self.failures: list[str] = []
        self._root, self._disk, self._names, self._deadline = root, disk, names, deadline
        self._left, self._n_runs, self._n_ended = faults, 0, 0
        self._lock, self._disk_is_free = threading.Lock(), threading.Lock()

    def run(self, random: Random, at_once: int) -> None:
        """Until there were enough, it is late, or something was lost."""
        with ThreadPoolExecutor(at_once) as pool:
            for one in [pool.submit(self._hurt_on, random) for _ in range(at_once)]:
                one.result()

    def told(self) -> str:
        """How much was done."""
        return f"{self.done.total()} faults in {self._n_ended} experiments"

    def _hurt_on(self, random: Random) -> None:
        while True:
            with self._lock:
                if self._left <= 0 or self.failures or time.monotonic() >= self._deadline:
                    return
                self._n_runs += 1
                number, chance = self._n_runs, Random(random.getrandbits(64))
                n = min(chance.randint(1, 8), self._left)
                self._left -= n
            done = self._hurt(number, chance, n)
            with self._lock:
                self.done += done
                self._left += n - done.total()
                self._n_ended += 1
                if self._n_ended % 10 == 0 and not self.failures:
                    print(f"{self.told()}: nothing lost", flush=True)

    def _hurt(self, number: int, chance: Random, n: int) -> Counter[str]:
        """One experiment; the faults that there were."""
        done: Counter[str] = Counter()
        options: dict[str, object] = {"clock_jumps": chance.random() < 0.3}
        on_disk = self._disk is not None and chance.random() < 0.4
        names = self._names if on_disk else [name for name in self._names if name != "disk full"]
        with self._disk_is_free if on_disk else nullcontext():
            if on_disk:
                options["storage"] = str(self._disk)
            one = Suffering(self._root / f"run{number}", chance, **options)
            try:
                guarded(one, lambda: torment(one, n, done, names))
            except AssertionError as error:
                kept = one.folder
                if on_disk:
                    kept = self._root / f"failed{number}"
                    shutil.copytree(one.folder, kept, dirs_exist_ok=True)
                self.failures.append(f"{error}\nits folder: {kept}")
            if on_disk:
                shutil.rmtree(one.folder, ignore_errors=True)
        return done


def mounted(root: Path) -> Path | None:
    """A small disk below `root`; None where nothing may be mounted."""
    disk = root / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", str(disk)]
    if shutil.which("mount") and subprocess.run(command, capture_output=True).returncode == 0:
        return disk
    return None


def enter_namespace() -> None:
    """Run again where mounts are allowed, and end with us."""
    if IN_NAMESPACE in os.environ or not shutil.which("unshare"):
        return
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode == 0:
        os.environ[IN_NAMESPACE] = "yes"
        os.execvp("unshare", ["unshare", "-rm", sys.executable, *sys.argv])


def main() -> int:
    parser = argparse.ArgumentParser(description="Hurt experiments at random, and look for what was lost.")
    parser.add_argument("--faults", type=int, default=1000, help="end after so many")
    parser.add_argument("--minutes", type=float, default=20.0, help="or after so long")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of all chance")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1, help="experiments side by side")
    arguments = parser.parse_args()
    enter_namespace()
    root = Path(tempfile.mkdtemp(prefix="overtone_chaos_"))
    disk = mounted(root)
    names = list(FAULTS)
    if disk is None:
        names.remove("disk full")
        print("no disk can be mounted here: the fault 'disk full' is left out", flush=True)
    print(f"seed {arguments.seed}, below {root}", flush=True)
    chaos = Chaos(root, disk, names, arguments.faults, time.monotonic() + 60 * arguments.minutes)
    try:
        chaos.run(Random(arguments.seed), arguments.at_once)
    finally:
        if disk is not None:
            subprocess.run(["umount", "-l", str(disk)], capture_output=True)
    if chaos.failures:
        for story in chaos.failures:
            print(f"\nafter {chaos.told()} (seed {arguments.seed}):\n{story}")
        return 1
    shutil.rmtree(root, ignore_errors=True)
    listed = ", ".join(f"{count} {name}" for name, count in chaos.done.most_common())
    print(f"{chaos.told()}: nothing lost, doubled or left ({listed})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
