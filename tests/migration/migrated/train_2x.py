# ruff: noqa
# 2.7 to today: train.report or tune.report with a directory, a context, errors in the grid.
import json
import os
import tempfile

import numpy as np

import overtone as ray
from overtone import train, tune
from overtone.tune.schedulers import ASHAScheduler
from overtone.tune.search.basic_variant import BasicVariantGenerator

dataset_ref = ray.put(np.arange(1000))


def training_fn(config):
    data = ray.get(dataset_ref)
    context = train.get_context()
    start = 1
    checkpoint = train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as checkpoint_dir:
            with open(os.path.join(checkpoint_dir, "checkpoint.json")) as f:
                start = json.load(f)["epoch"] + 1
    if config["momentum"] == 0.99:
        raise ValueError("momentum too high")
    for epoch in range(start, 5):
        metrics = {
            "mean_accuracy": 1 - config["lr"] / epoch,
            "rows": len(data),
            "same": context.get_trial_id() == tune.get_context().get_trial_id(),
        }
        with tempfile.TemporaryDirectory() as tempdir:
            with open(os.path.join(tempdir, "checkpoint.json"), "w") as f:
                json.dump({"epoch": epoch}, f)
            tune.report(metrics=metrics, checkpoint=tune.Checkpoint.from_directory(tempdir))
    with open(os.path.join(context.get_trial_dir(), "note.txt"), "w") as f:
        f.write(context.get_experiment_name())


tuner = tune.Tuner(
    training_fn,
    param_space={"lr": tune.loguniform(1e-4, 1e-1), "momentum": tune.grid_search([0.8, 0.9, 0.99])},
    tune_config=tune.TuneConfig(
        metric="mean_accuracy",
        mode="max",
        num_samples=2,
        search_alg=BasicVariantGenerator(constant_grid_search=True, max_concurrent=2),
        trial_dirname_creator=lambda trial: f"momentum_{trial.config['momentum']}_{trial.trial_id}",
    ),
    run_config=train.RunConfig(
        name="train_2x",
        storage_path=os.path.abspath("results"),
        stop=lambda trial_id, result: result["mean_accuracy"] > 1,
        checkpoint_config=train.CheckpointConfig(checkpoint_score_attribute="mean_accuracy", num_to_keep=2),
        failure_config=train.FailureConfig(fail_fast=False),
        callbacks=[],
    ),
)
result_grid = tuner.fit()
print("errors", result_grid.num_errors, "of", len(result_grid))
for result in result_grid:
    if result.error:
        assert isinstance(result.error, Exception), result.error
        assert "momentum too high" in str(result.error), result.error
best = result_grid.get_best_result()
print("best", best.metrics["rows"], best.metrics["same"], best.metrics["training_iteration"])
print("note", open(os.path.join(best.path, "note.txt")).read())
print("checkpoints", [round(metrics["mean_accuracy"], 3) <= 1 for _, metrics in best.best_checkpoints])
ok = [result for result in result_grid if not result.error]
dfs = {result.path: result.metrics_dataframe for result in ok}
print("frames", [len(df) for df in dfs.values()])
by_momentum = {}
for result in ok:
    by_momentum.setdefault(result.config["lr"], []).append(result.config["momentum"])
print("constant", sorted(len(v) for v in by_momentum.values()))
restored = tune.ExperimentAnalysis(result_grid.experiment_path)
print("opened", len(restored.trials), os.path.basename(result_grid.experiment_path))
print("links", sum(name.startswith("momentum_") for name in os.listdir(result_grid.experiment_path)))
