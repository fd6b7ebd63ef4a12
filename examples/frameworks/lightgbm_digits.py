"""Boosted trees of LightGBM for handwritten digits, and a search for their learning rate and leaves."""

import lightgbm
from sklearn.datasets import load_digits

from overtone import tune
from overtone.tune.integration.lightgbm import TuneReportCheckpointCallback


def train(config):
    x, y = load_digits(return_X_y=True)
    training = lightgbm.Dataset(x[:1200], y[:1200], free_raw_data=False)
    validation = training.create_valid(x[1200:], y[1200:])
    settings = {"objective": "multiclass", "num_class": 10, "metric": ["multi_logloss", "multi_error"]}
    checkpoint = tune.get_checkpoint()
    lightgbm.train(
        {**settings, "num_threads": 1, "verbosity": -1, **config},
        training,
        num_boost_round=12 - tune.get_context().iteration,
        valid_sets=[validation],
        valid_names=["validation"],
        init_model=checkpoint and TuneReportCheckpointCallback.get_model(checkpoint),
        callbacks=[TuneReportCheckpointCallback(frequency=2)],
    )


if __name__ == "__main__":
    space = {"learning_rate": tune.loguniform(0.01, 1), "num_leaves": tune.randint(4, 33)}
    analysis = tune.run(
        train,
        config=space,
        num_samples=8,
        metric="validation-multi_error",
        mode="min",
        scheduler="asha",
        seed=0,
    )
    print(f"{analysis.best_result['validation-multi_error']:.3f} with {analysis.best_config}")
