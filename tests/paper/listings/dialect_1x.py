# ruff: noqa
# The dialect of Ray 1.x: tune.run, checkpoint_dir, with_parameters.
import json
import os

from overtone import tune


def train(config, checkpoint_dir=None, data=None):
    start = 0
    if checkpoint_dir:
        with open(os.path.join(checkpoint_dir, "state.json")) as file:
            start = json.load(file)["step"]
    for step in range(start, 4):
        if step == 2 and not checkpoint_dir:
            raise RuntimeError("a failure, once")
        with tune.checkpoint_dir(step=step) as folder:
            with open(os.path.join(folder, "state.json"), "w") as file:
                json.dump({"step": step + 1}, file)
        tune.report(score=config["x"] * data[step], step=step)


analysis = tune.run(
    tune.with_parameters(train, data=[1, 2, 3, 4]),
    name="one_x",
    local_dir="results",
    config={"x": tune.choice([1.0])},
    num_samples=2,
    metric="score",
    mode="max",
    keep_checkpoints_num=1,
    checkpoint_score_attr="score",
    max_failures=1,
    verbose=1,
)
print("best", analysis.best_result["score"], analysis.best_result["training_iteration"])
print("folder", os.path.exists(os.path.join("results", "one_x", "journal.jsonl")))
