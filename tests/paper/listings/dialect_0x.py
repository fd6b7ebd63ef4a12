# ruff: noqa
# The dialect of Ray 0.x: a reporter, a registered name, experiments as data.
import overtone as ray
from overtone.tune import grid_search, register_trainable, run_experiments


def my_func(config, reporter):
    for step in range(5):
        reporter(timesteps_total=step * 10, mean_accuracy=config["alpha"] * step)


ray.init()
register_trainable("my_func", my_func)
trials = run_experiments(
    {
        "my_experiment": {
            "run": "my_func",
            "stop": {"mean_accuracy": 100, "training_iteration": 3},
            "config": {"alpha": grid_search([0.2, 0.4, 0.6]), "beta": {"grid_search": [1, 2]}},
            "trial_resources": {"cpu": 1, "gpu": 0},
        }
    }
)
print("trials", len(trials))
print(
    "last",
    sorted((round(t.last_result["mean_accuracy"], 3), t.last_result["timesteps_total"]) for t in trials),
)
