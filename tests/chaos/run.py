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
import time
from collections import Counter
from collections.abc import Callable
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
    arguments = parser.parse_args()
    enter_namespace()
    root = Path(tempfile.mkdtemp(prefix="overtone_chaos_"))
    disk = mounted(root)
    names = list(FAULTS)
    if disk is None:
        names.remove("disk full")
        print("no disk can be mounted here: the fault 'disk full' is left out", flush=True)
    print(f"seed {arguments.seed}, below {root}", flush=True)
    random, done, deadline = Random(arguments.seed), Counter(), time.monotonic() + 60 * arguments.minutes
    n_runs = 0
    try:
        while done.total() < arguments.faults and time.monotonic() < deadline:
            n_runs += 1
            options: dict[str, object] = {"clock_jumps": random.random() < 0.3}
            on_disk = disk is not None and random.random() < 0.4
            if on_disk:
                options["storage"] = str(disk)
            one = Suffering(root / f"run{n_runs}", Random(random.getrandbits(64)), **options)
            faults = min(random.randint(1, 8), arguments.faults - done.total())
            may = names if on_disk else [name for name in names if name != "disk full"]
            guarded(one, lambda one=one, n=faults, may=may: torment(one, n, done, may))  # type: ignore[misc]
            if on_disk:
                shutil.rmtree(one.folder)
            if n_runs % 10 == 0:
                print(f"{done.total()} faults in {n_runs} experiments: nothing lost", flush=True)
    except AssertionError as error:
        print(f"\nafter {done.total()} faults in {n_runs} experiments (seed {arguments.seed}):\n{error}")
        if disk is not None and one.folder.is_relative_to(disk):
            shutil.copytree(one.folder, root / "failed", dirs_exist_ok=True)
            print(f"its folder: {root / 'failed'}")
        return 1
    finally:
        if disk is not None:
            subprocess.run(["umount", "-l", str(disk)], capture_output=True)
    shutil.rmtree(root, ignore_errors=True)
    listed = ", ".join(f"{count} {name}" for name, count in done.most_common())
    print(f"{done.total()} faults in {n_runs} experiments: nothing lost, doubled or left ({listed})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
