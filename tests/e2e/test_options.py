"""The options of a search, each seen from outside: what trials did, and what the analysis says."""

import json
import math
import os
import re
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from overtone import tune
from overtone.core.messages import Moved
from overtone.engines.local import Local
from overtone.errors import ResourceError, TrialError, TuneError
from overtone.journal.reader import read
from overtone.tune.schedulers import ASHAScheduler, PopulationBasedTraining

ENDLESS = 10_000


@pytest.fixture
def run(tmp_path):
    def run(trainable, **arguments):
        options = {"verbose": 0, "tensorboard": False, "name": "exp", **arguments}
        return tune.run(trainable, storage_path=str(tmp_path), **options)

    return run


def counts(config):
    """Reports its config's x times 1, 2, 3, ... for ever."""
    for i in range(1, ENDLESS):
        tune.report({"score": config.get("x", 1) * i, "loss": 1 / i})


def notes_its_time(config):
    """Returns when it began and ended, once `config["meet"]` trials of its experiment have begun."""
    began = time.monotonic()
    folder = Path(tune.get_trial_dir()).parent
    (folder / f"begun {tune.get_trial_id()}").touch()
    while len(list(folder.glob("begun *"))) < config.get("meet", 1):
        time.sleep(0.005)
    time.sleep(config.get("seconds", 0.0))
    return {
        "began": began,
        "ended": time.monotonic(),
        "pid": os.getpid(),
        "visible": os.environ.get("CUDA_VISIBLE_DEVICES"),
    }


def most_at_once(analysis):
    """How many trials ran at the same time."""
    frame = analysis.results_df
    return max(sum((frame["began"] <= began) & (frame["ended"] > began)) for began in frame["began"])


# --- what trials print --------------------------------------------------------------------


def prints(config):
    print(f"out {config['x']}")
    print("错误", config["x"], file=sys.stderr)
    return {"score": 1}


def test_prints_reach_the_console_once_with_the_trials_name(run, capfd):
    analysis = run(prints, config={"x": tune.grid_search([1, 2])}, verbose=2)
    captured = capfd.readouterr()
    text = captured.out + captured.err
    for trial in analysis.trials:
        x = trial.config["x"]
        for line in (f"out {x}", f"错误 {x}"):
            assert len(re.findall(rf"^\(prints_{trial.trial_id} pid=\d+\) {line}$", text, re.MULTILINE)) == 1
            assert text.count(line) == 1


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (True, ("stdout", "stderr")),
        ("both.txt", ("both.txt", "both.txt")),
        (("o.txt", "e.txt"), ("o.txt", "e.txt")),
    ],
)
@pytest.mark.parametrize("engine", ["local", "inline"])
def test_prints_go_to_files(run, capfd, engine, asked, names):
    analysis = run(prints, config={"x": 7}, log_to_file=asked, engine=engine)
    folder = Path(analysis.trials[0].local_path)
    assert "out 7\n" in (folder / names[0]).read_text()
    assert "错误 7\n" in (folder / names[1]).read_text("utf-8")
    captured = capfd.readouterr()
    assert "out 7" not in captured.out + captured.err


def test_trial_names(run, capfd):
    analysis = run(
        prints,
        config={"x": tune.grid_search([1, 2])},
        verbose=2,
        trial_name_creator=lambda trial: f"{trial.trainable_name}-x{trial.config['x']}",
        trial_dirname_creator=lambda trial: f"x={trial.evaluated_params['x']}",
    )
    assert [str(trial) for trial in analysis.trials] == ["prints-x1", "prints-x2"]
    assert re.search(r"^\(prints-x2 pid=\d+\) out 2$", capfd.readouterr().out, re.MULTILINE)
    assert json.loads(Path(analysis.experiment_path, "x=2", "params.json").read_text()) == {"x": 2}


def test_fail_fast_does_not_wait_for_trials_that_are_at_work(run):
    def fails_or_works(config):
        if config["x"] == 1:
            tune.report({"score": 1})
            raise RuntimeError("the first")
        time.sleep(3600)

    with pytest.raises(TuneError, match="the first") as caught:
        run(fails_or_works, config={"x": tune.grid_search([0, 1])}, fail_fast=True, grace_s=3600.0)
    assert [one.status for one in caught.value.analysis.trials] == ["TERMINATED", "ERROR"]


# --- callbacks ----------------------------------------------------------------------------


class Notes(tune.Callback):
    def __init__(self):
        self.calls = []

    def setup(self, stop=None, num_samples=None, total_num_samples=None, **info):
        self.calls.append(("setup", total_num_samples))

    def on_trial_start(self, iteration, trials, trial, **info):
        self.calls.append(("start", trial.config["x"], trial.status))

    def on_trial_result(self, iteration, trials, trial, result, **info):
        self.calls.append(
            ("result", trial.config["x"], result["training_iteration"], result["score"], result["done"])
        )

    def on_trial_complete(self, iteration, trials, trial, **info):
        self.calls.append(("complete", trial.config["x"], trial.last_result["score"]))

    def on_trial_error(self, iteration, trials, trial, **info):
        self.calls.append(("error", trial.config["x"], trial.error))

    def on_trial_recover(self, iteration, trials, trial, **info):
        self.calls.append(("recover", trial.config["x"]))

    def on_experiment_end(self, trials, **info):
        self.calls.append(("end", len(trials)))


def fails_at_two(config):
    tune.report({"score": config["x"]})
    if config["x"] == 2:
        raise RuntimeError("no twos")
    tune.report({"score": config["x"] * 10})
    tune.report({"score": config["x"] * 100})


@pytest.mark.parametrize("engine", ["local", "inline"])
def test_callbacks_see_what_happens_in_order(run, engine):
    notes = Notes()
    run(
        fails_at_two,
        config={"x": tune.grid_search([1, 2])},
        callbacks=[notes],
        max_concurrent_trials=1,
        max_failures=1,
        stop={"training_iteration": 2},
        raise_on_failed_trial=False,
        engine=engine,
    )
    assert notes.calls == [
        ("setup", 2),
        ("start", 1, "RUNNING"),
        ("result", 1, 1, 1, False),
        ("result", 1, 2, 10, True),
        ("complete", 1, 10),
        ("start", 2, "RUNNING"),
        ("result", 2, 1, 2, False),
        ("recover", 2),
        ("start", 2, "RUNNING"),
        ("error", 2, "RuntimeError: no twos"),
        ("end", 2),
    ]


class Steps(tune.Trainable):
    def step(self):
        return {"score": self.iteration}

    def save_checkpoint(self, folder):
        Path(folder, "t").write_text(str(self.iteration))

    def load_checkpoint(self, folder):
        """Nothing goes on from it here."""


@pytest.mark.parametrize("engine", ["local", "inline"])
def test_a_callback_may_ask_a_trial_to_save(run, engine):
    class SavesAtTwoAndFour(tune.Callback):
        saved = ()

        def on_trial_result(self, iteration, trials, trial, result, **info):
            if result["training_iteration"] in (2, 4):
                trial.checkpoint_now()

        def on_checkpoint(self, iteration, trials, trial, checkpoint, **info):
            self.saved += (Path(checkpoint.path).name,)

    callback = SavesAtTwoAndFour()
    run(
        Steps,
        callbacks=[callback],
        checkpoint_freq=0,
        # a function: each report waits for an answer
        stop=lambda trial_id, result: result["training_iteration"] >= 5,
        engine=engine,
    )
    assert callback.saved == ("checkpoint_000002", "checkpoint_000004")


def test_a_callback_may_ask_what_became_of_a_metric(run):
    class Best(tune.Callback):
        seen = ()

        def on_trial_complete(self, iteration, trials, trial, **info):
            self.seen += (trial.metric_analysis["loss"]["min"], trial.metric_analysis["score"]["avg"])

    callback = Best()
    run(counts, callbacks=[callback], stop={"training_iteration": 2}, engine="inline")
    assert callback.seen == (0.5, 1.5)


def test_a_callback_may_end_the_run_by_force(run):
    class Quits(tune.Callback):
        def on_trial_result(self, iteration, trials, trial, result, **info):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(counts, callbacks=[Quits()])


# --- which trials, in which order, how many at once ----------------------------------------


def test_points_to_evaluate_come_first(run):
    analysis = run(
        lambda config: config["x"],
        config={"x": tune.uniform(0, 1), "y": tune.randint(3, 9)},
        num_samples=4,
        points_to_evaluate=[{"x": 0.5, "y": 3}, {"x": 0.75}],
    )
    first, second, *rest = [trial.config for trial in analysis.trials]
    assert first == {"x": 0.5, "y": 3}
    assert second["x"] == 0.75
    assert 3 <= second["y"] < 9
    assert len(rest) == 2
    assert all(0 <= config["x"] < 1 for config in rest)


def test_at_most_so_many_trials_at_once(run):
    analysis = run(
        notes_its_time, config={"meet": 2}, num_samples=6, max_concurrent_trials=2, engine=Local(cpus=6)
    )
    assert most_at_once(analysis) == 2


def test_as_many_trials_at_once_as_there_are_cpus(run):
    analysis = run(notes_its_time, config={"meet": 3}, num_samples=6, engine=Local(cpus=3))
    assert most_at_once(analysis) == 3


def test_priorities(run):
    analysis = run(
        notes_its_time,
        config={"x": tune.grid_search([1, 5, 3, 4])},
        max_concurrent_trials=1,
        priority=lambda config: config["x"],
    )
    order = sorted(analysis.trials, key=lambda trial: trial.last_result["began"])
    assert [trial.config["x"] for trial in order] == [5, 4, 3, 1]


def test_a_list_of_configurations_is_exactly_those_trials(run):
    configs = [{"x": 1}, {"x": 2, "y": {"z": 3}}, {"x": 1}]
    analysis = run(lambda config: config["x"], config=configs)
    assert [trial.config for trial in analysis.trials] == configs
    assert len(analysis.results_df) == 3


def test_a_generator_of_configurations_is_read_to_its_end(run):
    taken = []

    def configs():
        for x in range(5):
            taken.append(x)
            yield {"x": x}

    analysis = run(lambda config: config["x"], config=configs(), metric="_metric", mode="max")
    assert taken == [0, 1, 2, 3, 4]
    assert analysis.best_config == {"x": 4}


def test_a_frame_of_configurations(run):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1, 2], "kind": ["a", "b"]})
    analysis = run(lambda config: config["x"] / 2, config=frame)
    assert [trial.config for trial in analysis.trials] == [{"x": 1, "kind": "a"}, {"x": 2, "kind": "b"}]
    assert list(analysis.results_df["config/kind"]) == ["a", "b"]


def test_conditional_spaces(run):
    space = {
        "model": tune.choice(
            [
                {"kind": "linear", "l2": tune.loguniform(1e-4, 1)},
                {
                    "kind": "net",
                    "width": tune.choice([8, 16]),
                    "double": tune.sample_from(lambda config: config["base"] * 2),
                },
            ]
        ),
        "base": tune.grid_search([1, 2]),
    }
    analysis = run(lambda config: config["base"], config=space, num_samples=8, seed=1)
    kinds = {
        config["model"]["kind"]: config["model"].keys()
        for config in (trial.config for trial in analysis.trials)
    }
    assert kinds == {"linear": {"kind", "l2"}, "net": {"kind", "width", "double"}}
    assert len(analysis.trials) == 16
    nets = [trial.config for trial in analysis.trials if trial.config["model"]["kind"] == "net"]
    assert all(config["model"]["double"] == 2 * config["base"] for config in nets)


def test_values_that_are_not_data_reach_the_trial(run):
    def train(config):
        return {"score": config["activation"](config["x"]), "kind": config["layer"].__name__}

    analysis = run(
        train,
        config={"activation": tune.choice([math.sqrt]), "layer": tune.grid_search([dict, list]), "x": 4},
    )
    assert list(analysis.results_df["score"]) == [2, 2]
    assert set(analysis.results_df["kind"]) == {"dict", "list"}


# --- ends ---------------------------------------------------------------------------------


def lengths(analysis):
    return [trial.last_result["training_iteration"] for trial in analysis.trials]


class OverFour(tune.Stopper):
    def __call__(self, trial_id, result):
        return result["score"] > 4

    def stop_all(self):
        return False


class AllOverFour(OverFour):
    def __init__(self):
        self.over = False

    def __call__(self, trial_id, result):
        self.over = self.over or result["score"] > 4
        return self.over

    def stop_all(self):
        return self.over


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        ({"training_iteration": 3}, [3, 3]),
        ({"score": 6}, [6, 3]),
        ({"score": 6, "training_iteration": 4}, [4, 3]),
        ({"loss": 0.2}, [5, 5]),  # the goal, and less of it is better
        (lambda trial_id, result: result["score"] >= 4, [4, 2]),
        (OverFour(), [5, 3]),
        (tune.stopper.MaximumIterationStopper(2), [2, 2]),
        ([OverFour(), tune.stopper.MaximumIterationStopper(4)], [4, 3]),
        (tune.stopper.CombinedStopper(OverFour(), tune.stopper.MaximumIterationStopper(4)), [4, 3]),
        (tune.stopper.TrialPlateauStopper("loss", std=10, num_results=3, grace_period=3), [3, 3]),
    ],
)
@pytest.mark.parametrize("engine", ["local", "inline"])
def test_stop_criteria(run, engine, stop, expected):
    analysis = run(
        counts, config={"x": tune.grid_search([1, 2])}, stop=stop, metric="loss", mode="min", engine=engine
    )
    assert lengths(analysis) == expected
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 2


def test_a_stopper_ends_all(run):
    analysis = run(
        counts, config={"x": tune.grid_search([1, 2, 3])}, stop=AllOverFour(), max_concurrent_trials=1
    )
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 3
    assert lengths_or_none(analysis) == [5, None, None]


def lengths_or_none(analysis):
    return [trial.last_result.get("training_iteration") for trial in analysis.trials]


def test_done_in_a_report_ends_the_trial(run):
    def train(config, reporter):
        for i in range(ENDLESS):
            reporter(score=i, done=i == 3)

    assert lengths(run(train)) == [4]


def test_a_time_budget_ends_an_endless_search(run):
    def train(config):
        while True:
            tune.report({"score": config["x"]})
            time.sleep(0.005)

    analysis = run(
        train,
        config={"x": tune.uniform(0, 1)},
        num_samples=-1,
        stop={"training_iteration": 5},
        time_budget_s=timedelta(seconds=0.5),
        metric="score",
        mode="max",
    )
    assert analysis.stats()["total_time"] >= 0.5
    assert {trial.status for trial in analysis.trials} <= {"TERMINATED"}  # a busy machine may begin none


def test_a_stopper_ends_an_endless_search(run):
    class Enough(tune.Stopper):
        count = 0

        def __call__(self, trial_id, result):
            self.count += 1
            return False

        def stop_all(self):
            return self.count >= 20

    analysis = run(
        lambda config: config["x"],
        config={"x": tune.uniform(0, 1)},
        num_samples=-1,
        stop=Enough(),
        reuse_actors=True,
    )
    finished = [trial for trial in analysis.trials if trial.last_result]
    assert 20 <= len(finished) < 30


# --- failures -------------------------------------------------------------------------------


def fails_when_told(config):
    tune.report({"score": 1})
    if config["x"] == 0:
        raise ValueError("told to")
    time.sleep(0.02)
    tune.report({"score": 2})


def test_fail_fast_ends_the_search(run):
    with pytest.raises(TuneError, match="ValueError: told to") as caught:
        run(
            fails_when_told,
            config={"x": tune.grid_search([0, 1, 2, 3, 4, 5])},
            fail_fast=True,
            max_concurrent_trials=1,
        )
    statuses = [trial.status for trial in caught.value.analysis.trials]
    assert statuses[0] == "ERROR"
    assert set(statuses[1:]) == {"TERMINATED"}
    assert lengths_or_none(caught.value.analysis)[1:] == [None] * (len(statuses) - 1)


def test_fail_fast_raise_raises_the_users_exception(run):
    with pytest.raises(ValueError, match="told to") as caught:
        run(fails_when_told, config={"x": tune.grid_search([0, 1, 2])}, fail_fast="raise")
    assert isinstance(caught.value, TrialError)
    assert "in fails_when_told" in str(caught.value)
    assert caught.value.analysis is not None


def test_failed_trials_are_tried_again(run):
    def train(config):
        tries = Path(tune.get_trial_dir(), "tries")
        n = len(tries.read_text()) if tries.exists() else 0
        tries.write_text("x" * (n + 1))
        if n < 2:
            raise OSError("flaky")
        return {"score": n}

    analysis = run(train, num_samples=2, max_failures=3)
    assert list(analysis.results_df["score"]) == [2, 2]
    assert [trial.num_failures for trial in analysis.trials] == [2, 2]
    with pytest.raises(TuneError, match="2 of 2 trials failed"):
        run(train, num_samples=2, max_failures=1, name="again")


def test_for_ever_until_it_works(run):
    def train(config):
        tries = Path(tune.get_trial_dir(), "tries")
        n = len(tries.read_text()) if tries.exists() else 0
        tries.write_text("x" * (n + 1))
        if n < 6:
            os._exit(3)
        return n

    assert list(run(train, max_failures=-1).results_df["_metric"]) == [6]


# --- checkpoints ----------------------------------------------------------------------------


class Humped(tune.Trainable):
    """Is best at its third step."""

    def step(self):
        return {"score": -abs(self.iteration + 1 - 3)}

    def save_checkpoint(self, folder):
        return {"t": self.iteration}

    def load_checkpoint(self, state):
        self.t = state["t"]


@pytest.mark.parametrize("engine", ["local", "inline"])
def test_the_best_checkpoint_is_kept_beside_the_newest(run, engine):
    analysis = run(
        Humped,
        stop={"training_iteration": 6},
        metric="score",
        mode="max",
        engine=engine,
        checkpoint_config=tune.CheckpointConfig(
            num_to_keep=1, checkpoint_score_attribute="score", checkpoint_frequency=1
        ),
    )
    (trial,) = analysis.trials
    best = analysis.best_checkpoint
    assert best.to_dict() == {"t": 3}
    assert trial.checkpoint.to_dict() == {"t": 6}
    kept = [Path(checkpoint.path) for checkpoint, _ in trial.checkpoints()]
    assert (
        sorted(Path(trial.local_path).glob("checkpoint_*"))
        == kept
        == [Path(best.path), Path(trial.checkpoint.path)]
    )


# --- several experiments ---------------------------------------------------------------------


def test_experiments_learn_nothing_from_each_other(run):
    def train(config):
        for _ in range(4):
            tune.report({"score": config["x"]})

    scheduler = ASHAScheduler(metric="score", mode="max", max_t=4, reduction_factor=2)
    several = [tune.Experiment(f"all {x}", train, config={"x": x}) for x in (9, 1)]
    for _ in range(2):  # nor does a second run from the first
        found = run(several, name=None, scheduler=scheduler)
        assert [lengths(analysis) for analysis in found] == [[4], [4]]


# --- processes ------------------------------------------------------------------------------


def test_a_process_serves_several_trials(run):
    def train(config):
        import builtins

        builtins.served = getattr(builtins, "served", 0) + 1
        for i in range(3):
            tune.report({"score": config["x"] * i, "pid_": os.getpid(), "served": builtins.served})

    analysis = run(
        train,
        config={"x": tune.grid_search(list(range(8)))},
        reuse_actors=True,
        metric="score",
        mode="max",
        scheduler=ASHAScheduler(max_t=3, grace_period=1),
        max_concurrent_trials=2,
    )
    frame = analysis.results_df
    assert frame["pid_"].nunique() <= 2
    assert frame["served"].max() >= 4
    assert analysis.best_config == {"x": 7}
    assert [trial.last_result["score"] for trial in analysis.trials] == [
        trial.config["x"] * (trial.last_result["training_iteration"] - 1) for trial in analysis.trials
    ]


def test_a_fresh_process_for_each_trial(run):
    analysis = run(notes_its_time, num_samples=5)
    assert analysis.results_df["pid"].nunique() == 5
    assert os.getpid() not in set(analysis.results_df["pid"])


def test_reused_class_trials_are_reset(run, tmp_path):
    calls = tmp_path / "calls"

    class Model(tune.Trainable):
        def note(self, what):
            with calls.open("a") as file:
                file.write(f"{what} {self.trial_id[-1]} {self.config['x']}\n")

        def setup(self, config):
            self.x = config["x"]
            self.note("setup")

        def step(self):
            return {"score": self.x, "done": self.iteration == 1}

        def reset_config(self, new_config):
            self.x = new_config["x"]
            self.note("reset")
            return True

        def cleanup(self):
            self.note("cleanup")

    analysis = run(
        Model, config={"x": tune.grid_search([1, 2, 3])}, reuse_actors=True, max_concurrent_trials=1
    )
    assert sorted(analysis.results_df["score"]) == [1, 2, 3]
    assert lengths(analysis) == [2, 2, 2]
    assert calls.read_text().splitlines() == ["setup 0 1", "reset 1 2", "reset 2 3", "cleanup 2 3"]


def test_pbt_resets_the_objects_of_reused_trials(run, tmp_path):
    calls = tmp_path / "calls"

    class Model(tune.Trainable):
        def setup(self, config):
            with calls.open("a") as file:
                file.write("setup\n")
            self.theta = 0.0

        def step(self):
            self.theta += self.config["lr"]
            return {"score": self.theta, "lr_now": self.config["lr"]}

        def save_checkpoint(self, folder):
            return {"theta": self.theta}

        def load_checkpoint(self, state):
            self.theta = state["theta"]

        def reset_config(self, new_config):
            self.theta = 0.0
            return True

    pbt = PopulationBasedTraining(
        "training_iteration", perturbation_interval=2, hyperparam_mutations={"lr": tune.uniform(0.1, 1)},
        quantile_fraction=0.5, synch=True,
    )  # fmt: skip
    analysis = run(
        Model, config={"lr": tune.grid_search([0.1, 0.9])}, scheduler=pbt, metric="score", mode="max",
        reuse_actors=True, stop={"training_iteration": 12},
    )  # fmt: skip
    frames = list(analysis.trial_dataframes.values())
    assert any(frame["lr_now"].nunique() > 1 for frame in frames)  # one took the other's place
    assert calls.read_text().splitlines() == ["setup"] * 2


THREADED = """
import threading
import time

threading.Thread(target=time.sleep, args=(1000,), daemon=True, name="background").start()


def train(config):
    print("hello")
    return {"score": config["x"], "threads": threading.active_count()}
"""


def test_a_module_that_starts_a_thread(tmp_path):
    (tmp_path / "threaded.py").write_text(THREADED)
    (tmp_path / "script.py").write_text(
        "from overtone import tune\nimport threaded\n"
        "space = {'x': tune.grid_search([1, 2])}\n"
        "analysis = tune.run(threaded.train, config=space, storage_path='results', verbose=1)\n"
        "print('threads', sorted(analysis.results_df['threads']))\n"
    )
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout + done.stderr
    assert text.count("start as new processes, which takes longer: ") == 1
    assert "background" in text
    assert "threads [2, 2]" in text


# --- resources ------------------------------------------------------------------------------


def test_whole_gpus_are_pinned(run):
    analysis = run(
        notes_its_time, num_samples=4, resources_per_trial={"cpu": 1, "gpu": 2}, engine=Local(cpus=4, gpus=4)
    )
    assert set(analysis.results_df["visible"]) <= {"0,1", "2,3"}
    assert most_at_once(analysis) <= 2


def test_gpus_are_shared_by_fractions(run):
    analysis = run(
        notes_its_time,
        config={"meet": 8},
        num_samples=8,
        resources_per_trial={"cpu": 1, "gpu": 0.5},
        engine=Local(cpus=8, gpus=4),
    )
    seen = list(analysis.results_df["visible"])
    assert {name: seen.count(name) for name in "0123"} == dict.fromkeys("0123", 2)


def test_a_gpu_of_each_trial_is_its_own(run):
    analysis = run(
        notes_its_time,
        config={"meet": 4},
        num_samples=4,
        resources_per_trial={"gpu": 1},
        engine=Local(cpus=4, gpus=4),
    )
    assert sorted(analysis.results_df["visible"]) == ["0", "1", "2", "3"]


def test_no_gpu_is_visible_where_none_was_asked_for(run):
    analysis = run(notes_its_time, num_samples=2, engine=Local(cpus=2, gpus=4))
    assert list(analysis.results_df["visible"]) == ["", ""]


def test_memory_is_a_resource(run):
    analysis = run(
        notes_its_time,
        config={"meet": 2},
        num_samples=4,
        resources_per_trial={"cpu": 1, "memory": "2GB"},
        engine=Local(cpus=4, memory="4GB"),
    )
    assert most_at_once(analysis) == 2
    assert analysis.trials[0].resources.total() == {"cpu": 1, "memory": 2e9}
    with pytest.raises(
        ResourceError, match=r"asks for .*memory 4.66 GiB.*this machine has .*memory 3.73 GiB"
    ):
        run(notes_its_time, resources_per_trial={"memory": "5GB"}, engine=Local(cpus=4, memory="4GB"))


def test_custom_resources(run):
    analysis = run(
        notes_its_time,
        config={"meet": 2},
        num_samples=4,
        resources_per_trial={"cpu": 1, "licence": 1},
        engine=Local(cpus=4, resources={"licence": 2}),
    )
    assert most_at_once(analysis) == 2


def test_a_demand_by_config(run):
    analysis = run(
        notes_its_time,
        config={"cpus": tune.grid_search([1, 2, 3])},
        engine=Local(cpus=3),
        resources_per_trial=lambda config: {"cpu": config["cpus"]},
    )
    assert [trial.resources.total()["cpu"] for trial in analysis.trials] == [1, 2, 3]
    assert len(analysis.results_df) == 3


def test_a_demand_of_the_class(run):
    class Model(tune.Trainable):
        @classmethod
        def default_resource_request(cls, config):
            return tune.PlacementGroupFactory([{"CPU": 1}, {"CPU": 1}])

        def step(self):
            return {"score": str(self.trial_resources), "done": True}

    analysis = run(Model, engine=Local(cpus=2))
    assert analysis.trials[0].resources.total() == {"cpu": 2}


def test_irregular_demands_keep_the_machine_full(run):
    def moved(analysis):
        for record in read(Path(analysis.experiment_path) / "journal.jsonl"):
            for choice in record.choices:
                if isinstance(choice, Moved):
                    yield record.event.time, choice

    space = {"cpus": tune.grid_search([1, 4, 2, 1, 1, 3, 1, 2, 4, 1]), "seconds": 0.15}
    analysis = run(
        notes_its_time,
        config=space,
        resources_per_trial=lambda config: {"cpu": config["cpus"]},
        engine=Local(cpus=4),
    )
    assert len(analysis.results_df) == 10
    demand = {trial.trial_id: trial.config["cpus"] for trial in analysis.trials}
    busy, used, most, first, last = 0.0, 0, 0, None, None
    held = set()
    for at, choice in moved(analysis):
        if last is not None:
            busy += used * (at - last)
        last = at
        if choice.status == "STARTING":
            first = at if first is None else first
            held.add(choice.trial_id)
        elif choice.status in ("TERMINATED", "ERROR"):
            held.discard(choice.trial_id)
        used = sum(demand[one] for one in held)
        most = max(most, used)
    assert most == 4
    assert busy / (4 * (last - first)) > 0.5


def test_threads_of_the_driver_are_no_trials_concern(run):
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert list(run(lambda config: 1).results_df["_metric"]) == [1]
    finally:
        stop.set()
        thread.join()


def test_a_run_in_another_thread_and_two_at_once(tmp_path):
    runs = [
        tune.start(
            counts,
            config={"x": x},
            stop={"training_iteration": 3},
            storage_path=str(tmp_path),
            verbose=0,
            tensorboard=False,
        )
        for x in (1, 2)
    ]
    assert [run.wait().trials[0].last_result["score"] for run in runs] == [3, 6]
    assert all(run.done for run in runs)
    assert [len(run.results_df) for run in runs] == [1, 1]


def test_arrays_in_a_config(run):
    analysis = run(
        lambda config: float(config["weights"].sum()),
        config={"weights": tune.grid_search([np.ones(3), np.zeros(2)])},
    )
    assert sorted(analysis.results_df["_metric"]) == [0, 3]
