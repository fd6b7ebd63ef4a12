"""The template of a package with an algorithm is built, installed, and passes its own tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "docs" / "algorithm-template"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("template")
    package, place = folder / "package", folder / "place"
    shutil.copytree(TEMPLATE, package, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=package, check=True, capture_output=True)
    (wheel,) = (package / "dist").glob("*.whl")
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", place, wheel]
    subprocess.run(install, check=True, capture_output=True)
    return package, place


def with_template(place, *command):
    found = os.pathsep.join([str(place), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *map(str, command)], env={**os.environ, "PYTHONPATH": found}, capture_output=True, text=True
    )


def test_its_own_tests_pass(installed, tmp_path):
    package, place = installed
    done = with_template(place, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", package, package / "tests")
    assert done.returncode == 0, done.stdout + done.stderr


SEARCH = """
from overtone import tune
from overtone.engines.simulated import Simulated

analysis = tune.run(
    lambda config, t: {"score": config["x"] * t} if t <= 9 else None,
    config={"x": tune.uniform(0, 1)}, num_samples=8, metric="score", mode="max", scheduler="better_half", seed=1,
    engine=Simulated(workers=1), verbose=0,
)
print(sorted({trial.num_results for trial in analysis.trials}))
"""


def test_a_search_names_the_scheduler(installed, tmp_path):
    _, place = installed
    script = tmp_path / "search.py"
    script.write_text(SEARCH, "utf-8")
    done = with_template(place, script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[3, 9]"
