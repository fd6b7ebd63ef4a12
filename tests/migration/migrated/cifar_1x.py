# ruff: noqa
# The tutorial's shape of 1.x: partial, checkpoint_dir, ASHA, CLIReporter, the best trial's checkpoint.
from functools import partial
import os
import pickle

import numpy as np

from overtone import tune
from overtone.tune import CLIReporter
from overtone.tune.schedulers import ASHAScheduler


def load_data(data_dir="./data"):
    with open(os.path.join(data_dir, "data.pkl"), "rb") as f:
        return pickle.load(f)


class Net(object):
    def __init__(self, l1=120, l2=84):
        self.weights = np.zeros(3)
        self.l1, self.l2 = l1, l2

    def step(self, x, y, lr):
        error = x @ self.weights - y
        self.weights -= lr * x.T @ error / len(y)
        return float(np.mean(error**2))


def train_cifar(config, checkpoint_dir=None, data_dir=None):
    net = Net(config["l1"], config["l2"])
    start = 0
    if checkpoint_dir:
        start, net.weights = pickle.load(open(os.path.join(checkpoint_dir, "checkpoint"), "rb"))

    x, y = load_data(data_dir)

    for epoch in range(start, 10):
        running_loss = net.step(x, y, config["lr"])
        with tune.checkpoint_dir(epoch) as checkpoint_dir:
            path = os.path.join(checkpoint_dir, "checkpoint")
            with open(path, "wb") as f:
                pickle.dump((epoch + 1, net.weights), f)

        tune.report(loss=running_loss, accuracy=1 / (1 + running_loss))
    print("Finished Training")


def main(num_samples=10, max_num_epochs=10, gpus_per_trial=2):
    data_dir = os.path.abspath("./data")
    os.makedirs(data_dir, exist_ok=True)
    x = np.random.default_rng(0).normal(size=(100, 3))
    with open(os.path.join(data_dir, "data.pkl"), "wb") as f:
        pickle.dump((x, x @ np.array([1.0, 2.0, 3.0])), f)
    config = {
        "l1": tune.sample_from(lambda _: 2 ** np.random.randint(2, 9)),
        "l2": tune.sample_from(lambda _: 2 ** np.random.randint(2, 9)),
        "lr": tune.loguniform(1e-2, 1e-0),
        "batch_size": tune.choice([2, 4, 8, 16]),
    }
    scheduler = ASHAScheduler(
        metric="loss", mode="min", max_t=max_num_epochs, grace_period=1, reduction_factor=2
    )
    reporter = CLIReporter(
        # parameter_columns=["l1", "l2", "lr", "batch_size"],
        metric_columns=["loss", "accuracy", "training_iteration"]
    )
    result = tune.run(
        partial(train_cifar, data_dir=data_dir),
        resources_per_trial={"cpu": 1, "gpu": gpus_per_trial},
        config=config,
        num_samples=num_samples,
        scheduler=scheduler,
        progress_reporter=reporter,
    )

    best_trial = result.get_best_trial("loss", "min", "last")
    print("Best trial config: {}".format(sorted(best_trial.config)))
    print("Best trial final validation loss: {}".format(best_trial.last_result["loss"] < 1))
    print("Best trial final validation accuracy: {}".format(best_trial.last_result["accuracy"] > 0.5))

    best_checkpoint_dir = best_trial.checkpoint.value
    epochs, weights = pickle.load(open(os.path.join(best_checkpoint_dir, "checkpoint"), "rb"))
    print(
        "Best trial test set accuracy:", epochs == best_trial.last_result["training_iteration"], weights.shape
    )
    print("stopped early", any(trial.last_result["training_iteration"] < 10 for trial in result.trials))


if __name__ == "__main__":
    main(num_samples=8, max_num_epochs=10, gpus_per_trial=0)
