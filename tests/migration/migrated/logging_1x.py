# ruff: noqa
# Callbacks, loggers, stoppers, names of trials and folders, reporters of one's own.
import json
import os
import time
from typing import Dict, List

from overtone import tune
from overtone.tune import Callback, CLIReporter, Stopper
from overtone.tune.error import TuneError
from overtone.tune.experiment.trial import Trial
from overtone.tune.logger import DEFAULT_LOGGERS, LoggerCallback, pretty_print


class CustomLoggerCallback(LoggerCallback):
    """Custom logger interface"""

    def __init__(self, filename: str = "log.txt"):
        self._trial_files = {}
        self._filename = filename

    def log_trial_start(self, trial: "Trial"):
        trial_logfile = os.path.join(trial.logdir, self._filename)
        self._trial_files[trial] = open(trial_logfile, "at")

    def log_trial_result(self, iteration: int, trial: "Trial", result: Dict):
        if trial in self._trial_files:
            self._trial_files[trial].write(json.dumps(result, default=str) + "\n")

    def on_trial_complete(self, iteration: int, trials: List["Trial"], trial: "Trial", **info):
        if trial in self._trial_files:
            self._trial_files[trial].close()
            del self._trial_files[trial]


class MyCallback(Callback):
    def on_trial_result(self, iteration, trials, trial, result, **info):
        if result["training_iteration"] == 1:
            print(f"Got result: {result['mean_loss']:.2f} {trial}")


class CustomStopper(Stopper):
    def __init__(self):
        self.should_stop = False

    def __call__(self, trial_id, result):
        max_iter = 5
        return self.should_stop or result["iterations"] >= max_iter

    def stop_all(self):
        return self.should_stop


class TrialTerminationReporter(CLIReporter):
    def __init__(self):
        super(TrialTerminationReporter, self).__init__()
        self.num_terminated = 0

    def should_report(self, trials, done=False):
        """Reports only on trial termination events."""
        old_num_terminated = self.num_terminated
        self.num_terminated = len([t for t in trials if t.status == Trial.TERMINATED])
        return self.num_terminated > old_num_terminated


def trial_str_creator(trial):
    return "{}_{}_123".format(trial.trainable_name, trial.trial_id)


def evaluation_fn(step, width, height):
    time.sleep(0.001)
    return (0.1 + width * step / 100) ** (-1) + height * 0.1


def easy_objective(config):
    width, height = config["width"], config["height"]
    for step in range(config["steps"]):
        intermediate_score = evaluation_fn(step, width, height)
        tune.report(iterations=step, mean_loss=intermediate_score)


reporter = TrialTerminationReporter()
reporter.add_metric_column("iterations", "step")
try:
    trials = tune.run(
        easy_objective,
        name="hyperband_test",
        metric="mean_loss",
        mode="min",
        num_samples=2,
        trial_name_creator=trial_str_creator,
        trial_dirname_creator=lambda trial: "{}_{}".format(trial.trainable_name, trial.experiment_tag[:1]),
        callbacks=[CustomLoggerCallback("custom.txt"), MyCallback()],
        loggers=DEFAULT_LOGGERS,
        progress_reporter=reporter,
        stop=CustomStopper(),
        local_dir="results",
        config={"steps": 100, "width": tune.randint(10, 100), "height": tune.loguniform(10, 100)},
    )
except TuneError as error:
    print("failed", error)
    raise
print("terminated", reporter.num_terminated)
print("iterations", [t.last_result["iterations"] for t in trials.trials])
print("names", all(str(t).endswith("_123") for t in trials.trials))
print("folders", sorted(name for name in os.listdir("results/hyperband_test") if name.startswith("easy")))
print("logged", [sum(1 for _ in open(os.path.join(t.logdir, "custom.txt"))) for t in trials.trials])
print("pretty", "mean_loss" in pretty_print(trials.best_result))
