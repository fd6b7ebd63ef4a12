"""XGBoost and LightGBM over two ranks, by their own collectives."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from overtone import train, tune
from overtone.train import CheckpointConfig, DataConfig, RunConfig, ScalingConfig, TrainingFailedError
from overtone.train.lightgbm import LightGBMTrainer, get_network_params
from overtone.train.lightgbm import RayTrainReportCallback as LightGBMCallback
from overtone.train.xgboost import RayTrainReportCallback as XGBoostCallback
from overtone.train.xgboost import XGBoostConfig, XGBoostTrainer

EXAMPLES = Path(__file__).parents[2] / "examples"
TWO = ScalingConfig(num_workers=2)
QUIET = RunConfig(verbose=0)
XGBOOST = {"objective": "binary:logistic", "nthread": 1, "max_depth": 3}
LIGHTGBM = {"objective": "binary", "num_threads": 1, "verbosity": -1, "min_data_in_leaf": 5}


def frame(rows: int = 400) -> pd.DataFrame:
    """Rows whose features are whole numbers: XGBoost's quantiles of all ranks are then those of one process."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.integers(0, 16, size=(rows, 4)), columns=list("abcd"))
    data["y"] = ((data.a + data.b) > 15).astype(int)
    return data


def features(data: pd.DataFrame) -> pd.DataFrame:
    return data.drop(columns="y")


def xgboost_loop(config):
    import xgboost

    rows = train.get_dataset_shard("train").to_pandas()
    if config.get("raises") == train.get_context().get_world_rank():
        raise KeyError("mine")
    data = xgboost.DMatrix(features(rows), label=rows["y"])
    callback = XGBoostCallback(metrics={"loss": "train-logloss"}, frequency=2)
    xgboost.train(XGBOOST, data, 5, evals=[(data, "train")], callbacks=[callback], verbose_eval=False)


def lightgbm_loop(config):
    import lightgbm

    rows = train.get_dataset_shard("train").to_pandas()
    data = lightgbm.Dataset(features(rows), label=rows["y"])
    params = {**LIGHTGBM, "tree_learner": "data", "pre_partition": True, **get_network_params()}
    assert params["num_machines"] == 2
    callback = LightGBMCallback(frequency=2)
    lightgbm.train(params, data, 5, valid_sets=[data], valid_names=["train"], callbacks=[callback])


def test_two_ranks_grow_the_trees_of_one_process():
    import xgboost

    data = frame()
    result = XGBoostTrainer(
        xgboost_loop, datasets={"train": data}, scaling_config=TWO, run_config=QUIET
    ).fit()
    matrix = xgboost.DMatrix(features(data), label=data["y"])
    seen: dict = {}
    alone = xgboost.train(
        XGBOOST, matrix, 5, evals=[(matrix, "train")], evals_result=seen, verbose_eval=False
    )
    model = XGBoostTrainer.get_model(result.checkpoint)
    np.testing.assert_allclose(model.predict(matrix), alone.predict(matrix), atol=1e-6)
    # the metric is over the rows of both ranks
    assert result.metrics["loss"] == pytest.approx(seen["train"]["logloss"][-1], abs=1e-5)
    # five rounds, and once more with the last round's checkpoint, as the fifth had none
    assert result.metrics["training_iteration"] == 6


def test_an_error_of_one_rank_is_the_error_that_is_shown():
    trainer = XGBoostTrainer(
        xgboost_loop,
        train_loop_config={"raises": 1},
        datasets={"train": frame()},
        scaling_config=TWO,
        run_config=QUIET,
    )
    with pytest.raises(TrainingFailedError, match=r"rank 1 .*KeyError: 'mine'"):
        trainer.fit()


def wait_in_one_rank(config):
    if train.get_context().get_world_rank() == 1:
        threading.Event().wait()
    train.report({"loss": 0})


def test_a_rank_that_lets_the_others_wait_is_named_after_the_timeout():
    trainer = XGBoostTrainer(
        wait_in_one_rank, xgboost_config=XGBoostConfig(timeout_s=5), scaling_config=TWO, run_config=QUIET
    )
    with pytest.raises(TrainingFailedError, match=r"rank 1 of 2 .* let the others wait for 5 s"):
        trainer.fit()


def test_lightgbm_learns_from_the_rows_of_both_ranks():
    # rank 0 has rows of one class alone: only with rank 1's is there anything to learn
    zeros, ones = (rows.reset_index(drop=True) for _, rows in frame().groupby("y"))
    data = pd.concat([zeros, ones]).sort_index(kind="stable", ignore_index=True)[
        : 2 * min(len(zeros), len(ones))
    ]
    assert set(data.iloc[::2]["y"]) == {0}
    result = LightGBMTrainer(
        lightgbm_loop, datasets={"train": data}, scaling_config=TWO, run_config=QUIET
    ).fit()
    model = LightGBMCallback.get_model(result.checkpoint)
    assert model.current_iteration() == 5
    predicted = model.predict(features(data))
    assert predicted[data["y"] == 1].mean() > predicted[data["y"] == 0].mean() + 0.1


def test_the_older_form_trains_to_as_many_rounds_in_all_and_is_searched():
    data = frame()
    arguments = {
        "params": XGBOOST,
        "label_column": "y",
        "num_boost_round": 4,
        "datasets": {"train": data, "valid": data[:100]},
        "scaling_config": TWO,
        "run_config": RunConfig(verbose=0, checkpoint_config=CheckpointConfig(checkpoint_frequency=2)),
        "verbose_eval": False,
    }
    result = XGBoostTrainer(**arguments).fit()
    assert XGBoostTrainer.get_model(result.checkpoint).num_boosted_rounds() == 4
    assert {"train-logloss", "valid-logloss"} <= set(result.metrics)
    trainer = XGBoostTrainer(
        **{**arguments, "num_boost_round": 6, "resume_from_checkpoint": result.checkpoint}
    )
    tuner = tune.Tuner(
        trainer,
        param_space={"params": {"max_depth": tune.grid_search([2])}},
        tune_config=tune.TuneConfig(metric="valid-logloss", mode="min"),
        run_config=QUIET,
    )
    (further,) = tuner.fit()
    assert further.error is None
    assert further.metrics["training_iteration"] == 2  # rounds 5 and 6
    assert XGBoostTrainer.get_model(further.checkpoint).num_boosted_rounds() == 6
    assert further.config["params"]["max_depth"] == 2


@pytest.mark.full
def test_the_older_form_of_lightgbm():
    result = LightGBMTrainer(
        params=LIGHTGBM,
        label_column="y",
        num_boost_round=3,
        datasets={"train": frame(), "valid": frame(100)},
        dataset_config=DataConfig(["train"]),
        scaling_config=TWO,
        run_config=QUIET,
    ).fit()
    assert LightGBMTrainer.get_model(result.checkpoint).current_iteration() == 3
    assert {"train-binary_logloss", "valid-binary_logloss"} <= set(result.metrics)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({}, ValueError, "needs train_loop_per_worker, or datasets with 'train'"),
        ({"datasets": {"valid": [1]}, "label_column": "y"}, ValueError, r"datasets=\['valid'\]"),
        ({"datasets": {"train": [1]}}, ValueError, "needs label_column"),
        (
            {"train_loop_per_worker": xgboost_loop, "params": {}, "early_stopping_rounds": 3},
            TypeError,
            "params, early",
        ),
    ],
)
@pytest.mark.parametrize("trainer", [XGBoostTrainer, LightGBMTrainer])
def test_arguments_that_do_not_fit_are_refused(trainer, arguments, error, says):
    with pytest.raises(error, match=f"{trainer.__name__}.*{says}"):
        trainer(**arguments)


def test_another_collective_of_xgboost_is_refused():
    with pytest.raises(ValueError, match="xgboost_communicator='federated'"):
        XGBoostConfig("federated")


def test_network_parameters_outside_of_a_trainer_are_none_with_a_warning():
    with pytest.warns(UserWarning, match="no LightGBMTrainer runs here"):
        assert get_network_params() == {}


@pytest.mark.parametrize(
    ("example", "says"),
    [
        pytest.param("xgboost_ranks.py", "Validation error 0.", marks=pytest.mark.full),
        pytest.param("lightgbm_ranks.py", "Validation error 0.", marks=pytest.mark.full),
        ("tensorflow_ranks.py", "Equal on all ranks: True"),
    ],
)
def test_an_example_runs(example, says, tmp_path):
    command = [sys.executable, str(EXAMPLES / example), "--smoke", "--storage", str(tmp_path)]
    run = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert says in run.stdout
