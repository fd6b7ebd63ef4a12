"""A training library with an optional backend "ray": it looks for Ray by name, and binds itself as a parameter."""

import importlib.metadata
import importlib.util
import json
import os
import tempfile


def is_backend_there():
    return all(importlib.util.find_spec(name) is not None for name in ("ray", "ray.tune"))


class Trainer:
    def __init__(self, make_model, epochs=3):
        self.make_model, self.epochs, self.callbacks = make_model, epochs, []

    def train(self, learning_rate, start=0, on_epoch=None):
        model = self.make_model()
        for epoch in range(start, self.epochs):
            model["weight"] -= learning_rate * 2 * (model["weight"] - 3)
            on_epoch(epoch, {"objective": -abs(model["weight"] - 3), "epoch": epoch})

    def search(self, space, n_trials, **options):
        if not is_backend_there():
            raise RuntimeError("the backend needs pip install ray[tune]")
        assert int(importlib.metadata.version("ray").split(".")[0]) >= 2
        import ray.tune

        def objective(trial, local_trainer):
            start, checkpoint = 0, ray.tune.get_checkpoint()
            if checkpoint:
                with checkpoint.as_directory() as folder, open(os.path.join(folder, "state.json")) as file:
                    start = json.load(file)["epoch"] + 1

            def on_epoch(epoch, metrics):
                with tempfile.TemporaryDirectory() as folder:
                    with open(os.path.join(folder, "state.json"), "w") as file:
                        json.dump(metrics, file)
                    ray.tune.report(metrics, checkpoint=ray.tune.Checkpoint.from_directory(folder))

            local_trainer.train(trial["learning_rate"], start, on_epoch)

        if "scheduler" in options:
            from ray.tune.schedulers import ASHAScheduler, PopulationBasedTraining

            assert isinstance(options["scheduler"], (ASHAScheduler, PopulationBasedTraining))
        if "progress_reporter" not in options:
            from ray.tune import CLIReporter

            options["progress_reporter"] = CLIReporter(metric_columns=["objective"])
        trainable = ray.tune.with_parameters(objective, local_trainer=self)
        analysis = ray.tune.run(trainable, config=space, num_samples=n_trials, **options)
        best = analysis.get_best_trial(metric="objective", mode="max", scope="last")
        return best.trial_id, best.last_result["objective"], best.config, analysis
