"""The errors that Overtone raises on purpose: one root."""

import ast
import pickle
from pathlib import Path

import pytest

from overtone import errors, tune
from overtone.tune import error as tune_error

SOURCE = Path(errors.__file__).parent

INTERNAL = {
    "BadRequestError", "BundleError", "CompactError", "Interrupted", "JobError", "LeftPhase", "NVMLError", "NotData",
    "NotTheSame", "OutOfMemory", "TrialHalted", "_End", "_Noticed",
}  # fmt: skip
"""Exceptions that never reach a caller."""


def exception_classes():
    """The bases of each exception class in the package, by its name."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
                if any(base.endswith(("Error", "Exception")) for base in bases):
                    found[node.name] = bases
    return found


def test_every_error_is_a_tune_error():
    classes = exception_classes()

    def is_ours(name):
        return name in ("TuneError", "OvertoneError") or any(map(is_ours, classes.get(name, ())))

    assert {name for name in classes if not is_ours(name)} == INTERNAL


def test_the_root_has_its_old_name_and_places():
    assert errors.OvertoneError is errors.TuneError is tune.TuneError is tune_error.TuneError
    assert all(issubclass(getattr(tune_error, name), tune.TuneError) for name in tune_error.__all__)


def test_an_error_carries_an_analysis_and_survives_pickling():
    error = tune.TuneError("2 of 3 trials failed", "analysis")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.analysis) == ("2 of 3 trials failed", "analysis")
    assert tune.TuneError("text").analysis is None
    assert isinstance(errors.StorageError("no room"), OSError)
    assert str(errors.StorageError("no room")) == "no room"


@pytest.mark.parametrize(
    "arguments",
    [{"num_samples": "many"}, {"mode": "largest", "metric": "x"}, {"engine": "dask"}, {"sheduler": "asha"},
     {"scheduler": "asha", "max_failures": -7}, {"storage_path": "a", "local_dir": "b"}, {"stop": 3},
     {"resources_per_trial": {"cpu": "many"}}, {"search_alg": "nothing"}, {"scheduler": "nothing"}],
    ids=str,
)  # fmt: skip
def test_a_wrong_argument_is_a_tune_error(arguments, tmp_path):
    with pytest.raises(tune.TuneError):
        tune.run(len, **{"storage_path": tmp_path, "verbose": 0, **arguments})
