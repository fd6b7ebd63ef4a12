"""Boosted trees of CatBoost for handwritten digits."""

import catboost
from sklearn.datasets import load_digits

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
    model = catboost.CatBoostClassifier(iterations=12, **SETTINGS, **config)
    model.fit(training, eval_set=validation)
    return model.evals_result_["validation"]


if __name__ == "__main__":
    print(train({"learning_rate": 0.3, "depth": 4})["Accuracy"][-1])
