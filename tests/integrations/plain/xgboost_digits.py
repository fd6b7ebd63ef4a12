"""Boosted trees of XGBoost for handwritten digits."""

import xgboost
from sklearn.datasets import load_digits


def train(config):
    x, y = load_digits(return_X_y=True)
    training, validation = xgboost.DMatrix(x[:1200], y[:1200]), xgboost.DMatrix(x[1200:], y[1200:])
    settings = {
        "objective": "multi:softprob",
        "num_class": 10,
        "eval_metric": ["mlogloss", "merror"],
        "nthread": 1,
    }
    history = {}
    xgboost.train(
        {**settings, **config},
        training,
        num_boost_round=12,
        evals=[(validation, "validation")],
        evals_result=history,
        verbose_eval=False,
    )
    return history["validation"]


if __name__ == "__main__":
    print(train({"eta": 0.3, "max_depth": 4})["merror"][-1])
