"""Boosted trees of CatBoost for handwritten digits, and a search for their learning rate and depth."""

import catboost
from sklearn.datasets import load_digits

from overtone import tune
from overtone.tune.integration.catboost import TuneReportCallback

SETTINGS = {
    "eval_metric": "Accuracy",
    "thread_count": 1,
    "allow_writing_files": False,
    "verbose": 0,
    "random_strength": 0,
    "bootstrap_type": "No",
}


def train(config):
    x, y = load_digits(return_X_y=True)
    training, validation = catboost.Pool(x[:1200], y[:1200]), catboost.Pool(x[1200:], y[1200:])
    model, checkpoint = None, tune.get_checkpoint()
    if checkpoint:
        model = catboost.CatBoostClassifier().load_model(checkpoint.value)
    while tune.get_context().iteration < 12:
        earlier = model
        model = catboost.CatBoostClassifier(iterations=2, use_best_model=False, **SETTINGS, **config)
        model.fit(training, eval_set=validation, init_model=earlier, callbacks=[TuneReportCallback()])
        model.save_model("model.cbm")
        tune.record_checkpoint("model.cbm")


if __name__ == "__main__":
    space = {"learning_rate": tune.loguniform(0.01, 1), "depth": tune.randint(2, 7)}
    analysis = tune.run(
        train, config=space, num_samples=8, metric="validation-Accuracy", mode="max", scheduler="asha", seed=0
    )
    print(f"{analysis.best_result['validation-Accuracy']:.3f} with {analysis.best_config}")
