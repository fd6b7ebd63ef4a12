"""A resume says what it was given otherwise, and does what it says."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from overtone import tune
from overtone.core.messages import Added, Reported
from overtone.errors import TuneError
from overtone.journal.reader import read, scan
from overtone.tune.callback import Callback
from overtone.tune.schedulers import ASHAScheduler, PopulationBasedTraining


def train(config):
    for t in range(1, 5):
        if config["x"] == "fails":
            raise RuntimeError("no")
        tune.report(
            {"loss": config["x"], "size": config["x"]}, checkpoint=tune.Checkpoint.from_dict({"t": t})
        )


def other(config):
    tune.report({"loss": -1})


class Sevens(tune.search.Searcher):
    def suggest(self, index):
        return {"x": 7}


@pytest.fixture
def search(tmp_path, capfd):
    """Runs a search, and again; returns its analysis and the lines of its changes."""

    def run(xs=(1, 2), trainable=train, **arguments):
        given = {
            "config": {"x": tune.grid_search(list(xs))}, "metric": "loss", "mode": "min", "engine": "inline",
            "storage_path": tmp_path, "name": "exp", "verbose": 1, "tensorboard": False, "resume": "AUTO",
        }  # fmt: skip
        capfd.readouterr()
        found = tune.run(trainable, **{**given, **arguments})
        said = capfd.readouterr().err
        lines = [line.strip() for line in said.splitlines() if line.startswith("  ")]
        how_many = f"{len(lines)} setting{'s' * (len(lines) > 1)} differ{'s' * (len(lines) == 1)}"
        assert (f"resuming exp: {how_many} from the recorded run\n" in said) == bool(lines)
        return found, [line for line in lines if not line.startswith("space: ")]

    run.folder = tmp_path / "exp"
    return run


def lengths(analysis):
    return {trial.config["x"]: trial.num_results for trial in analysis.trials}


def added(folder):
    return [
        one for record in read(folder / "journal.jsonl") for one in record.choices if isinstance(one, Added)
    ]


def test_where_nothing_differs_nothing_is_said(search):
    given = {"scheduler": ASHAScheduler(max_t=9), "stop": {"loss": -1}, "num_samples": 2, "max_failures": 1}
    search(**given)
    again = {**given, "scheduler": ASHAScheduler(max_t=9)}
    assert search(**again)[1] == []
    assert search(**again, search_alg=tune.search.BasicVariantGenerator())[1] == []


def test_what_bounds_the_search_is_recorded_once_by_each_driver(search):
    search(num_samples=1)
    for n in (2, 2, 3):
        search(num_samples=n)
    records = [
        (kind, {**facts, **facts.get("parts", {})}) for kind, facts in scan(search.folder / "journal.jsonl")
    ]
    assert [kind for kind, facts in records if "limits" in facts] == ["header", *["resumed"] * 3]
    assert (
        "trials in all: 6 -> 3 (taken: trials that were made stay)"
        in search(num_samples=3, search_alg=Sevens())[1]
    )


def test_what_a_resume_took_is_the_record_of_the_next(search):
    search(num_samples=1)
    assert search(num_samples=2)[1] == ["num_samples: 1 -> 2 (taken: trials that were made stay)"]
    assert search(num_samples=2)[1] == []
    assert tune.Tuner.restore(search.folder, train).to_experiment().num_samples == 2


def test_the_seed_is_kept(search, tmp_path):
    config = {"x": tune.uniform(0, 1)}
    search(config=config, num_samples=2, seed=1)
    found, lines = search(config=config, num_samples=4, seed=2)
    assert lines == [
        "num_samples: 2 -> 4 (taken: trials that were made stay)",
        "seed: 1 -> 2 (kept: 1; what was drawn so far was drawn with it)",
    ]
    fresh, _ = search(config=config, num_samples=4, seed=1, name="fresh")
    assert [one.config for one in found.trials] == [one.config for one in fresh.trials]
    assert search(config=config, num_samples=4)[1] == []


def test_fewer_samples_leave_the_trials_that_were_made(search):
    search(num_samples=2)
    found, lines = search(num_samples=1)
    assert lines == ["num_samples: 2 -> 1 (taken: trials that were made stay)"]
    assert len(found.trials) == 4


def test_resources_are_those_of_new_trials(search):
    search((1, 2), resources_per_trial={"cpu": 0.5})
    _, lines = search((1, 2, 3), resources_per_trial={"cpu": 0.25})
    assert lines == [
        "resources_per_trial: {'cpu': 0.5} -> {'cpu': 0.25} (taken for trials from now on; trials that were made "
        "keep theirs until a scheduler restarts them)"
    ]
    cpus = [dict(one.resources.bundles[0])["cpu"] for one in added(search.folder)]
    assert cpus == [0.5, 0.5, 0.25]


def test_resources_of_today_do_not_rewrite_what_restarted_trials_had(search):
    def curve(config, t):
        return {"loss": config["x"] / t}

    def go(cpu):
        pbt = PopulationBasedTraining(
            time_attr="training_iteration",
            perturbation_interval=3,
            hyperparam_mutations={"x": tune.uniform(0, 1)},
        )
        return search(
            trainable=curve, config={"x": tune.uniform(0, 1)}, num_samples=4, stop={"training_iteration": 12},
            seed=1, scheduler=pbt, engine=tune.Simulated(workers=4), resources_per_trial={"cpu": cpu},
        )[0]  # fmt: skip

    before = [(one.num_results, one.resources) for one in go(1).trials]
    assert max(count for count, _ in before) > 12  # some were restarted
    assert [(one.num_results, one.resources) for one in go(3).trials] == before


def test_names_and_priorities_are_those_of_new_trials(search):
    def early(trial):
        return f"early_{trial.config['x']}"

    def late(trial):
        return f"late_{trial.config['x']}"

    search((1, 2), trial_name_creator=early)
    _, lines = search((1, 2, 3), trial_name_creator=late, priority=lambda config: 5)
    assert "made keep theirs" in next(
        one for one in lines if one.startswith("trial_name_creator: early -> late")
    )
    assert "made keep theirs" in next(one for one in lines if one.startswith("priority: None -> "))
    assert [(one.name, one.priority) for one in added(search.folder)] == [
        ("early_1", 0), ("early_2", 0), ("late_3", 5),
    ]  # fmt: skip


def test_another_mode_ranks_the_results_so_far_anew(search):
    rungs = {"max_t": 4, "grace_period": 1, "reduction_factor": 2}
    search((1, 2, 3, 4), scheduler=ASHAScheduler(**rungs))
    before = lengths(search((1, 2, 3, 4), scheduler=ASHAScheduler(**rungs))[0])
    found, lines = search((1, 2, 3, 4, 10, 0), scheduler=ASHAScheduler(**rungs), mode="max")
    assert lines[0].startswith("mode: 'min' -> 'max' (taken: results so far are ranked anew")
    after = lengths(found)
    assert {x: after[x] for x in before} == before
    assert (after[10], after[0]) == (4, 1)
    assert found.best_config == {"x": 10}
    assert tune.ExperimentAnalysis(search.folder).best_config == {"x": 10}


def test_another_metric_ranks_the_results_so_far_anew(search):
    search((1, 2))
    found, lines = search((1, 2), metric="size", mode="max")
    assert [one.partition(" (taken: results so far")[0] for one in lines] == [
        "metric: 'loss' -> 'size'", "mode: 'min' -> 'max'",
    ]  # fmt: skip
    assert found.best_config == {"x": 2}


def test_another_scheduler_decides_from_now_on(search):
    search((1, 2))
    asha = ASHAScheduler(max_t=4, grace_period=1, reduction_factor=2)
    found, lines = search((1, 2, 3), scheduler=asha)
    assert lines == [
        "scheduler: FIFOScheduler -> ASHAScheduler (taken: what was decided stays, and it decides from now on)"
    ]
    assert lengths(found) == {1: 4, 2: 4, 3: 1}


def test_other_arguments_of_a_scheduler_are_told_one_by_one(search):
    search((1,), scheduler=ASHAScheduler(max_t=4))
    found, lines = search((1, 0), scheduler=ASHAScheduler(max_t=2, grace_period=1))
    assert [one.partition(" (")[0] for one in lines] == ["scheduler's max_t: 4 -> 2"]
    assert lengths(found) == {1: 4, 0: 2}


def test_another_searcher_suggests_from_now_on(search):
    search((1, 2))
    found, lines = search(search_alg=Sevens(), config={"x": 1}, num_samples=3)
    assert "search_alg: BasicVariantGenerator -> Sevens" in lines[0]
    assert [one.config["x"] for one in found.trials] == [1, 2, 7]


def test_points_count_where_they_are_later_than_what_was_made(search):
    config, point = {"x": tune.choice([1])}, {"x": 1}
    search(config=config, num_samples=1)
    found, lines = search(config=config, num_samples=3, points_to_evaluate=[point, point])
    assert any(one.endswith("(taken where they come later than the trials that were made)") for one in lines)
    assert len(found.trials) == 3


def test_another_stop_leaves_what_it_ended(search):
    search((1, 2), stop={"training_iteration": 2})
    found, lines = search((1, 2, 3), stop={"training_iteration": 3})
    assert lines == [
        "stop: {'training_iteration': 2} -> {'training_iteration': 3} (taken: trials that ended stay ended)"
    ]
    assert lengths(found) == {1: 2, 2: 2, 3: 3}


def test_more_failures_are_allowed_from_now_on(search):
    with pytest.raises(TuneError):
        search(("fails",))
    found, lines = search(("fails", "fails"), max_failures=2, raise_on_failed_trial=False)
    assert lines == ["max_failures: 0 -> 2 (taken: trials that ended stay ended)"]
    assert [one.num_failures for one in found.trials] == [1, 3]


def test_fail_fast_is_taken(search):
    search((1,))
    found, lines = search((1, "fails", 2), fail_fast=True, raise_on_failed_trial=False)
    assert "fail_fast: False -> True (taken)" in lines
    assert [one.config["x"] for one in found.trials if one.num_results] == [1]


def test_a_time_budget_counts_from_the_beginning(search):
    search((1,), time_budget_s=1000)
    found, lines = search((1, 2, 3), time_budget_s=0)
    assert lines == [
        "time_budget_s: 1000 -> 0 (taken: the time of earlier drivers counts; trials that ended stay ended)"
    ]
    assert sum(lengths(found).values()) == 4


def test_checkpoints_that_were_deleted_stay_deleted(search):
    def kept():
        return sorted(len(list(one.glob("checkpoint_*"))) for one in search.folder.glob("*_0000?"))

    search((1,), keep_checkpoints_num=1)
    assert kept() == [1]
    _, lines = search((1, 2), keep_checkpoints_num=3)
    assert lines == ["keep_checkpoints_num: 1 -> 3 (taken: deleted checkpoints stay deleted)"]
    assert kept() == [1, 3]
    search((1, 2, 3), keep_checkpoints_num=1)
    assert kept() == [1, 1, 1]


def test_files_are_written_from_the_beginning(search):
    search((1,), files=False)
    assert not list(search.folder.glob("*/result.json"))
    _, lines = search((1, 2), files=True)
    assert lines == ["files: False -> True (taken)"]
    assert [one.read_text().count("\n") for one in search.folder.glob("*/result.json")] == [4, 4]


class Hears(Callback):
    def __init__(self):
        self.results = []

    def on_trial_result(self, iteration, trials, trial, result, **info):
        self.results.append(trial.config["x"])


def test_callbacks_are_taken(search):
    search((1,))
    callback = Hears()
    _, lines = search((1, 2), callbacks=[callback])
    assert lines == ["callbacks: [] -> [Hears] (taken: what happened so far is told to them as past)"]
    assert callback.results == [2] * 4


def test_another_engine_and_its_options_are_taken(search):
    search((1,))
    _, lines = search((1, 2), engine="local", log_to_file=True, max_concurrent_trials=1, reuse_actors=True)
    assert lines == [
        "max_concurrent_trials: None -> 1 (taken)", "reuse_actors: False -> True (taken)",
        "log_to_file: False -> True (taken)", "engine: 'Inline' -> 'Local' (taken)",
    ]  # fmt: skip
    assert len(list(search.folder.glob("*/stdout"))) == 1


def test_a_search_that_its_budget_ended_goes_on_with_more(search):
    search((1, 2), time_budget_s=0)
    found, _ = search((1, 2, 3), time_budget_s=1000)
    assert lengths(found) == {1: 0, 2: 0, 3: 4}


def test_what_had_not_ended_keeps_its_resources_and_gets_the_new_stop(search):
    def leaves(config):
        for t in range(1, 9):
            if t == 2 and not (search.folder / "left").exists():
                (search.folder / "left").touch()
                raise KeyboardInterrupt
            tune.report({"loss": t})

    with pytest.raises(KeyboardInterrupt):
        search((1, 2), trainable=leaves, stop={"training_iteration": 3})
    found, lines = search(
        (1, 2), trainable=leaves, stop={"training_iteration": 5}, resources_per_trial={"cpu": 0.5}
    )
    assert len(lines) == 2
    assert lengths(found) == {1: 5, 2: 5}
    cpus = {trial.config["x"]: dict(trial.resources.bundles[0])["cpu"] for trial in found.trials}
    assert cpus[1] == 1


def test_constraints_hold_for_the_results_so_far(search):
    search((1, 2))
    found, lines = search((1, 2), mode="max", constraints={"size": 1})
    assert "constraints: None -> {'size': 1.0} (taken: " in " ".join(lines)
    assert found.best_config == {"x": 1}


def test_a_restore_with_nothing_new_says_nothing(search, capfd):
    search((1,), scheduler=ASHAScheduler(max_t=4), stop={"loss": -9}, resources_per_trial={"cpu": 0.5},
           checkpoint_freq=2, constraints={"size": 3}, max_failures=1)  # fmt: skip
    tuner = tune.Tuner.restore(search.folder, train)
    capfd.readouterr()
    tuner.fit()
    said = capfd.readouterr().err
    assert "differ" not in said
    tune.Tuner.restore(search.folder, train, max_failures=3).fit()
    assert (
        "resuming exp: 1 setting differs from the recorded run\n  max_failures: 1 -> 3 ("
        in capfd.readouterr().err
    )


def test_a_warm_start_is_what_was_read_when_the_run_began(search, tmp_path):
    config = {"x": tune.uniform(0, 1)}
    search(config=config, name="earlier", num_samples=2)
    search(config=config, search_alg="auto")
    _, lines = search(config=config, search_alg="auto", warm_start=str(tmp_path / "earlier"))
    assert lines == ["warm_start: another (kept: the results that were read when the run began)"]


def test_another_function_is_told_by_name_and_results_mix(search):
    search((1,))
    found, lines = search((1, 2), trainable=other)
    assert lines == [
        "trainable: train -> other (taken: trials that still run use it, and recorded results stay. To keep them "
        "apart, choose another name, or leave resume out)"
    ]
    assert lengths(found) == {1: 4, 2: 1}


def test_another_argument_of_the_trainable_is_told(search):
    def bound(config, epochs, rate):
        tune.report({"loss": epochs})

    search((1,), trainable=tune.with_parameters(bound, epochs=3, rate=object))
    _, lines = search((1,), trainable=tune.with_parameters(bound, epochs=4, rate=object))
    assert [one.partition(" (")[0] for one in lines] == ["the trainable's argument epochs: another value"]


SCRIPT = """
import sys
from overtone import tune

def train(config):
    {}tune.report({{"loss": 1}})

if __name__ == "__main__":
    tune.run(train, config={{"x": 1}}, metric="loss", mode="min", storage_path=sys.argv[1], name="exp", verbose=1,
             engine="inline", tensorboard=False, resume="AUTO")
"""
EDITED = (
    "trainable: the source of train changed (taken: trials that still run use it, and recorded results stay."
)


def test_an_edited_script_is_told(tmp_path):
    script = tmp_path / "search.py"

    def run(body):
        script.write_text(SCRIPT.format(body))
        os.utime(script, (1, 1))
        command = [sys.executable, str(script), str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stderr

    run("")
    assert EDITED in run("# a comment\n    x = 2\n    ")


def test_an_edit_is_told_once_and_so_is_the_way_back(search):
    def run(body):
        code = {"tune": tune}
        exec(SCRIPT.format(body).partition("\nif ")[0], code)
        return search((1,), trainable=code["train"])[1]

    assert run("") == []
    assert run("# a comment\n    ") == []
    assert EDITED in run("x = 2\n    ")[0]
    assert run("x = 2\n    ") == []
    assert EDITED in run("")[0]


def test_reports_of_the_past_are_in_the_journal_once(search):
    search((1, 2))
    search((1, 2, 3), mode="max", num_samples=1, scheduler=ASHAScheduler(max_t=3))
    reports = [one.event for one in read(search.folder / "journal.jsonl") if isinstance(one.event, Reported)]
    assert len({(one.trial_id, one.t) for one in reports}) == len(reports) == 11
