"""Boosted trees of LightGBM for handwritten digits."""

import lightgbm
from sklearn.datasets import load_digits


def train(config):
    x, y = load_digits(return_X_y=True)
    training = lightgbm.Dataset(x[:1200], y[:1200], free_raw_data=False)
    validation = training.create_valid(x[1200:], y[1200:])
    settings = {"objective": "multiclass", "num_class": 10, "metric": ["multi_logloss", "multi_error"]}
    history = {}
    lightgbm.train(
        {**settings, "num_threads": 1, "verbosity": -1, **config},
        training,
        num_boost_round=12,
        valid_sets=[validation],
        valid_names=["validation"],
        callbacks=[lightgbm.record_evaluation(history)],
    )
    return history["validation"]


if __name__ == "__main__":
    print(train({"learning_rate": 0.3, "num_leaves": 8})["multi_error"][-1])
