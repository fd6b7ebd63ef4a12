# ruff: noqa
# 2.x: the function returns its metrics, and the grid of results is looked at.
import os

import numpy as np

from overtone import tune


def objective(config):
    score = config["a"] ** 2 + config["b"]
    return {"score": score}


search_space = {
    "a": tune.grid_search([0.001, 0.01, 0.1, 1.0]),
    "b": tune.choice([1, 2, 3]),
}

tuner = tune.Tuner(objective, param_space=search_space)
results = tuner.fit()
print(results.get_best_result(metric="score", mode="min").config["a"] <= 1.0)


class Trainable(tune.Trainable):
    def setup(self, config):
        self.x = 0
        self.a, self.b = config["a"], config["b"]

    def step(self):
        self.x += 1
        return {"score": self.a * (self.x**0.5) + self.b}

    def save_checkpoint(self, checkpoint_dir):
        np.save(os.path.join(checkpoint_dir, "x.npy"), self.x)

    def load_checkpoint(self, checkpoint_dir):
        self.x = np.load(os.path.join(checkpoint_dir, "x.npy"))


tuner = tune.Tuner(
    Trainable,
    param_space={
        "a": tune.uniform(0, 1),
        "b": tune.sample_from(lambda spec: spec.config.a * 20),
        "nested": {"c": tune.qrandint(4, 128, 4), "grid": tune.grid_search([1, 2])},
    },
    run_config=tune.RunConfig(
        stop={"training_iteration": 6},
        name="class_2x",
        storage_path=os.path.abspath("results"),
        checkpoint_config=tune.CheckpointConfig(
            checkpoint_frequency=2, num_to_keep=2, checkpoint_at_end=True
        ),
        failure_config=tune.FailureConfig(max_failures=2),
        verbose=1,
    ),
    tune_config=tune.TuneConfig(mode="max", metric="score", num_samples=3, max_concurrent_trials=2),
)
results = tuner.fit()

print("trials", len(results), results.num_errors, results.num_terminated)
best_result = results.get_best_result()
best_result_df = best_result.metrics_dataframe
print("columns", best_result_df[["training_iteration", "score", "time_total_s"]].shape)
print("folder", os.path.isdir(best_result.path), best_result.path.startswith(results.experiment_path))
with best_result.checkpoint.as_directory() as folder:
    print("x", int(np.load(os.path.join(folder, "x.npy"))))
print("kept", [len(result.best_checkpoints) for result in results])
df = results.get_dataframe(filter_metric="score", filter_mode="max")
print("frame", df.shape[0], {"score", "config/a", "config/nested/c", "trial_id"} <= set(df.columns))
for i, result in enumerate(results):
    if result.error:
        print(f"Trial #{i} had an error:", result.error)
        continue
    assert result.config["b"] == result.config["a"] * 20, result.config
    assert result.metrics["done"] and result.metrics["config"] == result.config
print("same", tuner.get_results() is results, results[0].metrics["training_iteration"])
