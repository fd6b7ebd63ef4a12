# ruff: noqa
# Training hidden in a framework that calls back after each epoch, as Keras does.
import argparse

import overtone as ray
from overtone import tune
from overtone.tune.schedulers import AsyncHyperBandScheduler


class Callback:
    def set_model(self, model):
        self.model = model

    def on_epoch_end(self, epoch, logs=None):
        pass


class Model:
    def __init__(self, lr, hidden):
        self.lr, self.hidden = lr, hidden

    def fit(self, epochs, verbose, callbacks):
        for callback in callbacks:
            callback.set_model(self)
        for epoch in range(epochs):
            logs = {"accuracy": 1 - 1 / (1 + self.lr * self.hidden * (epoch + 1)), "loss": 1 / (epoch + 1)}
            for callback in callbacks:
                callback.on_epoch_end(epoch, logs)


class TuneReporterCallback(Callback):
    def __init__(self, logs={}):
        self.iteration = 0
        super(TuneReporterCallback, self).__init__()

    def on_epoch_end(self, batch, logs={}):
        self.iteration += 1
        tune.report(keras_info=logs, mean_accuracy=logs.get("accuracy"), mean_loss=logs.get("loss"))


def train_mnist(config):
    model = Model(config["lr"], config["hidden"])
    model.fit(epochs=config["epochs"], verbose=0, callbacks=[TuneReporterCallback()])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke-test", action="store_true", help="Finish quickly for testing")
    args, _ = parser.parse_known_args()

    ray.init(num_cpus=4 if args.smoke_test else None)
    sched = AsyncHyperBandScheduler(time_attr="training_iteration", max_t=400, grace_period=20)

    analysis = tune.run(
        train_mnist,
        name="exp",
        scheduler=sched,
        metric="mean_accuracy",
        mode="max",
        stop={"mean_accuracy": 0.99, "training_iteration": 5 if args.smoke_test else 300},
        num_samples=4,
        resources_per_trial={"cpu": 2, "gpu": 0},
        config={
            "threads": 2,
            "epochs": 12,
            "lr": tune.uniform(0.001, 0.1),
            "momentum": tune.uniform(0.1, 0.9),
            "hidden": tune.randint(32, 512),
        },
        local_dir="results",
    )
    print("Best hyperparameters found were: ", sorted(analysis.best_config))
    print("iterations", all(trial.last_result["training_iteration"] <= 5 for trial in analysis.trials))
    print("nested", "keras_info/accuracy" in analysis.results_df.columns)
    ray.shutdown()
