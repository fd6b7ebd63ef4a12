# ruff: noqa
# 2.0 to 2.6: classes and objects as values of a grid, a loop without end that the scheduler stops, files of
# output; then a search as a project's function, from a text file, with names of folders.
import os

from overtone import air, tune
from overtone.air import session
from overtone.tune import search
from overtone.tune.experiment.trial import Trial
from overtone.tune.schedulers import ASHAScheduler
import overtone as ray


class Sgd:
    def __init__(self, lr):
        self.lr = lr


class Loss:
    def __call__(self, x):
        return x * x


def objective(config):
    optimizer, x = config["optimizer"](lr=config["lr"]), 1.0
    while True:
        x -= optimizer.lr * 2 * x
        print("x is", x)
        session.report({"accuracy": 1 - config["criterion"](x), "depth": sum(config["architecture"])})


def __dirname(trial: Trial) -> str:
    return f"trial_{trial.trial_id}"


def objective_function(config_dict=None, config_file_list=None, rows=None):
    assert os.path.isabs(config_file_list[0]) and len(rows) == 3
    tune.report(**{"best_valid_score": config_dict["rate"], "ndcg@10": 2 * config_dict["rate"], "recall@10": 0.1})


def read_space(path):
    kinds = {"choice": lambda text: tune.choice(eval(text))}
    for name in ("uniform", "quniform", "loguniform"):
        kinds[name] = lambda text, name=name: getattr(tune, name)(*map(float, text.split(",")))
    with open(path) as file:
        rows = [line.split(" ", 2) for line in file.read().splitlines()]
    return {name: kinds[kind](text) for name, kind, text in rows}


if __name__ == "__main__":
    tuner = tune.Tuner(
        objective,
        param_space={
            "lr": tune.grid_search([0.1, 0.3]),
            "criterion": tune.grid_search([Loss()]),
            "optimizer": tune.grid_search([Sgd]),
            "architecture": tune.grid_search([[2, 2, 2]]),
        },
        run_config=air.RunConfig(name="temp_experiment", local_dir="./results", log_to_file=True),
        tune_config=tune.TuneConfig(
            scheduler=tune.schedulers.ASHAScheduler(metric="accuracy", mode="max", max_t=4, grace_period=4)
        ),
    )
    results = tuner.fit()
    print("stopped", [result.metrics["training_iteration"] for result in results], results[0].metrics["depth"])
    print("printed", open(os.path.join(results[0].path, "stdout")).read().splitlines()[0])

    with open("params.hyper", "w") as file:
        file.write("rate loguniform 0.001,0.1\nlayers choice [1,2,3]\nreg quniform 0,1,0.1\ndrop uniform 0,0.5\n")
    ray.init(num_cpus=24, runtime_env={"working_dir": os.getcwd()})
    tune.register_trainable("train_func", objective_function)
    result = tune.run(
        tune.with_parameters(objective_function, config_file_list=[os.path.join(os.getcwd(), "a.yaml")], rows=[1, 2, 3]),
        config=read_space(os.path.join(os.getcwd(), "params.hyper")),
        num_samples=3,
        log_to_file="output.txt",
        scheduler=ASHAScheduler(metric="best_valid_score", mode="max", max_t=100, grace_period=1, reduction_factor=2, brackets=3),
        search_alg=search.BasicVariantGenerator(max_concurrent=4),
        storage_path=os.path.abspath("ray_log"),
        resources_per_trial={"cpu": 2},
        trial_dirname_creator=__dirname,
        verbose=1,
    )
    best_trial = result.get_best_trial("ndcg@10", "max", "last")
    print("named", os.path.basename(best_trial.logdir) == f"trial_{best_trial.trial_id}", sorted(best_trial.config))
    print("again", result.get_best_config(metric="best_valid_score", mode="max") == best_trial.config)
