"""From what the user asked for to the parts of an experiment whose folder is taken."""

import json
from pathlib import Path

import pytest

from overtone import tune
from overtone.core.decision import CONTINUE
from overtone.core.messages import Added, Record, Tick
from overtone.core.protocols import Observer
from overtone.core.protocols import TrialScheduler as Scheduler
from overtone.core.resources import Resources
from overtone.core.table import TrialTable
from overtone.core.types import WORST, Result
from overtone.engines.inline import Inline
from overtone.engines.local import Local
from overtone.errors import GoalError, OvertoneError, SpaceError, TrainableError
from overtone.experiment import CheckpointPolicy, Experiment
from overtone.observers.files.text_files import TextFiles
from overtone.observers.table_keeper import TableKeeper
from overtone.observers.tensorboard.scalars import TensorBoard
from overtone.run.algorithms import learns, scheduler_for, searcher_for
from overtone.run.assemble import assemble
from overtone.run.header.journal_setup import codec_for, header_parts, open_journal
from overtone.run.observers import followers_for, observers_for
from overtone.run.plan import plan
from overtone.schedulers.asha import ASHAScheduler
from overtone.schedulers.fifo import FIFOScheduler
from overtone.searchers import BasicVariantGenerator, Listed


def train(config):
    """A trainable."""


def compose(experiment):
    return assemble(plan(experiment))


@pytest.fixture
def parts_of(tmp_path):
    def parts_of(**options):
        return compose(
            Experiment(train, storage=tmp_path, **{"engine": "inline", "tensorboard": False, **options})
        )

    return parts_of


# --- schedulers and searchers ---------------------------------------------------------------


def test_schedulers_in_all_their_forms():
    made = ASHAScheduler(max_t=5)
    assert scheduler_for(made) is made
    assert type(scheduler_for(None)) is FIFOScheduler
    assert type(scheduler_for(ASHAScheduler)) is ASHAScheduler
    assert type(scheduler_for("asha")) is ASHAScheduler
    with pytest.raises(OvertoneError, match="scheduler=5 is not a TrialScheduler"):
        scheduler_for(5)


def test_the_searcher_of_a_space():
    searcher, space = searcher_for(Experiment(train, {"x": 1}, num_samples=4))
    assert type(searcher) is BasicVariantGenerator
    assert (searcher.num_samples, space) == (4, {"x": 1})


def test_the_searcher_of_a_list():
    searcher, space = searcher_for(Experiment(train, [{"x": 1}], num_samples=4))
    assert type(searcher) is Listed
    assert space == {}
    with pytest.raises(OvertoneError, match="nothing for search_alg to choose"):
        searcher_for(Experiment(train, [{"x": 1}], searcher=BasicVariantGenerator()))


def test_a_searcher_without_a_size_takes_the_experiments_each_time():
    mine = BasicVariantGenerator()
    sizes = [searcher_for(Experiment(train, searcher=mine, num_samples=n))[0].num_samples for n in (3, 5)]
    assert sizes == [3, 5]
    own = BasicVariantGenerator(num_samples=7)
    assert searcher_for(Experiment(train, searcher=own, num_samples=3))[0].num_samples == 7


def test_searchers_by_name_and_wrong_ones():
    assert type(searcher_for(Experiment(train, searcher="random"))[0]) is BasicVariantGenerator
    with pytest.raises(OvertoneError, match="search_alg=5 is not a Searcher"):
        searcher_for(Experiment(train, searcher=5))


def test_points_to_evaluate_are_not_lost():
    points = [{"x": 1}]
    assert searcher_for(Experiment(train, points_to_evaluate=points))[0].points_to_evaluate == points
    given = BasicVariantGenerator()
    assert (
        searcher_for(Experiment(train, points_to_evaluate=points, searcher=given))[0].points_to_evaluate
        == points
    )
    assert given.points_to_evaluate == []  # it may serve another run
    with pytest.raises(
        OvertoneError, match=r"search_alg=BasicVariantGenerator\(points_to_evaluate=\[...\]\)"
    ):
        searcher_for(Experiment(train, points_to_evaluate=points, searcher=BasicVariantGenerator([{"x": 2}])))


def test_who_learns():
    class Learner(tune.search.Searcher):
        def suggest(self, index):
            return None

        def on_trial_end(self, trial):
            """Takes note."""

    assert learns(Learner())
    assert not learns(BasicVariantGenerator())


# --- all of them ------------------------------------------------------------------------------


def test_the_goal_is_collected_from_everywhere(parts_of):
    goal = parts_of(scheduler=ASHAScheduler(metric="loss", mode="min", time_attr="steps")).plan.goal
    assert (goal.metric, goal.mode, goal.time_attr) == ("loss", "min", "steps")
    with pytest.raises(GoalError, match="metric='acc' in the call but metric='loss' in the scheduler"):
        parts_of(metric="acc", mode="min", scheduler=ASHAScheduler(metric="loss", mode="min"))


def test_what_cannot_be_leaves_no_folder(parts_of, tmp_path):
    with pytest.raises(SpaceError):
        parts_of(space={"x": tune.uniform(0, 1), "y": tune.choice([])})
    with pytest.raises(ValueError, match="stop=5"):
        parts_of(stop=5)
    assert list(tmp_path.iterdir()) == []


def test_a_seed_is_drawn_where_none_is_given(parts_of):
    assert parts_of(seed=7).seed == 7
    assert parts_of().seed != parts_of().seed


def test_the_seed_of_numpy_repeats_a_run_and_a_resume_draws_nothing(tmp_path, parts_of):
    np = pytest.importorskip("numpy")

    def configs(**options):
        found = tune.run(
            lambda config: tune.report({"loss": 0}), config={"x": tune.uniform(0, 1)}, num_samples=3, verbose=0,
            storage_path=tmp_path, engine="inline", tensorboard=False, **options,
        )  # fmt: skip
        return [one.config for one in found.trials]

    np.random.seed(1000)
    first = configs(name="a")
    state = np.random.get_state()[1].tolist(), np.random.get_state()[2]
    assert configs(name="a", resume=True) == first
    assert (np.random.get_state()[1].tolist(), np.random.get_state()[2]) == state
    second = configs(name="b")
    np.random.seed(1000)
    assert configs(name="c") == first != second
    assert configs(name="d", seed=3) == configs(name="e", seed=3)


def test_the_shortest_of_all_limits_counts(parts_of):
    searcher = BasicVariantGenerator(max_concurrent=3)
    parts = parts_of(
        searcher=searcher, max_concurrent=2, num_samples=9, time_budget_s=60, stop=tune.stopper.TimeoutStopper(5),
        fail_fast="raise", max_failures=4, engine=tune.Simulated(9),
    )  # fmt: skip
    limits = parts.controller.limits
    assert (limits.max_concurrent, limits.total, limits.time_budget_s) == (2, 9, 5)
    assert (limits.fail_fast, limits.max_failures) == (True, 4)
    assert parts_of(engine=tune.Simulated(9)).controller.limits.max_concurrent is None


def test_the_inline_engine_runs_one_trial_at_a_time(parts_of):
    assert parts_of(engine="inline", max_concurrent=2).controller.limits.max_concurrent == 1


def test_a_searcher_of_ones_own_is_asked_num_samples_times(parts_of):
    class Mine(tune.search.Searcher):
        def suggest(self, index):
            return {}

    assert parts_of(searcher=Mine(), num_samples=4).controller.limits.total == 4
    assert parts_of(searcher=Mine(), num_samples=-1).controller.limits.total is None


def test_checkpoints_are_ordered_by_the_metric_that_is_named(parts_of):
    def worth(policy, **metrics):
        return parts_of(checkpoints=policy).controller._rulings._worth(Result(3.0, 0.0, metrics=metrics))

    assert worth(CheckpointPolicy(order="loss", order_mode="min"), loss=2.0) == -2.0
    assert worth(CheckpointPolicy(order="eval/acc"), eval={"acc": 0.5}) == 0.5
    assert worth(CheckpointPolicy(order="acc"), acc=float("nan")) == WORST
    assert worth(CheckpointPolicy(order="acc")) == WORST
    assert worth(CheckpointPolicy(), acc=1) == 3.0  # the newest


@pytest.mark.parametrize("value", ["x", None, float("nan")])
def test_a_priority_that_cannot_be_compared_is_named(value, tmp_path):
    with pytest.raises(OvertoneError, match=r"priority returned .* for \{'x': 1\}: must be a number"):
        tune.Tuner(
            train, param_space={"x": 1}, tune_config=tune.TuneConfig(priority=lambda config: value),
            run_config=tune.RunConfig(storage_path=tmp_path, engine="inline", verbose=0),
        ).fit()  # fmt: skip


def test_tensorboard_as_asked(parts_of, monkeypatch):
    import overtone.observers.tensorboard.scalars as tensorboard

    monkeypatch.setattr(tensorboard, "is_available", lambda: True)
    assert parts_of(tensorboard=None).plan.has_tensorboard
    monkeypatch.setattr(tensorboard, "is_available", lambda: False)
    assert not parts_of(tensorboard=None).plan.has_tensorboard
    assert not parts_of(tensorboard=False).plan.has_tensorboard


class Nothing(Observer):
    def on_record(self, record):
        """Nothing."""


class Steps(tune.Callback):
    def on_step_begin(self, iteration, trials, **info):
        """Nothing."""


def test_who_follows_in_which_order(tmp_path, parts_of):
    mine, console = Nothing(), Nothing()
    keeper = TableKeeper(TrialTable())
    experiment = Experiment(
        train,
        storage=tmp_path,
        engine="inline",
        callbacks=[mine, Steps()],
        trial_folder=lambda trial: "x",
    )
    parts = compose(experiment)
    followers = followers_for(parts, keeper.table, print)
    found = observers_for(parts, keeper, followers, console)
    kinds = [type(one).__name__ for one in found]
    assert found[-1] is console  # last: it tells of files that are there
    assert found[-2] is mine
    assert kinds[-4:-2] == ["Links", "CallbackObserver"]
    assert kinds[0] == "StepBegin"
    assert found[1] is keeper  # the others read its table
    assert type(found[2]) is TextFiles
    assert (TensorBoard in set(map(type, found))) == parts.plan.has_tensorboard
    for one in found:
        one.close()


# --- the journal ------------------------------------------------------------------------------


class Opinionated(Scheduler):
    def __init__(self, limit, *, factor=2.0):
        self.limit, self.factor = limit, factor

    def on_result(self, trial, result):
        return CONTINUE


def test_the_header_has_every_part_as_data(tmp_path):
    experiment = Experiment(
        train, {"x": tune.uniform(0, 1), "act": tune.choice([len])}, storage=tmp_path, engine="inline", num_samples=3,
        metric="loss", mode="min", scheduler=Opinionated(5, factor=3.0), stop={"training_iteration": 4},
    )  # fmt: skip
    parts = json.loads(json.dumps(header_parts(compose(experiment))))
    assert parts["trainable"] == {"path": f"{__name__}.train"}
    assert parts["space"]["x"] == {"__domain__": "uniform", "lower": 0, "upper": 1}
    assert parts["scheduler"] == {"path": f"{__name__}.Opinionated", "arguments": {"limit": 5, "factor": 3.0}}
    assert (parts["metric"], parts["mode"], parts["stop"]) == (["loss"], ["min"], {"training_iteration": 4})
    assert parts["options"]["num_samples"] == 3
    assert parts["engine"] == "Inline"


def test_the_journal_writes_configs_by_their_place_in_the_space(tmp_path):
    experiment = Experiment(
        train, {"act": tune.choice([len, (1, 2)])}, storage=tmp_path, engine="inline", seed=4
    )
    parts = compose(experiment)
    journal = open_journal(parts)
    for n, value in enumerate([len, (1, 2)], 2):
        added = Added(f"t{n}", n, {"act": value}, Resources.of({"cpu": 1}), "0")
        journal.append([Record(n, Tick(0.0), (added,))])
    journal.close()
    header, first, second = map(json.loads, Path(parts.folder, "journal.jsonl").read_text().splitlines())
    assert header["seed"] == 4
    assert first["choices"][0]["config"]["act"]["shown"] == "builtins.len"
    assert second["choices"][0]["config"] == {"act": {"__tuple__": [1, 2]}}
    analysis = tune.ExperimentAnalysis(parts.folder, codec=codec_for(parts.plan.space))
    assert [trial.config["act"] for trial in analysis.trials] == [len, (1, 2)]


def test_a_constraint_needs_a_searcher_that_keeps_to_it(tmp_path):
    class Fixed(tune.search.Searcher):
        def suggest(self, index):
            return {"x": 1}

    space = tune.space({"x": 1}, constraint=bool)
    with pytest.raises(OvertoneError, match="Fixed cannot keep to the constraint of the space"):
        compose(Experiment(train, space=space, searcher=Fixed(), storage=tmp_path))


@pytest.mark.parametrize("engine", [Inline, lambda: Local(cpus=1)])
@pytest.mark.parametrize(
    "trainable",
    [lambda config, t: {"x": t}, tune.CurveTable(None, {"x": [[1.0]]})],
    ids=["function", "table"],
)
def test_a_curve_is_followed_by_the_simulated_engine_alone(trainable, engine, tmp_path):
    with pytest.raises(TrainableError, match=r"is a curve, .* engine=tune.Simulated"):
        compose(Experiment(trainable, storage=tmp_path, engine=engine()))


def test_a_parameter_that_is_bound_makes_no_curve(tmp_path):
    bound = tune.with_parameters(lambda config, t: None, t=3)
    assert compose(Experiment(bound, storage=tmp_path, engine=Inline(), tensorboard=False)).plan.name


@pytest.mark.parametrize("wrap", [
    lambda one: one, tune.schedulers.ResourceChangingScheduler,
    lambda one: tune.schedulers.HyperparameterSchedule({"x": lambda t, first: first}, one),
])  # fmt: skip
def test_a_scheduler_of_populations_knows_all_trials_from_the_beginning(parts_of, wrap):
    """Or a model-based searcher would suggest them one by one, on an engine with one slot."""
    population = wrap(
        tune.schedulers.PopulationBasedTraining(metric="score", mode="max", hyperparam_mutations={"x": [1]})
    )
    options = {"num_samples": 300, "space": {"x": tune.uniform(0, 1)}}
    assert parts_of(searcher="auto", scheduler=population, **options).limits.lookahead == 300
    assert parts_of(searcher="auto", metric="score", mode="max", **options).limits.lookahead < 300
