"""`install_as_ray()` beside an installed Ray: its tasks, its own modules, and trials on its nodes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[1] / "migration/as_ray"


def run(script: str, folder: Path, *arguments: str, **variables: str) -> list[str]:
    """Run a script, and return what it prints after "> "."""
    path = folder / "script.py"
    path.write_text(script)
    places = [str(HERE / "libraries"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, *arguments, str(path)],
        cwd=folder,
        env={
            **os.environ, "HOME": str(folder), "PYTHONPATH": os.pathsep.join(filter(None, places)), **variables,
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.removeprefix("> ") for line in done.stdout.splitlines() if line.startswith("> ")]


def test_tune_is_ours_and_the_rest_of_ray_is_loaded_at_first_use(tmp_path: Path) -> None:
    found = run(
        """
import importlib.metadata
import sys

import ray
from ray import train, tune

print("> loaded", "overtone.as_ray.installed" in sys.modules, ray.__version__ == importlib.metadata.version("ray"))
ray.init(num_cpus=2, include_dashboard=False)


@ray.remote
def square(x):
    import ray

    return x * x, ray.is_initialized()


def in_trial(config):
    from ray import tune as again

    assert again is tune
    tune.report({"loss": config["x"], "ours": again.__name__})


def uses_ray(config):
    import ray
    from ray.util import get_current_placement_group

    tune.report({"loss": ray.get(square.remote(config["x"]))[0], "ours": ray.tune.__name__})


if __name__ == "__main__":
    print("> task", ray.get(square.remote(ray.put(3))), ray.cluster_resources()["CPU"])
    from ray.util import ActorPool
    import ray.exceptions

    print("> same", ray.tune.__name__, ActorPool.__module__, issubclass(ray.exceptions.RayTaskError, Exception))
    for trainable in (in_trial, tune.with_resources(uses_ray, [{"CPU": 1}, {"CPU": 1}], ray=True)):
        results = tune.Tuner(
            trainable,
            param_space={"x": tune.grid_search([2, 3])},
            tune_config=tune.TuneConfig(metric="loss", mode="min", max_concurrent_trials=1),
            run_config=train.RunConfig(storage_path="runs", verbose=1),
        ).fit()
        print("> trials", sorted(result.metrics["loss"] for result in results), results[0].metrics["ours"])
    ray.shutdown()
    print("> end", ray.is_initialized())
""",
        tmp_path,
        "-m",
        "overtone.as_ray",
        RAY_ADDRESS="local",  # other tests of this suite have clusters on this machine
    )
    assert found == [
        "loaded False True",
        "task (9, True) 2.0",
        "same overtone.tune ray.util.actor_pool True",
        "trials [2, 3] overtone.tune",
        "trials [4, 9] overtone.tune",
        "end False",
    ]


def test_libraries_that_import_ray_search_with_overtone_where_ray_is_installed(tmp_path: Path) -> None:
    found = run((HERE / "searches.py").read_text(), tmp_path, "-m", "overtone.as_ray")
    assert found[1:] == [
        "best {'learning_rate': 0.4} -0.024 ['TERMINATED', 'TERMINATED']",
        "detect [0.344, 0.938] []",
        "trial True True True True",
        "same True True True False",
    ]
