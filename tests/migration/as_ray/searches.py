# The libraries of this folder, under `python -m overtone.as_ray` or after `install_as_ray()`.
import os
import sys
import threading

if "--install" in sys.argv:
    import overtone

    overtone.install_as_ray()
    overtone.install_as_ray()  # further calls do nothing
import detect
import finetune
import ray
from ray import air, train, tune
from ray.tune.schedulers import ASHAScheduler
from ray.tune.search import Searcher


class Elsewhere(Searcher):
    """Suggests in a process of its own, which looks for Ray again."""

    is_slow = True

    def suggest(self, index):
        import ray.tune.search.optuna

        return {"version": ray.__version__, "same": ray.tune.search.Searcher is Searcher, "pid": os.getpid()}

    def on_trial_end(self, trial):
        """Learn, as a searcher does that is worth a process."""


if "--spawn" in sys.argv:  # trials are new processes then, not forks
    threading.Thread(target=threading.Event().wait, daemon=True).start()


def in_trial(config):
    import importlib.metadata

    from ray import tune as again

    return {"loss": 0, "seen": [importlib.metadata.version("ray"), ray.__version__, again is tune, config["pid"]]}


def make_model():
    return {"weight": 0.0}


if __name__ == "__main__":
    print("> argv", [one for one in sys.argv[1:] if one != "--install"])
    ray.init(num_cpus=2)
    trial_id, objective, config, analysis = finetune.Trainer(make_model).search(
        {"learning_rate": tune.grid_search([0.1, 0.4])}, 1, storage_path="runs", name="finetune",
        resources_per_trial={"cpu": 1}, scheduler=ASHAScheduler(metric="objective", mode="max", max_t=9),
        verbose=0,
    )
    print("> best", config, round(objective, 3), [trial.status for trial in analysis.trials])
    results = detect.Model().tune({"lr": tune.grid_search([0.1, 0.5])}, iterations=1, grace_period=4)
    print("> detect", [round(result.metrics["fitness"], 3) for result in results], results.errors)
    (result,) = tune.Tuner(
        in_trial,
        tune_config=tune.TuneConfig(metric="loss", mode="min", search_alg=Elsewhere(), num_samples=1),
        run_config=tune.RunConfig(storage_path="runs", verbose=0),
        param_space={"version": "", "same": False, "pid": 0},
    ).fit()
    version, shown, is_same, pid = result.metrics["seen"]
    print("> trial", version == shown == result.config["version"], is_same, result.config["same"], pid != os.getpid())
    print("> same", ray.tune is tune, train is ray.train, air.RunConfig is tune.RunConfig, ray.is_initialized())
