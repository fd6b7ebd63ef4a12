"""Schedulers and their arguments, and schedulers of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from subject import covers, part, tune


def climbs(config):
    """Report 12 results that rise by the config's rate; "half" counts two steps an iteration."""
    for step in range(1, 13):
        tune.report({"score": step * config["x"], "loss": -step * config["x"], "half": 2 * step})


class Climbs(tune.Trainable):
    """The same as a class that saves, and is asked for 12 steps at most."""

    def setup(self, config):
        self.value, self.steps = 0, 0

    def step(self):
        self.steps += 1
        self.value += self.config["x"]
        return {"score": self.value, "x": self.config["x"], "half": 2 * self.steps, "done": self.steps >= 12}

    def save_checkpoint(self, checkpoint_dir):
        Path(checkpoint_dir, "state").write_text(json.dumps([self.value, self.steps]))

    def load_checkpoint(self, checkpoint):
        self.value, self.steps = json.loads(Path(checkpoint, "state").read_text())

    def reset_config(self, new_config):
        self.config = new_config
        return True


GRID = {"x": tune.grid_search([4, 3, 2, 1])}


def steps(analysis):
    return {trial.config["x"]: trial.last_result["training_iteration"] for trial in analysis.trials}


def asha(**arguments):
    return tune.schedulers.ASHAScheduler(**{"metric": "score", "mode": "max", **arguments})


@covers("tune.schedulers.ASHAScheduler: metric mode grace_period reduction_factor")
def test_asha_stops_the_worst(search):
    found = steps(
        search(
            climbs,
            config=GRID,
            scheduler=asha(grace_period=2, reduction_factor=2, max_t=12),
            max_concurrent_trials=1,
        )
    )
    assert found[4] == 12
    assert found[1] == found[2] == 2


@covers("tune.schedulers.ASHAScheduler: mode metric")
def test_asha_minimises(search):
    found = steps(
        search(
            climbs,
            config=GRID,
            scheduler=asha(metric="loss", mode="min", grace_period=2, reduction_factor=2, max_t=12),
            max_concurrent_trials=1,
        )
    )
    assert found[4] == 12
    assert found[1] == 2


@covers("tune.schedulers.ASHAScheduler: grace_period")
def test_asha_grants_a_grace_period(search):
    found = steps(
        search(
            climbs,
            config=GRID,
            scheduler=asha(grace_period=5, reduction_factor=2, max_t=12),
            max_concurrent_trials=1,
        )
    )
    assert found[1] == 5


@covers("tune.schedulers.ASHAScheduler: reduction_factor")
def test_asha_keeps_one_of_so_many(search):
    found = steps(
        search(
            climbs,
            config={"x": tune.grid_search([8, 7, 6, 5, 4, 3])},
            scheduler=asha(grace_period=2, reduction_factor=4, max_t=12),
            max_concurrent_trials=1,
        )
    )
    assert found[8] == 12
    assert sum(count == 2 for count in found.values()) >= 4


@covers("tune.schedulers.ASHAScheduler: max_t")
def test_asha_ends_at_max_t(search):
    assert steps(search(climbs, config={"x": 1}, scheduler=asha(max_t=7))) == {1: 7}


@covers("tune.schedulers.ASHAScheduler: stop_last_trials")
def test_asha_lets_the_last_go_on(search):
    assert steps(search(climbs, config={"x": 1}, scheduler=asha(max_t=7, stop_last_trials=False))) == {1: 12}


@covers("tune.schedulers.ASHAScheduler: time_attr")
def test_asha_measures_time_by_an_attribute(search):
    assert steps(search(climbs, config={"x": 1}, scheduler=asha(time_attr="half", max_t=8))) == {1: 4}


@covers("tune.schedulers.ASHAScheduler: brackets")
def test_asha_has_brackets(search):
    found = steps(
        search(
            climbs,
            config={"x": tune.grid_search([6, 5, 4, 3, 2, 1])},
            scheduler=asha(brackets=2, grace_period=2, reduction_factor=2, max_t=12),
            max_concurrent_trials=1,
        )
    )
    assert max(found.values()) == 12


@covers("tune.schedulers.ASHAScheduler: max_t grace_period reduction_factor brackets mode")
@pytest.mark.parametrize(
    "wrong", [{"max_t": 0}, {"grace_period": 200}, {"reduction_factor": 1}, {"brackets": 0}, {"mode": "most"}]
)
def test_asha_checks_its_arguments(wrong):
    with pytest.raises(Exception):
        asha(**wrong)


@covers("tune.schedulers.AsyncHyperBandScheduler")
def test_asha_has_two_names():
    assert tune.schedulers.AsyncHyperBandScheduler is tune.schedulers.ASHAScheduler


@covers("tune.schedulers.HyperBandScheduler: time_attr metric mode max_t reduction_factor")
def test_hyperband_stops_the_worst(search):
    scheduler = tune.schedulers.HyperBandScheduler(
        metric="score", mode="max", max_t=9, reduction_factor=3, time_attr="training_iteration"
    )
    found = search(Climbs, config={"x": tune.grid_search(list(range(1, 10)))}, scheduler=scheduler)
    counts = steps(found)
    assert counts[9] == 9
    assert min(counts.values()) < 9


@covers("tune.schedulers.HyperBandScheduler: time_attr")
def test_hyperband_measures_time_by_an_attribute(search):
    scheduler = tune.schedulers.HyperBandScheduler(metric="score", mode="max", max_t=8, time_attr="half")
    assert max(steps(search(Climbs, config={"x": 1}, scheduler=scheduler)).values()) == 4


@covers("tune.schedulers.HyperBandScheduler: stop_last_trials")
@pytest.mark.parametrize(("stops", "last"), [(True, 9), (False, 12)])
def test_hyperband_stops_the_last_or_not(search, stops, last):
    scheduler = tune.schedulers.HyperBandScheduler(
        metric="score", mode="max", max_t=9, stop_last_trials=stops
    )
    assert max(steps(search(Climbs, config={"x": 1}, scheduler=scheduler)).values()) == last


@covers("tune.schedulers.MedianStoppingRule: metric mode grace_period min_samples_required")
def test_the_median_rule_stops_what_is_below(search):
    rule = tune.schedulers.MedianStoppingRule(
        metric="score", mode="max", grace_period=3, min_samples_required=2, time_attr="training_iteration"
    )
    found = steps(search(climbs, config=GRID, scheduler=rule, max_concurrent_trials=1))
    assert found[4] == found[3] == 12
    assert found[1] in (3, 4)


@covers("tune.schedulers.MedianStoppingRule: grace_period")
def test_the_median_rule_grants_a_grace_period(search):
    rule = tune.schedulers.MedianStoppingRule(
        metric="score", mode="max", grace_period=7, min_samples_required=1, time_attr="training_iteration"
    )
    assert steps(search(climbs, config=GRID, scheduler=rule, max_concurrent_trials=1))[1] in (7, 8)


@covers("tune.schedulers.MedianStoppingRule: min_samples_required")
def test_the_median_rule_needs_samples(search):
    rule = tune.schedulers.MedianStoppingRule(
        metric="score", mode="max", grace_period=1, min_samples_required=9, time_attr="training_iteration"
    )
    assert set(steps(search(climbs, config=GRID, scheduler=rule, max_concurrent_trials=1)).values()) == {12}


@covers("tune.schedulers.MedianStoppingRule: mode time_attr")
def test_the_median_rule_minimises_by_an_attribute(search):
    rule = tune.schedulers.MedianStoppingRule(
        metric="loss", mode="min", grace_period=8, min_samples_required=1, time_attr="half"
    )
    found = steps(search(climbs, config=GRID, scheduler=rule, max_concurrent_trials=1))
    assert found[4] == 12
    assert found[1] in (4, 5)


@covers("tune.schedulers.MedianStoppingRule: hard_stop min_time_slice")
def test_the_median_rule_pauses_instead(search):
    rule = tune.schedulers.MedianStoppingRule(
        metric="score",
        mode="max",
        grace_period=2,
        min_samples_required=1,
        hard_stop=False,
        min_time_slice=1,
        time_attr="training_iteration",
    )
    analysis = search(Climbs, config={"x": tune.grid_search([2, 1])}, scheduler=rule, max_concurrent_trials=1)
    assert set(steps(analysis).values()) == {12}


def pbt(**arguments):
    return tune.schedulers.PopulationBasedTraining(
        **{
            "time_attr": "training_iteration",
            "metric": "score",
            "mode": "max",
            "perturbation_interval": 5,
            "hyperparam_mutations": {"x": [1, 2, 4, 8]},
            "quantile_fraction": 0.5,
            **arguments,
        }
    )


def population(search, scheduler, **arguments):
    return search(
        Climbs, config={"x": tune.grid_search([1, 8])}, scheduler=scheduler, checkpoint_freq=1, **arguments
    )


@covers(
    "tune.schedulers.PopulationBasedTraining: metric mode perturbation_interval hyperparam_mutations quantile_fraction"
)
def test_pbt_takes_over_what_is_better(search):
    analysis = population(search, pbt(synch=True))
    worst = min(trial.last_result["score"] for trial in analysis.trials)
    assert worst > 12  # alone it would be 12 * 1


@covers("tune.schedulers.PopulationBasedTraining: perturbation_interval")
def test_pbt_waits_for_its_interval(search):
    worst = min(
        trial.last_result["score"]
        for trial in population(search, pbt(synch=True, perturbation_interval=50)).trials
    )
    assert worst == 12


@covers("tune.schedulers.PopulationBasedTraining: burn_in_period")
def test_pbt_waits_for_its_burn_in(search):
    worst = min(
        trial.last_result["score"] for trial in population(search, pbt(synch=True, burn_in_period=50)).trials
    )
    assert worst == 12


@covers("tune.schedulers.PopulationBasedTraining: custom_explore_fn")
def test_pbt_calls_a_function_for_new_configs(search):
    def explores(config):
        return {**config, "x": 77}

    analysis = population(search, pbt(synch=True, custom_explore_fn=explores))
    assert any(trial.config["x"] == 77 for trial in analysis.trials)


@covers("tune.schedulers.PopulationBasedTraining: hyperparam_mutations resample_probability")
def test_pbt_resamples(search):
    analysis = population(
        search, pbt(synch=True, hyperparam_mutations={"x": lambda: 55}, resample_probability=1.0)
    )
    assert any(trial.config["x"] == 55 for trial in analysis.trials)


@covers(
    "tune.schedulers.PopulationBasedTraining: hyperparam_mutations perturbation_factors resample_probability"
)
def test_pbt_perturbs_by_factors(search):
    mutations = {"x": tune.uniform(0, 1000)}
    analysis = population(
        search,
        pbt(
            synch=True,
            hyperparam_mutations=mutations,
            resample_probability=0.0,
            perturbation_factors=(3.0, 3.0),
        ),
    )
    assert {trial.config["x"] for trial in analysis.trials} & {24, 72, 216}


@covers("tune.schedulers.PopulationBasedTraining: quantile_fraction perturbation_factors")
@pytest.mark.parametrize(
    "wrong",
    [
        {"quantile_fraction": 0.9},
        {"quantile_fraction": -1},
        {"perturbation_interval": 0},
        {"hyperparam_mutations": {}},
        {"mode": "most"},
    ],
)
def test_pbt_checks_its_arguments(wrong):
    with pytest.raises(Exception):
        pbt(**wrong)


@covers(
    "tune.schedulers.PopulationBasedTraining: log_config",
    "tune.schedulers.PopulationBasedTrainingReplay: policy_file",
)
def test_a_pbt_schedule_is_replayed(search):
    analysis = population(search, pbt(synch=True, log_config=True))
    (policy,) = list(Path(analysis.experiment_path).rglob("pbt_policy_*.txt"))[:1]
    replay = tune.schedulers.PopulationBasedTrainingReplay(str(policy))
    (trial,) = search(Climbs, scheduler=replay, config={"x": 1}).trials
    newest = json.loads(policy.read_text().splitlines()[-1])[-1]
    assert trial.config["x"] == newest["x"]


@covers("tune.schedulers.PopulationBasedTraining: require_attrs")
def test_pbt_needs_its_attributes(search):
    def without(config):
        for _ in range(4):
            tune.report({"other": 1})

    with pytest.raises(Exception):
        search(without, scheduler=pbt(require_attrs=True), config={"x": 1}, fail_fast="raise")


@covers("tune.schedulers.PopulationBasedTraining: time_attr")
def test_pbt_measures_time_by_an_attribute(search):
    worst = min(
        trial.last_result["score"]
        for trial in population(search, pbt(synch=True, time_attr="half", perturbation_interval=40)).trials
    )
    assert worst == 12


@covers("tune.schedulers.PopulationBasedTraining: synch")
def test_pbt_need_not_wait_for_all(search):
    analysis = population(search, pbt(synch=False))
    assert all(trial.status == "TERMINATED" for trial in analysis.trials)
    assert max(trial.last_result["score"] for trial in analysis.trials) >= 96


class Points(tune.search.Searcher):
    """Proposes 1 to 9, and hears of pauses, as the searcher of BOHB does."""

    def __init__(self):
        super().__init__(metric="score", mode="max")
        self.count = 0

    def suggest(self, trial_id):
        self.count += 1
        return {"x": self.count}

    def on_trial_complete(self, trial_id, result=None, error=False):
        pass

    def on_pause(self, trial_id):
        pass

    def on_unpause(self, trial_id):
        pass


def by_bohb(search, **arguments):
    scheduler = tune.schedulers.HyperBandForBOHB(
        metric="score", mode="max", max_t=3, reduction_factor=3, **arguments
    )
    return steps(search(Climbs, scheduler=scheduler, search_alg=Points(), num_samples=3))


@covers("tune.schedulers.HyperBandForBOHB: metric mode max_t reduction_factor")
def test_hyperband_for_bohb_stops_the_worst(search):
    assert by_bohb(search) == {1: 1, 2: 1, 3: 3}


@covers("tune.schedulers.HyperBandForBOHB: time_attr")
def test_hyperband_for_bohb_counts_in_its_unit(search):
    assert max(by_bohb(search, time_attr="half").values()) == 2


@covers("tune.schedulers.HyperBandForBOHB: stop_last_trials")
def test_hyperband_for_bohb_lets_the_last_trials_go_on(search):
    assert max(by_bohb(search, stop_last_trials=False).values()) == 12


@covers("tune.schedulers.FIFOScheduler")
def test_fifo_changes_nothing(search):
    assert set(steps(search(climbs, config=GRID, scheduler=tune.schedulers.FIFOScheduler())).values()) == {12}


@covers("tune.create_scheduler: scheduler")
@pytest.mark.parametrize(("name", "kind"), [("fifo", "FIFOScheduler"), ("async_hyperband", "AsyncHyperBandScheduler"), ("asynchyperband", "ASHAScheduler"),
                                            ("median_stopping_rule", "MedianStoppingRule"), ("hyperband", "HyperBandScheduler"),
                                            ("hb_bohb", "HyperBandForBOHB"), ("pbt_replay", None)])  # fmt: skip
def test_schedulers_are_made_by_their_name(name, kind):
    if kind is None:
        with pytest.raises(Exception):
            tune.create_scheduler("no such scheduler")
    else:
        assert isinstance(
            tune.create_scheduler(name, metric="score", mode="max")
            if name != "fifo"
            else tune.create_scheduler(name),
            getattr(tune.schedulers, kind),
        )


@covers("tune.create_scheduler: scheduler", "tune.schedulers.create_scheduler")
def test_pbt_is_made_by_its_name():
    made = tune.schedulers.create_scheduler(
        "pbt", metric="score", mode="max", hyperparam_mutations={"x": [1, 2]}
    )
    assert isinstance(made, tune.schedulers.PopulationBasedTraining)


@covers("tune.run: metric mode", "tune.schedulers.TrialScheduler.set_search_properties: metric mode")
def test_a_scheduler_takes_the_metric_of_the_run(search):
    scheduler = tune.schedulers.ASHAScheduler(grace_period=2, reduction_factor=2, max_t=12)
    found = steps(
        search(climbs, config=GRID, scheduler=scheduler, metric="score", mode="max", max_concurrent_trials=1)
    )
    assert found[1] == 2


def own_scheduler():
    class Own(tune.schedulers.TrialScheduler):
        """Stops a trial at its third result, and keeps what it was told."""

        def __init__(self):
            super().__init__()
            self.told, self.known = [], set()

        def set_search_properties(self, metric, mode, **spec):
            self.told.append(("properties", metric, mode))
            return True

        def on_trial_add(self, tune_controller, trial):
            self.told.append(("add", trial.trial_id))

        def on_trial_error(self, tune_controller, trial):
            self.told.append(("error", trial.trial_id))

        def on_trial_result(self, tune_controller, trial, result):
            self.told.append(("result", result["training_iteration"]))
            self.known |= {each.trial_id for each in tune_controller.get_trials()}
            return self.STOP if result["training_iteration"] >= 3 else self.CONTINUE

        def on_trial_complete(self, tune_controller, trial, result):
            self.told.append(("complete", trial.trial_id, result["training_iteration"]))

        def on_trial_remove(self, tune_controller, trial):
            self.told.append(("remove", trial.trial_id))

        def choose_trial_to_run(self, tune_controller):
            for trial in tune_controller.get_trials():
                if trial.status in ("PENDING", "PAUSED"):
                    return trial
            return None

        def debug_string(self):
            return "mine"

    return Own()


@covers("tune.schedulers.TrialScheduler", "tune.schedulers.TrialScheduler.on_trial_add: tune_controller trial", "tune.schedulers.TrialScheduler.STOP",
        "tune.schedulers.TrialScheduler.CONTINUE", "tune.schedulers.TrialScheduler.on_trial_result: tune_controller trial result",
        "tune.schedulers.TrialScheduler.choose_trial_to_run: tune_controller", "tune.execution.tune_controller.TuneController.get_trials",
        "tune.schedulers.TrialScheduler.debug_string")  # fmt: skip
def test_a_scheduler_of_ones_own_stops_trials(search):
    own = own_scheduler()
    (trial,) = search(climbs, config={"x": 1}, scheduler=own, metric="score", mode="max").trials
    assert trial.last_result["training_iteration"] == 3
    assert own.told[:2] == [("properties", "score", "max"), ("add", trial.trial_id)]
    assert [each for each in own.told if each[0] == "result"] == [("result", 1), ("result", 2), ("result", 3)]
    assert own.known == {trial.trial_id}


@covers(
    "tune.schedulers.TrialScheduler.on_trial_complete: tune_controller trial result",
    "tune.schedulers.TrialScheduler.on_trial_error: tune_controller trial",
)
def test_a_scheduler_of_ones_own_is_told_of_ends(search):
    def two(config):
        tune.report({"score": 1})
        tune.report({"score": 2})
        if config["x"] == 2:
            raise RuntimeError("broken")

    own = own_scheduler()
    search(two, config={"x": tune.grid_search([1, 2])}, scheduler=own, raise_on_failed_trial=False)
    kinds = [each[0] for each in own.told]
    assert kinds.count("complete") == 1
    assert kinds.count("error") == 1
    assert next(each for each in own.told if each[0] == "complete")[2] in (2, 3)


@covers(
    "tune.schedulers.TrialScheduler.PAUSE",
    "tune.schedulers.TrialScheduler.choose_trial_to_run: tune_controller",
)
def test_a_scheduler_of_ones_own_pauses_trials(search):
    class Pauses(tune.schedulers.FIFOScheduler):
        paused = set()

        def on_trial_result(self, tune_controller, trial, result):
            if result["training_iteration"] == 2 and trial.trial_id not in self.paused:
                self.paused.add(trial.trial_id)
                return tune.schedulers.TrialScheduler.PAUSE
            return tune.schedulers.TrialScheduler.CONTINUE

        def choose_trial_to_run(self, tune_controller):
            waiting = [
                trial for trial in tune_controller.get_trials() if trial.status in ("PENDING", "PAUSED")
            ]
            return waiting[0] if waiting else None

    analysis = search(Climbs, config={"x": tune.grid_search([1, 2])}, scheduler=Pauses())
    assert len(Pauses.paused) == 2
    assert set(steps(analysis).values()) == {12}


@covers(
    "tune.schedulers.TrialScheduler.NOOP",
    "tune.schedulers.TrialScheduler.metric",
    "tune.schedulers.TrialScheduler.supports_buffered_results",
)
def test_the_decisions_have_names():
    scheduler = tune.schedulers.TrialScheduler
    assert (scheduler.CONTINUE, scheduler.PAUSE, scheduler.STOP, scheduler.NOOP) == (
        "CONTINUE",
        "PAUSE",
        "STOP",
        "NOOP",
    )
    assert tune.schedulers.FIFOScheduler().metric is None


@covers("tune.execution.tune_controller.TuneController.get_trial: tid", "tune.execution.tune_controller.TuneController.get_live_trials",
        "tune.execution.tune_controller.TuneController.search_alg")  # fmt: skip
def test_a_controller_knows_its_trials(search):
    class Looks(tune.schedulers.FIFOScheduler):
        seen = []

        def on_trial_result(self, tune_controller, trial, result):
            self.seen.append(
                (
                    tune_controller.get_trial(trial.trial_id) is not None,
                    len(tune_controller.get_live_trials()),
                )
            )
            assert tune_controller.search_alg is not None
            return "CONTINUE"

    search(climbs, config={"x": 1}, scheduler=Looks())
    assert Looks.seen[0] == (True, 1)


@covers("tune.execution.tune_controller.TuneController.stop_trial: trial")
def test_a_scheduler_stops_another_trial(search):
    class StopsOthers(tune.schedulers.FIFOScheduler):
        def on_trial_result(self, tune_controller, trial, result):
            if result["training_iteration"] == 2 and trial.config["x"] == 1:
                for other in list(tune_controller.get_live_trials()):
                    if other.trial_id != trial.trial_id:
                        tune_controller.stop_trial(other)
            return "CONTINUE"

    def endless(config):
        if config["x"] == 1:
            for step in range(4):
                tune.report({"score": step})
            return
        while True:
            tune.report({"score": 1})

    analysis = search(endless, config={"x": tune.grid_search([1, 2])}, scheduler=StopsOthers())
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 2


@covers("tune.schedulers.ResourceChangingScheduler: base_scheduler resources_allocation_function")
def test_resources_change_during_a_run(search):
    def allocates(tune_controller, trial, result, scheduler):
        return tune.PlacementGroupFactory([{"CPU": 2}]) if result["training_iteration"] == 2 else None

    class Tells(Climbs):
        def step(self):
            return {**super().step(), "cpus": self.trial_resources.required_resources["CPU"]}

    scheduler = tune.schedulers.ResourceChangingScheduler(
        base_scheduler=tune.schedulers.FIFOScheduler(), resources_allocation_function=allocates
    )
    (trial,) = search(
        Tells, config={"x": 1}, scheduler=scheduler, resources_per_trial={"cpu": 1}, checkpoint_freq=1
    ).trials
    assert trial.last_result["cpus"] == 2
    assert trial.last_result["training_iteration"] == 12


@covers("tune.schedulers.ResourceChangingScheduler.base_trial_resources")
def test_the_base_resources_are_known_to_the_function(search):
    seen = []

    def allocates(tune_controller, trial, result, scheduler):
        seen.append(scheduler.base_trial_resources.required_resources["CPU"])
        assert tune_controller.get_trials()

    scheduler = tune.schedulers.ResourceChangingScheduler(resources_allocation_function=allocates)
    search(Climbs, config={"x": 1}, scheduler=scheduler, resources_per_trial={"cpu": 1})
    assert seen[0] == 1


def pb2(**arguments):
    given = {
        "time_attr": "training_iteration", "metric": "score", "mode": "max", "perturbation_interval": 4,
        "hyperparam_bounds": {"x": [0, 10]}, "quantile_fraction": 0.5, "synch": True,
    }  # fmt: skip
    return part("tune.schedulers.pb2").PB2(**{**given, **arguments})


def explored(search, **arguments):
    return population(search, pb2(**arguments), reuse_actors=True)


@pytest.fixture
def needs_sklearn():
    """Ray's model is scikit-learn's."""
    if tune.__name__.startswith("ray"):
        pytest.importorskip("sklearn")


@covers(
    "tune.schedulers.pb2.PB2: metric mode perturbation_interval hyperparam_bounds quantile_fraction synch"
)
@pytest.mark.usefixtures("needs_sklearn")
def test_pb2_explores_within_its_bounds(search):
    analysis = explored(search)
    assert all(0 <= trial.config["x"] <= 10 for trial in analysis.trials)
    assert min(trial.last_result["score"] for trial in analysis.trials) > 12


@covers("tune.schedulers.pb2.PB2: custom_explore_fn")
@pytest.mark.usefixtures("needs_sklearn")
def test_pb2_asks_for_the_users_change(search):
    analysis = explored(search, custom_explore_fn=lambda config: {**config, "explored": True})
    assert any("explored" in trial.config for trial in analysis.trials)


@covers("tune.schedulers.pb2.PB2: perturbation_interval time_attr")
@pytest.mark.parametrize(
    "other", [{"perturbation_interval": 50}, {"time_attr": "half", "perturbation_interval": 40}]
)
@pytest.mark.usefixtures("needs_sklearn")
def test_pb2_waits_for_its_interval(search, other):
    analysis = explored(search, **other)
    assert min(trial.last_result["score"] for trial in analysis.trials) == 12


@covers("tune.schedulers.pb2.PB2: log_config")
@pytest.mark.parametrize("logs", [True, False])
@pytest.mark.usefixtures("needs_sklearn")
def test_pb2_writes_its_policy_where_asked(search, tmp_path, logs):
    explored(search, log_config=logs)
    assert bool(list(tmp_path.rglob("pbt_policy_*.txt"))) == logs


@covers("tune.schedulers.pb2.PB2: require_attrs")
@pytest.mark.usefixtures("needs_sklearn")
def test_pb2_needs_its_attributes(search):
    class Forgets(Climbs):
        def step(self):
            result = super().step()
            return result if self.steps == 1 else {name: result[name] for name in ("score", "done")}

    arguments = {"config": {"x": tune.grid_search([1, 8])}, "checkpoint_freq": 1, "fail_fast": "raise"}
    with pytest.raises(Exception):
        search(Forgets, scheduler=pb2(time_attr="half"), **arguments)
    analysis = search(Forgets, scheduler=pb2(time_attr="half", require_attrs=False), **arguments)
    assert {trial.last_result["training_iteration"] for trial in analysis.trials} == {12}


class Tells(Climbs):
    def step(self):
        return {**super().step(), "cpus": self.trial_resources.required_resources["CPU"]}


@covers(
    "tune.schedulers.ResourceChangingScheduler.reallocate_trial_resources_if_needed: tune_controller trial result"
)
def test_a_subclass_chooses_the_resources(search):
    class Chooses(tune.schedulers.ResourceChangingScheduler):
        def reallocate_trial_resources_if_needed(self, tune_controller, trial, result):
            assert trial in tune_controller.get_trials()
            if result["training_iteration"] < 3 or trial.placement_group_factory.head_cpus == 2:
                return super().reallocate_trial_resources_if_needed(tune_controller, trial, result)
            return tune.PlacementGroupFactory([{"CPU": 2}])

    scheduler = Chooses(resources_allocation_function=lambda *_: None)
    arguments = {"resources_per_trial": {"cpu": 1}, "checkpoint_freq": 1}
    (trial,) = search(Tells, config={"x": 1}, scheduler=scheduler, **arguments).trials
    assert (trial.last_result["cpus"], trial.last_result["training_iteration"]) == (2, 12)


@covers("tune.schedulers.ResourceChangingScheduler.set_trial_resources: trial new_resources")
@pytest.mark.parametrize(("allows", "cpus"), [(True, 2), (False, 1)])
def test_a_subclass_refuses_resources(search, allows, cpus):
    class Refuses(tune.schedulers.ResourceChangingScheduler):
        seen = set()

        def set_trial_resources(self, trial, new_resources):
            self.seen.add((trial.trial_id, new_resources.required_resources["CPU"]))
            return allows and super().set_trial_resources(trial, new_resources)

    def doubles(tune_controller, trial, result, scheduler):
        return tune.PlacementGroupFactory([{"CPU": 2}]) if result["training_iteration"] == 3 else None

    scheduler = Refuses(resources_allocation_function=doubles)
    arguments = {"resources_per_trial": {"cpu": 1}, "checkpoint_freq": 1}
    (trial,) = search(Tells, config={"x": 1}, scheduler=scheduler, **arguments).trials
    assert Refuses.seen == {(trial.trial_id, 2)}
    assert (trial.last_result["cpus"], trial.last_result["training_iteration"]) == (cpus, 12)


@covers("tune.schedulers.resource_changing_scheduler.DistributeResources: add_bundles increase_by increase_by_times reserve_resources",
        "tune.schedulers.resource_changing_scheduler.DistributeResourcesToTopJob: add_bundles increase_by increase_by_times reserve_resources metric mode")  # fmt: skip
def test_the_shares_of_resources_have_their_settings():
    module = part("tune.schedulers.resource_changing_scheduler")
    share = module.DistributeResources(
        add_bundles=True, increase_by={"CPU": 1}, increase_by_times=2, reserve_resources={"CPU": 1}
    )
    top = module.DistributeResourcesToTopJob(
        add_bundles=True,
        increase_by={"CPU": 1},
        increase_by_times=2,
        reserve_resources={"CPU": 1},
        metric="score",
        mode="max",
    )
    assert (share.add_bundles, share.increase_by, share.increase_by_times, share.reserve_resources) == (
        True,
        {"CPU": 1},
        2,
        {"CPU": 1},
    )
    assert (top.metric, top.mode) == ("score", "max")
