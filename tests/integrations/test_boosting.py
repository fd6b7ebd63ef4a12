"""XGBoost, LightGBM and CatBoost: the pages' searches, and what is reported of cross-validations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from training_runs import MOST_LINES, added_lines, check_page

NAMES = {
    "xgboost": {"validation-merror": "merror", "validation-mlogloss": "mlogloss"},
    "lightgbm": {"validation-multi_error": "multi_error", "validation-multi_logloss": "multi_logloss"},
    "catboost": {"validation-Accuracy": "Accuracy", "validation-MultiClass": "MultiClass"},
}


@pytest.mark.parametrize("library", NAMES)
def test_the_page_shows_what_the_example_prints(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(library)
    check_page(f"{library}_digits", library, NAMES[library], tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("library", NAMES)
def test_few_lines_are_added(library: str) -> None:
    assert 0 < len(added_lines(f"{library}_digits")) <= MOST_LINES


def _xgboost_cv(config: dict) -> None:
    import xgboost
    from sklearn.datasets import load_iris

    from overtone.tune.integration.xgboost import TuneReportCheckpointCallback

    params = {
        "objective": "multi:softprob",
        "num_class": 3,
        "eval_metric": ["merror", "mlogloss"],
        "nthread": 1,
    }
    xgboost.cv(
        params,
        xgboost.DMatrix(*load_iris(return_X_y=True)),
        4,
        callbacks=[TuneReportCheckpointCallback(frequency=2)],
    )


def _lightgbm_cv(config: dict) -> None:
    import lightgbm
    from sklearn.datasets import load_iris

    from overtone.tune.integration.lightgbm import TuneReportCheckpointCallback

    params = {
        "objective": "multiclass",
        "num_class": 3,
        "metric": ["multi_error", "multi_logloss"],
        "num_threads": 1,
    }
    lightgbm.cv(
        {**params, "verbosity": -1},
        lightgbm.Dataset(*load_iris(return_X_y=True)),
        4,
        callbacks=[TuneReportCheckpointCallback(frequency=2)],
    )


@pytest.mark.parametrize(
    ("train", "names"),
    [
        (_xgboost_cv, {"test-merror-mean", "test-merror-std", "train-mlogloss-mean", "train-mlogloss-std"}),
        (_lightgbm_cv, {"valid-multi_error-mean", "valid-multi_error-stdv", "valid-multi_logloss-mean"}),
    ],
)
def test_a_cross_validation_has_means_and_deviations(train: Any, names: set[str], tmp_path: Path) -> None:
    from overtone import tune

    pytest.importorskip(train.__name__.split("_")[1])
    (trial,) = tune.run(train, storage_path=str(tmp_path), verbose=0).trials
    assert names <= trial.last_result.keys()
    assert all(isinstance(trial.last_result[name], float) for name in names)
    assert trial.last_result["training_iteration"] == 4
    assert trial.checkpoint is None
