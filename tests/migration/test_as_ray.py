"""`install_as_ray()` and `python -m overtone.as_ray`: scripts and libraries that import `ray` get Overtone.

`as_ray/libraries` holds libraries of our own that use Ray as widespread ones do; `as_ray/stand_in` holds a
package of the form of Ray, so that these tests need no Ray. tests/cluster/test_as_ray.py tries Ray itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).with_name("as_ray")
STAND_IN = str(HERE / "stand_in")
without_ray = pytest.mark.skipif(find_spec("ray") is not None, reason="for Pythons without Ray")


def run(*arguments: str, cwd: Path, path: tuple[str, ...] = ()) -> str:
    """Run Python with the libraries and `path`; return its output."""
    places = [*path, str(HERE / "libraries"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, "HOME": str(cwd), "PYTHONPATH": os.pathsep.join(filter(None, places))},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def lines(code: str, cwd: Path, path: tuple[str, ...] = (), install: str = "overtone.install_as_ray()") -> list[str]:
    """Return what a script prints that begins with `install_as_ray()`."""
    script = cwd / "script.py"
    script.write_text(f"import overtone\n{install}\n{code}")
    return run(str(script), cwd=cwd, path=path).splitlines()


@pytest.mark.parametrize("how", [("-m", "overtone.as_ray", "SCRIPT"), ("SCRIPT", "--install", "--spawn")])
def test_libraries_search_with_overtone_where_they_ask_for_ray(how, tmp_path):
    command = [str(HERE / "searches.py") if one == "SCRIPT" else one for one in how]
    printed = run(*command, "a", "--b", cwd=tmp_path).splitlines()
    assert [one.removeprefix("> ") for one in printed if one.startswith("> ")] == [
        f"argv {[*([] if how[0] == '-m' else ['--spawn']), 'a', '--b']}",
        "best {'learning_rate': 0.4} -0.024 ['TERMINATED', 'TERMINATED']",
        "detect [0.344, 0.938] []",
        "trial True True True True",
        "same True True True False",
    ]


def test_every_module_of_ours_has_its_path_in_ray(tmp_path):
    code = """
import importlib, importlib.metadata, importlib.util, pkgutil, sys
import overtone.air, overtone.train, overtone.tune
def imported(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:  # a library that is not installed
        return str(error)

for package in (overtone.tune, overtone.train, overtone.air):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        ours = module.name
        theirs = ours.replace("overtone.", "ray.", 1)
        assert importlib.util.find_spec(theirs) is not None, theirs
        module = imported(ours)
        same = imported(theirs)
        assert same is module or same == module, theirs
        assert isinstance(module, str) or module.__spec__.name == ours == module.__name__, ours
import ray
from ray.tune.schedulers import ASHAScheduler as a
import ray.tune.search.optuna as b
print(ray.tune is overtone.tune, a is overtone.tune.schedulers.ASHAScheduler, b is overtone.tune.search.optuna)
"""
    assert lines(code, tmp_path) == ["True True True"]


@without_ray
def test_checks_for_an_installed_ray_are_satisfied(tmp_path):
    code = """
import importlib.metadata, importlib.util
print(importlib.util.find_spec("ray").name, importlib.util.find_spec("ray.tune").name)
print(importlib.metadata.version("ray"), importlib.metadata.distribution("ray").metadata["Name"])
print("ray" in importlib.metadata.packages_distributions(), "ray" in [one.name for one in importlib.metadata.distributions()])
import ray
print(ray.__version__, bool(ray.__file__), ray.__name__, "tune" in dir(ray))
import overtone.as_ray.state as again
print(again.stated_version(), again.loaded_ray())
"""
    install = 'overtone.install_as_ray(version="2.44.1")'
    assert lines(code, tmp_path, install=install) == [
        "ray ray.tune",
        "2.44.1 ray",
        "True True",
        "2.44.1 True ray True",
        "2.44.1 None",
    ]


@without_ray
def test_what_is_rays_own_names_the_extra_where_ray_is_missing(tmp_path):
    code = """
for text in ("import ray.data", "from ray import remote", "import ray; ray.remote", "import ray.serve as s"):
    try:
        exec(text)
    except (ImportError, AttributeError) as error:
        print(type(error).__name__, error)
import ray
print(hasattr(ray, "serve"), hasattr(ray, "__wrapped__"))
"""
    assert lines(code, tmp_path) == [
        'MissingRayError ray.data needs ray: pip install "overtone[ray]"',
        'MissingRayError ray.remote needs ray: pip install "overtone[ray]"',
        'AttributeError ray.remote needs ray: pip install "overtone[ray]"',
        'MissingRayError ray.serve needs ray: pip install "overtone[ray]"',
        "False False",
    ]


def test_it_steps_aside_where_ray_is_imported_already(tmp_path):
    code = """
try:
    overtone.install_as_ray()
except Exception as error:
    print(str(error)[:55])
import ray.tune
print(ray.tune.Trainable.__doc__)
"""
    assert lines(code, tmp_path, (STAND_IN,), install="import ray, overtone.tune") == [
        "install_as_ray(): the installed Ray is imported already",
        "Not Overtone's.",
    ]


def test_rays_own_modules_see_rays_own_tune(tmp_path):
    code = """
import sys
import ray
print(ray.__version__, "overtone.as_ray.installed" in sys.modules)
ray.init(num_cpus=3)
print(ray.is_initialized(), ray.get(ray.put(1)), "overtone.as_ray.installed" in sys.modules)
ours = ray.put([1, 2])
import ray.util, ray.data
print(ray.util.version(), ray.data.owners())
print(ray.tune.__name__, ray.train.__name__, sys.modules["ray.tune"].__name__, ray.tune.Trainable.__module__)
print(ray.remote(len) is len, ray.options(), ray.get(ours), ray.get(ray.put(4)), ray.get([ours, ray.put(5)]))
import pickle, cloudpickle
from overtone.as_ray.installed.tune import Trainable
print(pickle.loads(pickle.dumps(Trainable)) is Trainable, Trainable is not ray.tune.Trainable)
print(pickle.loads(cloudpickle.dumps(sys.modules["overtone.as_ray.installed"])).__name__)
open("trainable.pickle", "wb").write(pickle.dumps(Trainable))
ray.shutdown()
print(ray.is_initialized())
"""
    assert lines(code, tmp_path, (STAND_IN,)) == [
        "2.99.0 False",
        "True 1 False",
        "2.99.0 (\"Not Overtone's.\", \"Not Overtone's.\", True, 'ray', 'ray.data')",
        "overtone.tune overtone.train overtone.tune overtone.worker.trainables.trainable",
        "True {'address': None, 'num_cpus': 3} [1, 2] 4 [[1, 2], 5]",
        "True True",
        "ray",
        "False",
    ]
    # a worker of Ray without `install_as_ray` reads such pickles, too
    read = "import pickle, ray.tune; print(pickle.load(open('trainable.pickle', 'rb')) is ray.tune.Trainable)"
    assert run("-c", read, cwd=tmp_path, path=(STAND_IN,)) == "True\n"


def test_a_worker_process_of_ray_does_the_same(tmp_path):
    code = """
import ray, ray.tune as before
from overtone.as_ray import install_in_worker
old = ray
install_in_worker("2.60.0")
import ray
from ray import tune
print(tune.__name__, ray is old, ray.put(3).value, ray.util is old.util, old.tune is before)
import ray.data
print(ray.data.owners()[:3])
"""
    assert lines(code, tmp_path, (STAND_IN,), install="") == [
        "overtone.tune False 3 True True",
        "(\"Not Overtone's.\", \"Not Overtone's.\", True)",
    ]


RLLIB = """
import ray
from ray import tune

if __name__ == "__main__":
    analysis = tune.run(
        "PPO", config={"env": "mine", "lr": tune.grid_search([1.0, 2.0]), "num_env_runners": 2}, engine="local",
        stop={"training_iteration": 3}, checkpoint_at_end=True, storage_path="runs", verbose=0,
        metric="env_runners/episode_return_mean", mode="max",
    )
    print(analysis.best_config["lr"], analysis.best_result["env_runners"], analysis.best_trial.trainable_name)
    print(open(analysis.best_checkpoint.path + "/total").read())
"""


@pytest.mark.parametrize("install", ["overtone.install_as_ray()", ""])
def test_the_name_of_an_algorithm_is_looked_up_in_rllib(install, tmp_path):
    code = RLLIB if install else RLLIB.replace("from ray", "from overtone")
    found = lines(code, tmp_path, (STAND_IN,), install)
    assert found[-2:] == ["2.0 {'episode_return_mean': 6.0} PPO", "6.0"]


@without_ray
def test_the_name_of_an_algorithm_without_rllib_says_what_is_missing(tmp_path):
    code = """
from overtone import tune
try:
    tune.run("PPO")
except Exception as error:
    print(error)
"""
    (text,) = lines(code, tmp_path)
    assert 'pip install "overtone[ray]" "ray[rllib]"' in text


def test_the_command_says_how_it_is_used(tmp_path):
    assert "python -m overtone.as_ray SCRIPT" in run("-m", "overtone.as_ray", "--help", cwd=tmp_path)
    (tmp_path / "package").mkdir()
    (tmp_path / "package/__main__.py").write_text("import sys, ray.tune; print(sys.argv[1:], ray.tune.__name__)")
    assert run("-m", "overtone.as_ray", "-m", "package", "x", cwd=tmp_path) == "['x'] overtone.tune\n"
