# ruff: noqa
# Data bound with with_parameters, a time budget, points to begin with, a limit of trials at once.
import numpy as np

from overtone import tune


def train_model(config, data=None, epochs=3):
    x, y = data
    weights = np.zeros(x.shape[1])
    for _ in range(epochs):
        gradient = x.T @ (x @ weights - y) / len(y)
        weights -= config["lr"] * (gradient + config["l2"] * weights)
        tune.report(mean_loss=np.mean((x @ weights - y) ** 2), done=False)


if __name__ == "__main__":
    x = np.random.default_rng(0).normal(size=(2000, 10))
    data = (x, x @ np.arange(10))
    analysis = tune.run(
        tune.with_parameters(train_model, data=data, epochs=20),
        metric="mean_loss",
        mode="min",
        num_samples=4,
        time_budget_s=60,
        max_concurrent_trials=2,
        fail_fast=True,
        raise_on_failed_trial=False,
        local_dir="results",
        config={"lr": tune.loguniform(1e-2, 1), "l2": tune.choice([0, 0.1])},
        search_alg=tune.suggest.BasicVariantGenerator(points_to_evaluate=[{"lr": 0.9, "l2": 0}]),
    )
    print("loss", analysis.best_result["mean_loss"] < 0.1)
    print("first", analysis.trials[0].config)
    print("trials", len(analysis.trials), {trial.status for trial in analysis.trials})
    print(
        "scopes",
        all(
            analysis.get_best_trial("mean_loss", "min", scope)
            for scope in ("last", "all", "avg", "last-5-avg", "last-10-avg")
        ),
    )
