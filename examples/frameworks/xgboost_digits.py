"""Boosted trees of XGBoost for handwritten digits, and a search for their learning rate and depth."""

import xgboost
from sklearn.datasets import load_digits

from overtone import tune
from overtone.tune.integration.xgboost import TuneReportCheckpointCallback


def train(config):
    x, y = load_digits(return_X_y=True)
    training, validation = xgboost.DMatrix(x[:1200], y[:1200]), xgboost.DMatrix(x[1200:], y[1200:])
    settings = {
        "objective": "multi:softprob",
        "num_class": 10,
        "eval_metric": ["mlogloss", "merror"],
        "nthread": 1,
    }
    checkpoint = tune.get_checkpoint()
    xgboost.train(
        {**settings, **config},
        training,
        num_boost_round=12 - tune.get_context().iteration,
        evals=[(validation, "validation")],
        xgb_model=checkpoint and TuneReportCheckpointCallback.get_model(checkpoint),
        callbacks=[TuneReportCheckpointCallback(frequency=2)],
        verbose_eval=False,
    )


if __name__ == "__main__":
    space = {"eta": tune.loguniform(0.01, 1), "max_depth": tune.randint(2, 7)}
    analysis = tune.run(
        train, config=space, num_samples=8, metric="validation-merror", mode="min", scheduler="asha", seed=0
    )
    print(f"{analysis.best_result['validation-merror']:.3f} with {analysis.best_config}")
