# ruff: noqa
# 1.x: a population over checkpoint_dir with its own count of iterations, a Stopper of one's own, the best
# checkpoints kept, resume="AUTO" in every run of the script.
import argparse
import math
import os
import pickle
from typing import Dict

import overtone as ray
from overtone import tune
from overtone.tune.schedulers import PopulationBasedTraining


class CustomStopper(tune.Stopper):
    def __init__(self):
        self.should_stop = False

    def __call__(self, trial_id, result):
        return result["training_iteration"] >= 6

    def stop_all(self):
        return self.should_stop


def run_agent(config: Dict, checkpoint_dir=None):
    skill, current_iteration = 0.0, 0
    if checkpoint_dir:
        with open(os.path.join(checkpoint_dir, "checkpoint"), "rb") as f:
            skill = pickle.load(f)
        with open(os.path.join(checkpoint_dir, "iteration"), "rb") as f:
            current_iteration = pickle.load(f)
    for i in range(current_iteration + 1, 9):
        skill += config["gammas"] * config["env_params"]["gain"]
        with tune.checkpoint_dir(i) as checkpoint_dir:
            with open(os.path.join(checkpoint_dir, "checkpoint"), "wb") as f:
                pickle.dump(skill, f)
            with open(os.path.join(checkpoint_dir, "iteration"), "wb") as f:
                pickle.dump(i, f)
        tune.report(mean_reward=skill, training_iteration=i)


parser = argparse.ArgumentParser()
parser.add_argument("--smoke-test", action="store_true")
parser.parse_args()
config = {"lr": tune.uniform(lower=math.pow(10, -6), upper=math.pow(10, -2)), "gammas": tune.uniform(lower=0.8, upper=1.0)}
config.update({"env_params": {"gain": 1.0}})
ray.init(address=None)
for _ in range(2):
    analysis = tune.run(
        run_agent,
        name="population",
        scheduler=PopulationBasedTraining(
            time_attr="training_iteration",
            perturbation_interval=3,
            hyperparam_mutations={"lr": tune.uniform(lower=math.pow(10, -6), upper=math.pow(10, -2)), "gammas": tune.uniform(lower=0.8, upper=1.0)},
        ),
        verbose=False,
        stop=CustomStopper(),
        metric="mean_reward",
        mode="max",
        num_samples=4,
        local_dir=os.path.realpath("tmp"),
        sync_config=tune.SyncConfig(),
        checkpoint_score_attr="mean_reward",
        keep_checkpoints_num=5,
        resume="AUTO",
        config=config,
    )
    print("ended", [trial.last_result["training_iteration"] for trial in analysis.trials], analysis.best_config["gammas"] >= 0.8)
