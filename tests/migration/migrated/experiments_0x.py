# ruff: noqa
# 0.x: registered names, Experiment objects, several experiments at once.
import overtone as ray
import overtone.tune as tune
from overtone.tune import Experiment, register_trainable, run_experiments
from overtone.tune.schedulers import AsyncHyperBandScheduler


def train_func(config, reporter):  # add a reporter arg
    for i in range(1, 100):
        reporter(timesteps_total=i * 10, mean_accuracy=i * config["alpha"], done=1 if i == 20 else 0)


class MyTrainable(tune.Trainable):
    def _setup(self, config):
        self.total = 0

    def _train(self):
        self.total += self.config["alpha"]
        return dict(mean_loss=1 / self.total, timesteps_this_iter=5)

    def _save(self, checkpoint_dir):
        return {"total": self.total}

    def _restore(self, state):
        self.total = state["total"]


ray.init()
register_trainable("train_func", train_func)
register_trainable("trainable", MyTrainable)
spec = Experiment(
    "first",
    run="train_func",
    stop={"mean_accuracy": 100},
    config={"alpha": tune.grid_search([0.1, 10])},
    resources_per_trial={"cpu": 1},
)
trials = run_experiments(
    spec,
    scheduler=AsyncHyperBandScheduler(
        time_attr="timesteps_total", metric="mean_accuracy", mode="max", grace_period=500, max_t=1000
    ),
)
print("first", [trial.last_result["training_iteration"] for trial in trials])
trials = tune.run_experiments(
    {
        "second": {
            "run": "trainable",
            "stop": {"timesteps_total": 20},
            "config": {"alpha": {"grid_search": [1, 2]}},
            "num_samples": 2,
            "checkpoint_freq": 2,
            "checkpoint_at_end": True,
            "local_dir": "results",
        },
        "third": {
            "run": MyTrainable,
            "stop": {"training_iteration": 2},
            "config": {"alpha": 3},
            "local_dir": "results",
        },
    },
    verbose=0,
)
print("second", len(trials), [trial.last_result["timesteps_total"] for trial in trials])
analysis = tune.run(
    "trainable", stop={"training_iteration": 1}, config={"alpha": lambda spec: 1.5}, local_dir="results"
)
print("third", analysis.trials[0].config, analysis.get_best_config(metric="mean_loss", mode="min"))
