"""A trial is run again by its script, with its configuration and its seed, and its curve is compared."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from overtone import tune
from overtone.cli import main
from overtone.run.rerun import compared
from overtone.run.resume.target import RERUN

SCRIPT = """
import os, random, sys
from overtone import tune

def seeded(config):
    draw = random.Random(tune.get_trial_seed())
    for t in range(1, 8):
        tune.report({"loss": config["x"] / t + config["f"](draw.random())})

def noisy(config):
    for _ in range(3):
        tune.report({"loss": config["x"] + random.random()})

def half(value):
    return value / 2

if __name__ == "__main__":
    options = {"metric": "loss", "mode": "min", "verbose": 0, "storage_path": sys.argv[1], "engine": "inline",
               "tensorboard": False}
    tune.run(noisy, config={"x": tune.uniform(0, 1)}, num_samples=2, **options)
    asha = tune.schedulers.ASHAScheduler(max_t=7)
    space = {"x": tune.uniform(0, 1), "f": tune.choice([half])}
    if sys.argv[2:] == ["start"]:
        tune.start(seeded, config=space, num_samples=5, scheduler=asha, name="second", **options).wait()
    else:
        tune.run(seeded, config=space, num_samples=5, scheduler=asha, name="second", **options)
    print("the script ended")
"""


@pytest.fixture(params=["run", "start"])
def script(request, tmp_path):
    """Return a function that runs the script, and the folder of its results."""
    path, results = tmp_path / "script.py", tmp_path / "results"
    path.write_text(SCRIPT)

    def run(**environment):
        source = str(Path(tune.__file__).parents[2])
        given = {**os.environ, "PYTHONPATH": source, **environment}
        command = [sys.executable, str(path), str(results), *([request.param] if request.param == "start" else [])]
        return subprocess.run(command, env=given, capture_output=True, text=True, timeout=250)

    return run, results


def test_a_seeded_trial_is_the_same_again(script):
    run, results = script
    assert "the script ended" in run().stdout
    before = sorted(path.name for path in results.iterdir())
    trial = tune.ExperimentAnalysis(str(results / "second")).trials[3]
    done = run(**{RERUN: json.dumps({"path": str(results / "second"), "trial_id": trial.trial_id})})
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0)
    assert "loss: identical at" in done.stdout
    assert "the script ended" not in done.stdout
    name = f"second_rerun_{trial.trial_id}"
    assert sorted(path.name for path in results.iterdir()) == sorted([*before, name])
    (again,) = tune.ExperimentAnalysis(str(results / name)).trials
    assert again.config["x"] == trial.config["x"]
    target = {"path": str(results / name), "trial_id": again.trial_id}
    done = run(**{RERUN: json.dumps(target)})  # A rerun of the rerun has the same seed, too.
    assert "loss: identical at" in done.stdout
    assert main(["resume", str(results / name), "--force"]) == 1


def test_a_study_and_a_resume_of_a_rerun_are_refused_in_a_line(tmp_path, monkeypatch, capsys):
    with tune.ask_tell({}, metric="loss", mode="min", storage_path=str(tmp_path), name="study", verbose=0) as study:
        study.tell(study.ask(), 1.0)
    assert main(["rerun", str(study.folder), "0"]) == 1
    assert "is a study" in capsys.readouterr().err
    monkeypatch.setenv(RERUN, json.dumps({"path": str(study.folder), "trial_id": "0"}))
    with pytest.raises(SystemExit, match="this script begins the study study"):
        tune.ask_tell({}, metric="loss", mode="min", name="study")


def test_the_first_experiment_of_a_script_may_be_the_one(script):
    run, results = script
    run()
    (first,) = results.glob("noisy_*")
    trial = tune.ExperimentAnalysis(str(first)).trials[1]
    done = run(**{RERUN: json.dumps({"path": str(first), "trial_id": trial.trial_id})})
    assert "loss: differs at 3 of 3 iterations, first at 1; most at" in done.stdout


def test_the_command_runs_the_recorded_script(tmp_path, capsys, monkeypatch):
    def train(config):
        tune.report({"loss": 1.0})

    analysis = tune.run(train, num_samples=2, name="exp", storage_path=str(tmp_path), engine="inline", verbose=0)
    trial = analysis.trials[1]
    assert main(["rerun", "exp", "1", "--dir", str(tmp_path), "--json", "--dry-run", "--", "python", "a.py"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {
        "path": str(tmp_path / "exp"), "trial_id": trial.trial_id, "command": ["python", "a.py"],
        "directory": os.getcwd(),
    }  # fmt: skip
    ran = []
    monkeypatch.setattr(os, "execvpe", lambda *arguments: ran.append(arguments))
    assert main(["rerun", "exp", "1", "--dir", str(tmp_path), "--", "python", "a.py"]) == 0
    ((program, command, environment),) = ran
    assert (program, command) == ("python", ["python", "a.py"])
    assert json.loads(environment[RERUN]) == {"path": str(tmp_path / "exp"), "trial_id": trial.trial_id}
    assert main(["rerun", "exp", "7", "--dir", str(tmp_path)]) == 1


def test_seeds_of_trials_differ_and_repeat(tmp_path):
    def train(config):
        tune.report({"seed": tune.get_trial_seed(), "same": tune.get_context().get_trial_seed()})

    def seeds(seed):
        analysis = tune.run(train, num_samples=4, seed=seed, storage_path=str(tmp_path), engine="inline", verbose=0)
        results = [one.last_result for one in analysis.trials]
        assert all(one["seed"] == one["same"] for one in results)
        return [one["seed"] for one in results]

    first = seeds(1)
    assert len({*first, *seeds(2)}) == 8
    assert seeds(1) == first
    assert all(0 <= one < 2**32 for one in first)


def test_outside_of_a_trial_there_is_no_seed():
    assert tune.get_context().get_trial_seed() is None


def results_of(*values):
    return [{"training_iteration": t, "loss": value, "text": "a"} for t, value in enumerate(values, 1)]


@pytest.mark.parametrize(
    ("then", "now", "line"),
    [
        ((3, 2, 1), (3, 2, 1), "loss: identical at all 3 iterations"),
        ((3,), (3,), "loss: identical at the one iteration"),
        ((3, float("nan")), (3, float("nan")), "loss: identical at all 2 iterations"),
        ((3, 2, 1), (3, 2.5, 1), "loss: differs at 1 of 3 iterations, first at 2; most at 2: 2 was recorded, now 2.5"),
        ((3, 2), (3, float("nan")), "loss: differs at 1 of 2 iterations, first at 2; most at 2: 2 was recorded, now nan"),
        ((3, None), (3, 1), "loss: differs at 1 of 2 iterations, first at 2; most at 2: None was recorded, now 1"),
        ((3, 2), (3,), "2 results were recorded, and the rerun has 1"),
        ((), (3,), "nothing to compare: 0 recorded results, and 1 of the rerun"),
    ],
)
def test_curves_are_compared(then, now, line):
    assert line in list(compared(results_of(*then), results_of(*now), ["loss"]))


def test_long_curves_are_shown_in_part():
    lines = list(compared(results_of(*range(1000)), results_of(*range(1, 1001))))
    assert len(lines) <= 24
    assert lines[-1].split()[0] == "1000"


POPULATION = """
import os, random, sys
from overtone import tune

class Train(tune.Trainable):
    def setup(self, config):
        self.t = 0

    def step(self):
        self.t += 1
        return {"loss": self.config["x"] / self.t}

    def save_checkpoint(self, folder):
        with open(os.path.join(folder, "t"), "w") as file:
            file.write(str(self.t))

    def load_checkpoint(self, folder):
        with open(os.path.join(folder, "t")) as file:
            self.t = int(file.read())

if __name__ == "__main__":
    os.chdir(sys.argv[1])
    pbt = tune.schedulers.PopulationBasedTraining(
        time_attr="training_iteration", perturbation_interval=2, hyperparam_mutations={"x": tune.uniform(0, 1)},
        log_config=False,
    )
    tune.run(
        Train, config={"x": tune.uniform(0, 1)}, num_samples=4, scheduler=pbt, metric="loss", mode="min", verbose=0,
        storage_path=sys.argv[1], engine="inline", name="exp", seed=2, stop={"training_iteration": 8},
        tensorboard=False,
    )
"""


@pytest.fixture(scope="module")
def population(tmp_path_factory):
    """Return the folder of a script that changes its directory, and that of its population."""
    here, results = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("results")
    (here / "script.py").write_text(POPULATION)
    environment = {**os.environ, "PYTHONPATH": str(Path(tune.__file__).parents[2])}
    command = [sys.executable, "script.py", str(results)]
    subprocess.run(command, cwd=here, env=environment, check=True, timeout=250)
    return here, results / "exp"


def run_again(experiment, trial):
    environment = {**os.environ, "PYTHONPATH": str(Path(tune.__file__).parents[2])}
    command = [sys.executable, "-m", "overtone", "rerun", str(experiment), trial.trial_id, "--yes"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=250)


def test_a_script_that_changed_its_directory_is_found(population):
    here, experiment = population
    trial = tune.ExperimentAnalysis(str(experiment)).trials[0]
    assert f"in {here}: {sys.executable} script.py" in run_again(experiment, trial).stdout


def test_a_trial_that_got_another_configuration_is_compared_up_to_there(population):
    _, experiment = population
    for trial in tune.ExperimentAnalysis(str(experiment)).trials:
        done = run_again(experiment, trial)
        assert (done.returncode, done.stdout.count("differs"), done.stdout.count("results were")) == (0, 0, 0)
        changed = re.findall(r"got another configuration at iteration (\d)", done.stderr)
        assert f"loss: identical at all {changed[0] if changed else 8} iterations" in done.stdout
