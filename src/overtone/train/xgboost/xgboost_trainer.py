"""Training of XGBoost over several ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from overtone.train.boosting import BoostingTrainer
from overtone.train.xgboost.config import XGBoostConfig


class XGBoostTrainer(BoostingTrainer):
    """Trains one XGBoost model on several ranks, each with a shard of the data, by XGBoost's own collective.

    In the loop, `xgboost.train` with the rank's own `DMatrix` is a training of all ranks:

        def train_loop_per_worker(config):
            rows = train.get_dataset_shard("train").to_pandas()
            matrix = xgboost.DMatrix(rows.drop(columns="y"), label=rows["y"])
            xgboost.train(config, matrix, evals=[(matrix, "train")], callbacks=[RayTrainReportCallback()])

    Args:
        train_loop_per_worker: Runs on each rank, with `train_loop_config` if it takes an argument.
        train_loop_config: The argument of the loop.
        xgboost_config: Options of the collective.
        scaling_config: Number and resources of the ranks.
        run_config: Name, folder, failures and checkpoints of the run.
        datasets: Data by name, such as DataFrames: `train.get_dataset_shard(name)` returns a rank's rows.
        dataset_config: Which datasets are split.
        metadata: What `get_metadata()` returns.
        resume_from_checkpoint: What `train.get_checkpoint()` returns at first.
        params: The older form, without a loop: XGBoost's parameters. "train" of `datasets` is the training
            data; all are evaluated.
        label_column: With `params`: the column of the labels.
        num_boost_round: With `params`: rounds in all, with those of a checkpoint; 10 if left out.
        train_kwargs: With `params`: further arguments of `xgboost.train`.

    Raises:
        TypeError: Arguments of both forms.
        ValueError: Neither a loop nor training data with a label.
    """

    def __init__(
        self,
        train_loop_per_worker: Callable[..., Any] | None = None,
        *,
        train_loop_config: Mapping[str, Any] | None = None,
        xgboost_config: XGBoostConfig | None = None,
        scaling_config: Any = None,
        run_config: Any = None,
        datasets: Mapping[str, Any] | None = None,
        dataset_config: Any = None,
        metadata: Mapping[str, Any] | None = None,
        resume_from_checkpoint: Any = None,
        label_column: str | None = None,
        params: Mapping[str, Any] | None = None,
        num_boost_round: int | None = None,
        **train_kwargs: Any,
    ) -> None:
        super().__init__(
            train_loop_per_worker,
            xgboost_config or XGBoostConfig(),
            {"params": params, "label_column": label_column, "num_boost_round": num_boost_round},
            train_kwargs,
            train_loop_config=train_loop_config,
            scaling_config=scaling_config,
            run_config=run_config,
            datasets=datasets,
            dataset_config=dataset_config,
            metadata=metadata,
            resume_from_checkpoint=resume_from_checkpoint,
        )

    @staticmethod
    def _callback() -> Any:
        from overtone.train.xgboost.report_callback import RayTrainReportCallback

        return RayTrainReportCallback

    @staticmethod
    def _rounds(model: Any) -> int:
        rounds: int = model.num_boosted_rounds()
        return rounds

    @staticmethod
    def _train(
        params: Mapping[str, Any],
        label: str,
        shards: Mapping[str, Any],
        rounds: int,
        model: Any,
        **train_kwargs: Any,
    ) -> None:
        import xgboost  # type: ignore[import-untyped,import-not-found,unused-ignore]

        evals = [
            (xgboost.DMatrix(rows.drop(columns=label), label=rows[label]), name)
            for name, rows in shards.items()
        ]
        xgboost.train(dict(params), evals[0][0], rounds, evals=evals, xgb_model=model, **train_kwargs)
