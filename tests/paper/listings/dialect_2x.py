# ruff: noqa
# The dialect of Ray 2.x: Tuner, TuneConfig, RunConfig, Checkpoint.
import os
import tempfile

from overtone import train, tune
from overtone.tune.schedulers import ASHAScheduler


def train_fn(config):
    checkpoint = tune.get_checkpoint()
    assert checkpoint is None
    for epoch in range(4):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "epoch"), "w") as file:
                file.write(str(epoch))
            train.report(
                {"loss": config["lr"] / (epoch + 1)},
                checkpoint=tune.Checkpoint.from_directory(folder),
            )


tuner = tune.Tuner(
    tune.with_resources(train_fn, {"cpu": 1}),
    param_space={"lr": tune.grid_search([0.1, 1.0, 10.0])},
    tune_config=tune.TuneConfig(metric="loss", mode="min", scheduler=ASHAScheduler(max_t=4)),
    run_config=tune.RunConfig(
        name="two_x",
        storage_path=os.path.abspath("results"),
        checkpoint_config=tune.CheckpointConfig(num_to_keep=1),
    ),
)
results = tuner.fit()
best = results.get_best_result()
with best.checkpoint.as_directory() as folder:
    with open(os.path.join(folder, "epoch")) as file:
        print("epoch", file.read())
print("best", best.config, best.metrics["loss"])
print("trials", len(results), "errors", len(results.errors))
print("frame", len(results.get_dataframe()))
