"""An experiment that is made to suffer: small trials that note what the driver has acknowledged.

Run as `python driver.py ROOT OPTIONS`, where OPTIONS is JSON; run again it resumes. Each trial
appends (t, nonce) to ROOT/acks/<trial> once `tune.report` has returned: the nonce is drawn anew
for each report, so that a result is known again wherever it is found.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(sys.argv[1]) if len(sys.argv) > 2 else Path()
OPTIONS = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}


def note(name: str, line: str) -> None:
    """Append a line to a file of this experiment, whole or not at all."""
    fd = os.open(ROOT / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        os.write(fd, f"{line}\n".encode())
    finally:
        os.close(fd)


def suffer(config: dict) -> None:
    """Report OPTIONS["length"] times, and save every third time."""
    from overtone import tune
    from overtone.tune import Checkpoint

    if OPTIONS.get("clock_jumps"):
        jump_clocks()
    fail_on_demand()
    first = 0
    saved = tune.get_checkpoint()
    if saved is not None:
        first = json.loads(Path(saved.path, "state.json").read_text())["t"]
    trial = tune.get_trial_id()
    for t in range(first + 1, OPTIONS["length"] + 1):
        time.sleep(random.uniform(0, 2) * config["pace_s"])
        nonce = random.getrandbits(23)  # whole in single precision, too
        metrics = {"nonce": nonce, "half": config["x"] / t, **({"late": t} if t > 4 else {})}
        if t % 3:
            tune.report(metrics)
        else:
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "state.json").write_text(json.dumps({"t": t}))
                tune.report(metrics, checkpoint=Checkpoint.from_directory(folder))
        note(f"acks/{trial}", f"{t} {nonce}")


def scheduler() -> object:
    """One that rules on every report: none returns before the driver has it."""
    from overtone.tune.schedulers import FIFOScheduler

    class Attentive(FIFOScheduler):
        def next_decision(self, trial):
            return 0.0

    return FIFOScheduler() if OPTIONS.get("runs_ahead") else Attentive()


def main() -> None:
    import faulthandler
    import signal

    faulthandler.register(signal.SIGUSR1)  # where it is, should it be stuck
    from overtone.experiment import CheckpointPolicy, Experiment
    from overtone.run import execute
    from overtone.space import dsl

    if OPTIONS.get("clock_jumps"):
        jump_clocks()
    (ROOT / "acks").mkdir(exist_ok=True)
    analysis = execute(
        Experiment(
            suffer,
            {"x": dsl.uniform(0, 1), "pace_s": OPTIONS["pace_s"]},
            name="chaos",
            storage=OPTIONS.get("storage") or ROOT,
            num_samples=OPTIONS["trials"],
            scheduler=scheduler(),
            max_concurrent=OPTIONS.get("concurrent", 2),
            resources={"cpu": 0.5},
            checkpoints=CheckpointPolicy(keep=2),
            max_failures=-1,
            verbose=0,
            seed=OPTIONS.get("seed", 1),
            resume="AUTO",
            grace_s=1.0,
            tensorboard=OPTIONS.get("tensorboard", True),
        )
    )
    if sum(trial.is_finished() for trial in analysis.trials) == OPTIONS["trials"]:  # not interrupted
        note("done", str(os.getpid()))


def fail_on_demand() -> None:
    """Let the store fail as long as ROOT/store_fails is there."""
    from overtone.errors import StorageError
    from overtone.store.local import LocalStore

    put = LocalStore.put
    if getattr(put, "may_fail", False):
        return

    def may_fail(self, *arguments, **more):
        if (ROOT / "store_fails").exists():
            raise StorageError("the store fails, as it was told to")
        return put(self, *arguments, **more)

    may_fail.may_fail = True
    LocalStore.put = may_fail


def jump_clocks() -> None:
    """Let the wall clock leap, by hours and backwards too; nothing else can be trusted less."""
    real, leaps = time.time, random.Random(7)
    began = real()

    def leaping() -> float:
        now = real()
        return now + leaps.choice([0, 0, 0, 3600, -3600, 86400 * 400, -(now - began)])

    time.time = leaping


if __name__ == "__main__":
    main()
