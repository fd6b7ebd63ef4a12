"""A vision library with `tune(use_ray=True)`: it checks requirements, shares its model, and reports by a callback."""

import re
from importlib import metadata

try:
    import ray
    from ray import tune
    from ray.air import session
    from ray.tune import RunConfig

    assert hasattr(tune, "get_context")
except (ImportError, AssertionError):
    tune = None


def check_requirement(text):
    name, operator, version = re.match(r"([a-z]+)(?:\[.*\])?(>=)?(.*)", text).groups()
    there = [int(part) for part in metadata.version(name).split(".")]
    assert not operator or there >= [int(part) for part in version.split(".")], text


def on_epoch_end(metrics):
    if tune is not None and tune.is_session_enabled() and session.get_trial_id():
        tune.report(metrics)


class Model:
    def __init__(self):
        self.weight = 0.0

    def train(self, lr, epochs):
        for epoch in range(epochs):
            self.weight += lr * (1 - self.weight)
            on_epoch_end({"fitness": self.weight, "epoch": epoch})

    def tune(self, space, epochs=4, grace_period=1, iterations=2):
        check_requirement("ray>=2.41.0")
        check_requirement("ray[tune]")
        in_store = ray.put(self)
        from ray.tune.schedulers import ASHAScheduler

        def train(config):
            import ray as again

            assert again.is_initialized() or again.__version__ >= "2"
            again.get(in_store).train(epochs=epochs, **config)

        tuner = tune.Tuner(
            tune.with_resources(train, {"cpu": 1, "gpu": 0}),
            param_space=space,
            tune_config=tune.TuneConfig(
                scheduler=ASHAScheduler(metric="fitness", mode="max", max_t=epochs, grace_period=grace_period),
                num_samples=iterations,
                trial_name_creator=lambda trial: f"{trial.trainable_name}_{trial.trial_id}",
                trial_dirname_creator=lambda trial: f"{trial.trainable_name}_{trial.trial_id}",
            ),
            run_config=RunConfig(storage_path="runs", name="detect"),
        )
        tuner.fit()
        results = tuner.get_results()
        ray.shutdown()
        return results
