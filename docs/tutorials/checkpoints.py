"""
Checkpoints and resume
======================

A trial that saves can continue after a failure. In this script, the data server is away for a while: trials fail in the
middle, and a resume continues them from their last checkpoint.
"""

# %%
# The function looks for a checkpoint when it begins, and saves one with each report. A checkpoint is a dict here; a folder
# with ``tune.Checkpoint.from_directory`` is for larger states.

from pathlib import Path

from overtone import tune

OUTAGE = Path("outage").absolute()


def train(config):
    weight, start = 0.0, 0
    if checkpoint := tune.get_checkpoint():
        state = checkpoint.to_dict()
        weight, start = state["weight"], state["step"]
        print(f"continue after step {start}")
    for step in range(start + 1, 9):
        if step == 5 and OUTAGE.exists():
            raise ConnectionError("the data server is away")
        weight += config["lr"] * (1 - weight)
        tune.report(
            {"loss": 1 - weight}, checkpoint=tune.Checkpoint.from_dict({"weight": weight, "step": step})
        )


options = {
    "config": {"lr": tune.grid_search([0.1, 0.3, 0.5])},
    "metric": "loss", "mode": "min", "name": "outage", "verbose": 1,
}  # fmt: skip

# %%
# The first run ends with failed trials. ``raise_on_failed_trial=False`` returns the results so far.

OUTAGE.touch()
first = tune.run(train, raise_on_failed_trial=False, **options)
print([(trial.status, trial.last_result["training_iteration"]) for trial in first.trials])

# %%
# The server is back. ``"AUTO+ERRORED"`` continues the experiment and retries the failed trials. Each continues at step 5.

OUTAGE.unlink()
second = tune.run(train, resume="AUTO+ERRORED", **options)
print([(trial.status, trial.last_result["training_iteration"]) for trial in second.trials])

# %%
# The checkpoint of the best trial has the state after the last step.

print(second.best_config, second.best_trial.checkpoint.to_dict())
