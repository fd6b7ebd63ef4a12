# ruff: noqa
# A scikit-learn model: the data bound with with_parameters, the time budget, points to begin with.
from sklearn.linear_model import SGDClassifier

from overtone import tune


def train_model(config, data=None, epochs=3):
    x, y = data
    model = SGDClassifier(alpha=config["alpha"], penalty=config["penalty"], random_state=0)
    for _ in range(epochs):
        model.partial_fit(x, y, classes=range(10))
        tune.report(mean_accuracy=model.score(x, y), done=False)


if __name__ == "__main__":
    from sklearn.datasets import load_digits

    data = load_digits(return_X_y=True)
    analysis = tune.run(
        tune.with_parameters(train_model, data=data, epochs=4),
        metric="mean_accuracy",
        mode="max",
        num_samples=4,
        time_budget_s=60,
        max_concurrent_trials=2,
        fail_fast=True,
        raise_on_failed_trial=False,
        local_dir="results",
        config={"alpha": tune.loguniform(1e-6, 1e-1), "penalty": tune.choice(["l2", "l1"])},
        search_alg=tune.suggest.BasicVariantGenerator(points_to_evaluate=[{"alpha": 1e-4, "penalty": "l2"}]),
    )
    print("accuracy", analysis.best_result["mean_accuracy"] > 0.9)
    print("first", analysis.trials[0].config)
    print("trials", len(analysis.trials), {trial.status for trial in analysis.trials})
    print("scopes", all(analysis.get_best_trial("mean_accuracy", "max", scope) for scope in
                        ("last", "all", "avg", "last-5-avg", "last-10-avg")))
