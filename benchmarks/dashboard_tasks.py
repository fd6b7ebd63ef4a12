"""Clicks and seconds for five questions, in Overtone's dashboard and in optuna-dashboard.

    python benchmarks/dashboard_tasks.py --peer PYTHON [--experiment EXP]

Needs the extras `ui` and `pandas`, playwright and Chromium; PYTHON is one with optuna-dashboard. Both show
the same study: the demo's search, whose trials are written to optuna's storage with their parameters,
intermediate values and states. "Which machine is slow" is asked of a simulated search on four machines, of
which one has half the speed. Each task begins at the list of experiments and ends when its answer is in the
window. Clicks and keys are those that this script makes; seconds are the median of three runs without time
for reading. "no way": the dashboard has none.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from dashboard_browser import browser, server

PORT = 18089
PEER_ADDRESS = f"http://127.0.0.1:{PORT}/"

TO_OPTUNA = """
import json, sys, optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial
optuna.logging.set_verbosity(optuna.logging.ERROR)
trials = json.load(open(sys.argv[1]))
study = optuna.create_study(study_name="digits", storage=sys.argv[2], direction="maximize")
space = {"lr": FloatDistribution(1e-4, 1, log=True), "momentum": FloatDistribution(0, 0.98),
         "hidden": IntDistribution(4, 256, log=True), "activation": CategoricalDistribution(["relu", "tanh"]),
         "batch_size": CategoricalDistribution([16, 32, 64, 128]),
         "weight_decay": FloatDistribution(1e-6, 0.1, log=True)}
for one in trials:
    values = one["values"]
    study.add_trial(create_trial(
        state=TrialState.PRUNED if one["was_stopped"] else TrialState.COMPLETE, params=one["config"],
        distributions=space, value=values[-1], intermediate_values=dict(enumerate(values, 1))))
"""


NODES = """
import sys
from overtone import tune

def curve(config, t):
    return ({"loss": config["x"] + 1 / t}, 12.0 * t) if t <= 20 else None

machines = [tune.Machines(name="new", count=3, cpus=2), tune.Machines(name="old", cpus=2, speed=0.5)]
tune.run(curve, name="nodes", config={"x": tune.uniform(0, 1)}, num_samples=24, metric="loss", mode="min",
         storage_path=sys.argv[1], verbose=0, engine=tune.Simulated(world=tune.World(machines=machines)))
"""


class Session:
    """A tab at the list of experiments, which counts clicks."""

    def __init__(self, chromium: Any, address: str) -> None:
        self.context = chromium.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
        self.tab = self.context.new_page()
        self.tab.set_default_timeout(90_000)
        self.tab.goto(address)
        self.clicks = self.keys = 0

    def click(self, *names: Any, role: str = "link") -> None:
        """Click the link or button of this name."""
        self.tab.get_by_role(role, name=names[0]).first.click()
        self.clicks += 1

    def type(self, *keys: str) -> None:
        """Press keys."""
        for key in keys:
            self.tab.keyboard.press(key)
        self.keys += len(keys)

    def see(self, text: Any) -> None:
        """Wait for a text."""
        self.tab.get_by_text(text).first.wait_for()


def export(experiment: Path, file: Path) -> list[dict[str, Any]]:
    """Write the trials of an experiment as JSON; return them."""
    from overtone.analysis import ExperimentAnalysis

    analysis = ExperimentAnalysis(experiment)
    last = max(len(frame) for frame in analysis.trial_dataframes.values())
    trials = []
    for trial in analysis.trials:
        values = [float(one) for one in analysis.trial_dataframes[trial.trial_id]["accuracy"]]
        trials.append({"config": trial.config, "values": values, "was_stopped": len(values) < last})
    file.write_text(json.dumps(trials))
    return trials


def best(session: Session) -> None:
    session.click("digits")
    session.see("Best so far")
    session.click(re.compile(r"^Trial \S+_"))
    session.see("Story")
    session.tab.locator("main canvas").first.wait_for()


def importance(session: Session) -> None:
    session.click("digits")
    session.click("Importance")
    session.tab.locator("main canvas").first.wait_for()


def why(session: Session) -> None:
    session.click("digits")
    session.click("Decisions")
    session.see(re.compile("stopped by asha at rung"))


def why_number(session: Session, number: int) -> None:
    session.click("digits")
    session.see("Best so far")
    session.type(".", *str(number), "Enter")
    session.see(re.compile("was stopped by asha at rung"))


def stop(session: Session) -> None:
    session.click("live")
    session.see("run now")
    session.tab.locator("main table a").first.click()
    session.clicks += 1
    session.tab.get_by_role("button", name=re.compile("^Stop")).first.click()
    session.clicks += 1
    session.tab.get_by_role("dialog").get_by_role("button", name=re.compile("^(Stop|Ask)")).last.click()
    session.clicks += 1
    session.see(re.compile("stopped", re.IGNORECASE))


def machine(session: Session) -> None:
    session.click("nodes")
    session.click("Machines")
    session.see(re.compile("old-0 is slow"))


def optuna_best(session: Session) -> None:
    session.tab.get_by_text("digits").first.click()
    session.tab.get_by_role("link", name="Details").first.click()
    session.clicks += 2
    session.see("Intermediate Values")


def optuna_importance(session: Session) -> None:
    session.tab.get_by_text("digits").first.click()
    session.clicks += 1
    session.tab.get_by_text("Hyperparameter Importance").first.wait_for()
    session.tab.get_by_text("weight_decay").first.wait_for()


TASKS: dict[str, tuple[Callable[[Session], None], Callable[[Session], None] | None]] = {
    "find the best configuration and its curve": (best, optuna_best),
    "which hyperparameter matters": (importance, optuna_importance),
    "why was some trial stopped": (why, None),
    "stop a trial that runs": (stop, None),
    "which machine is slow": (machine, None),
}
"""Each question, and the clicks that answer it in Overtone and in optuna-dashboard."""


def measured(chromium: Any, address: str, task: Callable[[Session], None] | None) -> str:
    """Return "clicks, seconds" of a task; the median of three."""
    if task is None:
        return "no way"
    times, clicks, keys = [], 0, 0
    for _ in range(3):
        session = Session(chromium, address)
        session.tab.wait_for_timeout(3000)
        began = time.monotonic()
        task(session)
        times.append(time.monotonic() - began)
        clicks, keys = session.clicks, session.keys
        session.context.close()
    by = " and ".join(
        f"{n} {name}{'' if n == 1 else 's'}" for n, name in ((clicks, "click"), (keys, "key")) if n
    )
    return f"{by}, {median(times):.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", required=True, help="a Python with optuna-dashboard")
    parser.add_argument("--experiment", type=Path, help="the demo's finished search, instead of a new one")
    args = parser.parse_args()
    search = [sys.executable, "-m", "overtone.demo.search"]
    peer_command = str(Path(args.peer).parent / "optuna-dashboard")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if args.experiment is None:
            subprocess.run([*search, str(folder / "digits")], check=True, stdout=subprocess.DEVNULL)
        else:
            shutil.copytree(args.experiment, folder / "digits", symlinks=True)
        trials = export(folder / "digits", folder / "trials.json")
        number = next(i for i, one in enumerate(trials) if one["was_stopped"] and i >= 17)
        (folder / "nodes.py").write_text(NODES)
        subprocess.run([sys.executable, str(folder / "nodes.py"), str(folder)], check=True)
        storage = f"sqlite:///{folder}/study.db"
        subprocess.run([args.peer, "-c", TO_OPTUNA, str(folder / "trials.json"), storage], check=True)
        with (
            subprocess.Popen(
                [peer_command, "--port", str(PORT), storage],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as peer,
            subprocess.Popen(
                [*search, str(folder / "live"), "--passes", "2000"], stdout=subprocess.DEVNULL
            ) as run,
            browser() as chromium,
            server(folder) as (_, address),
        ):
            try:
                time.sleep(8)
                print("| task | Overtone | optuna-dashboard |\n|---|---|---|")
                tasks: dict[str, tuple[Callable[[Session], None], Callable[[Session], None] | None]] = {
                    f"why was trial {number} stopped": (partial(why_number, number=number), None),
                    **TASKS,
                }
                for name, (own, other) in tasks.items():
                    pair = measured(chromium, address, own), measured(chromium, PEER_ADDRESS, other)
                    print(f"| {name} | {pair[0]} | {pair[1]} |", flush=True)
            finally:
                run.kill()
                peer.terminate()


if __name__ == "__main__":
    main()
