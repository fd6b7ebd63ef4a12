# ruff: noqa
# The class API of 1.x with checkpoints.
import argparse
import json
import os

import numpy as np

import overtone as ray
from overtone import tune
from overtone.tune import Trainable
from overtone.tune.schedulers import AsyncHyperBandScheduler


class MyTrainableClass(Trainable):
    def setup(self, config):
        self.timestep = 0
        self.width = config["width"]

    def step(self):
        self.timestep += 1
        v = np.tanh(float(self.timestep) / self.config.get("width", 1))
        v *= self.config.get("height", 1)
        return {"episode_reward_mean": v, "iter": self.iteration, "id": self.trial_id}

    def save_checkpoint(self, checkpoint_dir):
        path = os.path.join(checkpoint_dir, "checkpoint")
        with open(path, "w") as f:
            f.write(json.dumps({"timestep": self.timestep}))
        return path

    def load_checkpoint(self, checkpoint_path):
        with open(checkpoint_path) as f:
            self.timestep = json.loads(f.read())["timestep"]

    def reset_config(self, new_config):
        self.timestep = 0
        return True

    def cleanup(self):
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke-test", action="store_true")
    args, _ = parser.parse_known_args()
    ray.init(num_cpus=2, include_dashboard=False, ignore_reinit_error=True)

    ahb = AsyncHyperBandScheduler(
        time_attr="training_iteration", metric="episode_reward_mean", mode="max", grace_period=5, max_t=20
    )
    analysis = tune.run(
        MyTrainableClass,
        name="asynchyperband_test",
        scheduler=ahb,
        stop={"training_iteration": 8 if args.smoke_test else 99999},
        num_samples=3,
        reuse_actors=True,
        checkpoint_freq=2,
        checkpoint_at_end=True,
        keep_checkpoints_num=2,
        checkpoint_score_attr="episode_reward_mean",
        resources_per_trial={"cpu": 1, "gpu": 0},
        config={
            "width": tune.sample_from(lambda spec: 10 + int(90 * np.random.random())),
            "height": tune.sample_from(lambda spec: 1 + int(100 * np.random.random())),
        },
        local_dir="results",
        sync_config=tune.SyncConfig(syncer=None),
        global_checkpoint_period=np.inf,
        verbose=1,
    )

    print("Best hyperparameters found were: ", sorted(analysis.best_config))
    trial = analysis.get_best_trial("episode_reward_mean", "max")
    logdir = analysis.get_best_logdir("episode_reward_mean", mode="max")
    print("logdir", trial.logdir == logdir, os.path.exists(os.path.join(logdir, "result.json")))
    print("paths", len(analysis.get_trial_checkpoints_paths(trial, "episode_reward_mean")))
    path = analysis.get_best_checkpoint(trial, metric="episode_reward_mean", mode="max")
    with path.as_directory() as folder:
        print(
            "saved",
            json.load(open(os.path.join(folder, "checkpoint")))["timestep"] == trial.last_result["iter"] + 1,
        )
    print("configs", len(analysis.get_all_configs()))
    print("means", sorted(trial.metric_analysis["episode_reward_mean"]))
    print("again", len(tune.ExperimentAnalysis(analysis.experiment_path).trials))
