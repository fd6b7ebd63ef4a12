# ruff: noqa
# The forms between 0.7 and 1.0: track.log, make_checkpoint_dir, loggers, DurableTrainable, reward_attr.
import os
import pickle

import overtone as ray
from overtone import tune
from overtone.tune import DurableTrainable, TrainingResult, register_trainable, run_experiments
from overtone.tune.logger import Logger
from overtone.tune.pbt import PopulationBasedTraining
from overtone.tune.trial import ExportFormat

logged = []


class TestLogger(Logger):
    def _init(self):
        self.name = os.path.basename(self.logdir)

    def on_result(self, result):
        logged.append((self.name, result["loss"]))


def train_cifar(config, checkpoint=None):
    start = 0
    if checkpoint:
        with open(checkpoint, "rb") as file:
            start = pickle.load(file)
    for epoch in range(start, 6):
        path = os.path.join(tune.make_checkpoint_dir(epoch), "checkpoint")
        with open(path, "wb") as file:
            pickle.dump(epoch + 1, file)
        tune.save_checkpoint(path)
        if epoch == 4 and start == 0:
            raise RuntimeError("try me again")
        tune.report(loss=1 / (epoch + 1) / config["l1"])


class MyTrainableClass(DurableTrainable):
    def _setup(self):
        self.value = 0.0

    def _train(self):
        self.value += self.config["factor"]
        return TrainingResult(episode_reward_mean=self.value)

    def _save(self, checkpoint_dir):
        path = os.path.join(checkpoint_dir, "checkpoint")
        with open(path, "w") as file:
            file.write(str(self.value))
        return path

    def _restore(self, checkpoint_path):
        with open(checkpoint_path) as file:
            self.value = float(file.read())


def train_mnist(config):
    for i in range(10):
        tune.track.log(mean_accuracy=i * config["lr"])


if __name__ == "__main__":
    ray.init(local_mode=True)
    analysis = tune.run(
        train_cifar,
        config={"l1": tune.grid_search([4, 9])},
        metric="loss",
        mode="min",
        loggers=[TestLogger],
        max_failures=1,
        trial_name_creator=tune.function(lambda trial: f"{trial.trainable_name}_{trial.trial_id}_123"),
        verbose=0,
    )
    with open(analysis.best_trial.checkpoint.value, "rb") as file:
        print("Best config:", sorted(one.config["l1"] for one in analysis.trials), pickle.load(file) == 6)
    frames = analysis.trial_dataframes
    print("restored", list(frames[analysis.best_logdir]["training_iteration"])[-2:])
    print("logged", len(logged))

    register_trainable("my_class", MyTrainableClass)
    pbt = PopulationBasedTraining(
        time_attr="training_iteration",
        reward_attr="episode_reward_mean",
        perturbation_interval=2,
        hyperparam_mutations={"factor": [1, 2]},
    )
    spec = {"run": "my_class", "stop": {"training_iteration": 4}, "repeat": 3, "config": {"factor": 1.0}}
    run_experiments({"pbt_test": spec}, scheduler=pbt, verbose=False)

    tracked = tune.run(train_mnist, config={"lr": tune.grid_search([0.01, 0.1])}, verbose=0)
    print("tracked", round(tracked.get_best_trial("mean_accuracy", "max").last_result["mean_accuracy"], 3))
