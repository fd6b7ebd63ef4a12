# ruff: noqa
# 2.0 to 2.6: sessions, checkpoints made of dicts, failures that are tried again.
import os

from overtone import air, tune
from overtone.air import Checkpoint, session
from overtone.tune.schedulers import ASHAScheduler


def train_fn(config, data=None):
    start, loss = 0, 10.0
    checkpoint = session.get_checkpoint()
    if checkpoint:
        state = checkpoint.to_dict()
        start, loss = state["epoch"] + 1, state["loss"]
    for epoch in range(start, 6):
        loss *= 1 - config["lr"]
        session.report(
            {"loss": loss, "epoch": epoch, "sum": sum(data)},
            checkpoint=Checkpoint.from_dict({"epoch": epoch, "loss": loss}),
        )
        if epoch == 2 and config["fails"] and not checkpoint:
            raise RuntimeError("Intentional failure")


tuner = tune.Tuner(
    tune.with_resources(tune.with_parameters(train_fn, data=[1, 2, 3]), resources={"cpu": 1}),
    param_space={"lr": tune.grid_search([0.1, 0.5]), "fails": tune.grid_search([False, True])},
    tune_config=tune.TuneConfig(
        metric="loss", mode="min", scheduler=ASHAScheduler(max_t=100, grace_period=10)
    ),
    run_config=air.RunConfig(
        name="air",
        local_dir="./results",
        failure_config=air.FailureConfig(max_failures=1),
        checkpoint_config=air.CheckpointConfig(
            num_to_keep=1, checkpoint_score_attribute="loss", checkpoint_score_order="min"
        ),
        stop={"training_iteration": 100},
    ),
)
result_grid = tuner.fit()
best = result_grid.get_best_result(metric="loss", mode="min", scope="last-5-avg")
print("best", best.config["lr"], best.checkpoint.to_dict()["epoch"], best.metrics["sum"])
print("epochs", sorted(result.metrics["training_iteration"] for result in result_grid))
print("errors", result_grid.errors, result_grid.num_errors)
print("since restore", sorted(result.metrics["iterations_since_restore"] for result in result_grid))
