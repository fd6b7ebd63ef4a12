"""Every option of an experiment comes back in a restore, or the restore asks for it."""

import pytest

from overtone import tune
from overtone.core.resources import Resources
from overtone.errors import OvertoneError
from overtone.experiment import CheckpointPolicy, Experiment
from overtone.journal.header import described
from overtone.option import options
from overtone.run import execute
from overtone.run.resume.recorded_experiment import recorded_experiment
from overtone.tune.callback import Callback
from overtone.tune.schedulers import MedianStoppingRule


def train(config):
    tune.report({"loss": 1.0, "size": 1.0})


def number(*_):
    return 1


VALUES = {
    "space": {"x": 1, "y": 2},
    "metric": ["loss"],
    "mode": ["min"],
    "scheduler": MedianStoppingRule(grace_period=7),
    "searcher": tune.search.BasicVariantGenerator(constant_grid_search=True, random_state=4),
    "stop": {"training_iteration": 9},
    "resources": {"cpu": 0.5},
    "log_to_file": ["out", "err"],
    "checkpoints": CheckpointPolicy(
        every=3, at_end=False, keep=2, order="loss", order_mode="min", max_disk="3GB"
    ),
    "verbose": 0,
    "engine": "inline",
    "export_formats": ["model"],
    "restore": __file__,
    "points_to_evaluate": [{"x": 1}],
    "constraints": {"size": 5.0},
    "durability": "sync",
    "trial_limits": {"time_s": 60.0},
    "tensorboard": False,
    "files": False,
}
GIVEN_AGAIN = {
    "callbacks": [Callback()], "reporter": tune.CLIReporter(), "trial_name": number, "trial_folder": number,
    "priority": number,
}  # fmt: skip
OF_THE_CALL = {"name", "storage", "resume", "warm_start", "ui"}
KNOWN = options(Experiment)
DATA = [name for name in KNOWN if name not in GIVEN_AGAIN.keys() | OF_THE_CALL]


def value_of(name):
    """A value of an option that is not its default."""
    if name in VALUES:
        return VALUES[name]
    default = getattr(Experiment(train), name)
    return not default if isinstance(default, bool) else (default or 0) + 7


def restored(tmp_path, **fields):
    given = {"space": {"x": 1}, "engine": "inline", "verbose": 0, "tensorboard": False, **fields}
    execute(Experiment(train, name="exp", storage=tmp_path, **given))
    return tmp_path / "exp"


def test_each_option_is_walked_here_and_differs_from_its_default():
    default, policy = Experiment(train), CheckpointPolicy()
    assert [name for name in DATA if value_of(name) == getattr(default, name)] == []
    changed = VALUES["checkpoints"]
    assert [one for one in options(CheckpointPolicy) if getattr(changed, one) == getattr(policy, one)] == []


@pytest.mark.filterwarnings("ignore:trial_limits")
@pytest.mark.parametrize("name", DATA)
def test_what_is_data_comes_back(tmp_path, name):
    folder = restored(tmp_path, **{"metric": "loss", "mode": "min", name: value_of(name)})
    found = getattr(recorded_experiment(folder, train, {}), name)
    if name in ("scheduler", "searcher"):
        assert described(found) == described(value_of(name))
    else:
        assert found == value_of(name)
    if name != "raise_on_failed_trial":  # a tuner never raises for failed trials
        of_tuner = getattr(tune.Tuner.restore(folder, train).to_experiment(), name)
        assert repr(of_tuner).partition(" at ")[0] == repr(found).partition(" at ")[0]


@pytest.mark.parametrize("name", GIVEN_AGAIN)
def test_what_is_code_is_asked_for_by_name(tmp_path, name):
    folder = restored(tmp_path, **{name: GIVEN_AGAIN[name]})
    shown = KNOWN[name].shown
    with pytest.raises(OvertoneError, match=rf"{shown} is not plain data \(.*\). Pass it again: .*{shown}="):
        tune.Tuner.restore(folder, train)
    again = tune.Tuner.restore(folder, train, **{shown: GIVEN_AGAIN[name]}).to_experiment()
    assert getattr(again, name)


def test_all_that_must_be_given_again_is_named_at_once(tmp_path):
    folder = restored(tmp_path, priority=number, stop=lambda trial_id, result: False)
    with pytest.raises(OvertoneError, match=r"Tuner.restore\(path, trainable, priority=..., stop=...\)"):
        tune.Tuner.restore(folder, train)


def test_a_changed_number_of_samples_reaches_the_recorded_searcher(tmp_path):
    folder = restored(tmp_path, searcher=tune.search.BasicVariantGenerator(), num_samples=2)
    assert len(tune.Tuner.restore(folder, train).to_experiment().space) == 1
    assert len(tune.Tuner.restore(folder, train, num_samples=5).fit()) == 5


def test_one_argument_of_checkpoints_leaves_the_others(tmp_path):
    folder = restored(tmp_path, checkpoints=CheckpointPolicy(every=3, keep=2))
    found = tune.Tuner.restore(folder, train, keep_checkpoints_num=4).to_experiment()
    assert found.checkpoints == CheckpointPolicy(every=3, keep=4)


def test_resources_that_the_trainable_brings_are_taken(tmp_path):
    folder = restored(tmp_path, resources={"cpu": 0.25})
    bound = tune.with_resources(train, {"cpu": 0.75})
    assert tune.Tuner.restore(folder, bound).to_experiment().resources == Resources.of({"cpu": 0.75})


def test_a_function_of_names_is_recorded_under_its_own_name(tmp_path):
    tune.run(
        train, config={"x": 1}, name="exp", storage_path=tmp_path, engine="inline", verbose=0,
        tensorboard=False, trial_name_creator=number,
    )  # fmt: skip
    with pytest.raises(OvertoneError, match=rf"trial_name_creator is not plain data \({__name__}.number\)"):
        tune.Tuner.restore(tmp_path / "exp", train)
